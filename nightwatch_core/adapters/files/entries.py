"""Values and lines of one file as entries: occurrences, rejects, and what is missing."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from nightwatch_core.adapters.files.doubts import Doubts
from nightwatch_core.adapters.files.limits import MAX_STREAMS, TIME_REACH
from nightwatch_core.adapters.files.line_shapes import line_of
from nightwatch_core.adapters.files.log_streams import LogStreams, Read
from nightwatch_core.adapters.files.occurrences import occurrence_of
from nightwatch_core.adapters.files.refusals import refusal, unreadable
from nightwatch_core.adapters.files.reported_exceptions import ExceptionOf
from nightwatch_core.adapters.files.shapes.json_texts import json_in
from nightwatch_core.adapters.files.shapes.plain_records import line_of_record
from nightwatch_core.adapters.files.shapes.shape import Item, LogLine, Record
from nightwatch_core.adapters.files.shapes.table import records_of
from nightwatch_core.models.error import Occurrence, RejectedRecord

# What a file holds: a sentence says what the file itself tells to be missing; None is no error.
Entry = Occurrence | RejectedRecord | str | None

_CLOCK = re.compile(r"\d:\d\d")
PLAIN_LOG = "stack trace in a log"
IN_LOG = "record in a log"
NAMELESS = "a stack trace without the name of an error; is its beginning or its end cut off?"
LOUD_LINES = "lines of level error that belong to no stack trace and name no exception"
CUT_SHORT = f"stack traces cut short: more than {MAX_STREAMS} streams of a log ran side by side"


class EntryMaker:
    """Makes entries of what stands in one file, in its order; traces come when they end."""

    def __init__(self, exception_of: ExceptionOf, shapes: Counter[str]) -> None:
        """Begin a file; counts in `shapes` how many records came in which shape."""
        self._exception_of = exception_of
        self._shapes = shapes
        self._streams = LogStreams(exception_of)
        self._lines = 0  # records that are lines of a log
        self._doubts = Doubts(exception_of)
        self._above: LogLine | None = None  # the last line that said its stream and time
        self._plain_shape = PLAIN_LOG
        self._is_plain = False

    @property
    def left_out(self) -> Counter[str]:
        """Count what was not taken though it may matter, by its reason, once all is read."""
        loud = self._streams.left_out + self._doubts.left_out
        return +Counter({LOUD_LINES: loud, CUT_SHORT: self._streams.cut_short})

    def of_value(self, value: object, place: str) -> Iterator[Entry]:
        """Yield the entries of a JSON value or a row of a table."""
        for item in records_of(value, self._shapes):
            yield from self._of_item(item, place)

    def of_text(self, text: str, place: str) -> Iterator[Entry]:
        """Yield the entries of a line that is no JSON."""
        self._is_plain = True
        for read in self._streams.read(self._line_of(text), place):
            yield from self._of_read(read)

    def _line_of(self, text: str) -> LogLine:
        """A line without a prefix of its own goes on in the message of the line above."""
        shaped = line_of(text)
        if shaped is not None:
            self._plain_shape, line = shaped
            self._above = line if line.around.get("time") else None
            return line
        if self._above is not None and not _CLOCK.search(text, 0, TIME_REACH):
            return self._above._replace(text=text, is_part=False)
        self._above = None
        return LogLine(text)

    def finish(self) -> Iterator[Entry]:
        """End the file: yields what waited for its end."""
        for read in chain(self._streams.finish(), self._doubts.streams.finish()):
            yield from self._of_read(read)
        yield from self._doubts.finish()
        yield from (None for _ in range(self._lines - self._streams.of_traces))

    def _of_item(self, item: Item, place: str) -> Iterator[Entry]:
        if isinstance(item, str):
            yield f"{place}: {item}"
        elif isinstance(item, LogLine):
            self._lines += 1
            for read in self._streams.read(item, place):
                yield from self._of_read(read)
        elif not item:
            yield unreadable(place, "not a JSON object", "")
        else:
            yield from self._of_record(item, place)

    def _of_record(self, record: Record, place: str) -> Iterator[Entry]:
        entry = occurrence_of(record, place, self._exception_of)
        if not isinstance(entry, str):
            yield entry
            return
        line = line_of_record(record)
        if line and json_in(line.text) is not None:
            yield from self._of_item(line, place)
            return
        if line and self._doubts.may_be_lines:
            for read in self._doubts.streams.read(line, place):
                yield from self._of_read(read)
        logged = occurrence_of(record, place, self._exception_of, words_do=True)
        alone = refusal(place, logged, record) if isinstance(logged, str) else logged
        yield from self._doubts.take(alone) if line else (alone,)

    def _of_read(self, read: Read) -> Iterator[Entry]:
        if not read.lines:
            self._lines -= not self._is_plain
            if self._is_plain:
                self._shapes[IN_LOG] += 1
            yield from self._of_item(read.item, read.place)
        elif not isinstance(read.item, str | LogLine):
            yield from self._of_trace(read.item, read.place)

    def _of_trace(self, record: Record, place: str) -> Iterator[Entry]:
        entry = occurrence_of(record, place, self._exception_of)
        if isinstance(entry, Occurrence):
            if self._is_plain:
                self._shapes[self._plain_shape] += 1
            yield entry
            return
        raw = "\n".join(record["stack_trace"]) if isinstance(record["stack_trace"], list) else ""
        if self._exception_of(raw).frames:
            yield unreadable(place, NAMELESS, raw)
