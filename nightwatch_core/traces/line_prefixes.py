"""Line prefixes of loggers, containers and mails, and the process of a line."""

import re

from nightwatch_core.models.value import Value
from nightwatch_core.text.rule_files import Pattern, load_rules
from nightwatch_core.traces.grammar import frame_in
from nightwatch_core.traces.limits import LINE_CHARACTERS, LINE_PREFIXES, PREFIX_CHARACTERS


class PrefixRules(Value):
    """The file; its comments explain the fields."""

    prefix: Pattern
    stream: Pattern
    end: Pattern
    prose: Pattern
    parts_of_frames: Pattern
    opening: Pattern


RULES = load_rules("line_prefixes", PrefixRules, "traces")
_COLOUR = re.compile(r"(?:\x1b|\u2190|\^\[|\\(?:e|x1b|u001b|033))\[[0-9;]{0,20}[A-Za-z]")
_BARE_COLOUR = re.compile(r"\[(?:\d{1,3};){0,4}\d{1,3}m")  # the escape itself was lost
_RESET = "[0m"


def stream_of(line: str) -> str:
    """Return the container, pod or process that a line is of; empty where it names none.

    >>> stream_of("web-1  | KeyError: 'total'"), stream_of("Nov 03 10:00:00 web shop[88]: no")
    ('web-1', 'web shop[88]')
    """
    match = RULES.stream.match(_without_colour(line[:LINE_CHARACTERS]))
    return match[match.lastgroup] or "" if match and match.lastgroup else ""


def without_prefix(line: str) -> str:
    """Return a line without colours, timestamp, level, host and the like.

    >>> without_prefix("[2031-05-04 10:11:12] [9f3a] app/models/cart.rb:3:in 'total'")
    "app/models/cart.rb:3:in 'total'"
    """
    line = _without_colour(line)
    for _ in range(LINE_PREFIXES):
        match = RULES.prefix.match(line)
        if match is None or not match.end():
            break
        line = line[match.end() :]
    return line.rstrip()


def _without_colour(line: str) -> str:
    if "[" not in line:
        return line
    line = _COLOUR.sub("", line)
    return _BARE_COLOUR.sub("", line) if _RESET in line else line


# The prefix of a logger nobody knows, told by the lines that have it.

_DIGITS = re.compile(r"\d+")


class SharedPrefix:
    """The prefix of a logger nobody knows: what stands before a frame and before its neighbour.

    >>> prefix = SharedPrefix()
    >>> prefix.learn("x.Web - E: no", "x.Web -   at f (/a.js:1:2)")
    True
    >>> prefix.without("x.Web -   at f (/a.js:1:2)")
    '  at f (/a.js:1:2)'
    """

    def __init__(self) -> None:
        self._prefix: re.Pattern[str] | None = None
        self._shape = ""

    def without(self, line: str) -> str:
        """Return a line without the prefix and the one space behind it."""
        match = self._prefix.match(line) if self._prefix else None
        return line[match.end() :] if match else line

    def learn(self, above: str, line: str) -> bool:
        """Learn the prefix that a frame shares with the line above; tells whether it is new."""
        head = head_of(line)
        if not head or _shape(head) == self._shape:
            return False
        digits = r"\d{1,30}".join(map(re.escape, _DIGITS.split(head)))
        prefix = re.compile(digits + r"(?:[ \t]|$|(?=\S))")
        if not prefix.match(above):
            return False
        self._prefix, self._shape = prefix, _shape(head)
        return True


def head_of(line: str) -> str:
    """Return what a logger wrote before the frame that a line prints; empty for nothing.

    >>> head_of("x.Web -   at f (/a.js:1:2)"), head_of("  at f (/a.js:1:2)")
    ('x.Web -', '')
    """
    frame = frame_in(line[:LINE_CHARACTERS])
    opening = None if frame else RULES.opening.search(line[:LINE_CHARACTERS])
    begins = frame or opening
    head = line[: begins.start()].rstrip() if begins else ""
    if not head.strip() or len(head) > PREFIX_CHARACTERS or RULES.parts_of_frames.match(head):
        return ""
    return head if RULES.end.search(head) and not RULES.prose.search(head) else ""


def _shape(head: str) -> str:
    return _DIGITS.sub("0", head)
