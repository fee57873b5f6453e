"""One file of errors as entries: occurrences, rejects, and what the file itself says is missing."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from nightwatch_core.adapters.files.limits import EXCERPT, STACK_LIMIT
from nightwatch_core.adapters.files.log_blocks import Block, TraceCutter
from nightwatch_core.adapters.files.record_fields import occurrence_of
from nightwatch_core.adapters.files.record_files import (
    Line,
    document_of,
    json_problem,
    kind_of,
    lines_of,
    open_text,
    values_of,
)
from nightwatch_core.adapters.files.record_formats import records_of
from nightwatch_core.adapters.files.record_values import name_of, text_of
from nightwatch_core.models.error import Occurrence, RejectedRecord
from nightwatch_core.models.trace import ExceptionLink

# What a file holds: a sentence says what the file itself tells to be missing; None is no error.
Entry = Occurrence | RejectedRecord | str | None
ExceptionOf = Callable[[str], ExceptionLink]  # reads a raw stack trace; none is one without frames

_DECODER = json.JSONDecoder(strict=False)  # exports hold raw tabs and newlines in strings


def entries_of(path: Path, label: str, exception_of: ExceptionOf) -> Iterator[Entry]:
    """Yield every entry of a file; raises `GiveUp` where it cannot be opened.

    `label` stands for the file in places: `label:17`.
    """
    with open_text(path) as text:
        kind, lines = kind_of(lines_of(text))
        if kind == "lines":
            yield from _from_lines(lines, label, exception_of)
        elif kind == "log":
            yield from _from_log(lines, label, exception_of)
    if kind == "document":
        yield from _from_document(path, label, exception_of)


def _from_lines(lines: Iterator[Line], label: str, exception_of: ExceptionOf) -> Iterator[Entry]:
    for line in lines:
        place = f"{label}:{line.number}"
        if line.problem:
            yield _rejected(place, line.problem, line.text)
        elif line.text.strip():
            try:
                value = _DECODER.decode(line.text.strip())
            except (ValueError, RecursionError) as error:
                yield _rejected(place, json_problem(error), line.text)
                continue
            yield from _from_value(value, place, exception_of)


def _from_document(path: Path, label: str, exception_of: ExceptionOf) -> Iterator[Entry]:
    with open_text(path) as again:
        document = document_of(again)
    for number, value, problem in () if document.is_too_long else values_of(document.text):
        place = f"{label}:{number}"
        if problem:
            yield _rejected(place, problem, str(value))
            yield f"{place}: {problem}; what follows could not be read"
        else:
            yield from _from_value(value, place, exception_of)
    if document.problem:
        yield _rejected(label, document.problem, document.text)
        yield f"{label}: {document.problem}"


def _from_log(lines: Iterator[Line], label: str, exception_of: ExceptionOf) -> Iterator[Entry]:
    cutter = TraceCutter()
    number, is_empty = 0, True
    for line in lines:
        number = line.number
        if line.problem:
            yield _rejected(f"{label}:{number}", line.problem, line.text)
            continue
        value = _object(line.text)
        entries = (
            _from_value(value, f"{label}:{number}", exception_of)
            if value is not None
            else _from_blocks(cutter.read(number, line.text), label, exception_of)
        )
        for entry in entries:
            is_empty = False
            yield None if value is not None and isinstance(entry, RejectedRecord) else entry
    for entry in _from_blocks(cutter.finish(), label, exception_of):
        is_empty = False
        yield entry
    if is_empty:
        yield f"{label}: {number} lines and no stack trace in them"


def _from_blocks(blocks: Iterator[Block], label: str, exception_of: ExceptionOf) -> Iterator[Entry]:
    for block in blocks:
        exception = exception_of(block.raw)
        place = f"{label}:{block.number}"
        if exception.error_class:
            yield Occurrence(
                error_class=name_of(exception.error_class),
                message=text_of(exception.message),
                stacktrace=text_of(block.raw, STACK_LIMIT),
                last_seen=block.at,
                place=place,
            )
        elif exception.frames:
            yield _rejected(place, "a stack trace without the name of an error", block.raw)


def _from_value(value: object, place: str, exception_of: ExceptionOf) -> Iterator[Entry]:
    for record in records_of(value):
        if isinstance(record, str):
            yield f"{place}: {record}"
        elif not record:
            yield _rejected(place, "not a JSON object", text_of(value))
        else:
            entry = occurrence_of(record, place, exception_of)
            is_problem = isinstance(entry, str)
            yield _rejected(place, str(entry), text_of(record)) if is_problem else entry


def _object(line: str) -> dict[str, object] | None:
    """The JSON object that is a whole line of a log."""
    if not line.startswith("{"):
        return None
    try:
        value = _DECODER.decode(line.strip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _rejected(place: str, reason: str, text: str) -> RejectedRecord:
    return RejectedRecord(place=place, reason=reason, text=text_of(text[:EXCERPT]))
