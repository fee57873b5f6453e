"""Airbrake (and Errbit): groups and notices."""

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

_LISTS = ("groups", "notices")
_BESIDE = frozenset(
    ("context", "noticeCount", "noticeTotalCount", "lastNoticeAt", "projectId", "notifier",
     "groupId")
)  # fmt: skip


def _is_list(record: Record) -> bool:
    firsts = (at(record, f"{name}.0") for name in _LISTS)
    return any(isinstance(one, Mapping) and "errors" in one for one in firsts)


def _list(record: Record, inside: Inside) -> Iterator[Item]:
    for name in _LISTS:
        yield from inside(record.get(name) or [])


def _is_notice(record: Record) -> bool:
    errors = record.get("errors")
    if not isinstance(errors, list) or not (record.keys() & _BESIDE):
        return False
    return any(isinstance(one, Mapping) and "type" in one for one in errors[:1])


def _notice(record: Record, _: Inside) -> Iterator[Item]:
    chain = [
        thrown(one.get("type"), one.get("message"), one.get("backtrace"))
        for one in objects_in(record.get("errors"))
    ]
    context = at(record, "context")
    component, action = text_at(context, "component"), text_at(context, "action")
    place = "#".join(name for name in (component, action) if name)
    is_group = "noticeCount" in record or "lastNoticeAt" in record
    yield record_of(
        error_class=chain[0].error_class,
        message=chain[0].message,
        stack=chain_text(chain, text_at(context, "language").partition("/")[0]),
        transaction=place
        or text_at(context, "route")
        or request_of(at(context, "httpMethod"), at(context, "url")),
        release=text_at(context, "version", "revision"),
        commit=text_at(context, "revision"),
        host=text_at(context, "hostname"),
        user=someone(at(context, "user", "userId", "userEmail")),
        count=at(record, "noticeTotalCount", "noticeCount") if is_group else None,
        first_seen=at(record, "createdAt") if is_group else None,
        last_seen=at(record, "lastNoticeAt") if is_group else None,
        time=at(record, "createdAt", "timestamp", "time"),
        level=text_at(context, "severity"),
    )


AIRBRAKE_FORMATS = (
    Shape("", _is_list, _list, ("groups.errors", "notices.errors"), ("groups", "notices")),
    Shape(
        "notice of Airbrake",
        _is_notice,
        _notice,
        ("errors.type", "errors.backtrace", "context", "noticeCount"),
        ("errors",),
    ),
)
