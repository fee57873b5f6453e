"""Texts of logs, told apart by stream, made into records: traces over many lines are one record."""

from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from nightwatch_core.adapters.files.limits import (
    BLOCK_LIMIT,
    HEADER_LINES,
    MAX_STREAMS,
    STACK_LIMIT,
)
from nightwatch_core.adapters.files.line_order import LineOrder, Placed
from nightwatch_core.adapters.files.log_blocks import Block, TraceCutter
from nightwatch_core.adapters.files.record_levels import is_loud
from nightwatch_core.adapters.files.record_values import has_lines, text_of
from nightwatch_core.adapters.files.reported_exceptions import ExceptionOf
from nightwatch_core.adapters.files.shapes.around import surrounded
from nightwatch_core.adapters.files.shapes.json_texts import json_in
from nightwatch_core.adapters.files.shapes.shape import Item, LogLine
from nightwatch_core.adapters.files.shapes.table import records_of
from nightwatch_core.adapters.files.times import time_in_log
from nightwatch_core.traces.line_prefixes import stream_of

_WHOLE_PART = 16_000  # bytes of a text from which Docker cuts it, with or without its end
_MOST_BYTES = 4  # of a character


class Read(NamedTuple):
    """What came of texts: a record of its own, or one of a trace that was cut out of lines."""

    place: str
    item: Item
    lines: int = 0  # of a log, out of which a trace was cut


@dataclass
class _Stream:
    """The lines of one container, process or file."""

    cutter: TraceCutter = field(default_factory=TraceCutter)
    number: int = 0
    recent: dict[int, Placed] = field(default_factory=dict)  # lines a trace may begin with
    part: list[str] = field(default_factory=list)
    size: int = 0  # characters of the parts
    ends_lines: bool = False  # texts of the stream that are whole have an end

    def joined(self, line: LogLine) -> LogLine | None:
        """The whole line; None while it goes on."""
        self.ends_lines |= line.text.endswith("\n")
        goes_on = self._may_go_on(line.text) if line.is_part is None else line.is_part
        if goes_on and self.size <= BLOCK_LIMIT:
            self.part.append(line.text)
            self.size += len(line.text)
            return None
        if not self.part:
            return line
        text = "".join((*self.part, line.text))
        self.part, self.size = [], 0
        return line._replace(text=text)

    def _may_go_on(self, text: str) -> bool:
        may_be = len(text) * _MOST_BYTES > _WHOLE_PART
        return self.ends_lines or (may_be and len(text.encode("utf-8", "replace")) > _WHOLE_PART)

    def read(self, placed: Placed) -> Iterator[Read]:
        """Go on by the lines of one text."""
        for text in placed.line.text.rstrip("\n").split("\n"):
            self.number += 1
            if not self.cutter.is_open:
                self._remember(placed)
            for block in self.cutter.read(self.number, text):
                yield self._read(block)
                self.recent = {self.number: placed}

    def finish(self) -> Iterator[Read]:
        """End the trace that is open."""
        yield from (self._read(block) for block in self.cutter.finish())

    def _remember(self, placed: Placed) -> None:
        # Their texts are in the cutter, cut; here they would be kept whole, of every stream.
        self.recent[self.number] = placed._replace(line=placed.line._replace(text=""))
        if len(self.recent) > HEADER_LINES + 1:
            del self.recent[next(iter(self.recent))]

    def _read(self, block: Block) -> Read:
        first = self.recent.get(block.number) or next(iter(self.recent.values()))
        around = {
            "time": block.at,
            **{k: v for k, v in first.line.around.items() if v},
        }
        record = {"stack_trace": [block.raw], "around": around}
        return Read(first.place, record, block.raw.count("\n") + 1)


class LogStreams:
    """Reads the texts of the logs in one file, each in the stream it belongs to."""

    def __init__(self, exception_of: ExceptionOf) -> None:
        """Begin without streams; `exception_of` reads class and message from a raw stack trace."""
        self._exception_of = exception_of
        self._order = LineOrder()
        self._streams: OrderedDict[tuple[str, str], _Stream] = OrderedDict()
        self._processes: dict[str, str] = {}  # of the last line, by stream
        self._loud = 0  # lines of level error and above
        self.cut_short = 0  # traces of streams that had to be ended
        self.of_traces = 0  # lines that traces were cut out of

    @property
    def left_out(self) -> int:
        """Lines of level error that belong to no stack trace, once all is read."""
        return max(0, self._loud - self.of_traces)

    def read(self, line: LogLine, place: str) -> Iterator[Read]:
        """Yield what a text makes known; its own traces may come later, when they end."""
        if self._order.is_turn(line):
            yield from self._placed(Placed(place, line))
            return
        for placed in self._order.read(Placed(place, line)):
            yield from self._placed(placed)

    def finish(self) -> Iterator[Read]:
        """End the file: yields the traces that are open."""
        for placed in self._order.finish():
            yield from self._placed(placed)
        while self._streams:
            yield from self._ended()

    def _placed(self, placed: Placed) -> Iterator[Read]:
        name = self._process(placed.line)
        stream = self._streams.get(name)
        if stream is None:
            if len(self._streams) >= MAX_STREAMS:
                self.cut_short += next(iter(self._streams.values())).cutter.is_open
                yield from self._ended()
            stream = self._streams[name] = _Stream()
        self._streams.move_to_end(name)
        line = stream.joined(placed.line)
        if line is not None:
            yield from self._text(stream, Placed(placed.place, line))

    def _process(self, line: LogLine) -> tuple[str, str]:
        """The stream of a line, and the process that it names; else the one of the line before."""
        process = stream_of(line.text) or self._processes.get(line.stream, "")
        if len(self._processes) >= MAX_STREAMS:
            self._processes.clear()
        self._processes[line.stream] = process
        return line.stream, process

    def _ended(self) -> Iterator[Read]:
        _, stream = self._streams.popitem(last=False)
        yield from self._counted(stream.finish())

    def _text(self, stream: _Stream, placed: Placed) -> Iterator[Read]:
        line = placed.line
        value = json_in(line.text)
        if value is not None:
            for item in records_of(value, Counter()):
                inner = surrounded(item, line)
                if isinstance(inner, LogLine):
                    yield from self._placed(Placed(placed.place, inner))
                else:
                    yield Read(placed.place, inner)
            return
        whole = self._whole(line.text)
        if whole:
            around = {"time": time_in_log(line.text), **line.around}
            yield Read(placed.place, {"stack_trace": whole, "around": around})
            return
        level = line.around.get("level")
        self._loud += bool(level) and is_loud(level)
        yield from self._counted(stream.read(placed))

    def _counted(self, blocks: Iterator[Read]) -> Iterator[Read]:
        for block in blocks:
            self.of_traces += block.lines
            yield block

    def _whole(self, text: str) -> str:
        """The text where it holds a whole stack trace; else empty."""
        if not has_lines(text):
            return ""
        stack = text_of(text, STACK_LIMIT)
        exception = self._exception_of(stack)
        return stack if exception.error_class and exception.frames else ""
