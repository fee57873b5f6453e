"""Casts that quiet a compiler or turn nothing into something."""

import re
from collections.abc import Iterator

from nightwatch_core.code.band_aids.values import BandAid, Change

CASTS: tuple[re.Pattern[str], ...] = (
    re.compile(r"\s+as\s+(?:any|unknown(?:\s+as\s+[\w.<>\[\]]+)?|never)\b"),
    re.compile(r"<any>"),
    re.compile(r"(?<=[\w)\]])!(?=[.\[);,]|$)"),
    re.compile(r"\.(?:to_s|to_i|to_f)\b|\bString\.valueOf(?=\()"),
    re.compile(r"\b(?:typing\.)?cast\([^(),]+,\s*(?=[\w.]+\))"),
    re.compile(
        r"(?<![\w.])(?:String|Number|Boolean|Array|str|list|dict|Object)\((?=[\w.$\[\]'\"]+\))"
    ),
    re.compile(r"\(\s*(?:string|int|array|float|bool|object|integer)\s*\)\s*(?=\$)"),
    re.compile(r"(?<![\w)])\((?:[A-Z][\w.]*(?:<[\w<>, ?]*>)?)\)\s*(?=\w)"),
    re.compile(r":\s*any\b"),
)
_FORCED = re.compile(r"\bas\s+(?:any|unknown|never)\b|<any>|\w\??:\s*any\b")


def casts(change: Change) -> Iterator[BandAid]:
    """Find lines that are the same as before but for a cast."""
    for pair in change.pairs:
        old, new = _plain(pair.old), _plain(pair.new)
        is_forced = len(_FORCED.findall(pair.new)) > len(_FORCED.findall(pair.old))
        if is_forced or (
            old == new and len(pair.new) > len(pair.old) and _count(pair.new) > _count(pair.old)
        ):
            yield change.band_aid("cast", pair.row)


def _count(line: str) -> int:
    return sum(len(pattern.findall(line)) for pattern in CASTS)


def _plain(line: str) -> str:
    for pattern in CASTS:
        line = pattern.sub("", line)
    return re.sub(r"[\s()]", "", line)
