"""Sentry and compatible services (GlitchTip, Bugsink, GitLab): events, issues, envelopes, rows."""

import json
from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.limits import MAX_LINES
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
    someone,
    text_at,
    title_parts,
)

# The exceptions that an event of Sentry holds, wherever its age and its API keep them.


def chain_of(record: Record) -> list[Thrown]:
    """Give the exceptions of an event, the reported one first; those of a group are left out."""
    values = _values(record)
    stored = [value for value in values if not _is_member(value)] or values
    chain = [
        thrown(
            item.get("type") or text_at(item, "module"),
            item.get("value"),
            at(item, "stacktrace.frames", "rawStacktrace.frames", "raw_stacktrace.frames"),
            reverse=True,
        )
        for item in reversed(stored)
    ]
    if any(item.frames for item in chain):
        return chain
    frames = _frames_beside(record)
    first = chain[0] if chain else Thrown("", "")
    beside = thrown(first.error_class, first.message, frames, reverse=True)
    return [beside, *chain[1:]] if beside.frames else chain


def _values(record: Record) -> list[dict[str, object]]:
    inner = record.get("exception") or record.get("sentry.interfaces.Exception")
    for entry in objects_in(record.get("entries")):
        inner = entry.get("data") if entry.get("type") == "exception" else inner
    values = inner.get("values") if isinstance(inner, Mapping) else inner
    if not values and isinstance(inner, Mapping) and ("type" in inner or "value" in inner):
        values = [dict(inner)]
    return objects_in(values)[-MAX_LINES:]


def _is_member(value: Record) -> bool:
    mechanism = value.get("mechanism")
    source = mechanism.get("source") if isinstance(mechanism, Mapping) else None
    return isinstance(source, str) and source.startswith(("exceptions[", "errors["))


def _frames_beside(record: Record) -> object:
    """Frames that stand beside the exception: of a message, or of the thread that crashed."""
    frames = at(record, "stacktrace.frames")
    for entry in objects_in(record.get("entries")):
        data = entry.get("data")
        if entry.get("type") == "stacktrace":
            frames = frames or at(data, "frames")
        elif entry.get("type") == "threads":
            frames = frames or _crashed(at(data, "values"))
    return frames or _crashed(at(record, "threads.values"))


def _crashed(threads: object) -> object:
    listed = objects_in(threads)
    crashed = next((item for item in listed if item.get("crashed") or item.get("current")), None)
    return at(crashed, "stacktrace.frames") if crashed else None


_LEVELS = ("error", "fatal", "critical", "")
_ENVELOPE_HEADER = frozenset(("event_id", "sent_at", "dsn", "sdk", "trace"))
_ITEM_HEADER = frozenset(
    ("type", "length", "content_type", "filename", "attachment_type", "item_count", "platform",
     "sample_rates", "headers")
)  # fmt: skip
_ITEMS = frozenset(
    ("event", "transaction", "session", "sessions", "attachment", "user_report", "client_report",
     "profile", "profile_chunk", "replay_event", "replay_recording", "check_in", "statsd",
     "metric_buckets", "trace_metric", "feedback", "span", "log", "otel_log", "raw_security",
     "security", "unreal_report", "form_data")
)  # fmt: skip
_OTHER_ITEMS = ("transaction", "profile", "check_in", "replay_event", "session", "feedback")


def _is_event(record: Record) -> bool:
    """An event as stored, as its API gives it, and as an SDK sent it."""
    if isinstance(record.get("entries"), list) and ("eventID" in record or "groupID" in record):
        return True
    if "eventID" in record and ("metadata" in record or "title" in record):
        return True
    if "event_id" not in record and not ("platform" in record and "culprit" in record):
        inner = record.get("exception")
        values = inner.get("values") if isinstance(inner, Mapping) else None
        return any("value" in item for item in objects_in(values))
    names = ("exception", "logentry", "threads", "sentry.interfaces.Exception")
    return any(name in record for name in names) or ("message" in record and "platform" in record)


def _event(record: Record, _: Inside) -> Iterator[Item]:
    tags = _tags(record.get("tags"))
    chain = chain_of(record)
    level = text_at(record, "level") or str(tags.get("level", ""))
    if not chain and (level not in _LEVELS or record.get("type") in _OTHER_ITEMS):
        yield QUIET
        return
    told_class, told_message = _title_parts(record)
    named = chain[0] if chain else Thrown("", "")
    platform = text_at(record, "platform")
    message = named.message or text_at(record, "metadata.value") or _message(record)
    yield record_of(
        error_class=named.error_class or text_at(record, "metadata.type") or told_class or MESSAGE,
        message=message or told_message,
        stack=chain_text(chain, platform),
        transaction=_transaction(record, tags),
        app=text_at(record, "project.slug", "project_slug", "projectSlug", "project.name")
        or (text_at(record, "project") if isinstance(record.get("project"), str) else ""),
        release=_release(record, tags),
        commit=text_at(record, "release.lastCommit.id"),
        host=text_at(record, "server_name", "contexts.device.name") or tags.get("server_name"),
        user=someone(record.get("user")) or str(tags.get("user", "")),
        time=at(record, "dateCreated", "timestamp", "datetime", "dateReceived", "received"),
        level=level,
    )


def _title_parts(record: Record) -> tuple[str, str]:
    """Class and message in the title; that of a plain message is a message as a whole."""
    title = text_at(record, "title", "metadata.title")
    return ("", title) if record.get("type") == "default" else title_parts(title)


def _message(record: Record) -> str:
    text = text_at(record, "logentry.formatted", "logentry.message", "logentry", "message")
    inner = record.get("message")
    text = text or text_at(inner, "formatted", "message")
    for entry in objects_in(record.get("entries")):
        if entry.get("type") == "message":
            text = text or text_at(entry.get("data"), "formatted", "message")
    return text


def _tags(tags: object) -> dict[str, object]:
    if isinstance(tags, Mapping):
        return {str(key): value for key, value in tags.items()}
    listed = tags if isinstance(tags, list) else []
    pairs = [(item.get("key"), item.get("value")) for item in listed if isinstance(item, Mapping)]
    pairs += [(item[0], item[1]) for item in listed if isinstance(item, list) and len(item) == 2]
    return {key: value for key, value in pairs if isinstance(key, str)}


def _transaction(record: Record, tags: Record) -> str:
    request = record.get("request")
    for entry in objects_in(record.get("entries")):
        request = request or (entry.get("data") if entry.get("type") == "request" else None)
    return (
        text_at(record, "transaction")
        or text_at(tags, "transaction")
        or text_at(record, "culprit", "location")
        or request_of(at(request, "method"), at(request, "url"))
    )


def _release(record: Record, tags: Record) -> str:
    if isinstance(record.get("release"), str):
        return str(record["release"])
    return text_at(record, "release.version") or text_at(tags, "release", "sentry:release")


def _is_issue(record: Record) -> bool:
    return "shortId" in record or (
        "userCount" in record and ("metadata" in record or "culprit" in record)
    )


def _issue(record: Record, _: Inside) -> Iterator[Item]:
    category = text_at(record, "issueCategory")
    level = text_at(record, "level")
    told_class, told_message = _title_parts(record)
    is_named = bool(text_at(record, "metadata.type") or told_class)
    if category not in ("", "error") or (level not in _LEVELS and not is_named):
        yield QUIET
        return
    file, function = text_at(record, "metadata.filename"), text_at(record, "metadata.function")
    error_class = text_at(record, "metadata.type") or told_class or MESSAGE
    message = text_at(record, "metadata.value") or told_message
    place = [{"filename": file, "function": function}] if file else []
    yield record_of(
        error_class=error_class,
        message=message,
        stack=chain_text([thrown(error_class, message, place)], "other"),
        transaction=text_at(record, "culprit"),
        app=text_at(record, "project.slug", "project.name", "project"),
        release=text_at(
            record, "lastRelease.version", "lastRelease.shortVersion", "firstRelease.version"
        ),
        count=at(record, "count", "timesSeen", "times_seen"),
        users=at(record, "userCount", "user_count"),
        first_seen=at(record, "firstSeen"),
        last_seen=at(record, "lastSeen"),
        level=level,
    )


def _is_hook(record: Record) -> bool:
    data = record.get("data")
    names = ("event", "issue", "error")
    if isinstance(data, Mapping) and any(isinstance(data.get(name), Mapping) for name in names):
        return "action" in record or "installation" in record or "actor" in record
    return isinstance(record.get("event"), Mapping) and "culprit" in record


def _hook(record: Record, inside: Inside) -> Iterator[Item]:
    data = record.get("data")
    parts = data if isinstance(data, Mapping) else record
    inner = next(
        parts[name] for name in ("event", "error", "issue") if isinstance(parts.get(name), Mapping)
    )
    if isinstance(inner, Mapping) and not isinstance(data, Mapping):
        inner = {**{k: v for k, v in record.items() if k != "event"}, **inner}
        inner.setdefault("event_id", "")
    yield from inside(inner)


def _is_header(record: Record) -> bool:
    names = record.keys()
    if "sent_at" in names or "dsn" in names or names == {"event_id", "trace"}:
        return names <= _ENVELOPE_HEADER
    kind = record.get("type")
    return isinstance(kind, str) and kind in _ITEMS and names <= _ITEM_HEADER


def _is_other_item(record: Record) -> bool:
    names = record.keys()
    return (
        {"sid", "started"} <= names
        or "discarded_events" in names
        or (record.get("type") == "transaction" and "spans" in names)
    )


def _nothing(_: Record, __: Inside) -> Iterator[Item]:
    yield from ()


def _quiet(_: Record, __: Inside) -> Iterator[Item]:
    yield QUIET


SENTRY_FORMATS = (
    Shape("", _is_header, _nothing, (), ("sent_at", "dsn", "trace", "type")),
    Shape("", _is_other_item, _quiet, (), ("sid", "discarded_events", "spans")),
    Shape(
        "call of Sentry's webhook",
        _is_hook,
        _hook,
        ("action", "data.event", "data.issue"),
        ("data", "event"),
    ),
    Shape(
        "issue of Sentry",
        _is_issue,
        _issue,
        ("shortId", "culprit", "metadata", "count", "userCount"),
        ("shortId", "userCount"),
    ),
    Shape(
        "event of Sentry",
        _is_event,
        _event,
        ("eventID", "entries", "platform", "exception"),
        ("eventID", "event_id", "entries", "exception", "culprit"),
    ),
)

# Rows that Sentry's Discover and Explore export, as JSON and as CSV.

# Columns that no other export has: any of them beside a title or a class tells it.
_COLUMNS = frozenset(
    ("count()", "count_unique(user)", "last_seen()", "first_seen()", "error.type", "error.value",
     "project.name", "issue.id", "max(timestamp)", "event.type")
)  # fmt: skip
_TELLING = frozenset(("count()", "count_unique(user)", "last_seen()"))


def _is_row(record: Record) -> bool:
    names = record.keys()
    if (
        not (names & _TELLING)
        and not ({"title", "issue.id"} <= names or {"title", "project.name"} <= names)
        and not isinstance(record.get("error.type"), list)
    ):
        return False
    return bool(names & {"title", "error.type", "issue", "message"})


def _row(record: Record, _: Inside) -> Iterator[Item]:
    told_class, told_message = title_parts(text_at(record, "title", "issue.title", "message"))
    values = _listed(at(record, "error.value"))
    yield record_of(
        error_class=_class(_listed(at(record, "error.type")), told_class),
        message=(values[-1] if values else "") or told_message,
        transaction=text_at(record, "transaction", "culprit", "location"),
        app=text_at(record, "project.name", "project"),
        release=text_at(record, "release"),
        host=text_at(record, "server_name"),
        user=text_at(record, "user", "user.display", "user.id", "user.email"),
        users=at(record, "count_unique(user)", "count_unique(user.id)", "userCount"),
        count=at(record, "count()", "events", "count"),
        first_seen=at(record, "first_seen()", "min(timestamp)", "firstSeen"),
        last_seen=at(record, "last_seen()", "max(timestamp)", "lastSeen"),
        time=at(record, "timestamp"),
        level=text_at(record, "level"),
    )


def _class(types: list[str], told_class: str) -> str:
    """The reported class of a chain: the title's, else the last."""
    return told_class if told_class in types or not types else types[-1]


def _listed(value: object) -> list[str]:
    if isinstance(value, str):
        if not value.startswith("["):
            return [value]
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            bare = (part.strip().strip("'\"") for part in str(value).strip("[]").split(","))
            return [part for part in bare if part]
    return [str(item) for item in value if item is not None] if isinstance(value, list) else []


SENTRY_ROWS_FORMATS = (
    Shape(
        "row of Sentry's Discover",
        _is_row,
        _row,
        ("title", "error.type", "count()", "count_unique(user)", "last_seen()"),
        ("title", "count()", "count_unique(user)", "last_seen()", "error.type"),
    ),
)
