"""Results of Splunk: events with their raw text."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.shapes.around import first_text, inner
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, LogLine, Record, Shape


def _is_result(document: Record) -> bool:
    return "_raw" in inner(document, "result")


def _result(document: Record, inside: Inside) -> Iterator[Item]:
    yield from inside(inner(document, "result"))


def _is_event(document: Record) -> bool:
    return isinstance(document.get("_raw"), str)


def _event(document: Record, _: Inside) -> Iterator[Item]:
    around = {
        "time": document.get("_time"),
        "host": first_text(document, "host"),
        "app": first_text(document, "app", "service", "sourcetype"),
    }
    stream = " ".join(first_text(document, name) for name in ("host", "source", "sourcetype"))
    yield LogLine(str(document["_raw"]), stream, around)


SPLUNK_FORMATS = (
    Shape("result of Splunk", _is_result, _result, ("result", "_raw"), ("result",)),
    Shape("event of Splunk", _is_event, _event, ("_raw", "_time", "source"), ("_raw",)),
)
