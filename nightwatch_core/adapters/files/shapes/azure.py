"""Azure: exceptions and telemetry of Application Insights, and tables that queries return."""

import json
from collections.abc import Iterator

from nightwatch_core.adapters.files.exceptions import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.records import number_of
from nightwatch_core.adapters.files.shapes.described import descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.fields import (
    QUIET,
    Inside,
    Item,
    Record,
    at,
    objects_in,
    record_of,
    text_at,
)

_DESCRIBED = descriptions("azure.toml")
_TELLING = frozenset(("problemid", "outertype", "outermessage", "exceptiontype"))


def _is_row(record: Record) -> bool:
    names = {name.lower() for name in record} if len(record) < 200 else set()
    return len(names & _TELLING) > 1 or {"problemid", "itemcount"} <= names


def _row(record: Record, _: Inside) -> Iterator[Item]:
    low = {name.lower().replace("_", ""): value for name, value in record.items()}
    row = _DESCRIBED["row"]
    details = _json(low.get("details"))
    listed = details if isinstance(details, list) else [details]
    chain = [_thrown(item) for item in objects_in(listed)]  # the outermost first
    stack = chain_text(chain, "csharp" if text_at(low, "outerassembly") else "")
    if not stack:
        frame = {"method": text_at(low, "outermethod", "method")}
        outer = thrown(row.text(low, "error_class"), row.text(low, "message"), [frame])
        stack = chain_text([outer], "csharp")
    yield row.read(low, chain, stack=stack)


def _json(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def _thrown(record: Record) -> Thrown:
    stack = _json(at(record, "parsedStack"))
    return thrown(at(record, "type", "typeName", "exceptionType"), record.get("message"), stack)


def _telemetry(record: Record, _: Inside) -> Iterator[Item]:
    """Browsers' stacks as they printed them hold the columns that the frames lack."""
    telemetry = _DESCRIBED["telemetry"]
    exceptions = objects_in(at(record, "data.baseData.exceptions"))
    printed = [text for item in exceptions if (text := text_at(item, "stack"))]
    is_whole = bool(printed) and "://" in printed[0] and "\n" in printed[0]
    stack = "" if is_whole else chain_text(telemetry.chain(record))
    yield telemetry.read(record, stack=stack or next(iter(printed), ""))


def _export(record: Record, _: Inside) -> Iterator[Item]:
    export = _DESCRIBED["export"]
    for item in objects_in(record.get("basicException")):
        document = {**record, "thrown": item}
        names = export.text(document, "error_class"), export.text(document, "message")
        stack = chain_text([thrown(*names, item.get("parsedStack"))], "csharp")
        yield export.read(document, stack=stack)


def _detail(record: Record, _: Inside) -> Iterator[Item]:
    if number_of(record.get("outerId")):
        yield QUIET  # what the exception beside it was thrown for
        return
    found = _thrown(record)
    frame = at(record, "parsedStack.0")
    is_dotnet = isinstance(frame, dict) and "assembly" in frame
    yield record_of(
        error_class=found.error_class,
        message=found.message,
        stack=chain_text([found], "csharp" if is_dotnet else ""),
    )


def _quiet(_: Record, __: Inside) -> Iterator[Item]:
    yield QUIET


_NAMES = ("name", "ColumnName", "columnName", "Name")


def _table(record: Record, inside: Inside) -> Iterator[Item]:
    columns, rows = at(record, "columns", "Columns"), at(record, "rows", "Rows")
    names = [
        column if isinstance(column, str) else text_at(column, *_NAMES)
        for column in (columns if isinstance(columns, list) else [])
    ]
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, list):
            pairs = zip(names, row, strict=False)
            yield from inside({name: value for name, value in pairs if name and value is not None})
        elif isinstance(row, dict):
            yield from inside(row)


def _tables(record: Record, inside: Inside) -> Iterator[Item]:
    tables = objects_in(at(record, "tables", "Tables"))
    results = [item for item in tables if text_at(item, "name", "TableKind") == "PrimaryResult"]
    for table in results or tables[:1]:
        yield from inside(table)


AZURE = shapes_of(
    _DESCRIBED,
    {
        "telemetry": _telemetry,
        "other_telemetry": _quiet,
        "detail": _detail,
        "export": _export,
        "row": _row,
        "result_frame": _table,
        "tables": _tables,
        "table": _table,
    },
    {"row": _is_row},
)
