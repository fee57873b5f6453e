"""Bugsnag: errors, events as its API gives them, and what its notifiers send."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import chain_text, thrown
from nightwatch_core.adapters.files.shapes.fields import (
    at,
    record_of,
    request_of,
    someone,
    text_at,
)
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape, objects_in

_CLASSES = ("error_class", "errorClass")


def _is_event(record: Record) -> bool:
    exceptions = record.get("exceptions")
    if not isinstance(exceptions, list) or not exceptions:
        return False
    first = exceptions[0]
    return isinstance(first, Mapping) and any(name in first for name in _CLASSES)


def _event(record: Record, _: Inside) -> Iterator[Item]:
    chain = [
        thrown(at(one, *_CLASSES), one.get("message"), one.get("stacktrace"))
        for one in objects_in(record.get("exceptions"))
    ]
    request = at(record, "request")
    method = at(request, "http_method", "httpMethod")
    yield record_of(
        error_class=chain[0].error_class,
        message=chain[0].message,
        stack=chain_text(chain, text_at(record, "exceptions.0.type", "app.type")),
        transaction=text_at(record, "context") or request_of(method, at(request, "url")),
        app=text_at(record, "app.id", "project.name"),
        release=text_at(record, "app.version", "app.releaseVersion"),
        commit=text_at(record, "app.codeBundleId", "app.build_uuid"),
        host=text_at(record, "device.hostname"),
        user=someone(at(record, "user")),
        time=at(record, "received_at", "device.time", "receivedAt"),
        level=text_at(record, "severity"),
    )


def _is_error(record: Record) -> bool:
    return "error_class" in record and ("events_url" in record or "first_seen" in record)


def _error(record: Record, _: Inside) -> Iterator[Item]:
    yield record_of(
        error_class=text_at(record, "error_class"),
        message=text_at(record, "message"),
        transaction=text_at(record, "context"),
        app=text_at(record, "project.name"),
        count=at(record, "events", "events_count", "occurrences", "count"),
        users=at(record, "users", "users_count", "users_affected"),
        release=text_at(record, "last_seen_version", "most_recent_event.app.version"),
        first_seen=at(record, "first_seen", "first_received"),
        last_seen=at(record, "last_seen", "last_received"),
        level=text_at(record, "severity"),
    )


def _is_call(record: Record) -> bool:
    """What Bugsnag's webhook says: one error, with the newest trace."""
    return isinstance(record.get("error"), Mapping) and "exceptionClass" in (record["error"] or {})  # type: ignore[operator]


def _call(record: Record, _: Inside) -> Iterator[Item]:
    error = at(record, "error")
    one = thrown(at(error, "exceptionClass"), at(error, "message"), at(error, "stackTrace"))
    yield record_of(
        error_class=one.error_class,
        message=one.message,
        stack=chain_text([one]),
        transaction=text_at(error, "context"),
        app=text_at(record, "project.name"),
        release=text_at(error, "app.version", "appVersion"),
        host=text_at(error, "device.hostname"),
        user=text_at(error, "userId", "user.id"),
        time=at(error, "receivedAt"),
    )


BUGSNAG_FORMATS = (
    Shape(
        "event of Bugsnag",
        _is_event,
        _event,
        ("exceptions.error_class", "exceptions.stacktrace", "received_at", "severity"),
        ("exceptions",),
    ),
    Shape(
        "error of Bugsnag",
        _is_error,
        _error,
        ("error_class", "message", "events", "users", "first_seen", "last_seen"),
        ("error_class",),
    ),
    Shape(
        "call of Bugsnag's webhook",
        _is_call,
        _call,
        ("error.exceptionClass", "trigger"),
        ("error",),
    ),
)
