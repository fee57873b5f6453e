"""Stack traces cut out of plain logs, of every language the parsers of traces know."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from nightwatch_core.adapters.files.limits import (
    BLOCK_LIMIT,
    GAP_LINES,
    HEADER_LINES,
    LINE_READ,
    TIME_REACH,
)
from nightwatch_core.adapters.files.times import time_in_log
from nightwatch_core.traces.line_prefixes import without_prefix


@dataclass(frozen=True)
class Block:
    """A stack trace, the line it begins at, and the time the log gives it."""

    raw: str
    number: int
    at: datetime | None


@dataclass(frozen=True)
class Style:
    """How the stack traces of one language run through a log."""

    name: str
    frame: re.Pattern[str]  # a line that only stands in a stack trace
    part: re.Pattern[str]  # other lines inside, and those between an exception and its cause
    opens: re.Pattern[str] | None = None  # a line that begins one before its first frame


_CAUSES = r"\s*(?:Caus(?:ed by|es):|Suppressed:|\[cause\]:|--->|--- End of|Next )"
_WRAPS = r"During handling of the above|The above exception was"
STYLES = (
    Style(
        "python",
        frame=re.compile(r"\s+\S|\s*File \"[^\"]{1,1000}\", line \d"),
        part=re.compile(rf"(?:{_WRAPS})|\s+[+|]|Traceback \(most"),
        opens=re.compile(r".{0,200}Traceback \(most recent call last\)"),
    ),
    Style(
        "go",
        frame=re.compile(r"\s+\S.{0,1000}\.(?:go|s):\d+|goroutine \d+ "),
        part=re.compile(
            r"[\w./*()\[\]{},$@~·%-]{1,500}\(.{0,500}\)$|created by |\[signal |panic: "
        ),
        opens=re.compile(r"(?:.{0,100}\s)?(?:panic: |fatal error: |http: panic serving )"),
    ),
    Style(
        "at",
        frame=re.compile(
            r"\s+at \S.{0,300}(?:\(|:\d)|\s+at [\w.$<>`\[\]]{1,300}$|at [\w.$]{3,300}\("
        ),
        part=re.compile(rf"{_CAUSES}|\s+\.\.\. \d+ |\s*[{{}}]+,?$|\s+\[?(?:errno|code)\]?:"),
    ),
    Style(
        "ruby",
        frame=re.compile(
            r"\s*(?:\d+: )?(?:from )?\S.{0,500}:\d{1,9}:in[ `']|\s+from \S.{0,500}:\d+"
        ),
        part=re.compile(_CAUSES),
    ),
    Style(
        "php",
        frame=re.compile(r"\s?#\d{1,5} (?:\S.{0,1000}\(\d+\)|\[internal|\{main\})"),
        part=re.compile(rf"{_CAUSES}|\s+thrown in |Stack trace:|\[(?:stacktrace|previous)|\"\}}"),
    ),
)
# A line without any of these neither opens a trace nor stands in one: most lines of most logs.
CLUES = (
    "Traceback (", "panic", "fatal error", ".go:", ".s:", "goroutine ", "at ", ":in", "from ", "#",
)  # fmt: skip
_CLOCK = re.compile(r"\d:\d\d|\d{8}")
_CLOCKS = 8  # lines with a clock among which the newest with a date is looked for
_CAUSE = re.compile(_CAUSES)
_SIDEKIQ = re.compile(r"^(?:\w{2,10}=\S{1,60} ){1,6}(?:WARN|ERROR|FATAL): ")
# AWS Lambda names an exception of Python above its frames, and never below them.
_NAMED_ABOVE = re.compile(r"\[ERROR\] ([A-Za-z_][\w.]{0,200})(?:: .{0,2000})?$")
_STARTS = ("#", "goroutine ", "at ")  # of first frames that are not indented

# A line that names an exception: a class alone or before its message, or inside other words where
# its name says what it is.
_NAMES = re.compile(
    r"(?:\S.{0,120}?(?:Uncaught|Unhandled|exception)[\w. \"':]{0,60} )?"
    r"(?:[A-Za-z_]\w{0,100}(?:\.|::|\\)){0,12}[A-Z]\w{0,120}(?:: | \(|$)"
)
_NAMES_INSIDE = re.compile(
    r"[A-Z]\w{0,120}(?:Error|Exception|Failure|Fault|Invalid|NotFound|Timeout)\b"
)


@dataclass
class _Open:
    style: Style
    lines: list[str]
    number: int
    at: datetime | None
    pending: list[str] = field(default_factory=list)  # belong to it only if more of it follows
    in_cause: bool = False  # a cause was announced, its name and message may follow
    named: bool = False  # Python: the exception below the frames was read
    name_above: str = ""  # Python: the exception that the line above the frames names
    size: int = 0

    def take(self, line: str) -> None:
        """Add a line that belongs to the trace, and those that waited for it."""
        self.size += len(line)
        if self.size <= BLOCK_LIMIT:
            self.lines.extend((*self.pending, line))
        self.pending = []

    def wait(self, line: str) -> bool:
        self.pending.append(line)
        return len(self.pending) <= GAP_LINES

    def continues(self, line: str, bare: str) -> bool:
        """Take the line if it belongs to the trace, or may do so."""
        if self.style.name == "python":
            return self._continues_python(line if line[:1].isspace() else bare)
        if self.style.frame.match(bare) or self.style.part.match(bare):
            self.take(bare)
            self.in_cause = bool(_CAUSE.match(bare))
            return True
        return (self.in_cause or not bare.strip()) and self.wait(bare)

    def _continues_python(self, text: str) -> bool:
        """Frames are indented; the first line that is not names the exception."""
        if not text.strip():
            return self.wait(text)
        if self.style.part.match(text):
            self.named = not text.startswith("Traceback")
        elif self.named:
            return False
        elif not self.style.frame.match(text):
            if self.name_above and not text.startswith(self.name_above.partition(":")[0]):
                return False
            self.named = True
        self.take(text)
        return True

    def block(self) -> Block:
        """The trace as far as it was read."""
        name = [self.name_above] if self.name_above and not self.named else []
        return Block("\n".join((*self.lines, *name)), self.number, self.at)


class TraceCutter:
    """Goes through a log once; keeps a few lines above, and the stack trace being read.

    >>> log = ["2026-11-03 10:00:00 ERROR no total", "KeyError: 'total'", "  a.rb:1:in `x'", "bye"]
    >>> cutter = TraceCutter()
    >>> blocks = [block for n, line in enumerate(log, 1) for block in cutter.read(n, line)]
    >>> [(block.raw, block.number, block.at.hour) for block in blocks]
    [("KeyError: 'total'\\n  a.rb:1:in `x'", 2, 10)]
    """

    def __init__(self) -> None:
        """Begin at the first line of a log."""
        self._above: deque[tuple[int, str]] = deque(maxlen=HEADER_LINES)
        self._clocks: deque[str] = deque(maxlen=_CLOCKS)
        self._open: _Open | None = None
        self._time: datetime | None = None

    def read(self, number: int, line: str) -> Iterable[Block]:
        """Go on by one line; gives the stack trace that it ends."""
        line = line[:LINE_READ]
        ended: Iterable[Block] = ()
        if self._open is not None:
            if self._open.continues(line, _bare(line)):
                return ()
            ended = tuple(self.finish())
        if line[:1].strip() and _CLOCK.search(line, 0, TIME_REACH):
            self._clocks.append(line)
        if any(map(line.__contains__, CLUES)):
            self._open = self._opened(number, _bare(line))
        if self._open is None:
            self._above.append((number, line))
        else:
            self._above.clear()
        return ended

    @property
    def is_open(self) -> bool:
        """Whether the last line belongs to a stack trace."""
        return self._open is not None

    def finish(self) -> Iterator[Block]:
        """End the log; yields the stack trace that its end cut off."""
        if self._open is not None:
            yield self._open.block()
        self._open = None

    def _opened(self, number: int, bare: str) -> _Open | None:
        for style in STYLES:
            if style.opens and style.opens.match(bare):
                above = _NAMED_ABOVE.match(self._above[-1][1]) if self._above else None
                name = above[0].removeprefix("[ERROR] ") if above else ""
                lines = [_from_opening(bare)]
                return _Open(style, lines, number, self._newest_time(), name_above=name)
        if bare[:1].strip() and not bare.startswith(_STARTS) and ":in" not in bare:
            return None
        for style in STYLES[1:]:
            if style.frame.match(bare):
                header = self._header()
                first = header[0][0] if header else number
                lines = [*(text for _, text in header), bare]
                return _Open(style, lines, first, self._newest_time())
        return None

    def _newest_time(self) -> datetime | None:
        """The time of the last line that says one: most lines need never be asked."""
        times = (time_in_log(line) for line in reversed(self._clocks))
        self._time = next((time for time in times if time), self._time)
        self._clocks.clear()
        return self._time

    def _header(self) -> list[tuple[int, str]]:
        """The lines above a first frame from the one that names the exception."""
        taken: list[tuple[int, str]] = []
        for number, line in reversed(self._above):
            bare = _bare(line)
            taken.insert(0, (number, bare))
            begins_record = line[:1].strip() and time_in_log(line)
            if begins_record or _NAMES.match(bare) or _NAMES_INSIDE.search(bare):
                break
        return taken


def _bare(line: str) -> str:
    """A line without what loggers put before it."""
    bare = without_prefix(line)
    return _SIDEKIQ.sub("", bare, count=1) if "=" in bare[:12] else bare


def _from_opening(bare: str) -> str:
    """A line without what a logger put before the words that begin a trace of Python."""
    at = bare.find("Traceback (most")
    return bare[at:] if at > 0 and "Exception Group" not in bare else bare
