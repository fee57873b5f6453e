"""Error trackers and monitoring services: Sentry and compatible ones (GlitchTip, Bugsink, GitLab),
Airbrake, AppSignal, Bugsnag, Datadog, Elastic APM, Honeybadger, New Relic, Raygun, Rollbar
"""

from collections.abc import Iterator, Mapping, Sequence

from nightwatch_core.adapters.files import limits
from nightwatch_core.adapters.files.frames import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.records import LOGGED
from nightwatch_core.adapters.files.shapes.described import descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.values import (
    QUIET,
    Inside,
    Item,
    Record,
    at,
    inner,
    objects_in,
    text_at,
    title_parts,
)

_DESCRIBED = descriptions("trackers.toml")

# Sentry: what its API, its webhooks and its pages give.

_LEVELS = ("error", "fatal", "critical", "")
_OTHER_EVENTS = ("transaction", "profile", "check_in", "replay_event", "session", "feedback")
_MEMBERS = ("exceptions[", "errors[")  # sources of the exceptions within a group


def _sentry_event(document: Record, _: Inside) -> Iterator[Item]:
    record = _with_entries(document)
    chain = _sentry_chain(record)
    level = text_at(record, "level", "tags.level")
    if not chain and (level not in _LEVELS or record.get("type") in _OTHER_EVENTS):
        yield QUIET
        return
    project = record.get("project")  # its number says nothing
    app = text_at(record, "project.slug", "project_slug", "projectSlug", "project.name")
    yield _DESCRIBED["sentry_event"].read(
        {**record, "titled": _title(record)},
        chain,
        app=app or (project if isinstance(project, str) else ""),
    )


def _with_entries(record: Record) -> dict[str, object]:
    """The event as stored: its API lists the parts as entries, and the tags as pairs."""
    listed = objects_in(record.get("entries"))
    entries = {str(entry.get("type")): entry.get("data") for entry in listed}
    parts: dict[str, object] = {
        name: entries[name]
        for name in ("exception", "stacktrace", "threads", "message", "request")
        if name in entries and not (name in ("message", "request") and record.get(name))
    }
    return {**record, **parts, "tags": _sentry_tags(record.get("tags"))}


def _sentry_tags(tags: object) -> dict[str, object]:
    if isinstance(tags, dict):
        return tags
    listed = tags if isinstance(tags, list) else []
    pairs = [(item.get("key"), item.get("value")) for item in objects_in(listed)]
    pairs += [(item[0], item[1]) for item in listed if isinstance(item, list) and len(item) == 2]
    return {key: value for key, value in pairs if isinstance(key, str)}


def _sentry_chain(record: Record) -> list[Thrown]:
    """The exceptions of an event, the reported one first; those of a group are left out."""
    found = record.get("exception") or record.get("sentry.interfaces.Exception")
    values = found.get("values") or [found] if isinstance(found, Mapping) else found
    listed = [item for item in objects_in(values)[-limits.MAX_LINES :] if item]
    stored = [item for item in listed if not text_at(item, "mechanism.source").startswith(_MEMBERS)]
    chain = [
        thrown(
            text_at(item, "type", "module"),
            item.get("value"),
            at(item, "stacktrace.frames", "rawStacktrace.frames", "raw_stacktrace.frames"),
            reverse=True,
        )
        for item in reversed(stored or listed)
    ]
    if any(item.frames for item in chain):
        return chain
    first = chain[0] if chain else Thrown("", "")
    threads = objects_in(at(record, "threads.values"))
    crashed = next((item for item in threads if item.get("crashed") or item.get("current")), {})
    frames = at(record, "stacktrace.frames") or at(crashed, "stacktrace.frames")
    with_frames = thrown(first.error_class, first.message, frames, reverse=True)
    return [with_frames, *chain[1:]] if with_frames.frames else chain


def _title(record: Record) -> dict[str, object]:
    """Class and message in the title; that of a plain message is a message as a whole."""
    title = text_at(record, "title", "metadata.title")
    error_class, message = ("", title) if record.get("type") == "default" else title_parts(title)
    return {"class": error_class, "message": message}


def _sentry_issue(record: Record, _: Inside) -> Iterator[Item]:
    titled = {**record, "titled": _title(record)}
    error_class = text_at(titled, "metadata.type", "titled.class")
    is_error = text_at(record, "issueCategory") in ("", "error")
    if not is_error or (text_at(record, "level") not in _LEVELS and not error_class):
        yield QUIET
        return
    file, function = text_at(record, "metadata.filename"), text_at(record, "metadata.function")
    place = [{"filename": file, "function": function}] if file else []
    message = text_at(titled, "metadata.value", "titled.message")
    stack = chain_text([thrown(error_class or LOGGED, message, place)], "other")
    yield _DESCRIBED["sentry_issue"].read(titled, stack=stack)


_HEADERS = frozenset(
    ("event_id", "sent_at", "dsn", "sdk", "trace", "type", "length", "content_type", "filename",
     "attachment_type", "item_count", "platform")
)  # fmt: skip


def _is_envelope_header(record: Record) -> bool:
    """Tell a line that holds no more than such fields; a `type` of errors is a name in capitals."""
    kind = text_at(record, "type")
    return record.keys() <= _HEADERS and kind == kind.lower()


# Columns that no other export has: any of them with a title or a class tells it.
_DISCOVER = frozenset(("count()", "count_unique(user)", "last_seen()"))


def _is_sentry_row(record: Record) -> bool:
    names = record.keys()
    is_titled = "title" in names and not names.isdisjoint(("issue.id", "project.name"))
    if names.isdisjoint(_DISCOVER) and not is_titled:
        return isinstance(record.get("error.type"), list)
    return not names.isdisjoint(("title", "error.type", "issue", "message"))


# New Relic: NerdGraph, and NRQL in every form its pages and tools export.

# Attributes that a facet stands for where the answer does not name them.
_FACETS = ("error.class", "transactionName", "error.message")


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
    elif isinstance(value, dict) and depth <= limits.MAX_WRAPS:
        for item in value.values():
            yield from _answers(item, depth + 1)


def _nrql(answer: Record, inside: Inside) -> Iterator[Item]:
    named = inner(answer, "metadata").get("facets")
    names = [named] if isinstance(named, str) else list(named) if isinstance(named, list) else []
    for row in objects_in(answer.get("results")):
        if isinstance(row.get("events"), list):
            yield from inside(row["events"])
        else:
            yield with_facets(row, [str(name) for name in names] or _FACETS)
    missing = inner(answer, "otherResult").get("count")
    if isinstance(missing, int | float) and missing > 0:
        yield f"New Relic left {int(missing)} more occurrences out of its answer"


def with_facets(row: Record, names: Sequence[str] = _FACETS) -> Record:
    """Return a row in which the values of its facet have the names of their attributes."""
    facet = row.get("facet")
    values = facet if isinstance(facet, list) else [facet] if isinstance(facet, str) else []
    named = {name: value for name, value in zip(names, values, strict=False) if value is not None}
    return {**named, **{key: value for key, value in row.items() if value is not None}}


# Datadog: logs and spans of its searches and archives, RUM errors, issues of Error Tracking.

_NOT_KEPT = ("error", "tags", "usr", "user", "attributes")


def _datadog_event(record: Record, _: Inside) -> Iterator[Item]:
    """The event's own attributes count before those that Datadog gives every event."""
    plain = inner(record, "content" if "content" in record else "attributes")
    reserved = {**record, **plain}
    custom = at(plain, "attributes", "custom")
    own = dict(custom) if isinstance(custom, Mapping) else plain
    tags = _datadog_tags(at(plain, "tags") or record.get("tags"))
    yield {
        **{name: value for name, value in own.items() if name not in _NOT_KEPT},
        **_DESCRIBED["datadog_event"].read({**own, "reserved": reserved, "tag": tags}),
        **({"message": reserved["message"]} if reserved.get("message") else {}),
    }


def _datadog_tags(tags: object) -> dict[str, str]:
    listed = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else []
    pairs = (item.partition(":") for item in listed if isinstance(item, str))
    return {name.strip(): value for name, _, value in pairs if value}


def _datadog_issues(record: Record, _: Inside) -> Iterator[Item]:
    """Counts of a search are listed apart from the issues that it found."""
    by_id = {text_at(item, "id"): item for item in objects_in(record.get("included"))}
    for item in objects_in(record.get("data")) or objects_in([record.get("data")]):
        related = by_id.get(text_at(item, "relationships.issue.data.id") or text_at(item, "id"))
        issue = {**inner(item, "attributes"), **inner(related or {}, "attributes")}
        file, function = text_at(issue, "file_path"), text_at(issue, "function_name")
        frame = f"{text_at(issue, 'error_type')}\n  frame: {file} in {function}"
        stack = frame if file and function else ""
        yield _DESCRIBED["datadog_issues"].read(issue, stack=stack)


# Elastic APM: errors as stored.


def _elastic_error(record: Record, _: Inside) -> Iterator[Item]:
    """Errors that were only logged have their frames with the log."""
    described = _DESCRIBED["elastic_error"]
    chain = described.chain(record)
    if not any(item.frames for item in chain):
        log = at(record, "error.log")
        logged = Thrown(LOGGED, text_at(log, "message"))
        first = chain[0] if chain and chain[0].error_class else logged
        logged = thrown(first.error_class, first.message, at(log, "stacktrace"))
        chain = [logged, *chain[1:]]
    yield described.read(record, chain)


TRACKERS = shapes_of(
    _DESCRIBED,
    {
        "sentry_issue": _sentry_issue,
        "sentry_event": _sentry_event,
        "nerdgraph": _nerdgraph,
        "nrql": _nrql,
        "datadog_issues": _datadog_issues,
        "datadog_event": _datadog_event,
        "elastic_error": _elastic_error,
    },
    {"sentry_header": _is_envelope_header, "sentry_row": _is_sentry_row},
)
