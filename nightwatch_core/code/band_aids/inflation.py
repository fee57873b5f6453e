"""Numbers that were raised so that a failure comes later: patience and further tries."""

import re
from collections.abc import Iterator

from nightwatch_core.code.band_aids.values import BandAid, Change
from nightwatch_core.code.band_aids.vocabulary import AGAIN, COMMENT, PATIENCE

_NUMBER = re.compile(
    r"(?<![\w.])\d[\d_]*(?:\.\d+)?(?:e-?\d+)?(?=[a-z]{0,7}\b|\W|$)|\b(?:None|nil|null|Infinity)\b"
)
_SLEEPS = re.compile(
    r"(?i)^(?:await\s+)?(?:time\.|asyncio\.|Thread\.|Task\.|Kernel\.|gevent\.)?(?:u?sleep"
    r"|delay)\b\s*\(?\s*[\w.]"
    r"|setTimeout\(\s*(?:resolve|r|done)|time\.Sleep\("
)
_TRIES = re.compile(
    r"(?i)^@(?:retry\w*|tenacity\.\w+|backoff\.\w+)|\bretry_on\b|^retry\b|\bfor\s+(?:_|attempt"
    r"|tries|retry|i)\w*\s+in\s+range\("
    r"|\.retry\(|p-?retry\(|retry\(|Retryable|\bautoretry_for|for\s*\(\s*(?:let|int"
    r"|var)\s+(?:attempt|tries|retry)"
    r"|\b\w*(?:attempts?|retries|tries)\s*(?:\+=|\+\+|<)|sidekiq_options\s+retry"
)
_WITH = {"None": 10.0**12, "nil": 10.0**12, "null": 10.0**12, "Infinity": 10.0**12}


def inflated(change: Change) -> Iterator[BandAid]:
    """Find numbers of patience or of tries that grew, and waits and tries that are new."""
    for pair in change.pairs:
        old, new = _NUMBER.findall(pair.old), _NUMBER.findall(pair.new)
        is_same = _NUMBER.sub("0", pair.old) == _NUMBER.sub("0", pair.new)
        grown = any(_value(b) > _value(a) for a, b in zip(old, new, strict=False))
        if grown and (is_same or (AGAIN.search(pair.new) and AGAIN.search(pair.old))):
            yield from _named(change, pair.row, pair.new)
    for row, line in change.added.items():
        if COMMENT.match(line):
            continue
        if _SLEEPS.search(line) and not any(_SLEEPS.search(one) for one in change.removed.values()):
            yield change.band_aid("timeout_inflation", row)
        if _TRIES.search(line) and not any(_TRIES.search(one) for one in change.removed.values()):
            yield change.band_aid("retry_inflation", row)


def _named(change: Change, row: int, line: str) -> Iterator[BandAid]:
    """Name what a grown number is of, by its line or the one that opens its call."""
    names = f"{change.path.rpartition('/')[2]} {line}"
    if AGAIN.search(line):
        yield change.band_aid("retry_inflation", row)
    elif PATIENCE.search(names):
        yield change.band_aid("timeout_inflation", row)


def _value(number: str) -> float:
    if number in _WITH:
        return _WITH[number]
    try:
        return float(number.replace("_", ""))
    except ValueError:
        return 0.0
