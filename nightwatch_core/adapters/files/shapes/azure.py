"""Azure: exceptions and telemetry of Application Insights, and tables that queries return."""

import json
from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.records import number_of
from nightwatch_core.adapters.files.shapes.fields import (
    QUIET,
    Inside,
    Item,
    Record,
    Shape,
    at,
    objects_in,
    record_of,
    shape,
    text_at,
)

_TELLING = frozenset(("problemid", "outertype", "outermessage", "exceptiontype"))


def _is_row(record: Record) -> bool:
    names = {name.lower() for name in record} if len(record) < 200 else set()
    return len(names & _TELLING) > 1 or {"problemid", "itemcount"} <= names


def _row(record: Record, _: Inside) -> Iterator[Item]:
    low = {name.lower().replace("_", ""): value for name, value in record.items()}
    chain = _details(low.get("details"))
    outer = Thrown(
        text_at(low, "outertype", "type", "exceptiontype", "outerexceptiontype"),
        text_at(low, "outermessage", "message", "innermostmessage"),
    )
    first = chain[0] if chain else outer
    method, assembly = text_at(low, "outermethod", "method"), text_at(low, "outerassembly")
    stack = chain_text(chain, "csharp" if assembly else "") or _method(outer, method)
    yield record_of(
        error_class=first.error_class or outer.error_class,
        message=first.message or outer.message,
        stack=stack,
        transaction=text_at(low, "operationname"),
        app=text_at(low, "cloudrolename", "approlename", "appname"),
        release=text_at(low, "applicationversion", "appversion"),
        host=text_at(low, "cloudroleinstance", "approleinstance"),
        user=text_at(low, "userauthenticatedid", "useraccountid", "userid"),
        users=at(low, "users", "usercount", "affectedusers"),
        count=at(low, "itemcount", "occurrences", "count", "sumitemcount"),
        time=at(low, "timestamp", "timegenerated"),
    )


def _method(outer: Thrown, method: str) -> str:
    return chain_text([thrown(outer.error_class, outer.message, [{"method": method}])], "csharp")


def _details(details: object) -> list[Thrown]:
    """The exceptions of a row, the outermost first; each names the one around it."""
    if isinstance(details, str):
        try:
            details = json.loads(details)
        except (ValueError, RecursionError):
            return []
    listed = details if isinstance(details, list) else [details]
    return [_thrown(item) for item in objects_in(listed)]


def _thrown(record: Record) -> Thrown:
    stack = at(record, "parsedStack")
    if isinstance(stack, str):
        try:
            stack = json.loads(stack)
        except (ValueError, RecursionError):
            stack = None
    return thrown(at(record, "type", "typeName", "exceptionType"), record.get("message"), stack)


def _telemetry(record: Record, _: Inside) -> Iterator[Item]:
    exceptions = objects_in(at(record, "data.baseData.exceptions"))
    chain = [_thrown(exception) for exception in exceptions]
    texts = [text_at(exception, "stack") for exception in exceptions]
    tags = record.get("tags")
    yield record_of(
        error_class=chain[0].error_class if chain else "",
        message=chain[0].message if chain else "",
        stack=_printed(texts) or chain_text(chain) or next(filter(None, texts), ""),
        transaction=text_at(tags, "ai.operation.name"),
        app=text_at(tags, "ai.cloud.role"),
        release=text_at(tags, "ai.application.ver"),
        host=text_at(tags, "ai.cloud.roleInstance"),
        user=text_at(tags, "ai.user.authUserId", "ai.user.id"),
        time=at(record, "time"),
    )


def _printed(texts: list[str]) -> str:
    """Browsers' stacks as they printed them: they hold the columns that the frames lack."""
    first = texts[0] if texts else ""
    return first if "://" in first and "\n" in first else ""


def _export(record: Record, _: Inside) -> Iterator[Item]:
    for item in objects_in(record.get("basicException")):
        outer = text_at(item, "outerExceptionType") or text_at(item, "exceptionType")
        message = text_at(item, "outerExceptionMessage") or text_at(item, "message")
        yield record_of(
            error_class=outer,
            message=message,
            stack=chain_text([thrown(outer, message, item.get("parsedStack"))], "csharp"),
            transaction=text_at(record, "context.operation.name"),
            app=text_at(record, "context.cloud.role", "context.device.roleName"),
            release=text_at(record, "context.application.version"),
            host=text_at(record, "context.device.roleInstance"),
            user=text_at(record, "context.user.authId", "context.user.anonId"),
            count=at(item, "count"),
            time=at(record, "context.data.eventTime"),
        )


def _detail(record: Record, _: Inside) -> Iterator[Item]:
    if number_of(record.get("outerId")):
        yield QUIET  # what the exception beside it was thrown for
        return
    chain = [_thrown(record)]
    stack = at(record, "parsedStack.0")
    is_dotnet = isinstance(stack, Mapping) and "assembly" in stack
    yield record_of(
        error_class=chain[0].error_class,
        message=chain[0].message,
        stack=chain_text(chain, "csharp" if is_dotnet else ""),
    )


def _is_other(record: Record) -> bool:
    kind = at(record, "data.baseType")
    return (
        isinstance(kind, str)
        and kind.endswith("Data")
        and isinstance(at(record, "data.baseData"), Mapping)
    )


def _quiet(_: Record, __: Inside) -> Iterator[Item]:
    yield QUIET


APP_INSIGHTS_FORMATS = (
    shape(
        "telemetry of Application Insights",
        "data.baseData.exceptions:list",
        _telemetry,
        ("data.baseType", "data.baseData.exceptions", "time"),
    ),
    Shape("", _is_other, _quiet, (), ("data",)),
    shape(
        "details of an exception of Application Insights",
        "parsedStack type|typeName",
        _detail,
        ("parsedStack", "type", "outerId"),
    ),
    shape(
        "export of Application Insights",
        "basicException:list",
        _export,
        ("basicException", "context"),
    ),
    Shape(
        "exception of Application Insights",
        _is_row,
        _row,
        ("problemId", "outerType", "outerMessage", "operation_Name", "itemCount"),
        (
            "problemId",
            "ProblemId",
            "problem_Id",
            "outerType",
            "OuterType",
            "exceptionType",
            "ExceptionType",
            "outerMessage",
            "OuterMessage",
        ),
    ),
)

# Answers of queries that are tables: columns and rows (Kusto, RQL of Rollbar, Redash).

_COLUMNS, _ROWS, _TABLES = ("columns", "Columns"), ("rows", "Rows"), ("tables", "Tables")
_NAMES = ("name", "ColumnName", "columnName", "Name")


def _is_table(record: Record) -> bool:
    return isinstance(at(record, *_COLUMNS), list) and isinstance(at(record, *_ROWS), list)


def _table(record: Record, inside: Inside) -> Iterator[Item]:
    columns = at(record, *_COLUMNS)
    names = [
        column if isinstance(column, str) else text_at(column, *_NAMES)
        for column in (columns if isinstance(columns, list) else [])
    ]
    rows = at(record, *_ROWS)
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, list):
            pairs = zip(names, row, strict=False)
            yield from inside({name: value for name, value in pairs if name and value is not None})
        elif isinstance(row, Mapping):
            yield from inside(dict(row))


def _is_tables(record: Record) -> bool:
    return any(_is_table(item) for item in objects_in(at(record, *_TABLES)))


def _tables(record: Record, inside: Inside) -> Iterator[Item]:
    """Kusto's older answers hold tables about the query behind the result."""
    tables = [item for item in objects_in(at(record, *_TABLES)) if _is_table(item)]
    named = [table for table in tables if text_at(table, "name", "TableKind") == "PrimaryResult"]
    for table in named or tables[:1]:
        yield from inside(table)


def _is_other_frame(record: Record) -> bool:
    kind = record.get("FrameType")
    return isinstance(kind, str) and record.get("TableKind") != "PrimaryResult"


def _nothing(_: Record, __: Inside) -> Iterator[Item]:
    yield from ()


QUERY_TABLES_FORMATS = (
    Shape("", _is_other_frame, _nothing, (), ("FrameType",)),
    Shape("", _is_tables, _tables, ("tables.columns", "tables.rows"), ("tables", "Tables")),
    Shape("", _is_table, _table, ("columns", "rows"), ("columns", "Columns")),
)
