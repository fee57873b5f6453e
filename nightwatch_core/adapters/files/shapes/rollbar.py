"""Rollbar: occurrences as its API gives them and as its notifiers send them, and lists of items."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.records import is_quiet
from nightwatch_core.adapters.files.shapes.fields import (
    MESSAGE,
    QUIET,
    at,
    path_of,
    record_of,
    request_of,
    someone,
    text_at,
    title_parts,
)
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape, objects_in

_BODIES = ("trace", "trace_chain", "message", "crash_report")


def _is_answer(record: Record) -> bool:
    return "err" in record and isinstance(record.get("result"), Mapping | list)


def _answer(record: Record, inside: Inside) -> Iterator[Item]:
    result = record["result"]
    inner = at(result, "items", "instances", "occurrences", "result")
    if inner is None and isinstance(result, Mapping) and ("items" in result or "page" in result):
        return
    yield from inside(inner if inner is not None else result)


def _is_call(record: Record) -> bool:
    return "event_name" in record and isinstance(at(record, "data.item"), Mapping)


def _call(record: Record, inside: Inside) -> Iterator[Item]:
    paths = ("data.occurrence", "data.item.last_occurrence", "data.item")
    parts = (at(record, path) for path in paths)
    yield from inside(next(one for one in parts if isinstance(one, Mapping)))


def _is_occurrence(record: Record) -> bool:
    return _body(record) is not None


def _body(record: Record) -> Mapping[str, object] | None:
    for body in (record.get("body"), at(record, "data.body")):
        if isinstance(body, Mapping) and any(name in body for name in _BODIES):
            return body
    return None


def _occurrence(record: Record, _: Inside) -> Iterator[Item]:
    body = _body(record) or {}
    inner = record.get("data")
    data = inner if isinstance(inner, Mapping) and "body" in inner else record
    chain = _chain(body)
    level = text_at(data, "level")
    report = text_at(body, "crash_report.raw")
    if not chain and not report and is_quiet(level):
        yield QUIET
        return
    told_class, told_message = title_parts(text_at(data, "title"))
    first = (
        chain[0]
        if chain
        else Thrown(
            "" if report else told_class or MESSAGE, text_at(body, "message.body") or told_message
        )
    )
    request = at(data, "request")
    yield record_of(
        error_class=first.error_class or told_class,
        message=first.message,
        stack=chain_text(chain, text_at(data, "language", "platform")) or report,
        transaction=_context(data) or request_of(at(request, "method"), at(request, "url")),
        app=text_at(data, "custom.service", "server.app", "project"),
        release=text_at(data, "code_version", "client.javascript.code_version",
                        "server.code_version"),
        commit=text_at(data, "server.sha", "server.code_version"),
        host=text_at(data, "server.host", "server.argv.0"),
        user=someone(at(data, "person")),
        time=at(record, "timestamp", "data.timestamp"),
        level=level,
    )  # fmt: skip


def _context(data: Record) -> str:
    """Where it happened: the notifier's context, or the route of the request."""
    params = at(data, "request.params")
    controller, action = text_at(params, "controller"), text_at(params, "action")
    if controller:
        return f"{controller}#{action}" if action else controller
    return text_at(data, "context") or path_of(at(data, "request.route"))


def _chain(body: Record) -> list[Thrown]:
    """What was thrown last stands first; frames stand outermost first."""
    traces = objects_in(body.get("trace_chain")) or objects_in([body.get("trace")])
    return [
        thrown(
            at(trace, "exception.class"),
            at(trace, "exception.message", "exception.description"),
            trace.get("frames"),
            reverse=True,
        )
        for trace in traces
    ]


def _is_item(record: Record) -> bool:
    return "total_occurrences" in record and "title" in record


def _item(record: Record, _: Inside) -> Iterator[Item]:
    error_class, message = title_parts(text_at(record, "title"))
    level = text_at(record, "level_string", "level")
    if not error_class and is_quiet(level):
        yield QUIET
        return
    yield record_of(
        error_class=error_class or MESSAGE,
        message=message,
        transaction=text_at(record, "last_occurrence_context", "context"),
        count=at(record, "total_occurrences"),
        first_seen=at(record, "first_occurrence_timestamp", "activating_occurrence_timestamp"),
        last_seen=at(record, "last_occurrence_timestamp"),
        release=text_at(record, "last_occurrence_code_version"),
        level=level,
    )


ROLLBAR_FORMATS = (
    Shape("", _is_answer, _answer, ("err", "result.items", "result.instances"), ("err",)),
    Shape(
        "call of Rollbar's webhook", _is_call, _call, ("event_name", "data.item"), ("event_name",)
    ),
    Shape(
        "occurrence of Rollbar",
        _is_occurrence,
        _occurrence,
        ("data.body.trace", "data.body.trace_chain", "data.body.message", "timestamp"),
        ("body", "data"),
    ),
    Shape(
        "item of Rollbar",
        _is_item,
        _item,
        ("title", "total_occurrences", "last_occurrence_timestamp", "counter"),
        ("total_occurrences",),
    ),
)
