"""Line prefixes of loggers, containers and mails, and the process of a line."""

import re

from nightwatch_core.traces.grammar import frame_in
from nightwatch_core.traces.limits import LINE_CHARACTERS, LINE_PREFIXES, PREFIX_CHARACTERS

_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)"

# What stands before a line and is not part of it. Only one space is taken with each,
# so the indentation of the line itself survives.
_PREFIXES = (
    r"(?:> ?)+",  # a quoted mail or Markdown
    r"(?:[\w.-]{1,80})?\s{1,40}\| ",  # docker compose; the margin of a Python exception group
    r"\| ",  # a table
    r"remote: ?",  # git push to a build server
    rf"\[?\d{{4}}[-/]\d\d[-/]\d\d[T ]{_TIME}(?:Z| ?[+-]\d\d:?\d\d| UTC)?\]?(?: |$)",
    rf"\[?{_TIME}\]? ",
    # syslog
    rf"[A-Z][a-z]{{2}} [ \d]\d {_TIME} [\w.-]{{1,80}} [\w./-]{{1,80}}(?:\[\d{{1,9}}\])?: ",
    rf"\[[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} \d\d {_TIME} \d{{4}}\] ",  # Apache
    r"[DIWEFA], \[[^\]]{1,80}\] {1,3}[A-Z]{3,7} -- [^:]{0,80}: ",  # Ruby's Logger
    r"<\d{1,3}>\d? ?",  # syslog priority
    r"std(?:out|err) [FP] ",  # Kubernetes
    rf"\[?{LEVEL}\]?(?:: ?| )",
    r"[\w.-]{1,80}\[[\w.-]{1,40}\]: ",  # app[web.1]:
    r"(?:\w{2,10}=\S{1,60} ){1,6}(?:WARN|ERROR|FATAL): ",  # Sidekiq
    r"\[(?!cause|previous|stacktrace|object)[\w.:,/#@ -]{1,100}\] ",  # [request id], [pid 12]
)
_PREFIX = re.compile("|".join(_PREFIXES))
_COLOUR = re.compile(r"(?:\x1b|\u2190|\^\[|\\(?:e|x1b|u001b|033))\[[0-9;]{0,20}[A-Za-z]")
_BARE_COLOUR = re.compile(r"\[(?:\d{1,3};){0,4}\d{1,3}m")  # the escape itself was lost
_RESET = "[0m"

# What names the process of a line, at its beginning.
_STREAM = re.compile(
    r"(?P<compose>[\w.-]{1,80})\s{1,40}\| "
    r"|\[(?P<kubectl>pod/[\w./-]{1,200})\] "
    r"|(?P<stern>[\w-]{1,100}-(?=\S{0,20}\d)[a-z0-9]{8,10}-[a-z0-9]{5} [\w-]{1,80}) "
    rf"|(?:[A-Z][a-z]{{2}} [ \d]\d {_TIME}|\d{{4}}-\d\d-\d\dT{_TIME}(?:Z|[+-]\d\d:?\d\d)) "
    r"(?P<syslog>(?:[\w.-]{1,80} )?[\w./-]{1,80}\[[\w.-]{1,40}\]): "
    r"|\[(?P<pid>(?:pid )?\d{1,9})\] "
)


def stream_of(line: str) -> str:
    """Return the container, pod or process that a line is of; empty where it names none.

    >>> stream_of("web-1  | KeyError: 'total'"), stream_of("Nov 03 10:00:00 web shop[88]: no")
    ('web-1', 'web shop[88]')
    """
    match = _STREAM.match(_without_colour(line[:LINE_CHARACTERS]))
    return match[match.lastgroup] or "" if match and match.lastgroup else ""


def without_prefix(line: str) -> str:
    """Return a line without colours, timestamp, level, host and the like.

    >>> without_prefix("[2031-05-04 10:11:12] [9f3a] app/models/cart.rb:3:in 'total'")
    "app/models/cart.rb:3:in 'total'"
    """
    line = _without_colour(line)
    for _ in range(LINE_PREFIXES):
        match = _PREFIX.match(line)
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

_ENDS = re.compile(rf"(?:[|\]:>*}}\d-]|{LEVEL})$|^\S{{1,100}}[\d-]\S{{0,100}}(?: [\w.-]{{1,80}})?$")
_PROSE = re.compile(r"(?:(?<![\w.-])[a-z]{2,20}(?: |$)){3}")
_PARTS_OF_FRAMES = re.compile(  # numbers, margins and bullets that the parsers know
    r"\A(?:[\s|+]*$|\s*+(?:\[?\d{1,5}[\]:.)]|#\d*|=>|.*\b(?:at|File|from|in|async|new|by|called))$)"
)
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
    opening = None if frame else _OPENINGS.search(line[:LINE_CHARACTERS])
    begins = frame or opening
    head = line[: begins.start()].rstrip() if begins else ""
    if not head.strip() or len(head) > PREFIX_CHARACTERS or _PARTS_OF_FRAMES.match(head):
        return ""
    return head if _ENDS.search(head) and not _PROSE.search(head) else ""


def _shape(head: str) -> str:
    return _DIGITS.sub("0", head)
