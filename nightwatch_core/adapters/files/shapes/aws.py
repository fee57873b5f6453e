"""AWS: failures that Lambda reports as JSON or log lines, and exports of CloudWatch Logs."""

import re
from collections.abc import Iterator

from nightwatch_core.adapters.files.limits import MAX_LINES
from nightwatch_core.adapters.files.records import is_quiet
from nightwatch_core.adapters.files.shapes.described import descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.fields import (
    Inside,
    Item,
    LogLine,
    Record,
    at,
    inner,
    objects_in,
    text_at,
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
    status = text_at(record, "status")
    around = {"time": document["time"]}
    if text_at(document, "type") == "platform.report" and status in ("timeout", "error"):
        name = "Sandbox.Timedout" if status == "timeout" else text_at(record, "errorType")
        yield {**_error(name or "Runtime.ExitError", status), "around": around}
        return
    for item in inside(record):
        is_record = isinstance(item, dict) and not is_quiet(item.get("level"))
        yield {"around": around, **item} if is_record and isinstance(item, dict) else item


def _powertools(document: Record, _: Inside) -> Iterator[Item]:
    """`exception` holds the whole traceback, `stack_trace` only its frames."""
    yield {name: value for name, value in document.items() if name != "stack_trace"}


# CloudWatch Logs: events, subscriptions, Insights and the console's exports.

_STREAMS = ("logStreamName", "@logStream", "logStream")
_GROUPS = ("@log", "logGroup", "logGroupName")
_TIMES = ("timestamp", "@timestamp", "ingestionTime", "@ingestionTime")


def _subscription(document: Record, _: Inside) -> Iterator[Item]:
    for event in objects_in(at(document, "logEvents", "events")):
        yield _line(event, document)


def _event(document: Record, _: Inside) -> Iterator[Item]:
    yield _line(document, {})


def _insights(document: Record, inside: Inside) -> Iterator[Item]:
    results = document["results"]
    for row in results if isinstance(results, list) else ():
        yield from inside({str(item.get("field")): item.get("value") for item in objects_in(row)})


def _line(event: Record, outer: Record) -> Item:
    stream = text_at(event, *_STREAMS) or text_at(outer, *_STREAMS)
    group = text_at(event, *_GROUPS) or text_at(outer, *_GROUPS)
    around = {
        "time": at(event, *_TIMES),
        "app": group.rpartition(":")[2].rpartition("/")[2],
        "host": stream.rpartition("/")[2] if "[" not in stream else "",
    }
    text = str(event.get("message") or event.get("@message") or "")
    failed = failure_in(text)
    return {**failed, "around": around} if failed else LogLine(text, stream, around)


AWS = shapes_of(
    descriptions("aws.toml"),
    {
        "subscription": _subscription,
        "insights": _insights,
        "answer": _subscription,
        "event": _event,
        "insights_row": _event,
        "powertools": _powertools,
        "lambda_error": _error_record,
        "telemetry": _telemetry,
    },
)
