"""Why a record is refused: the names of its fields, never their values, and the nearest shape."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv6Address

from nightwatch_core.adapters.files.limits import EXCERPT, MAX_FIELDS
from nightwatch_core.adapters.files.records import text_of
from nightwatch_core.adapters.files.shapes.table import SHAPES
from nightwatch_core.models.errors import RejectedRecord
from nightwatch_core.privacy.scrubber import REMOVAL

NAMED, NAME_CHARACTERS = 12, 40  # fields that a refusal names, and characters of each name
LACKING = 4  # fields that it says are missing
NEAR = 0.5  # of what tells a shape has to be there

_NAME = re.compile(rf"[\w$@.:/()\[\] -]{{1,{NAME_CHARACTERS}}}")
_PERSONAL = re.compile(r"\w@\w|\d{4}")  # an address or a number where a name should stand
_ADDRESS = re.compile(r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_NETWORK = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_NETWORK_6 = re.compile(r"(?<![\w:])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?![\w:])")
_REMOVED = "[address removed]"


def refusal(place: str, problem: str, record: Mapping[str, object]) -> RejectedRecord:
    """Give a record that is refused: which fields it has, and what it is nearly like.

    >>> refusal("a:1", "no error class", {"shortId": "A-1", "metadata": {}, "count": 3}).reason
    'no error class; its fields: shortId, metadata, count; nearest to "issue of Sentry", which has \
culprit, userCount besides: export it with them'
    """
    return RejectedRecord(place=place, reason=_reason(problem, tuple(_names(record))))


def unreadable(place: str, problem: str, text: str) -> RejectedRecord:
    """Give a text that cannot be read, with its beginning; addresses of people are taken out.

    >>> unreadable("a:1", "no JSON", '{"user": "mia@example.com", "ip": "203.0.113.9"').text
    '{"user": "[address removed]", "ip": "[address removed]"'
    >>> unreadable("a:1", "no JSON", '{"ip": "2001:db8::1", "at": "10:20:30"').text
    '{"ip": "[address removed]", "at": "10:20:30"'
    """
    kept = REMOVAL.scrub(text_of(text[:EXCERPT]))
    kept = _NETWORK.sub(_REMOVED, _ADDRESS.sub(_REMOVED, kept))
    return RejectedRecord(place=place, reason=problem, text=_NETWORK_6.sub(_without_address, kept))


def _without_address(text: re.Match[str]) -> str:
    """Times look like such addresses."""
    try:
        IPv6Address(text[0])
    except ValueError:
        return text[0]
    return _REMOVED


def _names(record: Mapping[str, object], prefix: str = "", depth: int = 0) -> Iterable[str]:
    for name, value in list(record.items())[:MAX_FIELDS]:
        if name == "around":  # ours: what surrounded the record in a log
            continue
        full = f"{prefix}{name}"
        yield full
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, Mapping) and depth < 1:
            yield from _names(inner, f"{full}.", depth + 1)


@lru_cache(maxsize=4_096)
def _reason(problem: str, names: tuple[str, ...]) -> str:
    """Records of one file have the same fields, and the same words are counted together."""
    tops = [name for name in names if "." not in name] or list(names)
    shown = list(
        dict.fromkeys(
            (name if _NAME.fullmatch(name) and not _PERSONAL.search(name) else "…")
            for name in tops[:NAMED]
        )
    )
    more = f" and {len(tops) - NAMED} more" if len(tops) > NAMED else ""
    return f"{problem}; its fields: {', '.join(shown)}{more}{_nearest(frozenset(names))}"


def _nearest(names: frozenset[str]) -> str:
    best, share = None, NEAR
    for shape in SHAPES:
        there = sum(name in names for name in shape.marks)
        if shape.name and there > 1 and there / len(shape.marks) > share:
            best, share = shape, there / len(shape.marks)
    if best is None:
        return ""
    lacking = [name for name in best.marks if name not in names][:LACKING]
    if not lacking:
        return f'; nearest to "{best.name}", but with other values'
    besides = ", ".join(lacking)
    return f'; nearest to "{best.name}", which has {besides} besides: export it with them'
