"""Loki: answers of its API, `logcli`'s lines and Grafana's download."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.shapes.around import first_text, inner
from nightwatch_core.adapters.files.shapes.containers import RELEASES
from nightwatch_core.adapters.files.shapes.json_texts import json_in
from nightwatch_core.adapters.files.shapes.shape import (
    Inside,
    Item,
    LogLine,
    Record,
    Shape,
    objects_in,
)

_APPS = ("app", "service_name", "app_kubernetes_io_name", "service", "container", "job",
         "compose_service", "container_name")  # fmt: skip
_HOSTS = ("pod", "host", "hostname", "instance", "nodename", "node")
_NOT_OF_STREAMS = ("level", "detected_level", "severity", "trace_id", "span_id", "traceID")


def _is_answer(document: Record) -> bool:
    result = inner(document, "data").get("result", document.get("streams"))
    return isinstance(result, list) and bool(result) and _is_stream(result[0])


def _is_stream(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("values"), list) and "stream" in value


def _answer(document: Record, _: Inside) -> Iterator[Item]:
    for stream in objects_in(inner(document, "data").get("result", document.get("streams"))):
        labels = inner(stream, "stream")
        values = stream.get("values")
        for pair in values if isinstance(values, list) else ():
            if isinstance(pair, list) and len(pair) > 1:
                yield _line(pair[1], pair[0], labels)


def _is_line(document: Record) -> bool:
    return isinstance(document.get("line"), str) and "timestamp" in document


def _one_line(document: Record, _: Inside) -> Iterator[Item]:
    labels = inner(document, "labels") or inner(document, "fields")
    yield _line(document["line"], document["timestamp"], labels)


def _is_row(document: Record) -> bool:
    """A row of the table that Grafana's inspector exports."""
    return isinstance(document.get("Line"), str) and ("tsNs" in document or "Time" in document)


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
    Shape(
        "answer of Loki",
        _is_answer,
        _answer,
        ("data.result", "stream", "values"),
        ("data", "streams"),
    ),
    Shape("log of Loki", _is_line, _one_line, ("line", "timestamp", "labels"), ("line",)),
    Shape("log of Grafana", _is_row, _row, ("Line", "tsNs", "labels"), ("Line",)),
)
