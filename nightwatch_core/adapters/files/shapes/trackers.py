"""Error trackers: Airbrake (and Errbit), Bugsnag, Honeybadger, Rollbar."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.records import is_quiet
from nightwatch_core.adapters.files.shapes.fields import (
    MESSAGE,
    QUIET,
    Inside,
    Item,
    Record,
    Shape,
    at,
    objects_in,
    path_of,
    record_of,
    request_of,
    shape,
    someone,
    text_at,
    title_parts,
)

_LISTS = ("groups", "notices")
_BESIDE = frozenset(
    ("context", "noticeCount", "noticeTotalCount", "lastNoticeAt", "projectId", "notifier",
     "groupId")
)  # fmt: skip


def _list(record: Record, inside: Inside) -> Iterator[Item]:
    for name in _LISTS:
        yield from inside(record.get(name) or [])


def _is_notice(record: Record) -> bool:
    errors = record.get("errors")
    if not isinstance(errors, list) or not (record.keys() & _BESIDE):
        return False
    return any(isinstance(error, Mapping) and "type" in error for error in errors[:1])


def _notice(record: Record, _: Inside) -> Iterator[Item]:
    chain = [
        thrown(item.get("type"), item.get("message"), item.get("backtrace"))
        for item in objects_in(record.get("errors"))
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
    shape("", "groups.0.errors|notices.0.errors", _list, ("groups.errors", "notices.errors")),
    Shape(
        "notice of Airbrake",
        _is_notice,
        _notice,
        ("errors.type", "errors.backtrace", "context", "noticeCount"),
        ("errors",),
    ),
)

# Bugsnag: errors, events as its API gives them, and what its notifiers send.

_CLASSES = ("error_class", "errorClass")


def _is_event(record: Record) -> bool:
    exceptions = record.get("exceptions")
    if not isinstance(exceptions, list) or not exceptions:
        return False
    first = exceptions[0]
    return isinstance(first, Mapping) and any(name in first for name in _CLASSES)


def _event(record: Record, _: Inside) -> Iterator[Item]:
    chain = [
        thrown(at(item, *_CLASSES), item.get("message"), item.get("stacktrace"))
        for item in objects_in(record.get("exceptions"))
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
    shape(
        "error of Bugsnag",
        "error_class events_url|first_seen",
        _error,
        ("error_class", "message", "events", "users", "first_seen", "last_seen"),
    ),
    shape(
        "call of Bugsnag's webhook",
        "error.exceptionClass",
        _call,
        ("error.exceptionClass", "trigger"),
    ),
)

# Honeybadger: faults, notices, and what its webhook says.


def _honeybadger_call(record: Record, inside: Inside) -> Iterator[Item]:
    fault, notice = record["fault"], record.get("notice")
    if isinstance(fault, Mapping) and isinstance(notice, Mapping):
        named = {"klass": fault.get("klass"), "component": fault.get("component"),
                 "action": fault.get("action"), "fault_id": fault.get("id", 0)}  # fmt: skip
        yield from inside({**named, **notice})
    else:
        yield from inside(fault)


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


def _is_honeybadger_notice(record: Record) -> bool:
    if isinstance(at(record, "error.backtrace"), list) and "server" in record:
        return True
    return "fault_id" in record and ("backtrace" in record or "klass" in record)


def _honeybadger_notice(record: Record, _: Inside) -> Iterator[Item]:
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
    own = {_place(item) for item in objects_in(at(record, "application_trace",
                                                "error.application_trace"))}  # fmt: skip
    causes = objects_in(at(error, "causes"))
    return [
        thrown(
            at(item, "class", "klass"),
            item.get("message"),
            [_frame(frame, own) for frame in objects_in(item.get("backtrace"))],
        )
        for item in (error, *causes)
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
    shape(
        "call of Honeybadger's webhook",
        "fault:object event",
        _honeybadger_call,
        ("event", "fault", "notice"),
    ),
    shape(
        "fault of Honeybadger",
        "klass notices_count|last_notice_at",
        _fault,
        ("klass", "message", "notices_count", "last_notice_at"),
    ),
    Shape(
        "notice of Honeybadger",
        _is_honeybadger_notice,
        _honeybadger_notice,
        ("error.class", "error.backtrace", "fault_id", "server", "request"),
        ("error", "fault_id"),
    ),
)

# Rollbar: occurrences as its API gives them and as its notifiers send them, and lists of items.

_BODIES = ("trace", "trace_chain", "message", "crash_report")


def _is_answer(record: Record) -> bool:
    return "err" in record and isinstance(record.get("result"), Mapping | list)


def _answer(record: Record, inside: Inside) -> Iterator[Item]:
    result = record["result"]
    inner = at(result, "items", "instances", "occurrences", "result")
    if inner is None and isinstance(result, Mapping) and ("items" in result or "page" in result):
        return
    yield from inside(inner if inner is not None else result)


def _rollbar_call(record: Record, inside: Inside) -> Iterator[Item]:
    paths = ("data.occurrence", "data.item.last_occurrence", "data.item")
    parts = (at(record, path) for path in paths)
    yield from inside(next(part for part in parts if isinstance(part, Mapping)))


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
    chain = _rollbar_chain(body)
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
    params = at(data, "request.params")
    controller, action = text_at(params, "controller"), text_at(params, "action")
    if controller:
        return f"{controller}#{action}" if action else controller
    return text_at(data, "context") or path_of(at(data, "request.route"))


def _rollbar_chain(body: Record) -> list[Thrown]:
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
    shape(
        "call of Rollbar's webhook",
        "event_name data.item:object",
        _rollbar_call,
        ("event_name", "data.item"),
    ),
    Shape(
        "occurrence of Rollbar",
        _is_occurrence,
        _occurrence,
        ("data.body.trace", "data.body.trace_chain", "data.body.message", "timestamp"),
        ("body", "data"),
    ),
    shape(
        "item of Rollbar",
        "total_occurrences title",
        _item,
        ("title", "total_occurrences", "last_occurrence_timestamp", "counter"),
    ),
)
