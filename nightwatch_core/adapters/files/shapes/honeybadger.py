"""Honeybadger: faults, notices, and what its webhook says."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.shapes.fields import (
    at,
    record_of,
    request_of,
    someone,
    text_at,
    title_parts,
)
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape, objects_in


def _is_call(record: Record) -> bool:
    return isinstance(record.get("fault"), Mapping) and "event" in record


def _call(record: Record, inside: Inside) -> Iterator[Item]:
    fault, notice = record["fault"], record.get("notice")
    if isinstance(fault, Mapping) and isinstance(notice, Mapping):
        named = {"klass": fault.get("klass"), "component": fault.get("component"),
                 "action": fault.get("action"), "fault_id": fault.get("id", 0)}  # fmt: skip
        yield from inside({**named, **notice})
    else:
        yield from inside(fault)


def _is_fault(record: Record) -> bool:
    return "klass" in record and ("notices_count" in record or "last_notice_at" in record)


def _fault(record: Record, _: Inside) -> Iterator[Item]:
    yield record_of(
        error_class=text_at(record, "klass"),
        message=text_at(record, "message"),
        transaction=_transaction(record),
        app=text_at(record, "project.name"),
        count=at(record, "notices_count_in_range", "notices_count"),
        first_seen=at(record, "created_at"),
        last_seen=at(record, "last_notice_at"),
    )


def _is_notice(record: Record) -> bool:
    if isinstance(at(record, "error.backtrace"), list) and "server" in record:
        return True
    return "fault_id" in record and ("backtrace" in record or "klass" in record)


def _notice(record: Record, _: Inside) -> Iterator[Item]:
    chain = _chain(record)
    told_class, told_message = title_parts(text_at(record, "message"))
    request = at(record, "request")
    first = chain[0]
    yield record_of(
        error_class=first.error_class or told_class,
        message=first.message if first.error_class else told_message,
        stack=chain_text(chain),
        transaction=_transaction(record)
        or request_of(at(request, "request_method", "cgi_data.REQUEST_METHOD"), at(request, "url")),
        app=text_at(record, "project.name"),
        release=text_at(record, "server.revision", "deploy.revision", "revision"),
        commit=text_at(record, "server.revision", "deploy.revision", "revision"),
        host=text_at(record, "server.hostname", "hostname", "environment.hostname"),
        user=text_at(request, "user.id", "context.user_id", "context.user_email", "user.email")
        or someone(at(record, "context.user_id", "context.user_email", "user")),
        time=at(record, "created_at", "server.time", "timestamp", "ts"),
    )


def _transaction(record: Record) -> str:
    for place in (record, record.get("request")):
        component, action = text_at(place, "component"), text_at(place, "action")
        if component:
            return f"{component}#{action}" if action else component
    return text_at(record, "action")


def _chain(record: Record) -> list[Thrown]:
    inner = record.get("error")
    error = inner if isinstance(inner, Mapping) else record
    own = {_place(one) for one in objects_in(at(record, "application_trace",
                                                "error.application_trace"))}  # fmt: skip
    causes = objects_in(at(error, "causes"))
    return [
        thrown(
            at(one, "class", "klass"),
            one.get("message"),
            [_frame(frame, own) for frame in objects_in(one.get("backtrace"))],
        )
        for one in (error, *causes)
    ]


def _frame(frame: Record, own: set[tuple[str, str]]) -> Record:
    """A frame whose owner is told: by its context, or by the list of the application's frames."""
    if frame.get("context") in ("app", "all", "gem"):
        plain = {name: value for name, value in frame.items() if name != "context"}
        return {**plain, "in_app": frame["context"] == "app"}
    plain = {n: v for n, v in frame.items() if n not in ("class", "type") or isinstance(v, str)}
    return {**plain, "in_app": _place(frame) in own} if own else plain


def _place(frame: Record) -> tuple[str, str]:
    return text_at(frame, "file"), text_at(frame, "number")


HONEYBADGER_FORMATS = (
    Shape(
        "call of Honeybadger's webhook", _is_call, _call, ("event", "fault", "notice"), ("fault",)
    ),
    Shape(
        "fault of Honeybadger",
        _is_fault,
        _fault,
        ("klass", "message", "notices_count", "last_notice_at"),
        ("klass",),
    ),
    Shape(
        "notice of Honeybadger",
        _is_notice,
        _notice,
        ("error.class", "error.backtrace", "fault_id", "server", "request"),
        ("error", "fault_id"),
    ),
)
