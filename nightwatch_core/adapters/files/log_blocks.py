"""Stack traces cut out of plain logs, of every language the parsers of traces know."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from nightwatch_core.adapters.files.limits import HEADER_LINES, LINE_READ, TIME_REACH
from nightwatch_core.adapters.files.log_styles import (
    PHP_FATAL,
    PYTHON,
    framed_by,
    may_open,
    names_error,
    opened_by,
)
from nightwatch_core.adapters.files.open_traces import OpenTrace
from nightwatch_core.adapters.files.times import time_in_log
from nightwatch_core.traces import python_text
from nightwatch_core.traces.clean_text import lines_in_log_line
from nightwatch_core.traces.shared_prefix import SharedPrefix, has_head

_CLOCK = re.compile(r"\d:\d\d|\d{8}")
_CLOCKS = 8  # lines with a clock among which the newest with a date is looked for
# AWS Lambda names an exception of Python above its frames, and never below them.
_NAMED_ABOVE = re.compile(r"\[ERROR\] ([A-Za-z_][\w.]{0,200})(?:: .{0,2000})?$")
_SIDEKIQ = re.compile(r"^(?:\w{2,10}=\S{1,60} ){1,6}(?:WARN|ERROR|FATAL): ")


@dataclass(frozen=True)
class Block:
    """A stack trace, the line it begins at, and the time the log gives it."""

    raw: str
    number: int
    at: datetime | None


class TraceCutter:
    """Goes through the lines of one process; keeps a few above, and the stack trace being read.

    >>> log = ["2026-11-03 10:00:00 ERROR no total", "KeyError: 'total'", "  a.rb:1:in `x'", "bye"]
    >>> cutter = TraceCutter()
    >>> blocks = [block for n, line in enumerate(log, 1) for block in cutter.read(n, line)]
    >>> [(block.raw, block.number, block.at.hour) for block in blocks]
    [("KeyError: 'total'\\n  a.rb:1:in `x'", 2, 10)]
    """

    def __init__(self) -> None:
        """Begin at the first line of a log."""
        self._above: deque[tuple[int, str]] = deque(maxlen=HEADER_LINES)  # as they came
        self._clocks: deque[str] = deque(maxlen=_CLOCKS)
        self._open: OpenTrace | None = None
        self._time: datetime | None = None
        self._prefix = SharedPrefix()

    @property
    def is_open(self) -> bool:
        """Whether the last line belongs to a stack trace."""
        return self._open is not None

    def read(self, number: int, line: str) -> Iterable[Block]:
        """Go on by one line; gives the stack traces that it ends."""
        if self._open is None:
            self._look_at_clock(line)
            if not may_open(line):
                self._above.append(
                    (number, line[:LINE_READ])
                )  # nothing more is done with most lines
                return ()
        texts = self._texts(line)
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
        texts = [self._prefix.without(text[:LINE_READ]) for text in lines_in_log_line(line)]
        return [_SIDEKIQ.sub("", text, count=1) if "=" in text[:12] else text for text in texts]

    def _read(self, number: int, text: str, line: str) -> Iterator[Block]:
        if self._open is not None:
            waited = len(self._open.pending)
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
            self._above.clear()

    def _ended(self) -> Iterator[Block]:
        """The trace that is over; the lines that waited for more of it are read on their own."""
        trace, self._open = self._open, None
        if trace is not None:
            yield Block("\n".join(trace.whole_lines), trace.number, trace.at)
            for number, text in trace.pending:
                yield from self._read(number, text, text)

    def _without_shared_prefix(self, text: str) -> str:
        """The line without what a frame and the line above it begin with."""
        if not has_head(text):
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
        if style is None and python_text.FRAME.match(text):  # the end of one that was cut off
            return OpenTrace(PYTHON, [text], number, self._newest_time(), is_end=True)
        if style is None:
            return None
        header = self._header(_begins_record(line))
        first = header[0][0] if header else number
        lines = [*(one for _, one in header), text]
        return OpenTrace(style, lines, first, self._newest_time())

    def _look_at_clock(self, line: str) -> None:
        if line[:1].strip() and _CLOCK.search(line, 0, TIME_REACH):
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
        for number, line in reversed(self._above):
            for text in reversed(self._texts(line)):
                taken.insert(0, (number, text))
                if names_error(text):
                    return taken
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
