"""What a change does beside its guards: lines that neither explain nor only move something."""

import re
from collections.abc import Collection

from nightwatch_core.code.band_aids.bodies import looks_away
from nightwatch_core.code.band_aids.values import Change, in_one
from nightwatch_core.code.band_aids.vocabulary import CLOSING, COMMENT, IMPORT

_WORD = re.compile(r"\w+|[-+*/%<>]=?|[!=]=+")
_PLAIN = ("new", "return", ">", "->", "=>")  # say nothing by themselves
_NAMED = re.compile(r"(?:(?:const|let|var|final)\s+)?\$?\w+\s*:?=\s*([^=].*?);?$")


def has_substance(change: Change, explained: Collection[int]) -> bool:
    """Tell whether lines were added that `explained` rows leave open, and that are no old code."""
    gone = squeezed("".join(change.removed.values()))
    words = {*_PLAIN, *_WORD.findall(" ".join(change.removed.values()))}
    names = [line for line in change.added.values() if _is_named(line, gone)]
    for row, line in change.added.items():
        is_plain = COMMENT.match(line) or IMPORT.match(line) or CLOSING.match(line)
        if row in explained or is_plain or line in names or looks_away((line,)):
            continue
        whole = line
        for name in names:
            whole = in_one(name, whole)
        is_old = squeezed(line) in gone or squeezed(whole) in gone
        if not is_old and not words.issuperset(_WORD.findall(line)):
            return True
    return False


def _is_named(line: str, gone: str) -> bool:
    """Whether a line only names what stood in a line that is gone."""
    match = _NAMED.match(line)
    return bool(match and squeezed(match[1]) in gone)


def squeezed(line: str) -> str:
    """Give a line without blanks and brackets.

    >>> squeezed("items.forEach((item) => {")
    'items.forEachitem=>'
    """
    return re.sub(r"[\s()\]{};]", "", line)
