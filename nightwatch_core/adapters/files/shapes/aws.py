"""AWS: failures that Lambda reports as JSON or log lines, and exports of CloudWatch Logs."""

import re
from collections.abc import Iterator

from nightwatch_core.adapters.files.limits import MAX_LINES
from nightwatch_core.adapters.files.records import is_quiet
from nightwatch_core.adapters.files.shapes.fields import (
    Inside,
    Item,
    LogLine,
    Record,
    first_text,
    inner,
    objects_in,
    shape,
)

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
    """Give the failure that a line of Lambda's log reports as a record; empty for other lines.

    >>> failure_in("[ERROR] KeyError: 'a'\\rTraceback (most recent call last):")["error"]["type"]
    'KeyError'
    """
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


def _error_record(document: Record, _: Inside) -> Iterator[Item]:
    wrapped = _WRAPPED.match(str(document["errorType"]))
    own = {name: value for name, value in document.items() if name not in _NOT_KEPT}
    trace = document.get("stackTrace", document.get("stack"))
    lines = [_frame(item) for item in trace[:MAX_LINES]] if isinstance(trace, list) else trace
    yield {
        **own,
        "error": {
            "type": wrapped[1] if wrapped else document["errorType"],
            "message": document["errorMessage"],
            "stack": lines,
        },
    }


_NOT_KEPT = ("errorType", "errorMessage", "stackTrace", "stack", "type")


def _frame(frame: object) -> object:
    """A frame as its language prints it: Java's and older Node's stand without `at`."""
    if isinstance(frame, list) and len(frame) > 2:
        return {"file": frame[0], "lineno": frame[1], "function": frame[2]}  # older Python
    if not isinstance(frame, str) or frame.startswith(_FRAME_STARTS):
        return frame
    return f"    at {frame}" if _JAVA_FRAME.match(frame) or _NODE_FRAME.match(frame) else frame


def _telemetry(document: Record, inside: Inside) -> Iterator[Item]:
    record = inner(document, "record")
    status = first_text(record, "status")
    around = {"time": document["time"]}
    if first_text(document, "type") == "platform.report" and status in ("timeout", "error"):
        name = "Sandbox.Timedout" if status == "timeout" else first_text(record, "errorType")
        yield {**_error(name or "Runtime.ExitError", status), "around": around}
        return
    for item in inside(record):
        is_record = isinstance(item, dict) and not is_quiet(item.get("level"))
        yield {"around": around, **item} if is_record and isinstance(item, dict) else item


def _powertools(document: Record, _: Inside) -> Iterator[Item]:
    """`exception` holds the whole traceback, `stack_trace` only its frames."""
    yield {name: value for name, value in document.items() if name != "stack_trace"}


AWS_LAMBDA_FORMATS = (
    shape(
        "logger of AWS Powertools",
        "exception_name stack_trace:object",
        _powertools,
        ("exception_name", "stack_trace", "location"),
    ),
    shape(
        "error of AWS Lambda",
        "errorType:text errorMessage",
        _error_record,
        ("errorType", "errorMessage", "stackTrace"),
    ),
    shape(
        "telemetry of AWS Lambda", "record:object type time", _telemetry, ("record", "type", "time")
    ),
)

# CloudWatch Logs: events, subscriptions, Insights and the console's exports.

_TIMES = ("timestamp", "@timestamp", "ingestionTime", "@ingestionTime")


def _subscription(document: Record, _: Inside) -> Iterator[Item]:
    for event in objects_in(document["logEvents"]):
        yield _line(event, document)


def _answer(document: Record, _: Inside) -> Iterator[Item]:
    for event in objects_in(document["events"]):
        yield _line(event, document)


def _is_event(document: Record) -> bool:
    if not isinstance(document.get("message"), str):
        return False
    return "ingestionTime" in document or "logStreamName" in document


def _event(document: Record, _: Inside) -> Iterator[Item]:
    yield _line(document, {})


def _is_row_of_fields(row: object) -> bool:
    return isinstance(row, list) and bool(row) and isinstance(row[0], dict) and "field" in row[0]


def _insights(document: Record, inside: Inside) -> Iterator[Item]:
    results = document["results"]
    for row in results if isinstance(results, list) else ():
        fields = {str(item.get("field")): item.get("value") for item in objects_in(row)}
        yield from inside(fields)


def _insights_row(document: Record, _: Inside) -> Iterator[Item]:
    yield _line(document, {})


def _line(event: Record, outer: Record) -> Item:
    stream = first_text(event, "logStreamName", "@logStream", "logStream")
    group = first_text(event, "@log", "logGroup", "logGroupName")
    stream = stream or first_text(outer, "logStream", "logStreamName")
    group = group or first_text(outer, "logGroup", "logGroupName")
    around = {
        "time": next((event[name] for name in _TIMES if event.get(name)), None),
        "app": group.rpartition(":")[2].rpartition("/")[2],
        "host": stream.rpartition("/")[2] if "[" not in stream else "",
    }
    text = str(event.get("message") or event.get("@message") or "")
    failed = failure_in(text)
    return {**failed, "around": around} if failed else LogLine(text, stream, around)


CLOUDWATCH_FORMATS = (
    shape("CloudWatch subscription", "logEvents:list", _subscription, ("logEvents", "logGroup")),
    shape(
        "CloudWatch Logs Insights", "results.0.0.field", _insights, ("results", "field", "value")
    ),
    shape(
        "events of CloudWatch Logs",
        "events.0.message:text events.0.ingestionTime|events.0.logStreamName",
        _answer,
        ("events", "ingestionTime"),
    ),
    shape(
        "events of CloudWatch Logs",
        "message:text ingestionTime|logStreamName",
        _event,
        ("message", "logStreamName"),
    ),
    shape("CloudWatch Logs Insights", "@message:text", _insights_row, ("@message", "@timestamp")),
)
