"""The exceptions that an event of Sentry holds, wherever its age and its API keep them."""

from collections.abc import Mapping

from nightwatch_core.adapters.files.exceptions import Thrown, thrown
from nightwatch_core.adapters.files.limits import MAX_LINES
from nightwatch_core.adapters.files.shapes.fields import at, text_at
from nightwatch_core.adapters.files.shapes.shape import Record, objects_in


def chain_of(record: Record) -> list[Thrown]:
    """Give the exceptions of an event, the reported one first; those of a group are left out."""
    values = _values(record)
    stored = [one for one in values if not _is_member(one)] or values
    chain = [
        thrown(
            one.get("type") or text_at(one, "module"),
            one.get("value"),
            at(one, "stacktrace.frames", "rawStacktrace.frames", "raw_stacktrace.frames"),
            reverse=True,
        )
        for one in reversed(stored)
    ]
    if any(one.frames for one in chain):
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
    """Whether an exception only stands in a group that is reported besides."""
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
    crashed = next((one for one in listed if one.get("crashed") or one.get("current")), None)
    return at(crashed, "stacktrace.frames") if crashed else None
