"""Logs: stores and collectors (Docker, Fluent Bit, Vector, Azure, journald, Loki, OTLP, Splunk),
and structured loggers whose field names or exception objects are their own
"""

from collections.abc import Iterator

from nightwatch_core.adapters.files import limits
from nightwatch_core.adapters.files.frames import Thrown, thrown
from nightwatch_core.adapters.files.shapes.described import Line, descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.values import (
    Inside,
    Item,
    LogLine,
    Record,
    at,
    inner,
    json_in,
    objects_in,
    text_at,
)

_DESCRIBED = descriptions("log_stores.toml")
_LINES: dict[str, Line] = {name: row.line for name, row in _DESCRIBED.items() if row.line}
_PLAIN = frozenset(("log", "stream", "time"))  # all that Docker writes of itself
# Syslog's priorities.
_LEVELS = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")


def _docker(document: Record, _: Inside) -> Iterator[Item]:
    """Whole lines keep their end in Docker's files: a text without one goes on."""
    text = str(document["log"])
    is_part = False if text.endswith("\n") else None
    if len(document) == len(_PLAIN) and document.keys() >= _PLAIN:  # by far the commonest
        yield LogLine(text, str(document["stream"]), {"time": document["time"]}, is_part)
    else:
        yield _LINES["docker"].read(document)._replace(is_part=is_part)


def _azure(document: Record, _: Inside) -> Iterator[Item]:
    message = inner(document, "LogMessage") or inner(document, "LogEntry")
    line = _LINES["azure"]
    yield {**message, "around": line.surroundings(document)} if message else line.read(document)


def _journald(document: Record, _: Inside) -> Iterator[Item]:
    line = _LINES["journald"].read(document)
    priority = text_at(document, "PRIORITY")
    level = _LEVELS[int(priority)] if priority in tuple("01234567") else ""
    trace = text_at(document, "EXCEPTION_TEXT")  # of Python's handler
    message = document["MESSAGE"]
    if isinstance(message, list):  # of bytes, where it is not printable
        numbers = [item for item in message if isinstance(item, int) and 0 <= item < 256]
        message = bytes(numbers[: 4 * limits.MESSAGE_LIMIT]).decode("utf-8", "replace")
    text = f"{message}\n{trace}" if trace else message if isinstance(message, str) else ""
    yield line._replace(text=text, around={**line.around, "level": level})


# Loki: answers of its API, `logcli`'s lines and Grafana's download.

_NOT_OF_STREAMS = ("level", "detected_level", "severity", "trace_id", "span_id", "traceID")
_APPS = ("app", "service_name", "app_kubernetes_io_name", "service", "container", "job",
         "compose_service", "container_name")  # fmt: skip
_RELEASES = ("app.kubernetes.io/version", "app_kubernetes_io_version", "version", "release")


def _loki_answer(document: Record, _: Inside) -> Iterator[Item]:
    for stream in objects_in(at(document, "data.result", "streams")):
        labels = inner(stream, "stream")
        values = stream.get("values")
        for pair in values if isinstance(values, list) else ():
            if isinstance(pair, list) and len(pair) > 1:
                yield _loki(pair[1], pair[0], labels)


def _loki_line(document: Record, _: Inside) -> Iterator[Item]:
    labels = inner(document, "labels") or inner(document, "fields")
    yield _loki(document["line"], document["timestamp"], labels)


def _grafana(document: Record, _: Inside) -> Iterator[Item]:
    labels = inner(document, "labels") or json_in(str(document.get("labels", "")))
    yield _loki(document["Line"], document.get("tsNs", document.get("Time")), labels or {})


def _loki(text: object, time: object, labels: Record) -> LogLine:
    names = sorted(name for name in labels if name not in _NOT_OF_STREAMS)
    envelope = {
        "time": time,
        "app": text_at(labels, *_APPS),
        "host": text_at(labels, "pod", "host", "hostname", "instance", "nodename", "node"),
        "release": text_at(labels, *_RELEASES),
        "level": text_at(labels, "level", "detected_level", "severity"),
    }
    stream = " ".join(str(labels[name]) for name in names)
    return LogLine(text if isinstance(text, str) else "", stream, envelope)


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
    if not isinstance(value, dict) or depth > limits.MAX_WRAPS:
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


# Structured loggers.


def _serilog_compact(document: Record, _: Inside) -> Iterator[Item]:
    """Events without a level are informational."""
    own = {name: value for name, value in document.items() if not name.startswith("@")}
    yield {
        **own,
        "timestamp": document["@t"],
        "level": document.get("@l", "Information"),
        "message": document.get("@m", document.get("@mt")),
        "exception": document.get("@x"),
    }


def _monolog(document: Record, _: Inside) -> Iterator[Item]:
    chain: list[Thrown] = []
    exception = inner(document, "context", "exception")
    while exception and len(chain) < limits.MAX_LINKS:
        trace = exception.get("trace")
        places = [exception.get("file"), *(trace if isinstance(trace, list) else ())]
        frames = [place if isinstance(place, dict) else _php_frame(place) for place in places]
        chain.append(thrown(exception.get("class"), exception.get("message"), frames))
        exception = inner(exception, "previous")
    yield _DESCRIBED["monolog"].read(document, chain)


def _php_frame(place: object) -> Record:
    path, _, line = str(place).rpartition(":")
    return {"file": path, "line": line}


LOG_STORES = shapes_of(
    _DESCRIBED,
    {
        "serilog_compact": _serilog_compact,
        "monolog": _monolog,
        "loki_answer": _loki_answer,
        "loki_line": _loki_line,
        "grafana": _grafana,
        "otlp_logs": _logs,
        "otlp_spans": _spans,
        "docker": _docker,
        "azure": _azure,
        "journald": _journald,
    },
)
