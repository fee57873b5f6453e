"""Elastic APM: errors as stored, as its agents send them, and groups of its pages."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.limits import MAX_LINKS
from nightwatch_core.adapters.files.shapes.fields import (
    MESSAGE,
    QUIET,
    at,
    record_of,
    request_of,
    someone,
    text_at,
)
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape, objects_in


def _is_error(record: Record) -> bool:
    exception = at(record, "error.exception")
    if isinstance(exception, list | Mapping):
        return isinstance(at(exception, "0") or exception, Mapping)
    is_sent = len(record) == 1  # by an agent: whatever stands under `error` is one
    return isinstance(at(record, "error.log"), Mapping) and (
        is_sent or "processor" in record or "grouping_key" in (record["error"] or {})  # type: ignore[operator]
    )


def _error(record: Record, _: Inside) -> Iterator[Item]:
    error = at(record, "error")
    chain = _chain(at(error, "exception"))
    if not any(one.frames for one in chain):
        log = at(error, "log")
        first = chain[0] if chain else Thrown(MESSAGE, text_at(log, "message"))
        chain = [_framed(first.error_class, first.message, at(log, "stacktrace")), *chain[1:]]
    request = at(record, "http.request", "error.context.request")
    address = text_at(record, "url.path", "url.full", "error.context.request.url.pathname")
    yield record_of(
        error_class=chain[0].error_class,
        message=chain[0].message,
        stack=chain_text(chain),
        transaction=text_at(record, "transaction.name", "error.transaction.name")
        or request_of(at(request, "method"), address)
        or text_at(error, "culprit"),
        app=text_at(record, "service.name", "error.context.service.name"),
        release=text_at(record, "service.version", "error.context.service.version"),
        host=text_at(record, "host.hostname", "host.name", "service.node.name"),
        user=someone(at(record, "user", "error.context.user")),
        time=at(record, "@timestamp", "timestamp.us", "error.timestamp"),
    )


def _chain(exception: object) -> list[Thrown]:
    """A list of exceptions, or one with its causes inside."""
    waiting = objects_in(exception) or objects_in([exception])
    chain: list[Thrown] = []
    while waiting and len(chain) < MAX_LINKS:
        one = waiting.pop(0)
        chain.append(
            _framed(at(one, "type", "module") or "", one.get("message"), one.get("stacktrace"))
        )
        cause = one.get("cause")
        waiting += objects_in(cause) or objects_in([cause])
    return chain


def _framed(error_class: object, message: object, frames: object) -> Thrown:
    listed = [_frame(one) for one in objects_in(frames)]
    return thrown(error_class or MESSAGE, message, listed)


def _frame(frame: Record) -> Record:
    if not isinstance(frame.get("library_frame"), bool):
        return frame
    return {**frame, "in_app": not frame["library_frame"]}


def _is_metadata(record: Record) -> bool:
    """Lines of an agent that are no error."""
    names = record.keys()
    return len(names) == 1 and bool(names & {"metadata", "transaction", "span", "metricset"})


def _quiet(_: Record, __: Inside) -> Iterator[Item]:
    yield QUIET


def _is_groups(record: Record) -> bool:
    first = at(record, "errorGroups.0")
    return isinstance(first, Mapping) and "groupId" in first


def _groups(record: Record, _: Inside) -> Iterator[Item]:
    for one in objects_in(record.get("errorGroups")):
        yield record_of(
            error_class=text_at(one, "type") or MESSAGE,
            message=text_at(one, "name"),
            transaction=text_at(one, "culprit"),
            count=at(one, "occurrences"),
            last_seen=at(one, "lastSeen"),
        )


ELASTIC_APM_FORMATS = (
    Shape(
        "error of Elastic APM",
        _is_error,
        _error,
        ("error.exception.type", "error.exception.stacktrace", "error.culprit", "@timestamp"),
        ("error", "error.exception"),
    ),
    Shape("", _is_metadata, _quiet, (), ("metadata", "transaction", "span", "metricset")),
    Shape(
        "error group of Elastic APM",
        _is_groups,
        _groups,
        ("errorGroups.groupId",),
        ("errorGroups",),
    ),
)
