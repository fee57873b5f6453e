"""Clouds: AWS Lambda and CloudWatch Logs, Azure's Application Insights and tables of queries,
Google's Error Reporting and Cloud Logging
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from nightwatch_core.adapters.files.frames import chain_text, thrown
from nightwatch_core.adapters.files.limits import MAX_LINES
from nightwatch_core.adapters.files.records import is_quiet
from nightwatch_core.adapters.files.shapes.described import Line, descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.values import (
    Inside,
    Item,
    LogLine,
    Record,
    at,
    inner,
    objects_in,
    text_at,
    title_parts,
)

_DESCRIBED = descriptions("clouds.toml")
_LINES: dict[str, Line] = {name: row.line for name, row in _DESCRIBED.items() if row.line}

# AWS Lambda: failures in its log lines, and as JSON.

_CLASS = r"(?P<name>[A-Za-z_][\w.]{0,200})"
# Python: the exception stands above its traceback, and nowhere else.
_PYTHON = re.compile(
    rf"\[ERROR\]\s{_CLASS}(?:: (?P<words>.{{0,4000}}?))?[\r\n]+"
    r"(?P<trace>Traceback \(most recent call last\):.*)",
    re.DOTALL,
)
_TIMED_OUT = re.compile(
    r"\S{20,30} [0-9a-f-]{36} (?P<words>Task timed out after [\d.]{1,9} seconds)"
)
_EXITED = re.compile(
    r"RequestId: [0-9a-f-]{36} Error: (?P<words>[^\r\n]{1,500})\s+(?P<name>Runtime\.\w{1,80})"
)
_WRAPPED = re.compile(r"Function<([^<>]{1,300})>$")  # Ruby's classes
_FRAME_STARTS = ("at ", "/", "File ", " ", "\t")
_JAVA_FRAME = re.compile(r"[\w.$<>]{3,300}\([\w$]{1,100}\.(?:java|kt|scala|groovy)(?::\d{1,7})?\)")
_NODE_FRAME = re.compile(r"\S.{0,300} \(\S{1,400}:\d{1,7}:\d{1,7}\)$")


def failure_in(text: str) -> Record:
    """Return the failure that a line of Lambda's log reports as a record; empty for other lines."""
    if text.startswith("[ERROR]"):
        match = _PYTHON.match(text)
        return _error(match["name"], match["words"], match["trace"]) if match else {}
    if text.startswith("RequestId:"):
        match = _EXITED.match(text)
        return _error(match["name"], match["words"]) if match else {}
    match = _TIMED_OUT.match(text) if " Task timed out after " in text[:100] else None
    return _error("Sandbox.Timedout", match["words"]) if match else {}


def _error(name: str, words: str | None, trace: str = "") -> Record:
    message = (words or "").strip()
    if trace:
        trace = f"{trace.rstrip()}\n{name}: {message}" if message else f"{trace.rstrip()}\n{name}"
    return {"error": {"type": name, "message": message, "stack": trace}}


def _lambda_error(document: Record, _: Inside) -> Iterator[Item]:
    wrapped = _WRAPPED.match(str(document["errorType"]))
    replaced = ("errorType", "errorMessage", "stackTrace", "stack", "type")
    own = {name: value for name, value in document.items() if name not in replaced}
    trace = document.get("stackTrace", document.get("stack"))
    lines = [_lambda_frame(item) for item in trace[:MAX_LINES]] if isinstance(trace, list) else None
    yield {
        **own,
        "error": {
            "type": wrapped[1] if wrapped else document["errorType"],
            "message": document["errorMessage"],
            "stack": lines or trace,
        },
    }


def _lambda_frame(frame: object) -> object:
    """A frame as its language prints it: Java's and older Node's come without `at`."""
    if isinstance(frame, list) and len(frame) > 2:
        return {"file": frame[0], "lineno": frame[1], "function": frame[2]}  # older Python
    if not isinstance(frame, str) or frame.startswith(_FRAME_STARTS):
        return frame
    return f"    at {frame}" if _JAVA_FRAME.match(frame) or _NODE_FRAME.match(frame) else frame


def _telemetry(document: Record, inside: Inside) -> Iterator[Item]:
    record = inner(document, "record")
    status = text_at(record, "status")
    envelope = {"time": document["time"]}
    if text_at(document, "type") == "platform.report" and status in ("timeout", "error"):
        name = "Sandbox.Timedout" if status == "timeout" else text_at(record, "errorType")
        yield {**_error(name or "Runtime.ExitError", status), "around": envelope}
        return
    for item in inside(record):
        is_record = isinstance(item, dict) and not is_quiet(item.get("level"))
        yield {"around": envelope, **item} if is_record and isinstance(item, dict) else item


# CloudWatch Logs: events, subscriptions, Insights and the console's exports.

_STREAMS = ("logStreamName", "@logStream", "logStream")
_GROUPS = ("@log", "logGroup", "logGroupName")
_TIMES = ("timestamp", "@timestamp", "ingestionTime", "@ingestionTime")


def _cloudwatch(document: Record, _: Inside) -> Iterator[Item]:
    events: Sequence[Record] = objects_in(at(document, "logEvents", "events"))
    for event in events or (document,):
        yield _cloudwatch_line(event, document)


def _insights(document: Record, inside: Inside) -> Iterator[Item]:
    results = document["results"]
    for row in results if isinstance(results, list) else ():
        yield from inside({str(item.get("field")): item.get("value") for item in objects_in(row)})


def _cloudwatch_line(event: Record, outer: Record) -> Item:
    stream = text_at(event, *_STREAMS) or text_at(outer, *_STREAMS)
    group = text_at(event, *_GROUPS) or text_at(outer, *_GROUPS)
    envelope = {
        "time": at(event, *_TIMES),
        "app": group.rpartition(":")[2].rpartition("/")[2],
        "host": stream.rpartition("/")[2] if "[" not in stream else "",
    }
    text = str(event.get("message") or event.get("@message") or "")
    failed = failure_in(text)
    return {**failed, "around": envelope} if failed else LogLine(text, stream, envelope)


# Azure: exceptions of Application Insights, and tables that queries return.

_AZURE_NAMES = frozenset(("problemid", "outertype", "outermessage", "exceptiontype"))


def _is_azure_row(record: Record) -> bool:
    names = {name.lower() for name in record} if len(record) < 200 else set()
    return len(names & _AZURE_NAMES) > 1 or {"problemid", "itemcount"} <= names


def _table(record: Record, inside: Inside) -> Iterator[Item]:
    columns, rows = at(record, "columns", "Columns"), at(record, "rows", "Rows")
    listed = columns if isinstance(columns, list) else []
    fields = ("name", "ColumnName", "columnName", "Name")
    names = [item if isinstance(item, str) else text_at(item, *fields) for item in listed]
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


# Google: Error Reporting and Cloud Logging.


def _reporting_group(record: Record, inside: Inside) -> Iterator[Item]:
    yield from inside({**inner(record, "representative"), "eventTime": None, "group": record})


def _reporting_event(event: Record, _: Inside) -> Iterator[Item]:
    """The message of an event is the stack trace, or one line apart from the place."""
    message = text_at(event, "message")
    described = _DESCRIBED["reporting_event"]
    if "\n" in message.strip():
        yield described.read(event, stack=message)
        return
    error_class, rest = title_parts(message)
    place = at(event, "context.reportLocation")
    stack = message
    if isinstance(place, Mapping):
        frame = {"filename": place.get("filePath"), "line": place.get("lineNumber"),
                 "function": place.get("functionName")}  # fmt: skip
        stack = chain_text([thrown(error_class, rest, [frame])])
    yield described.read(event, error_class=error_class, message=rest, stack=stack)


def _cloud_entry(document: Record, _: Inside) -> Iterator[Item]:
    line = _LINES["cloud_entry"].read(document)
    labels = map(str, inner(document, "resource", "labels").values())
    line = line._replace(stream=" ".join((*labels, line.stream)))
    payload = inner(document, "jsonPayload")
    if not payload:
        yield line
    elif isinstance(payload.get("message"), str) and _is_text_alone(payload):
        yield line._replace(text=str(payload["message"]))
    else:
        own = {"severity": document.get("severity"), **payload}  # its agents take it out
        yield {**own, "around": {**line.around, "stream": line.stream}}


def _is_text_alone(payload: Record) -> bool:
    """Error Reporting has the whole trace in `message`; agents that tail files one line of it."""
    if text_at(payload, "@type").endswith("ReportedErrorEvent"):
        return True
    names = ("exception", "stack_trace", "stack", "error", "err", "exc_info", "stacktrace")
    return len(payload) < 3 and payload.keys().isdisjoint(names)


CLOUDS = shapes_of(
    _DESCRIBED,
    {
        "subscription": _cloudwatch,
        "insights": _insights,
        "answer": _cloudwatch,
        "event": _cloudwatch,
        "insights_row": _cloudwatch,
        "lambda_error": _lambda_error,
        "telemetry": _telemetry,
        "result_frame": _table,
        "tables": _tables,
        "table": _table,
        "reporting_group": _reporting_group,
        "reporting_event": _reporting_event,
        "cloud_entry": _cloud_entry,
    },
    {"azure_row": _is_azure_row},
)
