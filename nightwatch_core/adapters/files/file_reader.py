"""One file of errors as entries: occurrences, rejects, and what the file itself says is missing."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from nightwatch_core.adapters.files.json_values import DECODER, json_problem, parts_of
from nightwatch_core.adapters.files.limits import EXCERPT, STACK_LIMIT
from nightwatch_core.adapters.files.log_blocks import Block, TraceCutter
from nightwatch_core.adapters.files.meter import Meter
from nightwatch_core.adapters.files.packed_files import contents_of
from nightwatch_core.adapters.files.record_fields import occurrence_of
from nightwatch_core.adapters.files.record_values import name_of, text_of
from nightwatch_core.adapters.files.shapes.table import records_of
from nightwatch_core.adapters.files.tables import rows_of
from nightwatch_core.adapters.files.text_files import Line, TextFile, kind_of, lines_of
from nightwatch_core.models.error import Occurrence, RejectedRecord
from nightwatch_core.models.trace import ExceptionLink

# What a file holds: a sentence says what the file itself tells to be missing; None is no error.
Entry = Occurrence | RejectedRecord | str | None
ExceptionOf = Callable[[str], ExceptionLink]  # reads a raw stack trace; none is one without frames

PLAIN_LOG = "stack trace in a log"


class FileReader:
    """Reads the entries of one file, and counts the shapes it is made of."""

    def __init__(self, label: str, exception_of: ExceptionOf, meter: Meter | None = None) -> None:
        """Begin a file; `label` stands for it in places: `label:17`, `label/member:17`."""
        self._label = label
        self._exception_of = exception_of
        self._meter = meter or Meter()
        self.shapes: Counter[str] = Counter()  # records by the name of their shape

    def entries(self, path: Path) -> Iterator[Entry]:
        """Yield every entry of the file, or of every file packed in it.

        Raises `GiveUp` where it cannot be opened, `Enough` at a bound of the reading.
        """
        for content in contents_of(path, self._label, self._meter):
            if isinstance(content, str):
                yield content
                continue
            self._label = content.label
            for entry in self._from_text(TextFile(content.text)):
                self._meter.count_record()
                yield entry

    def _from_text(self, text: TextFile) -> Iterator[Entry]:
        kind = kind_of(text)
        if kind == "lines":
            yield from self._from_lines(lines_of(text))
        elif kind == "log":
            yield from self._from_log(lines_of(text))
        elif kind == "document":
            yield from self._from_document(text)
        elif kind == "table":
            yield from self._from_table(text)

    def _from_lines(self, lines: Iterator[Line]) -> Iterator[Entry]:
        for line in lines:
            place = f"{self._label}:{line.number}"
            if line.problem:
                yield _rejected(place, line.problem, line.text)
            elif line.text.strip():
                try:
                    value = DECODER.decode(line.text.strip())
                except (ValueError, RecursionError) as error:
                    yield _rejected(place, json_problem(error), line.text)
                    continue
                yield from self._from_value(value, place)

    def _from_document(self, text: TextFile) -> Iterator[Entry]:
        for number, value, problem in parts_of(text.read):
            place = f"{self._label}:{number}"
            if problem:
                yield _rejected(place, problem, str(value))
                yield f"{place}: {problem}; what follows could not be read"
            else:
                yield from self._from_value(value, place)

    def _from_table(self, text: TextFile) -> Iterator[Entry]:
        for row in rows_of(text.pieces()):
            place = f"{self._label}:{row.number}"
            if row.problem:
                yield _rejected(place, row.problem, row.text)
            else:
                yield from self._from_value(row.record, place)

    def _from_log(self, lines: Iterator[Line]) -> Iterator[Entry]:
        cutter = TraceCutter()
        number, is_empty = 0, True
        for line in lines:
            number = line.number
            if line.problem:
                yield _rejected(f"{self._label}:{number}", line.problem, line.text)
                continue
            value = _object(line.text)
            entries = (
                self._from_value(value, f"{self._label}:{number}")
                if value is not None
                else self._from_blocks(cutter.read(number, line.text))
            )
            for entry in entries:
                is_empty = False
                yield None if value is not None and isinstance(entry, RejectedRecord) else entry
        for entry in self._from_blocks(cutter.finish()):
            is_empty = False
            yield entry
        if is_empty:
            yield f"{self._label}: {number} lines and no stack trace in them"

    def _from_blocks(self, blocks: Iterator[Block]) -> Iterator[Entry]:
        for block in blocks:
            exception = self._exception_of(block.raw)
            place = f"{self._label}:{block.number}"
            if exception.error_class:
                self.shapes[PLAIN_LOG] += 1
                yield Occurrence(
                    error_class=name_of(exception.error_class),
                    message=text_of(exception.message),
                    stacktrace=text_of(block.raw, STACK_LIMIT),
                    last_seen=block.at,
                    place=place,
                )
            elif exception.frames:
                yield _rejected(place, "a stack trace without the name of an error", block.raw)

    def _from_value(self, value: object, place: str) -> Iterator[Entry]:
        for record in records_of(value, self.shapes):
            if isinstance(record, str):
                yield f"{place}: {record}"
            elif not record:
                yield _rejected(place, "not a JSON object", text_of(value))
            else:
                entry = occurrence_of(record, place, self._exception_of)
                is_problem = isinstance(entry, str)
                yield _rejected(place, str(entry), text_of(record)) if is_problem else entry


def _object(line: str) -> dict[str, object] | None:
    """The JSON object that is a whole line of a log."""
    if not line.startswith("{"):
        return None
    try:
        value = DECODER.decode(line.strip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _rejected(place: str, reason: str, text: str) -> RejectedRecord:
    return RejectedRecord(place=place, reason=reason, text=text_of(text[:EXCERPT]))
