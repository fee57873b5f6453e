"""One file of errors as entries: occurrences, rejects, and what the file itself says is missing."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from nightwatch_core.adapters.files.entries import Entry, EntryMaker
from nightwatch_core.adapters.files.json_values import json_problem, parts_of
from nightwatch_core.adapters.files.meter import Meter
from nightwatch_core.adapters.files.packed_files import contents_of
from nightwatch_core.adapters.files.refusals import unreadable
from nightwatch_core.adapters.files.reported_exceptions import ExceptionOf
from nightwatch_core.adapters.files.shapes.json_texts import DECODER, object_in
from nightwatch_core.adapters.files.tables import rows_of
from nightwatch_core.adapters.files.text_files import Line, TextFile, kind_of, lines_of
from nightwatch_core.adapters.files.zones import LATEST_YEAR, settled
from nightwatch_core.models.error import Occurrence, RejectedRecord

CLOCK_SLACK = timedelta(days=1)  # by which the clock of a record may be ahead of ours


class FileReader:
    """Reads the entries of one file, and counts the shapes it is made of."""

    def __init__(
        self,
        label: str,
        exception_of: ExceptionOf,
        meter: Meter | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        """Begin a file; `label` stands for it in places: `label:17`, `label/member:17`.

        Times that name no zone are of `zone`.
        """
        self._zone = zone
        self._label = label
        self._exception_of = exception_of
        self._meter = meter or Meter()
        self.shapes: Counter[str] = Counter()  # records by the name of their shape
        self.left_out: Counter[str] = Counter()  # what was not taken, by its reason
        self._maker = EntryMaker(exception_of, self.shapes)

    def entries(self, path: Path) -> Iterator[Entry]:
        """Yield every entry of the file, or of every file packed in it.

        Raises `GiveUp` where it cannot be opened, `Enough` at a bound of the reading.
        """
        latest = _written(path)
        for content in contents_of(path, self._label, self._meter):
            if isinstance(content, str):
                yield content
                continue
            self._label = content.label
            self._maker = EntryMaker(self._exception_of, self.shapes)
            for entry in self._from_text(TextFile(content.text)):
                self._meter.count_record()
                yield self._settled(entry, latest) if isinstance(entry, Occurrence) else entry
            self.left_out += self._maker.left_out

    def _settled(self, seen: Occurrence, latest: datetime) -> Occurrence:
        """The occurrence with times in UTC."""
        times = {"first_seen": seen.first_seen, "last_seen": seen.last_seen}
        right = {
            name: settled(time, self._zone, latest)
            for name, time in times.items()
            if time is not None and time.tzinfo is not UTC
        }
        return seen.model_copy(update=right) if right else seen

    def _from_text(self, text: TextFile) -> Iterator[Entry]:
        kind = kind_of(text)
        if kind == "lines":
            yield from self._from_lines(lines_of(text))
        elif kind == "log":
            yield from self._from_log(lines_of(text))
            return
        elif kind == "document":
            yield from self._from_document(text)
        elif kind == "table":
            yield from self._from_table(text)
        yield from self._maker.finish()

    def _from_lines(self, lines: Iterator[Line]) -> Iterator[Entry]:
        for line in lines:
            place = f"{self._label}:{line.number}"
            if line.problem:
                yield unreadable(place, line.problem, line.text)
            elif line.text.strip():
                try:
                    value = DECODER.decode(line.text.strip())
                except (ValueError, RecursionError) as error:
                    yield unreadable(place, json_problem(error), line.text)
                    continue
                yield from self._maker.of_value(value, place)

    def _from_document(self, text: TextFile) -> Iterator[Entry]:
        for number, value, problem in parts_of(text.read):
            place = f"{self._label}:{number}"
            if problem:
                yield unreadable(place, problem, str(value))
                yield f"{place}: {problem}; what follows could not be read"
            else:
                yield from self._maker.of_value(value, place)

    def _from_table(self, text: TextFile) -> Iterator[Entry]:
        for row in rows_of(text.pieces()):
            place = f"{self._label}:{row.number}"
            if row.problem:
                yield unreadable(place, row.problem, row.text)
            else:
                yield from self._maker.of_value(row.record, place)

    def _from_log(self, lines: Iterator[Line]) -> Iterator[Entry]:
        number, is_empty = 0, True
        for line in lines:
            number, place = line.number, f"{self._label}:{line.number}"
            if line.problem:
                yield unreadable(place, line.problem, line.text)
                continue
            value = object_in(line.text) if line.text.startswith("{") else None
            is_value = value is not None
            entries = (
                self._maker.of_value(value, place)
                if is_value
                else (self._maker.of_text(line.text, place))
            )
            for entry in entries:
                is_empty = False
                yield None if is_value and isinstance(entry, RejectedRecord) else entry
        for entry in self._maker.finish():
            is_empty = False
            yield entry
        if is_empty:
            yield f"{self._label}: {number} lines and no stack trace in them"


def _written(path: Path) -> datetime:
    """The latest time that a file can speak of without saying the year."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC) + CLOCK_SLACK
    except (OSError, ValueError, OverflowError):
        return datetime.max.replace(tzinfo=UTC, year=LATEST_YEAR)
