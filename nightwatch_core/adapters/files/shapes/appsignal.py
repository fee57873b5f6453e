"""AppSignal: incidents and samples of its GraphQL, and what its webhook says."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import chain_text, thrown
from nightwatch_core.adapters.files.limits import MAX_WRAPS
from nightwatch_core.adapters.files.shapes.fields import at, record_of, someone, text_at
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape

_INCIDENTS = ("exceptionIncidents", "paginatedExceptionIncidents", "incidents", "incident",
              "exceptionIncident")  # fmt: skip


def _is_answer(record: Record) -> bool:
    data = record.get("data")
    return isinstance(data, Mapping) and any(
        isinstance(data.get(name), Mapping) for name in ("app", "organization", "viewer")
    )


def _answer(record: Record, inside: Inside) -> Iterator[Item]:
    for incidents in _incidents(record.get("data"), 0):
        yield from inside(incidents)


def _incidents(value: object, depth: int) -> Iterator[object]:
    """What stands under the name of incidents, however deep; the rows of a page."""
    if isinstance(value, list) and depth <= MAX_WRAPS:
        for one in value:
            yield from _incidents(one, depth + 1)
    if not isinstance(value, Mapping) or depth > MAX_WRAPS:
        return
    for name, inner in value.items():
        if name in _INCIDENTS and inner:
            yield at(inner, "rows", "edges") or inner
        else:
            yield from _incidents(inner, depth + 1)


def _is_incident(record: Record) -> bool:
    return "exceptionName" in record


def _is_call(record: Record) -> bool:
    """What AppSignal's webhook says."""
    return isinstance(at(record, "exception.exception"), str)


def _call(record: Record, _: Inside) -> Iterator[Item]:
    error = at(record, "exception")
    name, message = text_at(error, "exception"), text_at(error, "message")
    yield record_of(
        error_class=name,
        message=message,
        stack=_stack(name, message, at(error, "first_backtrace_line", "backtrace")),
        transaction=text_at(error, "action"),
        app=text_at(error, "site"),
        release=text_at(error, "revision"),
        commit=text_at(error, "revision"),
        host=text_at(error, "hostname"),
        user=someone(at(error, "user")),
        time=at(error, "time"),
    )


def _incident(record: Record, _: Inside) -> Iterator[Item]:
    sample = at(record, "sample", "lastSample")
    error = at(sample, "exception")
    name = text_at(record, "exceptionName")
    message = text_at(record, "exceptionMessage") or text_at(error, "message")
    backtrace = at(error, "backtrace") or at(record, "firstBacktraceLine")
    actions = at(record, "actionNames")
    yield record_of(
        error_class=name,
        message=message,
        stack=_stack(name, message, backtrace),
        transaction=str(actions[0]) if isinstance(actions, list) else text_at(
            record, "action", "sample.action"
        ),
        app=text_at(record, "app.name", "site"),
        release=text_at(record, "revision", "sample.revision"),
        commit=text_at(record, "revision", "sample.revision"),
        host=text_at(record, "hostname", "sample.hostname"),
        user=someone(at(record, "user")),
        count=at(record, "count", "totalCount"),
        first_seen=at(record, "createdAt", "firstOccurredAt"),
        last_seen=at(record, "lastOccurredAt", "lastSampleOccurredAt", "time"),
    )  # fmt: skip


def _stack(name: str, message: str, backtrace: object) -> str:
    if isinstance(backtrace, list) and all(isinstance(one, str) for one in backtrace):
        return "\n".join((f"{name}: {message.partition(chr(10))[0]}", *backtrace))
    if isinstance(backtrace, str):
        return f"{name}\n{backtrace}"
    return chain_text([thrown(name, message, backtrace)])


APPSIGNAL_FORMATS = (
    Shape("", _is_answer, _answer, (), ("data",)),
    Shape(
        "incident of AppSignal",
        _is_incident,
        _incident,
        ("exceptionName", "exceptionMessage", "actionNames", "lastOccurredAt", "count"),
        ("exceptionName",),
    ),
    Shape(
        "call of AppSignal's webhook",
        _is_call,
        _call,
        ("exception.exception", "exception.action", "exception.first_backtrace_line"),
        ("exception",),
    ),
)
