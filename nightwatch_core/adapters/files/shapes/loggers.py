"""Structured loggers whose field names or exception objects are their own."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.limits import MAX_LINES, MAX_WRAPS
from nightwatch_core.adapters.files.shapes.described import descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.fields import (
    Inside,
    Item,
    Record,
    at,
    inner,
    objects_in,
    text_at,
)

_DESCRIBED = descriptions("loggers.toml")


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


def _serilog(document: Record, _: Inside) -> Iterator[Item]:
    properties = inner(document, "Properties")
    message = document.get("RenderedMessage", document["MessageTemplate"])
    named = {name: value for name, value in document.items() if name != "Properties"}
    yield {**properties, **named, "message": message}


def _monolog(document: Record, _: Inside) -> Iterator[Item]:
    context, extra = inner(document, "context"), inner(document, "extra")
    exception = inner(context, "exception")
    outer = {
        "message": document.get("message"),
        "level": document["level_name"],
        "logger": document.get("channel"),
        "timestamp": document.get("datetime"),
        "user.id": context.get("userId", context.get("user_id")),
        "path": text_at(extra, "url"),
        "method": text_at(extra, "http_method"),
        "host": text_at(extra, "server", "hostname"),
    }
    if exception:
        outer["exception"] = {
            "type": exception.get("class"),
            "message": exception.get("message"),
            "stacktrace": "\n".join(_php_chain(exception)),
        }
    elif isinstance(context.get("exception"), str):
        outer["stack_trace"] = context["exception"]
    yield outer


def _php_chain(exception: Record) -> list[str]:
    """The exceptions as PHP prints them: the innermost first."""
    chain = [exception]
    while (previous := inner(chain[-1], "previous")) and len(chain) < MAX_WRAPS:
        chain.append(previous)
    lines: list[str] = []
    for item in reversed(chain):
        opening = "Next" if lines else "PHP Fatal error:  Uncaught"
        words = str(item.get("message") or "").partition("\n")[0]
        lines.append(f"{opening} {item.get('class')}: {words} in {item.get('file')}")
        lines += ["Stack trace:", *_php_frames(item.get("trace")), ""]
    return lines


def _php_frames(trace: object) -> Iterator[str]:
    for number, frame in enumerate(trace[:MAX_LINES] if isinstance(trace, list) else ()):
        if isinstance(frame, dict):
            path, line = str(frame.get("file", "")), str(frame.get("line", ""))
        else:
            path, _, line = str(frame).rpartition(":")
        if path and line.isdigit():
            yield f"#{number} {path}({line}): unknown()"


def _pair(document: Record) -> tuple[str, ...]:
    """Rails hands class and message of an exception on as a list."""
    pair = document.get("exception")
    texts = [item for item in pair if isinstance(item, str)] if isinstance(pair, list) else []
    is_pair = len(texts) == 2 and isinstance(pair, list) and len(pair) == 2
    return tuple(texts) if is_pair and "\n" not in texts[0] else ()


def _lograge(document: Record, _: Inside) -> Iterator[Item]:
    name, words = _pair(document)
    named = {key: value for key, value in document.items() if key != "exception"}
    yield {**named, "exception.type": name, "exception.message": words}


def _node_logger(document: Record, _: Inside) -> Iterator[Item]:
    around = inner(document, "around")
    yield {**document, "around": {**around, "app": document["name"]}}


def _zerolog(document: Record, _: Inside) -> Iterator[Item]:
    frames = [
        {"file": item.get("source"), "line": item.get("line"), "function": item.get("func")}
        for item in objects_in(document["stack"])[:MAX_LINES]
    ]
    yield {**document, "stack": frames}


def _rust_tracing(document: Record, _: Inside) -> Iterator[Item]:
    named = {name: value for name, value in document.items() if name not in ("fields", "target")}
    place = {"file": document.get("filename"), "line": document.get("line_number")}
    yield {**inner(document, "fields"), **named, "logger": document["target"], "source": place}


def _structlog(document: Record, _: Inside) -> Iterator[Item]:
    named = {name: value for name, value in document.items() if name != "exception"}
    yield {**named, **_DESCRIBED["structlog"].read(document)}


def _loguru(document: Record, _: Inside) -> Iterator[Item]:
    record = inner(document, "record")
    exception = inner(record, "exception")
    yield {
        "message": record.get("message"),
        "level": at(record, "level.name"),
        "timestamp": at(record, "time.timestamp"),
        "logger": record.get("name"),
        "error.type": exception.get("type"),
        "error.message": exception.get("value"),
        "error.stack": document["text"] if exception else None,
        "source.file": at(record, "file.path"),
        "source.line": record.get("line"),
        "source.function": record.get("function"),
    }


LOGGERS = shapes_of(
    _DESCRIBED,
    {
        "serilog_compact": _serilog_compact,
        "serilog": _serilog,
        "monolog": _monolog,
        "lograge": _lograge,
        "node": _node_logger,
        "zerolog": _zerolog,
        "rust": _rust_tracing,
        "structlog": _structlog,
        "loguru": _loguru,
    },
    {"lograge": lambda document: bool(_pair(document))},
)
