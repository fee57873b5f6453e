"""Monitoring services: AppSignal, Datadog, Elastic APM, New Relic, Raygun."""

from collections.abc import Iterator, Mapping, Sequence

from nightwatch_core.adapters.files.exceptions import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.limits import MAX_LINKS, MAX_WRAPS
from nightwatch_core.adapters.files.shapes.fields import (
    MESSAGE,
    QUIET,
    Inside,
    Item,
    Record,
    Shape,
    at,
    objects_in,
    record_of,
    request_of,
    shape,
    someone,
    text_at,
    title_parts,
)

_INCIDENTS = ("exceptionIncidents", "paginatedExceptionIncidents", "incidents", "incident",
              "exceptionIncident")  # fmt: skip


def _answer(record: Record, inside: Inside) -> Iterator[Item]:
    for incidents in _incidents(record.get("data"), 0):
        yield from inside(incidents)


def _incidents(value: object, depth: int) -> Iterator[object]:
    if isinstance(value, list) and depth <= MAX_WRAPS:
        for item in value:
            yield from _incidents(item, depth + 1)
    if not isinstance(value, Mapping) or depth > MAX_WRAPS:
        return
    for name, inner in value.items():
        if name in _INCIDENTS and inner:
            yield at(inner, "rows", "edges") or inner
        else:
            yield from _incidents(inner, depth + 1)


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
    if isinstance(backtrace, list) and all(isinstance(item, str) for item in backtrace):
        return "\n".join((f"{name}: {message.partition(chr(10))[0]}", *backtrace))
    if isinstance(backtrace, str):
        return f"{name}\n{backtrace}"
    return chain_text([thrown(name, message, backtrace)])


APPSIGNAL_FORMATS = (
    shape("", "data.app|data.organization|data.viewer:object", _answer, ()),
    shape(
        "incident of AppSignal",
        "exceptionName",
        _incident,
        ("exceptionName", "exceptionMessage", "actionNames", "lastOccurredAt", "count"),
    ),
    shape(
        "call of AppSignal's webhook",
        "exception.exception:text",
        _call,
        ("exception.exception", "exception.action", "exception.first_backtrace_line"),
    ),
)

# Datadog: logs and spans of its searches and archives, RUM errors, issues of Error Tracking.

_KINDS = ("log", "rum", "spans", "span", "event", "error")
_ISSUES = ("issue", "error_tracking_issue", "error_tracking_search_result", "issues")


def _is_event(record: Record) -> bool:
    attributes = record.get("attributes")
    if isinstance(attributes, Mapping):
        return record.get("type") in _KINDS or "_id" in record or "attributes" in attributes
    content = record.get("content")
    return isinstance(content, Mapping) and "id" in record and "attributes" in content


def _event(record: Record, _: Inside) -> Iterator[Item]:
    """The event's own attributes count before those that Datadog gives every event."""
    outer = record.get("content") if "content" in record else record.get("attributes")
    plain = dict(outer) if isinstance(outer, Mapping) else {}
    reserved = {**record, **plain}
    custom = at(plain, "attributes", "custom")
    own = dict(custom) if isinstance(custom, Mapping) else plain
    tags = _tags(at(plain, "tags") or record.get("tags"))
    error = at(own, "error")
    kept = {n: v for n, v in own.items() if n not in ("error", "tags", "usr", "user", "attributes")}
    yield {
        **kept,
        **record_of(
            error_class=text_at(error, "kind", "type"),
            message=text_at(error, "message"),
            stack=at(error, "stack", "stack_trace") or at(own, "exception.stacktrace"),
            transaction=_transaction(own, reserved),
            app=text_at(reserved, "service") or tags.get("service"),
            release=text_at(reserved, "version") or text_at(own, "version") or tags.get("version"),
            commit=tags.get("git.commit.sha"),
            host=text_at(reserved, "host") or tags.get("host"),
            user=someone(at(own, "usr", "user")),
            time=at(reserved, "timestamp", "date", "start_timestamp"),
            level=text_at(reserved, "status"),
        ),
        **({"message": reserved["message"]} if reserved.get("message") else {}),
    }


def _transaction(own: Record, reserved: Record) -> str:
    return text_at(
        own, "transaction", "http.route", "resource_name", "http.url_details.path",
        "view.url_path_group", "view.name", "logger.method_name",
    ) or text_at(reserved, "resource_name")  # fmt: skip


def _tags(tags: object) -> dict[str, str]:
    listed = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else []
    pairs = (item.partition(":") for item in listed if isinstance(item, str))
    return {name.strip(): value for name, _, value in pairs if value}


def _is_issues(record: Record) -> bool:
    first = at(record, "data.0", "data")
    return isinstance(first, Mapping) and first.get("type") in _ISSUES


def _issues(record: Record, _: Inside) -> Iterator[Item]:
    """Counts of a search stand beside the issues that it found."""
    by_id = {text_at(item, "id"): item for item in objects_in(record.get("included"))}
    for item in objects_in(record.get("data")) or objects_in([record.get("data")]):
        related = by_id.get(text_at(item, "relationships.issue.data.id") or text_at(item, "id"))
        yield _issue(at(related, "attributes") or {}, at(item, "attributes") or {})


def _issue(issue: object, counts: object) -> Record:
    both = {
        **(dict(counts) if isinstance(counts, Mapping) else {}),
        **(dict(issue) if isinstance(issue, Mapping) else {}),
    }
    file, function = text_at(both, "file_path"), text_at(both, "function_name")
    return record_of(
        error_class=text_at(both, "error_type"),
        message=text_at(both, "error_message"),
        stack=f"{text_at(both, 'error_type')}\n  frame: {file} in {function}"
        if file and function else "",
        app=text_at(both, "service"),
        release=text_at(both, "last_seen_version"),
        count=at(both, "total_count"),
        users=at(both, "impacted_users"),
        first_seen=at(both, "first_seen"),
        last_seen=at(both, "last_seen"),
    )  # fmt: skip


DATADOG_FORMATS = (
    Shape(
        "issue of Datadog's Error Tracking",
        _is_issues,
        _issues,
        ("data.attributes.total_count", "included.attributes.error_type"),
        ("data",),
    ),
    Shape(
        "event of Datadog",
        _is_event,
        _event,
        (
            "attributes.attributes.error.kind",
            "attributes.message",
            "attributes.timestamp",
            "attributes.service",
            "attributes.tags",
        ),
        ("attributes", "content"),
    ),
)

# Elastic APM: errors as stored, as its agents send them, and groups of its pages.


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
    if not any(item.frames for item in chain):
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
    listed = [_frame(item) for item in objects_in(frames)]
    return thrown(error_class or MESSAGE, message, listed)


def _frame(frame: Record) -> Record:
    if not isinstance(frame.get("library_frame"), bool):
        return frame
    return {**frame, "in_app": not frame["library_frame"]}


def _is_metadata(record: Record) -> bool:
    names = record.keys()
    return len(names) == 1 and bool(names & {"metadata", "transaction", "span", "metricset"})


def _quiet(_: Record, __: Inside) -> Iterator[Item]:
    yield QUIET


def _groups(record: Record, _: Inside) -> Iterator[Item]:
    for item in objects_in(record.get("errorGroups")):
        yield record_of(
            error_class=text_at(item, "type") or MESSAGE,
            message=text_at(item, "name"),
            transaction=text_at(item, "culprit"),
            count=at(item, "occurrences"),
            last_seen=at(item, "lastSeen"),
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
    shape("error group of Elastic APM", "errorGroups.0.groupId", _groups, ("errorGroups.groupId",)),
)

# Answers of New Relic: NerdGraph, and NRQL in every form its pages and tools export.

# Attributes that a facet stands for where the answer does not name them.
FACETS = ("error.class", "transactionName", "error.message")


def _nerdgraph(document: Record, inside: Inside) -> Iterator[Item]:
    answers = list(_answers(document.get("data"), 0))
    for answer in answers:
        yield from _nrql(answer, inside)
    errors = document.get("errors")
    if errors or not answers:
        words = [str(error.get("message", "")) for error in objects_in(errors)]
        yield f"New Relic answered with errors: {'; '.join(words)[:300] or 'no results'}"


def _answers(value: object, depth: int) -> Iterator[Record]:
    if not isinstance(value, dict) or depth > MAX_WRAPS:
        return
    if isinstance(value.get("results"), list):
        yield value
        return
    for inner in value.values():
        yield from _answers(inner, depth + 1)


def _is_nrql(document: Record) -> bool:
    results = document.get("results")
    return isinstance(results, list) and ("metadata" in document or _has_events(results))


def _has_events(results: Sequence[object]) -> bool:
    return any(isinstance(result, dict) and "events" in result for result in results)


def _nrql(answer: Record, inside: Inside) -> Iterator[Item]:
    metadata = answer.get("metadata")
    named = metadata.get("facets") if isinstance(metadata, dict) else None
    names = [named] if isinstance(named, str) else list(named or ())
    for row in objects_in(answer.get("results")):
        if isinstance(row.get("events"), list):
            yield from inside(row["events"])
        else:
            yield _with_facets(row, [str(name) for name in names] or FACETS)
    other = answer.get("otherResult")
    missing = other.get("count") if isinstance(other, dict) else None
    if isinstance(missing, int | float) and missing > 0:
        yield f"New Relic left {int(missing)} more occurrences out of its answer"


def _row(document: Record, _: Inside) -> Iterator[Item]:
    yield _with_facets(document, FACETS)


def _with_facets(row: Record, names: Sequence[str]) -> Record:
    facet = row.get("facet")
    values = facet if isinstance(facet, list) else [facet] if isinstance(facet, str) else []
    named = {name: value for name, value in zip(names, values, strict=False) if value is not None}
    return {**named, **{key: value for key, value in row.items() if value is not None}}


NEW_RELIC_FORMATS = (
    shape("answer of New Relic's NerdGraph", "data.actor:object", _nerdgraph, ("data.actor",)),
    Shape("answer of New Relic", _is_nrql, _nrql, ("results", "metadata"), ("results",)),
)
NEW_RELIC_ROW_FORMATS = (shape("row of a New Relic answer", "facet", _row, ("facet", "count")),)

# Raygun: occurrences, groups, and what its webhook says.

_STACKS = ("stackTrace", "stacktrace")


def _is_occurrence(record: Record) -> bool:
    error = at(record, "details.error", "error", "Details.Error")
    if not isinstance(error, Mapping):
        return False
    return "className" in error and any(name in error for name in _STACKS)


def _occurrence(record: Record, _: Inside) -> Iterator[Item]:
    details = at(record, "details", "Details") or record
    chain = _raygun_chain(at(details, "error", "Error"))
    request = at(details, "request")
    host, url = text_at(request, "hostName"), text_at(request, "url", "rawUrl")
    yield record_of(
        error_class=chain[0].error_class,
        message=chain[0].message,
        stack=chain_text(chain, text_at(details, "client.language")),
        transaction=request_of(
            at(request, "httpMethod"), url if "://" in url or not host else f"https://{host}{url}"
        ),
        app=text_at(record, "application.name"),
        release=text_at(details, "version"),
        host=text_at(details, "machineName"),
        user=someone(at(details, "user")),
        time=at(record, "occurredOn", "occurredAt", "OccurredOn"),
    )


def _raygun_chain(error: object) -> list[Thrown]:
    chain: list[Thrown] = []
    while isinstance(error, Mapping) and len(chain) < MAX_LINKS:
        message = text_at(error, "message").removeprefix(f"{text_at(error, 'className')}: ")
        chain.append(thrown(error.get("className"), message, at(error, *_STACKS)))
        error = error.get("innerError")
    return chain


def _is_group(record: Record) -> bool:
    if "lastOccurredAt" in record and "message" in record:
        return "applicationIdentifier" in record or "applicationUrl" in record
    return isinstance(at(record, "error.totalOccurrences"), int | str)


def _group(record: Record, _: Inside) -> Iterator[Item]:
    group = at(record, "error") if "lastOccurredAt" not in record else record
    error_class, message = title_parts(text_at(group, "message"))
    yield record_of(
        error_class=error_class or MESSAGE,
        message=message,
        app=text_at(record, "application.name"),
        count=at(group, "totalOccurrences", "occurrenceCount"),
        users=at(group, "usersAffected"),
        first_seen=at(group, "firstOccurredOn", "createdAt"),
        last_seen=at(group, "lastOccurredOn", "lastOccurredAt"),
    )


RAYGUN_FORMATS = (
    Shape(
        "occurrence of Raygun",
        _is_occurrence,
        _occurrence,
        ("occurredOn", "details.error.className", "details.error.stackTrace"),
        ("details", "Details", "error"),
    ),
    Shape(
        "error group of Raygun",
        _is_group,
        _group,
        ("message", "lastOccurredAt", "applicationIdentifier", "status"),
        ("lastOccurredAt", "error"),
    ),
)
