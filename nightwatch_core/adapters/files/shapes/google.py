"""Google: Error Reporting, Crashlytics in BigQuery, and Cloud Logging."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import chain_text, thrown
from nightwatch_core.adapters.files.shapes.fields import (
    Inside,
    Item,
    LogLine,
    Record,
    Shape,
    at,
    first_text,
    inner,
    objects_in,
    path_of,
    record_of,
    request_of,
    shape,
    someone,
    text_at,
    title_parts,
)


def _answer(record: Record, inside: Inside) -> Iterator[Item]:
    yield from inside(at(record, "errorGroupStats", "errorEvents"))


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


def _crash(record: Record, _: Inside) -> Iterator[Item]:
    listed = objects_in(record.get("exceptions")) or objects_in(record.get("error"))
    chain = [
        thrown(
            at(item, "type", "title"),
            at(item, "exception_message", "subtitle"),
            [_frame(frame) for frame in objects_in(item.get("frames"))],
        )
        for item in listed
    ]
    error_class = chain[0].error_class if chain else text_at(record, "error_type")
    message = (chain[0].message if chain else "") or text_at(record, "issue_subtitle")
    blamed = [_frame(item) for item in objects_in([record.get("blame_frame")])]
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
    shape("", "errorGroupStats|errorEvents:list", _answer, ("errorGroupStats", "errorEvents")),
    shape(
        "error group of Google's Error Reporting",
        "representative:object group",
        _group,
        ("group", "count", "affectedUsersCount", "representative.message"),
    ),
    shape(
        "event of Google's Error Reporting",
        "serviceContext message eventTime",
        _event,
        ("eventTime", "serviceContext", "message"),
    ),
    shape(
        "crash of Crashlytics",
        "issue_title exceptions|blame_frame",
        _crash,
        ("issue_title", "exceptions", "blame_frame"),
    ),
)

# Entries of Google Cloud Logging, and the errors that Error Reporting takes from them.

_TOLD_BY = frozenset(("insertId", "logName", "resource", "receiveTimestamp", "timestamp"))
_APPS = ("service_name", "container_name", "function_name", "module_id", "job_name", "job_id")
_RELEASES = ("version_id", "revision_name")
_HOSTS = ("pod_name", "instance_id", "instanceId", "node_name")


def _is_entry(document: Record) -> bool:
    if "textPayload" not in document and not isinstance(document.get("jsonPayload"), dict):
        return False
    return not _TOLD_BY.isdisjoint(document)


def _entry(document: Record, inside: Inside) -> Iterator[Item]:
    payload = inner(document, "jsonPayload")
    around = _around(document, payload)
    stream = " ".join((*map(str, inner(document, "resource", "labels").values()), *_own(document)))
    text = document.get("textPayload")
    line = LogLine(text if isinstance(text, str) else "", stream, around)
    if not payload:
        yield line
    elif isinstance(payload.get("message"), str) and _is_text_alone(payload):
        yield line._replace(text=str(payload["message"]))
    else:
        own = {"severity": document.get("severity"), **payload}  # its agents take it out
        yield {**own, "around": {**around, "stream": stream}}


def _is_text_alone(payload: Record) -> bool:
    """Error Reporting has the whole trace in `message`; agents that tail files one line of it."""
    kind = payload.get("@type")
    names = ("exception", "stack_trace", "stack", "error", "err", "exc_info", "stacktrace")
    if isinstance(kind, str) and kind.endswith("ReportedErrorEvent"):
        return True
    return len(payload) < 3 and not any(name in payload for name in names)


def _own(document: Record) -> tuple[str, ...]:
    labels = inner(document, "labels")
    return (first_text(labels, "instanceId"), first_text(document, "logName"))


def _around(document: Record, payload: Record) -> dict[str, object]:
    columns = {
        name.removeprefix("resource.").removeprefix("labels."): value
        for name, value in document.items()
        if name.startswith(("labels.", "resource.labels."))
    }
    labels = {**columns, **inner(document, "labels"), **inner(document, "resource", "labels")}
    service = inner(payload, "serviceContext") or inner(document, "serviceContext")
    context = inner(payload, "context") or inner(document, "context")
    request = (
        inner(document, "httpRequest") or inner(payload, "httpRequest")
        or inner(context, "httpRequest")
    )  # fmt: skip
    address = first_text(request, "requestUrl", "url")
    source = document.get("sourceLocation") or payload.get("logging.googleapis.com/sourceLocation")
    return {
        "time": document.get("timestamp") or document.get("receiveTimestamp"),
        "level": document.get("severity"),
        "app": first_text(service, "service") or first_text(labels, *_APPS),
        "release": first_text(service, "version") or first_text(labels, *_RELEASES),
        "commit": first_text(labels, "commit-sha"),
        "host": first_text(labels, *_HOSTS),
        "path": path_of(address),
        "method": first_text(request, "requestMethod", "method"),
        "user": first_text(context, "user"),
        "source": source,
    }


GOOGLE_CLOUD_FORMATS = (
    Shape(
        "log of Google Cloud",
        _is_entry,
        _entry,
        ("textPayload", "jsonPayload", "logName"),
        ("textPayload", "jsonPayload"),
    ),
)
