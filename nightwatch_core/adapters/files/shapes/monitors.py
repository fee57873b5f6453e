"""Monitoring services: AppSignal, Datadog, Elastic APM, New Relic, Raygun."""

from collections.abc import Iterator, Mapping, Sequence

from nightwatch_core.adapters.files.exceptions import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.limits import MAX_LINKS, MAX_WRAPS
from nightwatch_core.adapters.files.shapes.described import Unpack, descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.fields import (
    MESSAGE,
    QUIET,
    Inside,
    Item,
    Record,
    at,
    inner,
    objects_in,
    request_of,
    text_at,
)

_DESCRIBED = descriptions("monitors.toml")

# New Relic: NerdGraph, and NRQL in every form its pages and tools export.

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
    if isinstance(value, dict) and isinstance(value.get("results"), list):
        yield value
    elif isinstance(value, dict) and depth <= MAX_WRAPS:
        for inner in value.values():
            yield from _answers(inner, depth + 1)


def _nrql(answer: Record, inside: Inside) -> Iterator[Item]:
    named = inner(answer, "metadata").get("facets")
    names = [named] if isinstance(named, str) else list(named) if isinstance(named, list) else []
    for row in objects_in(answer.get("results")):
        if isinstance(row.get("events"), list):
            yield from inside(row["events"])
        else:
            yield with_facets(row, [str(name) for name in names] or FACETS)
    missing = inner(answer, "otherResult").get("count")
    if isinstance(missing, int | float) and missing > 0:
        yield f"New Relic left {int(missing)} more occurrences out of its answer"


def with_facets(row: Record, names: Sequence[str] = FACETS) -> Record:
    """Give the values of a row's facet the names of their attributes."""
    facet = row.get("facet")
    values = facet if isinstance(facet, list) else [facet] if isinstance(facet, str) else []
    named = {name: value for name, value in zip(names, values, strict=False) if value is not None}
    return {**named, **{key: value for key, value in row.items() if value is not None}}


def _raygun_occurrence(record: Record, _: Inside) -> Iterator[Item]:
    described = _DESCRIBED["raygun_occurrence"]
    chain = [
        item._replace(message=item.message.removeprefix(f"{item.error_class}: "))
        for item in described.chain(record)
    ]
    request = at(record, "details.request", "Details.request", "request")
    host, url = text_at(request, "hostName"), text_at(request, "url", "rawUrl")
    whole = url if "://" in url or not host else f"https://{host}{url}"
    place = request_of(at(request, "httpMethod"), whole)
    yield described.read(record, chain, transaction=place)


# AppSignal: answers of its API, and what its webhook says.

_INCIDENTS = ("exceptionIncidents", "paginatedExceptionIncidents", "incidents", "incident",
              "exceptionIncident")  # fmt: skip


def _appsignal_answer(record: Record, inside: Inside) -> Iterator[Item]:
    for incidents in _incidents(record.get("data"), 0):
        yield from inside(incidents)


def _incidents(value: object, depth: int) -> Iterator[object]:
    if depth > MAX_WRAPS:
        return
    if isinstance(value, list):
        for item in value:
            yield from _incidents(item, depth + 1)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if name in _INCIDENTS and inner:
                yield at(inner, "rows", "edges") or inner
            else:
                yield from _incidents(inner, depth + 1)


def _appsignal(name: str) -> Unpack:
    """Ruby's backtraces come as lines without the exception, JavaScript's as objects."""
    described = _DESCRIBED[name]

    def unpack(record: Record, _: Inside) -> Iterator[Item]:
        error_class = described.text(record, "error_class")
        message = described.text(record, "message")
        trace = at(record, *described.fields["stack"])
        lines = trace if isinstance(trace, list) and isinstance(trace[0], str) else []
        if lines:
            trace = "\n".join((f"{error_class}: {message.partition(chr(10))[0]}", *map(str, lines)))
        elif isinstance(trace, str):
            trace = f"{error_class}\n{trace}"
        else:
            trace = chain_text([thrown(error_class, message, trace)])
        yield described.read(record, stack=trace)

    return unpack


# Datadog: logs and spans of its searches and archives, RUM errors, issues of Error Tracking.

_NOT_KEPT = ("error", "tags", "usr", "user", "attributes")


def _datadog_event(record: Record, _: Inside) -> Iterator[Item]:
    """The event's own attributes count before those that Datadog gives every event."""
    plain = inner(record, "content" if "content" in record else "attributes")
    reserved = {**record, **plain}
    custom = at(plain, "attributes", "custom")
    own = dict(custom) if isinstance(custom, Mapping) else plain
    tags = _tags(at(plain, "tags") or record.get("tags"))
    yield {
        **{name: value for name, value in own.items() if name not in _NOT_KEPT},
        **_DESCRIBED["datadog_event"].read({**own, "reserved": reserved, "tag": tags}),
        **({"message": reserved["message"]} if reserved.get("message") else {}),
    }


def _tags(tags: object) -> dict[str, str]:
    listed = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else []
    pairs = (item.partition(":") for item in listed if isinstance(item, str))
    return {name.strip(): value for name, _, value in pairs if value}


def _datadog_issues(record: Record, _: Inside) -> Iterator[Item]:
    """Counts of a search stand beside the issues that it found."""
    by_id = {text_at(item, "id"): item for item in objects_in(record.get("included"))}
    for item in objects_in(record.get("data")) or objects_in([record.get("data")]):
        related = by_id.get(text_at(item, "relationships.issue.data.id") or text_at(item, "id"))
        issue = {**inner(item, "attributes"), **inner(related or {}, "attributes")}
        file, function = text_at(issue, "file_path"), text_at(issue, "function_name")
        frame = f"{text_at(issue, 'error_type')}\n  frame: {file} in {function}"
        stack = frame if file and function else ""
        yield _DESCRIBED["datadog_issues"].read(issue, stack=stack)


# Elastic APM: errors as stored, as its agents send them, and groups of its pages.


def _is_elastic_error(record: Record) -> bool:
    exception = at(record, "error.exception")
    if isinstance(exception, list | Mapping):
        return isinstance(at(exception, "0") or exception, Mapping)
    is_sent = len(record) == 1  # by an agent: whatever stands under `error` is one
    is_stored = "processor" in record or at(record, "error.grouping_key") is not None
    return isinstance(at(record, "error.log"), Mapping) and (is_sent or is_stored)


def _elastic_error(record: Record, _: Inside) -> Iterator[Item]:
    chain = _elastic_chain(at(record, "error.exception"))
    if not any(item.frames for item in chain):
        log = at(record, "error.log")
        first = chain[0] if chain else Thrown(MESSAGE, text_at(log, "message"))
        chain = [_framed(first.error_class, first.message, at(log, "stacktrace")), *chain[1:]]
    yield _DESCRIBED["elastic_error"].read(record, chain)


def _elastic_chain(exception: object) -> list[Thrown]:
    waiting = objects_in(exception) or objects_in([exception])
    chain: list[Thrown] = []
    while waiting and len(chain) < MAX_LINKS:
        item = waiting.pop(0)
        chain.append(
            _framed(at(item, "type", "module"), item.get("message"), item.get("stacktrace"))
        )
        cause = item.get("cause")
        waiting += objects_in(cause) or objects_in([cause])
    return chain


def _framed(error_class: object, message: object, frames: object) -> Thrown:
    listed = [
        {**frame, "in_app": not frame["library_frame"]}
        if isinstance(frame.get("library_frame"), bool)
        else frame
        for frame in objects_in(frames)
    ]
    return thrown(error_class or MESSAGE, message, listed)


def _is_elastic_metadata(record: Record) -> bool:
    return len(record) == 1 and not record.keys().isdisjoint(
        ("metadata", "transaction", "span", "metricset")
    )


def _quiet(_: Record, __: Inside) -> Iterator[Item]:
    yield QUIET


MONITORS = shapes_of(
    _DESCRIBED,
    {
        "nerdgraph": _nerdgraph,
        "nrql": _nrql,
        "raygun_occurrence": _raygun_occurrence,
        "appsignal_answer": _appsignal_answer,
        "appsignal_incident": _appsignal("appsignal_incident"),
        "appsignal_call": _appsignal("appsignal_call"),
        "datadog_issues": _datadog_issues,
        "datadog_event": _datadog_event,
        "elastic_error": _elastic_error,
        "elastic_metadata": _quiet,
    },
    {"elastic_error": _is_elastic_error, "elastic_metadata": _is_elastic_metadata},
)
