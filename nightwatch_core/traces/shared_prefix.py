"""The prefix of a logger nobody knows, told by the lines that have it."""

import re
from collections.abc import Sequence

from nightwatch_core.traces.frame_shapes import frame_in
from nightwatch_core.traces.limits import LINE_CHARACTERS, PREFIX_CHARACTERS, PREFIXED_LINES
from nightwatch_core.traces.line_prefixes import LEVEL

_ENDS = re.compile(rf"(?:[|\]:>*}}\d-]|{LEVEL})$|^\S{{1,100}}[\d-]\S{{0,100}}(?: [\w.-]{{1,80}})?$")
_PROSE = re.compile(r"(?:(?<![\w.-])[a-z]{2,20}(?: |$)){3}")
_PARTS_OF_FRAMES = re.compile(  # numbers, margins and bullets that the parsers know
    r"\A(?:[\s|+]*$|\s*+(?:\[?\d{1,5}[\]:.)]|#\d*|=>|.*\b(?:at|File|from|in|async|new|by|called))$)"
)
_WORDS = re.compile(r".*[\s:|>*-]", re.DOTALL)
_DIGITS = re.compile(r"\d+")
_OPENINGS = re.compile(
    r"Traceback \(most|panic: |fatal error: |goroutine \d{1,19} \[|\*\* \([A-Z]|thread '"
)


class SharedPrefix:
    """The prefix of a logger nobody knows: what stands before a frame and before its neighbour.

    >>> prefix = SharedPrefix()
    >>> prefix.learn("x.Web - E: no", "x.Web -   at f (/a.js:1:2)")
    True
    >>> prefix.without("x.Web -   at f (/a.js:1:2)")
    '  at f (/a.js:1:2)'
    """

    def __init__(self) -> None:
        """Begin without one."""
        self._prefix: re.Pattern[str] | None = None
        self._shape = ""

    def learn_from_all(self, lines: Sequence[str]) -> bool:
        """Learn the prefix that all lines of a text have; tells whether there is one."""
        shapes = [_shape(line[:PREFIX_CHARACTERS]) for line in lines if line.strip()]
        if len(shapes) < PREFIXED_LINES:
            return False
        common = _common(min(shapes), max(shapes))
        head = common.rstrip()
        is_margin = head.strip() == "|"  # of a table; that of an exception group begins with +
        if not (is_margin or (head.strip() and not _PARTS_OF_FRAMES.match(head))):
            return False
        if not _is_of_logger(head):
            return False
        self._prefix, self._shape = _pattern(head), head
        return True

    def without(self, line: str) -> str:
        """Return a line without the prefix and the one space behind it."""
        match = self._prefix.match(line) if self._prefix else None
        return line[match.end() :] if match else line

    def learn(self, above: str, line: str) -> bool:
        """Learn the prefix that a frame shares with the line above; tells whether it is new."""
        head = _head(line)
        if not head or _shape(head) == self._shape:
            return False
        prefix = _pattern(head)
        if not prefix.match(above):
            return False
        self._prefix, self._shape = prefix, _shape(head)
        return True


def has_head(line: str) -> bool:
    """Tell whether something of a logger stands before the frame that a line prints.

    >>> has_head("x.Web -   at f (/a.js:1:2)"), has_head("  at f (/a.js:1:2)")
    (True, False)
    """
    return bool(_head(line))


def _head(line: str) -> str:
    """What stands before the frame that a line prints; empty where that may be its own."""
    frame = frame_in(line[:LINE_CHARACTERS])
    opening = None if frame else _OPENINGS.search(line[:LINE_CHARACTERS])
    begins = frame or opening
    head = line[: begins.start()].rstrip() if begins else ""
    if not head.strip() or len(head) > PREFIX_CHARACTERS or _PARTS_OF_FRAMES.match(head):
        return ""
    return head if _is_of_logger(head) else ""


def _is_of_logger(head: str) -> bool:
    return _ENDS.search(head) is not None and not _PROSE.search(head)


def _common(one: str, other: str) -> str:
    """What both begin with, up to the end of a word."""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))
    if same == min(len(one), len(other)):
        return one[:same]  # a line that has nothing behind it
    match = _WORDS.match(one[:same])
    return match[0] if match else ""


def _shape(head: str) -> str:
    return _DIGITS.sub("0", head)


def _pattern(head: str) -> re.Pattern[str]:
    """The head with other numbers in it, and one space behind."""
    parts = _DIGITS.split(head)
    return re.compile(r"\d{1,30}".join(map(re.escape, parts)) + r"(?:[ \t]|$|(?=\S))")
