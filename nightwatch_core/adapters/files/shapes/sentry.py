"""Sentry and compatible services (GlitchTip, Bugsink, GitLab): events, issues, envelopes, rows."""

import json
from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.limits import MAX_LINES
from nightwatch_core.adapters.files.shapes.described import descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.fields import (
    MESSAGE,
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

_DESCRIBED = descriptions("sentry.toml")
_LEVELS = ("error", "fatal", "critical", "")
_OTHER_EVENTS = ("transaction", "profile", "check_in", "replay_event", "session", "feedback")
_MEMBERS = ("exceptions[", "errors[")  # sources of the exceptions within a group


def _event(document: Record, _: Inside) -> Iterator[Item]:
    record = _with_entries(document)
    chain = _chain_of(record)
    level = text_at(record, "level", "tags.level")
    if not chain and (level not in _LEVELS or record.get("type") in _OTHER_EVENTS):
        yield QUIET
        return
    project = record.get("project")  # its number says nothing
    app = text_at(record, "project.slug", "project_slug", "projectSlug", "project.name")
    yield _DESCRIBED["event"].read(
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
    return {**record, **parts, "tags": _tags(record.get("tags"))}


def _tags(tags: object) -> dict[str, object]:
    if isinstance(tags, dict):
        return tags
    listed = tags if isinstance(tags, list) else []
    pairs = [(item.get("key"), item.get("value")) for item in objects_in(listed)]
    pairs += [(item[0], item[1]) for item in listed if isinstance(item, list) and len(item) == 2]
    return {key: value for key, value in pairs if isinstance(key, str)}


def _chain_of(record: Record) -> list[Thrown]:
    """The exceptions of an event, the reported one first; those of a group are left out."""
    found = record.get("exception") or record.get("sentry.interfaces.Exception")
    values = found.get("values") or [found] if isinstance(found, Mapping) else found
    listed = [item for item in objects_in(values)[-MAX_LINES:] if item]
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
    frames_beside = at(record, "stacktrace.frames") or at(crashed, "stacktrace.frames")
    beside = thrown(first.error_class, first.message, frames_beside, reverse=True)
    return [beside, *chain[1:]] if beside.frames else chain


def _title(record: Record) -> dict[str, object]:
    """Class and message in the title; that of a plain message is a message as a whole."""
    title = text_at(record, "title", "metadata.title")
    error_class, message = ("", title) if record.get("type") == "default" else title_parts(title)
    return {"class": error_class, "message": message}


def _issue(record: Record, _: Inside) -> Iterator[Item]:
    titled = {**record, "titled": _title(record)}
    error_class = text_at(titled, "metadata.type", "titled.class")
    is_error = text_at(record, "issueCategory") in ("", "error")
    if not is_error or (text_at(record, "level") not in _LEVELS and not error_class):
        yield QUIET
        return
    file, function = text_at(record, "metadata.filename"), text_at(record, "metadata.function")
    place = [{"filename": file, "function": function}] if file else []
    message = text_at(titled, "metadata.value", "titled.message")
    stack = chain_text([thrown(error_class or MESSAGE, message, place)], "other")
    yield _DESCRIBED["issue"].read(titled, stack=stack)


def _webhook(record: Record, inside: Inside) -> Iterator[Item]:
    named = [inner(record, "data", name) for name in ("event", "error", "issue")]
    if any(named):
        yield from inside(next(filter(None, named)))
    else:
        outer = {name: value for name, value in record.items() if name != "event"}
        yield from inside({"event_id": "", **outer, **inner(record, "event")})


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


def _is_envelope_header(record: Record) -> bool:
    names = record.keys()
    if "sent_at" in names or "dsn" in names or names == {"event_id", "trace"}:
        return names <= _ENVELOPE_HEADER
    kind = record.get("type")
    return isinstance(kind, str) and kind in _ITEMS and names <= _ITEM_HEADER


def _quiet(_: Record, __: Inside) -> Iterator[Item]:
    yield QUIET


# Columns that no other export has: any of them beside a title or a class tells it.
_TELLING = frozenset(("count()", "count_unique(user)", "last_seen()"))


def _is_row(record: Record) -> bool:
    names = record.keys()
    is_titled = "title" in names and not names.isdisjoint(("issue.id", "project.name"))
    if names.isdisjoint(_TELLING) and not is_titled:
        return isinstance(record.get("error.type"), list)
    return not names.isdisjoint(("title", "error.type", "issue", "message"))


def _row(record: Record, _: Inside) -> Iterator[Item]:
    """The reported class of a chain: the title's, else the last."""
    titled_class, _message = title_parts(text_at(record, "title", "issue.title", "message"))
    types, values = _listed(record.get("error.type")), _listed(record.get("error.value"))
    named = titled_class if titled_class in types or not types else types[-1]
    yield _DESCRIBED["row"].read(record, [Thrown(named, values[-1] if values else "")])


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


SENTRY = shapes_of(
    _DESCRIBED,
    {"envelope_item": _quiet, "webhook": _webhook, "issue": _issue, "event": _event, "row": _row},
    {"envelope_header": _is_envelope_header, "row": _is_row},
)
