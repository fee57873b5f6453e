"""Google's Error Reporting, and Crashlytics as BigQuery exports it."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import chain_text, thrown
from nightwatch_core.adapters.files.shapes.fields import (
    at,
    record_of,
    request_of,
    someone,
    text_at,
    title_parts,
)
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape, objects_in


def _is_answer(record: Record) -> bool:
    return isinstance(at(record, "errorGroupStats", "errorEvents"), list)


def _answer(record: Record, inside: Inside) -> Iterator[Item]:
    yield from inside(at(record, "errorGroupStats", "errorEvents"))


def _is_group(record: Record) -> bool:
    return isinstance(record.get("representative"), Mapping) and "group" in record


def _group(record: Record, _: Inside) -> Iterator[Item]:
    event = record.get("representative")
    inner = dict(event) if isinstance(event, Mapping) else {}
    yield {
        **_reported(inner, with_time=False),
        **record_of(
            count=at(record, "count"),
            users=at(record, "affectedUsersCount"),
            first_seen=at(record, "firstSeenTime"),
            last_seen=at(record, "lastSeenTime"),
        ),
    }


def _is_event(record: Record) -> bool:
    return "serviceContext" in record and "message" in record and "eventTime" in record


def _event(record: Record, _: Inside) -> Iterator[Item]:
    yield _reported(record, with_time=True)


def _reported(event: Record, with_time: bool) -> Record:
    """The message of an event is the stack trace, or one line beside the place."""
    message = text_at(event, "message")
    place = at(event, "context.reportLocation")
    error_class, rest = title_parts(message.partition("\n")[0])
    stack = message
    if "\n" not in message.strip() and isinstance(place, Mapping):
        frame = {"filename": place.get("filePath"), "line": place.get("lineNumber"),
                 "function": place.get("functionName")}  # fmt: skip
        stack = chain_text([thrown(error_class, rest, [frame])])
    request = at(event, "context.httpRequest")
    return record_of(
        error_class="" if "\n" in message.strip() else error_class,
        message=rest if "\n" not in message.strip() else "",
        stack=stack,
        transaction=request_of(at(request, "method"), at(request, "url")),
        app=text_at(event, "serviceContext.service"),
        release=text_at(event, "serviceContext.version"),
        user=someone(at(event, "context.user")),
        time=at(event, "eventTime") if with_time else None,
    )


def _is_crash(record: Record) -> bool:
    return "issue_title" in record and ("exceptions" in record or "blame_frame" in record)


def _crash(record: Record, _: Inside) -> Iterator[Item]:
    listed = objects_in(record.get("exceptions")) or objects_in(record.get("error"))
    chain = [
        thrown(
            at(one, "type", "title"),
            at(one, "exception_message", "subtitle"),
            [_frame(frame) for frame in objects_in(one.get("frames"))],
        )
        for one in listed
    ]
    error_class = chain[0].error_class if chain else text_at(record, "error_type")
    message = (chain[0].message if chain else "") or text_at(record, "issue_subtitle")
    blamed = [_frame(one) for one in objects_in([record.get("blame_frame")])]
    yield record_of(
        error_class=error_class,
        message=message,
        stack=chain_text(chain) or chain_text([thrown(error_class, message, blamed)]),
        transaction=text_at(record, "blame_frame.symbol"),
        app=text_at(record, "bundle_identifier"),
        release=text_at(record, "application.display_version"),
        user=someone(at(record, "user")) or text_at(record, "installation_uuid"),
        time=at(record, "event_timestamp"),
    )


def _frame(frame: Record) -> Record:
    """Crashlytics says whose a frame is; a symbol holds the class, too."""
    return {**frame, "in_app": frame.get("owner") == "DEVELOPER"} if "owner" in frame else frame


GOOGLE_FORMATS = (
    Shape(
        "",
        _is_answer,
        _answer,
        ("errorGroupStats", "errorEvents"),
        ("errorGroupStats", "errorEvents"),
    ),
    Shape(
        "error group of Google's Error Reporting",
        _is_group,
        _group,
        ("group", "count", "affectedUsersCount", "representative.message"),
        ("representative",),
    ),
    Shape(
        "event of Google's Error Reporting",
        _is_event,
        _event,
        ("eventTime", "serviceContext", "message"),
        ("serviceContext",),
    ),
    Shape(
        "crash of Crashlytics",
        _is_crash,
        _crash,
        ("issue_title", "exceptions", "blame_frame"),
        ("issue_title",),
    ),
)
