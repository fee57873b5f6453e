"""Guards within a line: the same code as before, but for a nothing that is passed over."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from nightwatch_core.code.band_aids.optional_values import may_be_missing
from nightwatch_core.code.band_aids.substance import squeezed
from nightwatch_core.code.band_aids.values import BandAid, Change, Kind
from nightwatch_core.code.band_aids.vocabulary import LITERAL

_LIT = rf"(?:{LITERAL.pattern})"
_NONE = re.compile(r"^(?:None|nil|null|undefined|NULL|\{\}|\[\]|)$")
_NAME = r"[$@\w][\w.$@>:-]*(?:\([^()]*\)|\[[^\[\]]*\])?"


class Guard(NamedTuple):
    """A way to pass over nothing: its pattern, the code without it, and the group of a default."""

    pattern: re.Pattern[str]
    plain: Callable[[re.Match[str]], str] | str


GUARDS: tuple[Guard, ...] = (
    Guard(re.compile(r"\?\.(?=[\[(])"), ""),
    Guard(re.compile(r"\?\.|&\.|\?->"), "."),
    Guard(re.compile(r"(?<=\w)->"), "."),
    Guard(
        re.compile(rf"\bgetattr\(({_NAME}),\s*['\"](\w+)['\"],\s*(?P<default>{_LIT})\)"), r"\1.\2"
    ),
    Guard(re.compile(rf"\.get\(([^(),]+|[^(),]*\([^()]*\)),\s*(?P<default>{_LIT})\)"), r"[\1]"),
    Guard(re.compile(r"\.get\(([^(),]+)\)"), r"[\1]"),
    Guard(
        re.compile(
            rf"\.(?:getOrDefault|GetValueOrDefault)\(([^(),]+)(?:,\s*(?P<default>{_LIT}))?\)"
        ),
        r"[\1]",
    ),
    Guard(re.compile(rf"\.fetch\(([^(),]+),\s*(?P<default>{_LIT})\)"), r"[\1]"),
    Guard(re.compile(r"\.fetch\(([^(),]+)\)"), r"[\1]"),
    Guard(re.compile(rf"\.fetch\(([^(),]+)\)\s*\{{\s*(?P<default>{_LIT})\s*\}}"), r"[\1]"),
    Guard(re.compile(r"\.dig\(([^(),]+),\s*([^(),]+)\)"), r"[\1][\2]"),
    Guard(re.compile(r"\.dig\(([^(),]+)\)"), r"[\1]"),
    Guard(re.compile(r"\.try!?\(:(\w+)\)"), r".\1"),
    Guard(re.compile(rf"({_NAME})\s+(?:and|&&)\s+(?=\1)"), ""),
    Guard(re.compile(rf"({_NAME})\s*&&\s*(?=\1)"), ""),
    Guard(re.compile(rf"\s+if\s+{_NAME}(?:\s+is\s+not\s+None)?\s+else\s+(?P<default>{_LIT})"), ""),
    Guard(
        re.compile(
            rf"{_NAME}(?:\s*!==?\s*(?:null|undefined"
            rf"|nil))?\s*\?\s*([^?:]+?)\s*:\s*(?P<default>{_LIT})"
        ),
        r"\1",
    ),
    Guard(
        re.compile(rf"\s+(?:if|unless)\s+!?{_NAME}(?:\.(?:nil|present|blank|any|empty)\?)?\s*$"), ""
    ),
    Guard(
        re.compile(
            rf"\.(?:orElse|unwrap_or|GetValueOrDefault|or_else"
            rf"|DefaultIfEmpty)\((?P<default>{_LIT}|)\)"
        ),
        ".get()",
    ),
    Guard(re.compile(r"\.orElseThrow\(.*\)(?=;|$)"), ".get()"),
    Guard(re.compile(r"\.(?:get|unwrap)\(\)"), ".get()"),
    Guard(re.compile(r"\.(?:FirstOrDefault|SingleOrDefault|firstOrNull|singleOrNull)\b"), ".First"),
    Guard(re.compile(r"\.(?:First|Single|first|single)\b(?=\()"), ".First"),
    Guard(re.compile(rf"\s*(?:\?\?=?|\|\|)\s*(?P<default>{_LIT})"), ""),
    Guard(re.compile(rf"\s+or\s+(?P<default>{_LIT})"), ""),
    Guard(re.compile(r"\.presence\b|\.compact\b"), ""),
)


def unguarded(line: str) -> tuple[str, tuple[str, ...]]:
    """Give a line without its guards and without blanks and brackets, and the guards' defaults.

    >>> unguarded("total = (order.get('net', 0) or 0)")
    ("total=order['net'", ('0', '0'))
    >>> unguarded("total = order['net']")[0]
    "total=order['net'"
    """
    defaults: list[str] = []
    for pattern, plain in GUARDS:
        for match in pattern.finditer(line):
            if "default" in pattern.groupindex:
                defaults.append(match["default"] or "")
        line = pattern.sub(plain, line)
    return re.sub(r"[\s()\]{};]", "", line), tuple(defaults)


def guarded_lines(change: Change) -> Iterator[BandAid]:
    """Find lines that are the same as before but for a guard."""
    for pair in change.pairs:
        (old, had), (new, has) = unguarded(pair.old), unguarded(pair.new)
        is_softer = len(pair.new) > len(pair.old) or len(has) > len(had)
        is_alone = len(change.added) == 1 and len(has) > len(had)
        if (
            (old != new and not is_alone)
            or squeezed(pair.old) == squeezed(pair.new)
            or not is_softer
        ):
            continue
        if not may_be_missing(change, pair.new, pair.row, pair.old):
            added = [one for one in has if one not in had]
            yield change.band_aid(_kind(added), pair.row)


def _kind(defaults: list[str]) -> Kind:
    return "guard_only" if all(_NONE.match(one) for one in defaults) else "masking_default"
