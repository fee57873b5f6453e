"""CloudWatch Logs: events, subscriptions, Insights and the console's exports."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.shapes.around import first_text
from nightwatch_core.adapters.files.shapes.aws_lambda import failure_in
from nightwatch_core.adapters.files.shapes.shape import (
    Inside,
    Item,
    LogLine,
    Record,
    Shape,
    objects_in,
)

_TIMES = ("timestamp", "@timestamp", "ingestionTime", "@ingestionTime")


def _is_subscription(document: Record) -> bool:
    return isinstance(document.get("logEvents"), list)


def _subscription(document: Record, _: Inside) -> Iterator[Item]:
    for event in objects_in(document["logEvents"]):
        yield _line(event, document)


def _is_answer(document: Record) -> bool:
    """`get-log-events` and `filter-log-events`."""
    events = document.get("events")
    if not isinstance(events, list) or not events or not isinstance(events[0], dict):
        return False
    return _is_event(events[0])


def _answer(document: Record, _: Inside) -> Iterator[Item]:
    for event in objects_in(document["events"]):
        yield _line(event, document)


def _is_event(document: Record) -> bool:
    if not isinstance(document.get("message"), str):
        return False
    return "ingestionTime" in document or "logStreamName" in document


def _event(document: Record, _: Inside) -> Iterator[Item]:
    yield _line(document, {})


def _is_insights(document: Record) -> bool:
    results = document.get("results")
    return isinstance(results, list) and bool(results) and _is_row_of_fields(results[0])


def _is_row_of_fields(row: object) -> bool:
    return isinstance(row, list) and bool(row) and isinstance(row[0], dict) and "field" in row[0]


def _insights(document: Record, inside: Inside) -> Iterator[Item]:
    results = document["results"]
    for row in results if isinstance(results, list) else ():
        fields = {str(one.get("field")): one.get("value") for one in objects_in(row)}
        yield from inside(fields)


def _is_insights_row(document: Record) -> bool:
    return isinstance(document.get("@message"), str)


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
    Shape(
        "CloudWatch subscription",
        _is_subscription,
        _subscription,
        ("logEvents", "logGroup"),
        ("logEvents",),
    ),
    Shape(
        "CloudWatch Logs Insights",
        _is_insights,
        _insights,
        ("results", "field", "value"),
        ("results",),
    ),
    Shape(
        "events of CloudWatch Logs", _is_answer, _answer, ("events", "ingestionTime"), ("events",)
    ),
    Shape(
        "events of CloudWatch Logs", _is_event, _event, ("message", "logStreamName"), ("message",)
    ),
    Shape(
        "CloudWatch Logs Insights",
        _is_insights_row,
        _insights_row,
        ("@message", "@timestamp"),
        ("@message",),
    ),
)
