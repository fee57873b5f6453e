"""Tables as text with a line of names: CSV, with tabs, semicolons or bars, and what Excel makes."""

import csv
import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from nightwatch_core.adapters.files.limits import EXCERPT, HEAD, LINE_LIMIT, MAX_FIELDS
from nightwatch_core.adapters.files.packed_files import CUT_OFF, DAMAGE
from nightwatch_core.adapters.files.record_fields import FIELDS, squeezed

if TYPE_CHECKING:
    from _csv import Reader as _Reader

DELIMITERS = ",;\t|"
# Columns that say what happened, in the words of tables that call them nothing else.
TELLING = frozenset(
    squeezed(name)
    for name in (
        "error.class", "error.type", "error.message", "error.stack_trace", "error.stack", "message",
        "@message", "msg", "exception", "exception.type", "exception.message", "stack_trace",
        "stacktrace", "backtrace", "traceback", "stack", "error", "body", "title", "details",
        "content", "log", "line", "_raw", "textPayload", "jsonPayload.message", "outerMessage",
        "error_class", "error.exception.message", "error.exception.type",
        "exception.stacktrace", "exc_info", "description",
    )
)  # fmt: skip
_KNOWN = TELLING.union(squeezed(name) for names in FIELDS.values() for name in names)
# Cells of these are texts whatever they look like.
_TEXTS = frozenset(map(squeezed, ("message", "msg", "log", "line", "content", "_raw", "body")))
_SEPARATOR = re.compile(r"\ufeff?\"?sep=(.)\"?\s*$", re.IGNORECASE)  # Excel's first line
_NAME = re.compile(r"[A-Za-z_@#$.][^\x00-\x1f\"{}]{0,79}$")
_ZONE = re.compile(r"\s*\[(UTC|GMT)\]$")  # behind the name of a column of times
_MOST_WORDS = 4  # of a column's name


class Row(NamedTuple):
    """A record and the line it begins at; a problem says why it is only a text."""

    number: int
    record: dict[str, object]
    text: str = ""
    problem: str = ""


def is_table(firsts: list[str]) -> bool:
    r"""Tell by its first lines whether a text is a table of records with a line of names.

    >>> is_table(["timestamp;error.class\n", "1;KeyError\n"]), is_table(["a, b\n", "c, d\n"])
    (True, False)
    """
    if not firsts or len(firsts[0]) > HEAD or firsts[0].startswith(("{", "[")):
        return False
    if _SEPARATOR.match(firsts[0]):
        return True
    names, second = _names(firsts[0]), (firsts[1:] or [""])[0]
    if names is None:
        return False
    delimiter = _delimiter(firsts[0])
    cells = next(csv.reader([second[:HEAD]], delimiter=delimiter), [])
    return not second or len(cells) == len(names) or second.count('"') % 2 == 1


def _names(line: str) -> list[str] | None:
    """The names of columns; None where the line holds none."""
    cells = [cell.strip() for cell in next(csv.reader([line], delimiter=_delimiter(line)), [])]
    if not 2 <= len(cells) <= MAX_FIELDS:
        return None
    if not all(_NAME.match(cell) and len(cell.split()) <= _MOST_WORDS for cell in cells if cell):
        return None
    names = {squeezed(_ZONE.sub("", cell)) for cell in cells}
    return cells if names & TELLING and len(names & _KNOWN) > 1 else None


def _delimiter(line: str) -> str:
    bare = re.sub(r'"[^"]*"', "", line)
    return max(DELIMITERS, key=bare.count)


def rows_of(pieces: Iterator[str]) -> Iterator[Row]:
    r"""Every row as a record with the names of the columns; empty cells are left out.

    >>> rows = rows_of(iter(["type;message\n", 'KeyError;"a ""b""\n', 'c"\n']))
    >>> [(row.number, row.record) for row in rows]
    [(2, {'type': 'KeyError', 'message': 'a "b"\nc'})]
    """
    csv.field_size_limit(LINE_LIMIT)
    before, first, delimiter = 0, "", ""
    while not first.strip():
        before, first = before + 1, next(pieces, "")
        if not first:
            return
        if separator := _SEPARATOR.match(first):
            first, delimiter = "", separator[1]
    reader = csv.reader(chain([first], pieces), delimiter=delimiter or _delimiter(first))
    names = [name.strip() for name in next(reader, [])]
    yield from _records(reader, names, before - 1)


def _records(reader: "_Reader", names: list[str], before: int) -> Iterator[Row]:
    """Rows below the names; `before` lines were passed over above them."""
    columns = [_column(name) for name in names]
    number = 0
    try:
        while True:
            number = before + reader.line_num + 1
            try:
                cells = next(reader)
            except csv.Error as error:
                yield Row(number, {}, "", f"a row that cannot be read ({error})")
                continue
            if any(cells):
                yield _row(number, cells, columns)
    except StopIteration:
        return
    except DAMAGE:
        yield Row(number, {}, "", CUT_OFF)


def _row(number: int, cells: list[str], columns: list[tuple[str, str, bool]]) -> Row:
    if any(cells[len(columns) :]):
        problem = f"{len(cells)} cells below {len(columns)} names: quotes are missing"
        return Row(number, {}, " ".join(cells)[:EXCERPT], problem)
    record: dict[str, object] = {}
    for (name, zone, may_be_json), cell in zip(columns, cells, strict=False):
        if cell and not cell.isspace():
            record.setdefault(name, _value(cell) if may_be_json else cell + zone)
    return Row(number, record)


def _column(name: str) -> tuple[str, str, bool]:
    """A column's name, the zone of its times, and whether its cells may hold JSON."""
    zone = _ZONE.search(name)
    plain = _ZONE.sub("", name)
    return plain, f" {zone[1]}" if zone else "", not zone and squeezed(plain) not in _TEXTS


def _value(cell: str) -> object:
    """The cell, or the object or list that it holds as JSON."""
    if cell[0] not in "{[" or cell[-1] not in "}]":
        return cell
    try:
        return json.loads(cell, strict=False)
    except (ValueError, RecursionError):
        return cell
