"""Logs of containers: Docker's files, what Fluent Bit and Vector send, Azure's container logs."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.shapes.around import first_text, inner
from nightwatch_core.adapters.files.shapes.container_names import service_of
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, LogLine, Record, Shape

# Labels of pods and containers that name an application and its release, best first.
APPS = ("app.kubernetes.io/name", "app_kubernetes_io_name", "app", "service_name", "k8s-app",
        "k8s_app", "com.docker.compose.service", "service", "name")  # fmt: skip
_PLAIN = frozenset(("log", "stream", "time"))  # all that Docker writes of itself
RELEASES = ("app.kubernetes.io/version", "app_kubernetes_io_version", "version", "release")


def _is_kubernetes(document: Record) -> bool:
    return isinstance(document.get("kubernetes"), dict) and _text(document) is not None


def _kubernetes(document: Record, _: Inside) -> Iterator[Item]:
    pod = inner(document, "kubernetes")
    labels = inner(pod, "labels") or inner(pod, "pod_labels")
    place = inner(pod, "pod"), inner(pod, "container")  # of Elastic's agents
    container = first_text(pod, "container_name") or first_text(place[1], "name")
    host = first_text(pod, "pod_name") or first_text(place[0], "name")
    around = {
        "time": _time(document),
        "app": first_text(labels, *APPS) or service_of(container),
        "release": first_text(labels, *RELEASES),
        "host": host,
        "level": document.get("level"),
    }
    output = str(document.get("stream") or "")
    is_part = document.get("_p", document.get("logtag")) == "P"
    yield LogLine(_text(document) or "", f"{host} {container} {output}", around, is_part)


def _is_docker(document: Record) -> bool:
    return isinstance(document.get("log"), str) and _has_origin(document)


def _has_origin(document: Record) -> bool:
    return "stream" in document or "container_id" in document or "source" in document


def _docker(document: Record, _: Inside) -> Iterator[Item]:
    """Whole lines keep their end in Docker's files: a text without one goes on."""
    text = str(document["log"])
    is_part = False if text.endswith("\n") else None
    if len(document) == len(_PLAIN) and document.keys() >= _PLAIN:  # by far the commonest
        yield LogLine(text, str(document["stream"]), {"time": document["time"]}, is_part)
        return
    attributes = inner(document, "attrs") or inner(document, "labels")
    container = first_text(document, "container_name", "container_id").lstrip("/")
    around = {
        "time": _time(document),
        "app": first_text(attributes, *APPS) or service_of(first_text(document, "container_name")),
        "host": first_text(document, "hostname", "host"),
        "release": first_text(attributes, *RELEASES),
    }
    output = str(document.get("stream") or document.get("source") or "")
    yield LogLine(text, f"{container} {output}", around, is_part)


def _is_cri(document: Record) -> bool:
    return "logtag" in document and _text(document) is not None


def _cri(document: Record, _: Inside) -> Iterator[Item]:
    around = {"time": _time(document), "host": document.get("host")}
    stream = f"{document.get('stream') or ''} {document.get('filename') or ''}"
    yield LogLine(_text(document) or "", stream, around, document["logtag"] == "P")


def _is_azure(document: Record) -> bool:
    return "TimeGenerated" in document and ("LogMessage" in document or "LogEntry" in document)


def _azure(document: Record, inside: Inside) -> Iterator[Item]:
    message = document.get("LogMessage", document.get("LogEntry"))
    pod = first_text(document, "PodName", "Name", "Computer")
    around = {
        "time": document["TimeGenerated"],
        "app": service_of(first_text(document, "ContainerName")),
        "host": pod,
        "level": document.get("LogLevel"),
    }
    stream = " ".join((pod, first_text(document, "ContainerId"), first_text(document, "LogSource")))
    if isinstance(message, dict):
        yield {**message, "around": around}
    else:
        yield LogLine(message if isinstance(message, str) else "", stream, around)


def _text(document: Record) -> str | None:
    log = document.get("log")
    text = log if isinstance(log, str) else document.get("message")
    return text if isinstance(text, str) else None


def _time(document: Record) -> object:
    names = ("time", "timestamp", "@timestamp", "date")
    return next((document[name] for name in names if document.get(name)), None)


CONTAINERS_FORMATS = (
    Shape(
        "log of a Kubernetes pod",
        _is_kubernetes,
        _kubernetes,
        ("kubernetes", "log", "message"),
        ("kubernetes",),
    ),
    Shape("log of a container (CRI)", _is_cri, _cri, ("logtag", "stream", "message"), ("logtag",)),
    Shape("log of a Docker container", _is_docker, _docker, ("log", "stream", "time"), ("log",)),
    Shape(
        "container log of Azure",
        _is_azure,
        _azure,
        ("TimeGenerated", "LogMessage"),
        ("LogMessage", "LogEntry"),
    ),
)
