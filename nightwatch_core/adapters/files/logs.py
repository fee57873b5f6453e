"""Stack traces cut out of plain logs, of every language the parsers of traces know."""

import re
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice, pairwise
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator

from nightwatch_core.adapters.files import limits
from nightwatch_core.adapters.files.frames import ExceptionOf
from nightwatch_core.adapters.files.records import has_lines, is_loud, text_of
from nightwatch_core.adapters.files.shapes import values
from nightwatch_core.adapters.files.shapes.table import records_of
from nightwatch_core.adapters.files.times import time_in_log, time_of
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table
from nightwatch_core.traces.grammar import LANGUAGES, PRINTED, is_known
from nightwatch_core.traces.line_prefixes import SharedPrefix, head_of, stream_of
from nightwatch_core.traces.normalise import lines_in_log_line
from nightwatch_core.traces.reading import is_exception, names_exception

# How the stack traces of each language run through a log: what a line of one looks like.


CAUSES = r"\s*(?:Caus(?:ed by|es):|Suppressed:|\[cause\]:|--->|--- End of|Next )"
# What PHP prints of an error that is no exception: one line, without frames.
PHP_FATAL = re.compile(
    r".{0,400}?(?P<error>PHP (?:Fatal|Parse|Recoverable fatal|Core|Compile) error: {1,4}"
    r"(?!Uncaught )[^\n]{1,800}? in \S[^\n]{0,300}? on line \d{1,9})(?!\d)"
)
_TIME = r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)"
_SHARED = {
    "<<cause>>": CAUSES,
    "<<php error>>": PHP_FATAL.pattern,
    "<<printed by javascript>>": PRINTED["javascript"],
    "<<printed by firefox>>": PRINTED["firefox"],
    "<<time>>": _TIME,
    "<<name>>": r"[\w.@-]{1,100}",
    "<<text>>": r"(?P<text>.*)",
}


def _pattern(written: str | list[str]) -> re.Pattern[str]:
    text = written if isinstance(written, str) else "|".join(written)
    for name, pattern in _SHARED.items():
        text = text.replace(name, pattern)
    return re.compile(text)


Pattern = Annotated[re.Pattern[str], BeforeValidator(_pattern)]


class Style(Value):
    """Layout of one language's stack traces in a log; `logs.toml` says what the parts mean."""

    frame: Pattern
    part: Pattern
    opens: Pattern | None = None
    message_lines: int = 0


class _Patterns(Value):
    requests: dict[str, Pattern]
    styles: dict[str, Style]
    prefixes: dict[str, Pattern]


_PATTERNS = data_table("nightwatch_core.adapters.files", "logs.toml", _Patterns)
STYLES = tuple(_PATTERNS.styles.values())
PYTHON, RUST = _PATTERNS.styles["python"], _PATTERNS.styles["rust"]
_PYTHON_FRAME = re.compile(rf"\s*(?:[|+]\s*)?{PRINTED['python']}(?:,? in .+)?$")
_ANCHORS = LANGUAGES["python"].lines["anchors"]
CAUSE = re.compile(CAUSES)
_STARTS = ("#", "goroutine ", "at ", "(", "File ")  # of first frames that are not indented
_OPENINGS = ("Traceback (", "panic", "fatal error", "** (", " error: ")
_SIGNS = (  # of lines that open a trace, or are or hold its first frame
    "Traceback", "at ", "at\xa0", ":in", "#0", "#1", "@http", "@/", "@file:", "from ", "panic",
    "goroutine ", "fatal error", ".go:", ".rs:", ".ex:", ".exs:", ".erl:", "eex:", "** (", "\\n",
    "<br", "<BR", "application panicked", "PHP ", 'File "', "File \u201c", "File &",
)  # fmt: skip
_INSIDE = (":in", "@", ".ex", ".erl")

# A line that names an exception: a class alone or before its message, or inside other words where
# its name says what it is.
_NAMES = re.compile(
    r"(?:\S.{0,120}?(?:Uncaught|Unhandled|exception)[\w. \"':]{0,60} )?"
    r"(?:[A-Za-z_]\w{0,100}(?:\.|::|\\)){0,12}[A-Z]\w{0,120}(?:: | \(|$)"
)
_QUALIFIED = re.compile(r"(?:[a-z_]\w{0,60}\.){1,10}[A-Z]\w{0,120}(?:Error|Exception): ")
_NAMES_INSIDE = re.compile(
    r"[A-Z]\w{0,120}(?:Error|Exception|Failure|Fault|Invalid|NotFound|Timeout)\b"
    r"|(?<![\w.])(?:Error|Exception): |\[\w{0,80}Error\]: "
)


def may_open(line: str) -> bool:
    """Tell whether a line holds anything that a trace may begin with; most lines do not.

    >>> may_open("GET /carts 200"), may_open("panic: no cart")
    (False, True)
    """
    return any(map(line.__contains__, _SIGNS))


def opened_by(text: str) -> Style | None:
    """Return the style of a trace that a line opens before its first frame."""
    if not any(sign in text for sign in _OPENINGS):
        return None
    return next((style for style in STYLES if style.opens and style.opens.match(text)), None)


def framed_by(text: str) -> Style | None:
    """Return the style of the frame that a line is; Python needs the lines above it."""
    if text[:1].strip() and not (text.startswith(_STARTS) or any(item in text for item in _INSIDE)):
        return None
    return next((style for style in STYLES[1:] if style.frame.match(text)), None)


def request_in(line: str, tags: str = "") -> str:
    """Return what a line, or two, say was being done: `GET /path`, an action, a task.

    >>> request_in("ERROR in app: Exception on /carts [POST]")
    'POST /carts'
    """
    for sign, pattern in _PATTERNS.requests.items():
        if sign in line and (match := pattern.search(line, 0, 2 * limits.LINE_READ)):
            parts = match.groupdict()
            if tags and (parts.get("tag") or "") not in tags:
                continue
            return parts.get("name") or f"{parts.get('method') or ''} {parts['path']}".strip()
    return ""


# Lines of logs in the order of their times: many exports begin with the newest.


class Placed(NamedTuple):
    """A line of a log and where it stands in its file."""

    place: str
    line: values.LogLine


class LineOrder:
    """Turns lines round whose first ones go back in time, a bounded number at once."""

    def __init__(self) -> None:
        self._waiting: list[Placed] = []
        self._size = 0
        self._is_backward: bool | None = None

    def read(self, placed: Placed) -> Iterator[Placed]:
        """Take the next line of the file; yields those whose turn it is."""
        if self._is_backward is False or not placed.line.around.get("time"):
            yield placed
            return
        self._waiting.append(placed)
        self._size += len(placed.line.text)
        if self._is_backward is None and len(self._waiting) >= limits.ORDER_SAMPLE:
            self._is_backward = _goes_back(self._waiting)
        is_full = len(self._waiting) >= limits.BACKWARD_LINES or self._size >= limits.BACKWARD_TEXT
        if is_full or self._is_backward is False:
            yield from self.finish()

    def finish(self) -> Iterator[Placed]:
        waiting, self._waiting, self._size = self._waiting, [], 0
        if self._is_backward is None:
            self._is_backward = _goes_back(waiting)
        yield from reversed(waiting) if self._is_backward else waiting


def _goes_back(placed: list[Placed]) -> bool:
    by_stream: dict[str, list[tuple[float, str]]] = {}
    for item in placed:
        value = item.line.around.get("time")
        if time := time_of(value):  # which knows no nanoseconds: the text tells those apart
            by_stream.setdefault(item.line.stream, []).append((time.timestamp(), str(value)))
    pairs = [pair for times in by_stream.values() for pair in pairwise(times)]
    return sum(b < a for a, b in pairs) > sum(b > a for a, b in pairs)


# Prefixes of lines in logs that say which stream a line belongs to: containers, dynos, syslog.


class LineShape(NamedTuple):
    """The pattern of a line's prefix, and its name for people."""

    name: str
    pattern: re.Pattern[str]


LINE_SHAPES = tuple(LineShape(name, pattern) for name, pattern in _PATTERNS.prefixes.items())
_WITH_TIME = tuple(shape for shape in LINE_SHAPES if shape.pattern.pattern.startswith(_TIME))
_WITHOUT = tuple(shape for shape in LINE_SHAPES if shape not in _WITH_TIME)


def line_of(text: str) -> tuple[str, values.LogLine] | None:
    """Return the shape of a line's prefix and the line without it; None without such a prefix.

    >>> _, line = line_of("2026-11-03T10:00:00.5Z stderr F Traceback (most recent call last):")
    >>> line.text, line.stream, line.around
    ('Traceback (most recent call last):', '  stderr', {'time': '2026-11-03T10:00:00.5Z'})
    """
    if text[:1].isspace() or (text[4:5] == "-" and text[10:11] == " " and text[:4].isdigit()):
        return None  # neither a frame nor the time of a plain log begins any of these
    head = text[: limits.LINE_READ]
    if head[:1] == "2" and head[4:5] == "-":
        shapes = _WITH_TIME if head[10:11] == "T" else ()
    else:
        shapes = _WITHOUT if head[:1].strip() else ()
    matches = ((shape.name, prefix) for shape in shapes if (prefix := shape.pattern.match(head)))
    name, match = next(matches, ("", None))
    if match is None:
        return None
    named = match.groupdict()
    words = (named.get("host"), named.get("app"), named.get("stream"))
    envelope = {name: value for name in ("time", "app", "host") if (value := named.get(name))}
    if app := envelope.get("app"):
        envelope["app"] = values.service_of(app)
    whole = text[match.start("text") :]
    stream = " ".join(word or "" for word in words)
    return name, values.LogLine(whole, stream, envelope, named.get("tag") == "P")


# A stack trace that is being read out of a log: which of the next lines belong to it.

_LOOSE_LINES = 3  # of source below a frame, where the indentation was lost
_MESSAGE_LINES = 40  # of an exception, before another one is announced


@dataclass
class OpenTrace:
    """The lines of a trace, and those that belong to it only if more of it follows."""

    style: Style
    lines: list[str]
    number: int
    at: datetime | None
    pending: list[tuple[int, str]] = field(default_factory=list)
    in_cause: bool = False  # a cause was announced, its name and message may follow
    in_fields: bool = False  # JavaScript: what the exception holds is printed below its frames
    name_above: str = ""  # Python: the exception that the line above the frames names
    is_end: bool = False  # Python: begins with a frame, since what was above it is missing
    is_timed: bool = False  # the next line has a time of its own
    size: int = 0
    _framed: bool = False  # a frame was read
    _named: bool = False  # Python: the exception below the frames was read
    _chained: bool = False  # Python: another traceback was announced below the exception
    _indent: int | None = None  # Python: of the frame in the line above
    _loose: int = 0  # Python: lines below a frame that are not deeper than it

    def __post_init__(self) -> None:
        """Tell a trace that begins with a frame from one that an opening line begins."""
        self._framed = self.style.opens is None or not self.style.opens.match(self.lines[0])

    @property
    def whole_lines(self) -> list[str]:
        """Return the lines, and the exception that was only named above them."""
        return self.lines if self._named or not self.name_above else [*self.lines, self.name_above]

    def continues(self, number: int, text: str) -> bool:
        """Take the line if it belongs to the trace, or let it wait if it may."""
        if not text.strip():
            return self._wait(number, text)
        if self.style is PYTHON:
            return self._continues_python(number, text)
        is_frame = self.style.frame.match(text) is not None
        self.in_fields = self.in_fields and text[:1].isspace()
        if self.in_fields and not CAUSE.match(text) and not (is_frame and self.in_cause):
            self.in_cause = False
            return True  # exceptions among the fields were told elsewhere, or are not thrown
        self.in_fields |= is_frame and text.endswith(" {")
        if is_frame or self.style.part.match(text):
            self._framed = self._framed or is_frame
            self._take(text)
            self.in_cause = CAUSE.match(text) is not None
            return True
        if self.style.opens and self.style.opens.match(text):
            return False
        opening = self.lines[-1] if len(self.lines) == 1 else ""
        is_message = self.style is RUST and opening.rstrip().endswith(":") and not self.pending
        if is_message:
            self._take(text)
            return True
        is_above = not self._framed and self.style.message_lines > len(self.pending)
        # Ruby shows the code below the message, apart from it.
        is_shown = text[:1].isspace() and self.pending and not self.pending[-1][1].strip()
        return bool(is_above or self.in_cause or is_shown) and self._wait(number, text)

    def _continues_python(self, number: int, text: str) -> bool:
        """Frames are indented; the first line that is not names the exception."""
        is_frame = _PYTHON_FRAME.match(text) is not None
        indent = len(text) - len(text.lstrip())
        if self.style.part.match(text):
            begins = text.startswith("Traceback")
            if begins and self._named and not self._chained:
                return False  # another error, right below this one
            self._chained = not begins
            self._named, self._loose = not begins, 0
            self._indent = indent if is_frame else None
        elif is_frame and (self._loose or not self._named):
            self._named, self._loose, self._indent = False, 0, indent
        elif self._named:  # its message may have more lines, known by what is announced below them
            return not self.is_timed and self._wait(number, text)
        elif self._loose or indent == self._indent:
            return self._continues_loosely(number, text)
        elif self.style.frame.match(text):
            self._indent = None
        elif self._is_over(text):
            return False
        else:
            self._named = True
        self._take(text)
        return True

    def _is_over(self, text: str) -> bool:
        if self.is_end:
            return not is_exception(text)
        return bool(self.name_above) and not text.startswith(self.name_above.partition(":")[0])

    def _continues_loosely(self, number: int, text: str) -> bool:
        """Without indentation what follows tells source from the name of the exception."""
        self._loose += 1
        names = is_exception if self.is_end else names_exception
        self._named = names(text)
        if self._loose == 1 or self._named or _ANCHORS.match(text):
            self._take(text)
            return True
        return self._loose <= _LOOSE_LINES and self._wait(number, text)

    def _take(self, line: str) -> None:
        self.size += len(line)
        if self.size <= limits.BLOCK_LIMIT:
            self.lines.extend((*(text for _, text in self.pending), line))
        self.pending = []

    def _wait(self, number: int, line: str) -> bool:
        self.pending.append((number, line))
        most = _MESSAGE_LINES if self._named else 0 if self._framed else self.style.message_lines
        return len(self.pending) <= max(limits.GAP_LINES, most)


_CLOCK = re.compile(r"\d:\d\d|\d{8}")
_CLOCKS = 8  # lines with a clock among which the newest with a date is looked for
# AWS Lambda names an exception of Python above its frames, and never below them.
_NAMED_ABOVE = re.compile(r"\[ERROR\] ([A-Za-z_][\w.]{0,200})(?:: .{0,2000})?$")


@dataclass(frozen=True)
class Block:
    """A stack trace, the line it begins at, and the time the log gives it."""

    raw: str
    number: int
    at: datetime | None
    request: str = ""  # that failed, where a line above says it


class TraceCutter:
    """Goes through the lines of one process; keeps a few above, and the stack trace being read.

    >>> log = ["2026-11-03 10:00:00 ERROR no total", "KeyError: 'total'", "  a.rb:1:in `x'", "bye"]
    >>> cutter = TraceCutter()
    >>> blocks = [block for n, line in enumerate(log, 1) for block in cutter.read(n, line)]
    >>> [(block.raw, block.number, block.at.hour) for block in blocks]
    [("KeyError: 'total'\\n  a.rb:1:in `x'", 2, 10)]
    """

    def __init__(self) -> None:
        self._above: deque[tuple[int, str]] = deque(maxlen=limits.REQUEST_LINES)  # as they came
        self._clocks: deque[str] = deque(maxlen=_CLOCKS)
        self._open: OpenTrace | None = None
        self._request = ""
        self._uncaught = ("", "")  # what PHP printed last, and the words before it
        self._time: datetime | None = None
        self._prefix = SharedPrefix()

    @property
    def is_open(self) -> bool:
        """Tell whether the last line belongs to a stack trace."""
        return self._open is not None

    def read(self, number: int, line: str) -> Iterable[Block]:
        """Go on by one line; gives the stack traces that it ends."""
        if self._open is None:
            self._look_at_clock(line)
            if not may_open(line):  # nothing more is done with most lines
                self._above.append((number, line[: limits.LINE_READ]))
                return ()
        texts = self._texts(line)[: 1 if self._open and self._open.in_fields else None]
        return tuple(
            block
            for text in texts
            for block in self._read(number, text, line if len(texts) == 1 else text)
        )

    def finish(self) -> Iterator[Block]:
        """End the log; yields the stack traces that its end cut off."""
        while self._open is not None:
            yield from self._ended()

    def _texts(self, line: str) -> list[str]:
        """The lines of traces that a line holds, without what loggers put before them."""
        return [self._prefix.without(text[: limits.LINE_READ]) for text in lines_in_log_line(line)]

    def _read(self, number: int, text: str, line: str) -> Iterator[Block]:
        if self._open is not None:
            waited = len(self._open.pending)
            self._open.is_timed = _CLOCK.search(line, 0, limits.TIME_REACH) is not None
            if self._open.continues(number, text):
                return
            del self._open.pending[waited:]
            yield from self._ended()
            self._look_at_clock(line)
        text = self._without_shared_prefix(text)
        self._open = self._opened(number, text, line)
        if self._open is None:
            self._above.append((number, line))
        else:
            rows = [*(above for _, above in self._above), line]
            pairs = map("\n".join, pairwise(["", *rows]))
            requests = (request_in(pair, line) for pair in reversed([*pairs]))
            self._request = next(filter(None, requests), "")
            self._above.clear()

    def _ended(self) -> Iterator[Block]:
        """The trace that is over; the lines that waited for more of it are read on their own."""
        trace, self._open = self._open, None
        if trace is not None:
            raw = "\n".join(trace.whole_lines)
            if not self._is_printed_again(raw):
                request = self._request or request_in(trace.lines[-1])
                yield Block(raw, trace.number, trace.at, request)
            for number, text in trace.pending:
                yield from self._read(number, text, text)

    def _is_printed_again(self, raw: str) -> bool:
        """Tell PHP's second print of an exception: its log says it, then its output or server."""
        words, _, error = raw.partition("Uncaught ")
        is_again = bool(error) and self._uncaught[0] == error and self._uncaught[1] != words
        self._uncaught = ("", "") if is_again else (error, words)
        return is_again

    def _without_shared_prefix(self, text: str) -> str:
        """The line without what a frame and the line above it begin with."""
        if not head_of(text):
            return text
        above = self._texts(self._above[-1][1])[-1:] if self._above else [""]
        if self._prefix.learn(text if opened_by(text) else above[0], text):
            return self._prefix.without(text)
        return text

    def _opened(self, number: int, text: str, line: str) -> OpenTrace | None:
        style = opened_by(text)
        if style is not None:
            above = _NAMED_ABOVE.match(self._above[-1][1]) if self._above else None
            name = above[0].removeprefix("[ERROR] ") if above else ""
            lines = [_from_opening(text)]
            return OpenTrace(style, lines, number, self._newest_time(), name_above=name)
        style = framed_by(text)
        if style is None and _PYTHON_FRAME.match(text):  # the end of one that was cut off
            return OpenTrace(PYTHON, [text], number, self._newest_time(), is_end=True)
        if style is None:
            return None
        header = self._header(_begins_record(line))
        first = header[0][0] if header else number
        lines = [*(item for _, item in header), text]
        return OpenTrace(style, lines, first, self._newest_time())

    def _look_at_clock(self, line: str) -> None:
        if line[:1].strip() and _CLOCK.search(line, 0, limits.TIME_REACH):
            self._clocks.append(line)

    def _newest_time(self) -> datetime | None:
        """The time of the last line that says one: most lines need never be asked."""
        times = (time_in_log(line) for line in reversed(self._clocks))
        self._time = next((time for time in times if time), self._time)
        self._clocks.clear()
        return self._time

    def _header(self, is_timed: bool) -> list[tuple[int, str]]:
        """The lines above a first frame from the one that names the exception.

        A line with a time begins a record, unless the frame has a time as well.
        """
        taken: list[tuple[int, str]] = []
        rows = list(islice(reversed(self._above), limits.HEADER_LINES))
        for (number, line), (place, above) in zip(rows, [*rows[1:], (0, "")], strict=False):
            for text in reversed(self._texts(line)):
                taken.insert(0, (number, text))
                is_named = _NAMES.match(text) or _NAMES_INSIDE.search(text) or is_known(text)
                if is_named:  # or goes on with a message that Java names an exception for
                    return [(place, above), *taken] if _QUALIFIED.match(above) else taken
            if _begins_record(line) and not is_timed:
                return taken
        return taken[-1:] if is_timed else taken


def _begins_record(line: str) -> bool:
    return bool(line[:1].strip()) and time_in_log(line) is not None


def _from_opening(text: str) -> str:
    """A line without what a logger put around the words that begin a trace of Python or PHP."""
    if fatal := PHP_FATAL.match(text):
        return fatal["error"]
    at = text.find("Traceback (most")
    return text[at:] if at > 0 and "Exception Group" not in text else text


# Texts of logs, told apart by stream, made into records: traces over many lines are one record.

_NAMED = re.compile(  # an exception as Rails logs it, above its frames if it has any
    r"(?m)(?:^|\s)(?:(?:[A-Z]\w{0,80}::){1,9}[A-Z]\w{0,80}|[A-Z]\w{0,80}(?:Error|Exception))"
    r" \(.{0,2000}\):[ \t]*$"
)
_WHOLE_PART = 16_000  # bytes of a text from which Docker cuts it, with or without its end


class Read(NamedTuple):
    """A record read from text: one of its own, or a trace cut out of lines."""

    place: str
    item: values.Item
    lines: int = 0  # of a log, out of which a trace was cut
    named: int = 0  # of them, exceptions as Rails logs them


@dataclass
class _Stream:
    cutter: TraceCutter = field(default_factory=TraceCutter)
    number: int = 0
    recent: dict[int, Placed] = field(default_factory=dict)  # lines a trace may begin with
    part: list[str] = field(default_factory=list)
    size: int = 0  # characters of the parts
    ends_lines: bool = False  # texts of the stream that are whole have an end

    def joined(self, line: values.LogLine) -> values.LogLine | None:
        """Return the whole line; None while it goes on."""
        self.ends_lines |= line.text.endswith("\n")
        goes_on = line.is_part
        if goes_on is None:
            goes_on = self.ends_lines or len(line.text.encode("utf-8", "replace")) > _WHOLE_PART
        if goes_on and self.size <= limits.BLOCK_LIMIT:
            self.part.append(line.text)
            self.size += len(line.text)
            return None
        if not self.part:
            return line
        text = "".join((*self.part, line.text))
        self.part, self.size = [], 0
        return line._replace(text=text)

    def read(self, placed: Placed) -> Iterator[Read]:
        for text in placed.line.text.rstrip("\n").split("\n"):
            self.number += 1
            if not self.cutter.is_open:
                # Their texts are in the cutter; here they would be kept whole, of every stream.
                self.recent[self.number] = placed._replace(line=placed.line._replace(text=""))
                if len(self.recent) > limits.HEADER_LINES + 1:
                    del self.recent[next(iter(self.recent))]
            for block in self.cutter.read(self.number, text):
                yield self._read(block)
                self.recent = {self.number: placed}

    def finish(self) -> Iterator[Read]:
        yield from (self._read(block) for block in self.cutter.finish())

    def _read(self, block: Block) -> Read:
        first = self.recent.get(block.number) or next(iter(self.recent.values()))
        own = {"time": block.at, "transaction": block.request}
        envelope = {**own, **{k: v for k, v in first.line.around.items() if v}}
        record = {"stack_trace": [block.raw], "around": envelope}
        return Read(first.place, record, block.raw.count("\n") + 1, _named_in(block.raw))


class LogStreams:
    """Reads the texts of the logs in one file, each in the stream it belongs to."""

    def __init__(self, exception_of: ExceptionOf) -> None:
        """Begin without streams; `exception_of` reads class and message from a raw stack trace."""
        self._exception_of = exception_of
        self._order = LineOrder()
        self._streams: OrderedDict[tuple[str, str], _Stream] = OrderedDict()
        self._processes: dict[str, str] = {}  # of the last line, by stream
        self._loud = 0  # lines of level error and above
        self._named = 0  # lines that name an exception in the way of Rails, in no trace so far
        self.cut_short = 0  # traces of streams that had to be ended
        self.of_traces = 0  # lines that traces were cut out of

    @property
    def left_out(self) -> int:
        """Return lines of level error that belong to no stack trace, once all is read."""
        return max(0, self._loud - self.of_traces - self.without_trace)

    @property
    def without_trace(self) -> int:
        """Return exceptions that were named above no frames, once all is read."""
        return max(0, self._named)

    def read(self, line: values.LogLine, place: str) -> Iterator[Read]:
        """Yield what a text makes known; its own traces may come later, when they end."""
        for placed in self._order.read(Placed(place, line)):
            yield from self._placed(placed)

    def finish(self) -> Iterator[Read]:
        """End the file: yields the traces that are open."""
        for placed in self._order.finish():
            yield from self._placed(placed)
        while self._streams:
            yield from self._ended()

    def _placed(self, placed: Placed) -> Iterator[Read]:
        line = placed.line
        process = stream_of(line.text) or self._processes.get(line.stream, "")
        if len(self._processes) >= limits.MAX_STREAMS:
            self._processes.clear()
        self._processes[line.stream] = process
        name = (line.stream, process)
        stream = self._streams.get(name)
        if stream is None:
            if len(self._streams) >= limits.MAX_STREAMS:
                self.cut_short += next(iter(self._streams.values())).cutter.is_open
                yield from self._ended()
            stream = self._streams[name] = _Stream()
        self._streams.move_to_end(name)
        whole = stream.joined(line)
        if whole is not None:
            yield from self._text(stream, Placed(placed.place, whole))

    def _ended(self) -> Iterator[Read]:
        _, stream = self._streams.popitem(last=False)
        yield from self._counted(stream.finish())

    def _text(self, stream: _Stream, placed: Placed) -> Iterator[Read]:
        line = placed.line
        value = values.json_in(line.text)
        if value is not None:
            for item in records_of(value, Counter()):
                inner = values.surrounded(item, line)
                if isinstance(inner, values.LogLine):
                    yield from self._placed(Placed(placed.place, inner))
                else:
                    yield Read(placed.place, inner)
            return
        whole = self._whole(line.text)
        if whole:
            envelope = {"time": time_in_log(line.text), **line.around}
            yield Read(placed.place, {"stack_trace": whole, "around": envelope})
            return
        level = line.around.get("level")
        self._loud += bool(level) and is_loud(level)
        self._named += _named_in(line.text)
        yield from self._counted(stream.read(placed))

    def _counted(self, blocks: Iterator[Read]) -> Iterator[Read]:
        for block in blocks:
            self.of_traces += block.lines
            self._named -= block.named
            yield block

    def _whole(self, text: str) -> str:
        if not has_lines(text):
            return ""
        stack = text_of(text, limits.STACK_LIMIT)
        exception = self._exception_of(stack)
        return stack if exception.error_class and exception.frames else ""


def _named_in(text: str) -> int:
    return len(_NAMED.findall(text)) if "):" in text else 0
