"""Loggers of Python that write exceptions as objects: structlog and loguru."""

from collections.abc import Iterator, Sequence

from nightwatch_core.adapters.files.limits import MAX_LINES, MAX_WRAPS
from nightwatch_core.adapters.files.shapes.around import inner
from nightwatch_core.adapters.files.shapes.shape import (
    Inside,
    Item,
    Record,
    Shape,
    objects_in,
)

DIRECT_CAUSE = "The above exception was the direct cause of the following exception:"


def _is_structlog(document: Record) -> bool:
    """Tracebacks as objects: the exception that was reported, then its causes."""
    traces = document.get("exception")
    return isinstance(traces, list) and bool(traces) and _is_python_trace(traces[0])


def _is_python_trace(value: object) -> bool:
    return isinstance(value, dict) and "exc_type" in value and "frames" in value


def _structlog(document: Record, _: Inside) -> Iterator[Item]:
    traces = objects_in(document["exception"])[:MAX_WRAPS]
    reported = traces[0]
    exception = {
        "type": reported.get("exc_type"),
        "message": reported.get("exc_value"),
        "stacktrace": "\n".join(_python_chain(traces)),
    }
    yield {**document, "exception": exception}


def _python_chain(traces: Sequence[Record]) -> list[str]:
    """The exceptions as Python prints them: the cause first."""
    lines: list[str] = []
    for trace in reversed(traces):
        lines += ["", DIRECT_CAUSE, ""] if lines else []
        lines.append("Traceback (most recent call last):")
        lines += [
            f'  File "{frame.get("filename")}", line {frame.get("lineno")}, in {frame.get("name")}'
            for frame in objects_in(trace.get("frames"))[:MAX_LINES]
        ]
        lines.append(f"{trace.get('exc_type')}: {trace.get('exc_value')}")
    return lines


def _is_loguru(document: Record) -> bool:
    return isinstance(document.get("text"), str) and "exception" in inner(document, "record")


def _loguru(document: Record, _: Inside) -> Iterator[Item]:
    record = inner(document, "record")
    exception = inner(record, "exception")
    yield {
        "message": record.get("message"),
        "level": inner(record, "level").get("name"),
        "timestamp": inner(record, "time").get("timestamp"),
        "logger": record.get("name"),
        "error": {
            "type": exception.get("type"),
            "message": exception.get("value"),
            "stack": document["text"] if exception else None,
        },
        "source": {
            "file": inner(record, "file").get("path"),
            "line": record.get("line"),
            "function": record.get("function"),
        },
    }


PYTHON_LOGGERS_FORMATS = (
    Shape(
        "structlog", _is_structlog, _structlog, ("exception", "exc_type", "frames"), ("exception",)
    ),
    Shape("loguru", _is_loguru, _loguru, ("text", "record.exception"), ("record",)),
)
