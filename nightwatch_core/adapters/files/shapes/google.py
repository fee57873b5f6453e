"""Google: Error Reporting, Crashlytics in BigQuery, and Cloud Logging."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import chain_text, thrown
from nightwatch_core.adapters.files.shapes.described import descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.fields import (
    Inside,
    Item,
    Record,
    at,
    inner,
    objects_in,
    text_at,
    title_parts,
)

_DESCRIBED = descriptions("google.toml")


def _reporting_group(record: Record, _: Inside) -> Iterator[Item]:
    event = {**inner(record, "representative"), "eventTime": None, "group": record}
    yield _reported(event)


def _reporting_event(record: Record, _: Inside) -> Iterator[Item]:
    yield _reported({**record, "group": None})


def _reported(event: Record) -> Record:
    """The message of an event is the stack trace, or one line beside the place."""
    message = text_at(event, "message")
    described = _DESCRIBED["reporting_event"]
    if "\n" in message.strip():
        return described.read(event, stack=message)
    error_class, rest = title_parts(message)
    place = at(event, "context.reportLocation")
    stack = message
    if isinstance(place, Mapping):
        frame = {"filename": place.get("filePath"), "line": place.get("lineNumber"),
                 "function": place.get("functionName")}  # fmt: skip
        stack = chain_text([thrown(error_class, rest, [frame])])
    return described.read(event, error_class=error_class, message=rest, stack=stack)


def _crash(record: Record, _: Inside) -> Iterator[Item]:
    described = _DESCRIBED["crash"]
    chain = [
        thrown(
            at(item, "type", "title"),
            at(item, "exception_message", "subtitle"),
            [_crash_frame(frame) for frame in objects_in(item.get("frames"))],
        )
        for item in objects_in(record.get("exceptions")) or objects_in(record.get("error"))
    ]
    stack = chain_text(chain)
    if not stack:
        error_class = described.text(record, "error_class")
        message = described.text(record, "message")
        blamed = [_crash_frame(item) for item in objects_in([record.get("blame_frame")])]
        stack = chain_text([thrown(error_class, message, blamed)])
    yield described.read(record, chain, stack=stack)


def _crash_frame(frame: Record) -> Record:
    """Crashlytics says whose a frame is; a symbol holds the class, too."""
    return {**frame, "in_app": frame.get("owner") == "DEVELOPER"} if "owner" in frame else frame


def _cloud_entry(document: Record, _: Inside) -> Iterator[Item]:
    entry = _DESCRIBED["cloud_entry"].line
    assert entry is not None
    line = entry.read(document)
    labels = map(str, inner(document, "resource", "labels").values())
    line = line._replace(stream=" ".join((*labels, line.stream)))
    payload = inner(document, "jsonPayload")
    if not payload:
        yield line
    elif isinstance(payload.get("message"), str) and _is_text_alone(payload):
        yield line._replace(text=str(payload["message"]))
    else:
        own = {"severity": document.get("severity"), **payload}  # its agents take it out
        yield {**own, "around": {**line.around, "stream": line.stream}}


def _is_text_alone(payload: Record) -> bool:
    """Error Reporting has the whole trace in `message`; agents that tail files one line of it."""
    if text_at(payload, "@type").endswith("ReportedErrorEvent"):
        return True
    names = ("exception", "stack_trace", "stack", "error", "err", "exc_info", "stacktrace")
    return len(payload) < 3 and payload.keys().isdisjoint(names)


GOOGLE = shapes_of(
    _DESCRIBED,
    {
        "reporting_group": _reporting_group,
        "reporting_event": _reporting_event,
        "crash": _crash,
        "cloud_entry": _cloud_entry,
    },
)
