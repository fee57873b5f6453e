"""Answers of queries that are tables: columns and rows (Kusto, RQL of Rollbar, Redash)."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.shapes.fields import at, text_at
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape, objects_in

_COLUMNS, _ROWS, _TABLES = ("columns", "Columns"), ("rows", "Rows"), ("tables", "Tables")
_NAMES = ("name", "ColumnName", "columnName", "Name")


def _is_table(record: Record) -> bool:
    return isinstance(at(record, *_COLUMNS), list) and isinstance(at(record, *_ROWS), list)


def _table(record: Record, inside: Inside) -> Iterator[Item]:
    columns = at(record, *_COLUMNS)
    names = [
        one if isinstance(one, str) else text_at(one, *_NAMES)
        for one in (columns if isinstance(columns, list) else [])
    ]
    rows = at(record, *_ROWS)
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, list):
            pairs = zip(names, row, strict=False)
            yield from inside({name: value for name, value in pairs if name and value is not None})
        elif isinstance(row, Mapping):
            yield from inside(dict(row))


def _is_tables(record: Record) -> bool:
    return any(_is_table(one) for one in objects_in(at(record, *_TABLES)))


def _tables(record: Record, inside: Inside) -> Iterator[Item]:
    """Kusto's older answers hold tables about the query behind the result."""
    tables = [one for one in objects_in(at(record, *_TABLES)) if _is_table(one)]
    named = [one for one in tables if text_at(one, "name", "TableKind") == "PrimaryResult"]
    for table in named or tables[:1]:
        yield from inside(table)


def _is_other_frame(record: Record) -> bool:
    """Kusto's frames around the result."""
    kind = record.get("FrameType")
    return isinstance(kind, str) and record.get("TableKind") != "PrimaryResult"


def _nothing(_: Record, __: Inside) -> Iterator[Item]:
    yield from ()


QUERY_TABLES_FORMATS = (
    Shape("", _is_other_frame, _nothing, (), ("FrameType",)),
    Shape("", _is_tables, _tables, ("tables.columns", "tables.rows"), ("tables", "Tables")),
    Shape("", _is_table, _table, ("columns", "rows"), ("columns", "Columns")),
)
