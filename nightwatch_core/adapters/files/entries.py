"""One file of errors as entries: occurrences, rejects, and what the file itself says is missing."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from nightwatch_core.adapters.files.log_blocks import Block, TraceCutter
from nightwatch_core.adapters.files.record_fields import occurrence_of
from nightwatch_core.adapters.files.record_files import (
    EXCERPT,
    Line,
    document_of,
    json_problem,
    kind_of,
    lines_of,
    open_text,
    values_of,
)
from nightwatch_core.adapters.files.record_formats import records_of
from nightwatch_core.adapters.files.record_values import STACK_LIMIT, name_of, text_of
from nightwatch_core.models.error import ExceptionLink, Occurrence, RejectedRecord

Entry = (
    Occurrence | RejectedRecord | str | None
)  # a sentence says what is missing; None is no error
Named = Callable[
    [str], ExceptionLink
]  # the exception of a raw stack trace; without frames it holds none

_DECODER = json.JSONDecoder(strict=False)  # exports hold raw tabs and newlines in strings


def entries_of(path: Path, label: str, named: Named) -> Iterator[Entry]:
    """Every entry of a file; raises `GiveUp` where it cannot be opened.

    `label` stands for the file in places: `label:17`.
    """
    with open_text(path) as text:
        kind, lines = kind_of(lines_of(text))
        if kind == "lines":
            yield from _from_lines(lines, label, named)
        elif kind == "log":
            yield from _from_log(lines, label, named)
    if kind == "document":
        yield from _from_document(path, label, named)


def _from_lines(lines: Iterator[Line], label: str, named: Named) -> Iterator[Entry]:
    for line in lines:
        place = f"{label}:{line.number}"
        if line.problem:
            yield RejectedRecord(place=place, reason=line.problem, text=text_of(line.text, EXCERPT))
        elif line.text.strip():
            try:
                value = _DECODER.decode(line.text.strip())
            except (ValueError, RecursionError) as error:
                reason = json_problem(error)
                yield RejectedRecord(place=place, reason=reason, text=_excerpt(line.text))
                continue
            yield from _from_value(value, place, named)


def _from_document(path: Path, label: str, named: Named) -> Iterator[Entry]:
    with open_text(path) as again:
        whole, problem = document_of(again)
    if not problem or not problem.startswith("longer"):
        for number, value, broken in values_of(whole):
            place = f"{label}:{number}"
            if broken:
                yield RejectedRecord(place=place, reason=broken, text=_excerpt(str(value)))
                yield f"{place}: {broken}; what follows could not be read"
            else:
                yield from _from_value(value, place, named)
    if problem:
        yield RejectedRecord(place=label, reason=problem, text=_excerpt(whole))
        yield f"{label}: {problem}"


def _from_log(lines: Iterator[Line], label: str, named: Named) -> Iterator[Entry]:
    cutter = TraceCutter()
    number, found = 0, False
    for line in lines:
        number = line.number
        if line.problem:
            yield RejectedRecord(
                place=f"{label}:{number}", reason=line.problem, text=_excerpt(line.text)
            )
            continue
        value = _object(line.text)
        entries = (
            _from_value(value, f"{label}:{number}", named)
            if value is not None
            else _from_blocks(cutter.read(number, line.text), label, named)
        )
        for entry in entries:
            found = True
            yield None if value is not None and isinstance(entry, RejectedRecord) else entry
    for entry in _from_blocks(cutter.finish(), label, named):
        found = True
        yield entry
    if not found:
        yield f"{label}: {number} lines and no stack trace in them"


def _from_blocks(blocks: Iterator[Block], label: str, named: Named) -> Iterator[Entry]:
    for block in blocks:
        exception = named(block.raw)
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
            reason = "a stack trace without the name of an error"
            yield RejectedRecord(place=place, reason=reason, text=_excerpt(block.raw))


def _from_value(value: object, place: str, named: Named) -> Iterator[Entry]:
    for found in records_of(value):
        if isinstance(found, str):
            yield f"{place}: {found}"
        elif not found:
            yield RejectedRecord(
                place=place, reason="not a JSON object", text=_excerpt(text_of(value))
            )
        else:
            entry = occurrence_of(found, place, named)
            if isinstance(entry, str):
                yield RejectedRecord(place=place, reason=entry, text=_excerpt(text_of(found)))
            else:
                yield entry


def _object(line: str) -> dict[str, object] | None:
    """The JSON object that is a whole line of a log."""
    if not line.startswith("{"):
        return None
    try:
        value = _DECODER.decode(line.strip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _excerpt(text: str) -> str:
    return text_of(text[:EXCERPT])
