"""Stored log lines: containers (Docker, Fluent Bit, Vector, Azure), journald, Loki, OTLP, Splunk"""

from collections.abc import Iterator

from nightwatch_core.adapters.files.limits import MAX_WRAPS, MESSAGE_LIMIT
from nightwatch_core.adapters.files.shapes.fields import (
    Inside,
    Item,
    LogLine,
    Record,
    first_text,
    inner,
    objects_in,
    service_of,
    shape,
)
from nightwatch_core.adapters.files.shapes.texts import json_in

# Labels of pods and containers that name an application and its release, best first.
APPS = ("app.kubernetes.io/name", "app_kubernetes_io_name", "app", "service_name", "k8s-app",
        "k8s_app", "com.docker.compose.service", "service", "name")  # fmt: skip
_PLAIN = frozenset(("log", "stream", "time"))  # all that Docker writes of itself
RELEASES = ("app.kubernetes.io/version", "app_kubernetes_io_version", "version", "release")


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


def _cri(document: Record, _: Inside) -> Iterator[Item]:
    around = {"time": _time(document), "host": document.get("host")}
    stream = f"{document.get('stream') or ''} {document.get('filename') or ''}"
    yield LogLine(_text(document) or "", stream, around, document["logtag"] == "P")


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
    shape(
        "log of a Kubernetes pod",
        "kubernetes:object log|message:text",
        _kubernetes,
        ("kubernetes", "log", "message"),
    ),
    shape(
        "log of a container (CRI)", "logtag log|message:text", _cri, ("logtag", "stream", "message")
    ),
    shape(
        "log of a Docker container",
        "log:text stream|container_id|source",
        _docker,
        ("log", "stream", "time"),
    ),
    shape(
        "container log of Azure",
        "LogMessage|LogEntry TimeGenerated",
        _azure,
        ("TimeGenerated", "LogMessage"),
    ),
)

# Entries of systemd's journal as `journalctl -o json` prints them.

# Syslog's priorities.
LEVELS = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")


def _entry(document: Record, _: Inside) -> Iterator[Item]:
    unit = first_text(document, "_SYSTEMD_UNIT", "UNIT", "_SYSTEMD_USER_UNIT", "USER_UNIT")
    container = first_text(document, "CONTAINER_NAME")
    name = service_of(container or unit)
    time = document.get("_SOURCE_REALTIME_TIMESTAMP") or document.get("__REALTIME_TIMESTAMP")
    priority = str(document.get("PRIORITY", ""))
    around = {
        "time": time,
        "app": name or first_text(document, "SYSLOG_IDENTIFIER", "_COMM"),
        "host": first_text(document, "_HOSTNAME"),
        "level": LEVELS[int(priority)] if priority in tuple("01234567") else "",
    }
    process = first_text(document, "CONTAINER_ID_FULL", "CONTAINER_ID", "_PID", "SYSLOG_PID")
    stream = f"{around['host']} {unit} {process}"
    trace = first_text(document, "EXCEPTION_TEXT")  # of Python's handler
    text = _message(document["MESSAGE"])
    yield LogLine(f"{text}\n{trace}" if trace else text, stream, around)


def _message(message: object) -> str:
    """Text that is not printable comes as a list of its bytes, or as several texts."""
    if isinstance(message, list):
        numbers = [item for item in message if isinstance(item, int) and 0 <= item < 256]
        if len(numbers) == len(message):
            return bytes(numbers[: 4 * MESSAGE_LIMIT]).decode("utf-8", "replace")
        return "\n".join(item for item in message if isinstance(item, str))
    return message if isinstance(message, str) else ""


JOURNALD_FORMATS = (
    shape(
        "journal of systemd",
        "MESSAGE __REALTIME_TIMESTAMP|_PID",
        _entry,
        ("MESSAGE", "__REALTIME_TIMESTAMP", "_PID"),
    ),
)

# Loki: answers of its API, `logcli`'s lines and Grafana's download.

_APPS = ("app", "service_name", "app_kubernetes_io_name", "service", "container", "job",
         "compose_service", "container_name")  # fmt: skip
_HOSTS = ("pod", "host", "hostname", "instance", "nodename", "node")
_NOT_OF_STREAMS = ("level", "detected_level", "severity", "trace_id", "span_id", "traceID")


def _is_stream(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("values"), list) and "stream" in value


def _answer(document: Record, _: Inside) -> Iterator[Item]:
    for stream in objects_in(inner(document, "data").get("result", document.get("streams"))):
        labels = inner(stream, "stream")
        values = stream.get("values")
        for pair in values if isinstance(values, list) else ():
            if isinstance(pair, list) and len(pair) > 1:
                yield _line(pair[1], pair[0], labels)


def _one_line(document: Record, _: Inside) -> Iterator[Item]:
    labels = inner(document, "labels") or inner(document, "fields")
    yield _line(document["line"], document["timestamp"], labels)


def _row(document: Record, _: Inside) -> Iterator[Item]:
    labels = inner(document, "labels") or json_in(str(document.get("labels", "")))
    yield _line(document["Line"], document.get("tsNs", document.get("Time")), labels or {})


def _line(text: object, time: object, labels: Record) -> LogLine:
    names = sorted(name for name in labels if name not in _NOT_OF_STREAMS)
    around = {
        "time": time,
        "app": first_text(labels, *_APPS),
        "host": first_text(labels, *_HOSTS),
        "release": first_text(labels, *RELEASES),
        "level": first_text(labels, "level", "detected_level", "severity"),
    }
    stream = " ".join(str(labels[name]) for name in names)
    return LogLine(text if isinstance(text, str) else "", stream, around)


LOKI_FORMATS = (
    shape(
        "answer of Loki",
        "data.result.0.values|streams.0.values:list data.result.0.stream|streams.0.stream",
        _answer,
        ("data.result", "stream", "values"),
    ),
    shape("log of Loki", "line:text timestamp", _one_line, ("line", "timestamp", "labels")),
    shape("log of Grafana", "Line:text tsNs|Time", _row, ("Line", "tsNs", "labels")),
)

# OpenTelemetry's logs and spans (OTLP as JSON).


def _logs(document: Record, _: Inside) -> Iterator[Item]:
    for resource in objects_in(document.get("resourceLogs")):
        for scope in objects_in(resource.get("scopeLogs")):
            for log in objects_in(scope.get("logRecords")):
                yield _attributed(log, _outer(resource), {"body": _typed(log.get("body"))})


def _spans(document: Record, _: Inside) -> Iterator[Item]:
    for resource in objects_in(document.get("resourceSpans")):
        for scope in objects_in(resource.get("scopeSpans")):
            for span in objects_in(scope.get("spans")):
                outer = _outer(resource)
                inherited = _attributed(span, outer, {"span.name": span.get("name")})
                for event in objects_in(span.get("events")):
                    if event.get("name") == "exception":
                        yield _attributed(event, inherited, {})


def _outer(resource: Record) -> Record:
    inner = resource.get("resource")
    return _attributes(inner.get("attributes")) if isinstance(inner, dict) else {}


def _attributed(item: Record, outer: Record, more: Record) -> Record:
    plain = ("timeUnixNano", "observedTimeUnixNano", "severityText", "severityNumber")
    own = {key: item[key] for key in plain if item.get(key) not in (None, "", "0", 0)}
    return {**outer, **more, **own, **_attributes(item.get("attributes"))}


def _attributes(pairs: object) -> dict[str, object]:
    return {str(pair.get("key")): _typed(pair.get("value")) for pair in objects_in(pairs)}


def _typed(value: object, depth: int = 0) -> object:
    if not isinstance(value, dict) or depth > MAX_WRAPS:
        return None
    for name, content in value.items():
        if name == "arrayValue" and isinstance(content, dict):
            return [_typed(item, depth + 1) for item in objects_in(content.get("values"))]
        if name == "kvlistValue" and isinstance(content, dict):
            pairs = objects_in(content.get("values"))
            return {str(pair.get("key")): _typed(pair.get("value"), depth + 1) for pair in pairs}
        if name.endswith("Value"):
            return content
    return None


OTLP_FORMATS = (
    shape("OpenTelemetry logs", "resourceLogs:list", _logs, ("resourceLogs",)),
    shape("OpenTelemetry spans", "resourceSpans:list", _spans, ("resourceSpans",)),
)

# Results of Splunk: events with their raw text.


def _result(document: Record, inside: Inside) -> Iterator[Item]:
    yield from inside(inner(document, "result"))


def _event(document: Record, _: Inside) -> Iterator[Item]:
    around = {
        "time": document.get("_time"),
        "host": first_text(document, "host"),
        "app": first_text(document, "app", "service", "sourcetype"),
    }
    stream = " ".join(first_text(document, name) for name in ("host", "source", "sourcetype"))
    yield LogLine(str(document["_raw"]), stream, around)


SPLUNK_FORMATS = (
    shape("result of Splunk", "result._raw", _result, ("result", "_raw")),
    shape("event of Splunk", "_raw:text", _event, ("_raw", "_time", "source")),
)
