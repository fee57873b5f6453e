"""Entries of Google Cloud Logging, and the errors that Error Reporting takes from them."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.shapes.around import first_text, inner
from nightwatch_core.adapters.files.shapes.fields import path_of
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, LogLine, Record, Shape

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


def _labels(document: Record) -> dict[str, object]:
    """All labels; a table has them as columns with dotted names."""
    columns = {
        name.removeprefix("resource.").removeprefix("labels."): value
        for name, value in document.items()
        if name.startswith(("labels.", "resource.labels."))
    }
    return {**columns, **inner(document, "labels"), **inner(document, "resource", "labels")}


def _around(document: Record, payload: Record) -> dict[str, object]:
    labels = _labels(document)
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
