"""OpenTelemetry's logs and spans (OTLP as JSON)."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.limits import MAX_WRAPS
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape, objects_in


def _is_logs(document: Record) -> bool:
    return isinstance(document.get("resourceLogs"), list)


def _logs(document: Record, _: Inside) -> Iterator[Item]:
    for resource in objects_in(document.get("resourceLogs")):
        for scope in objects_in(resource.get("scopeLogs")):
            for log in objects_in(scope.get("logRecords")):
                yield _attributed(log, _outer(resource), {"body": _typed(log.get("body"))})


def _is_spans(document: Record) -> bool:
    return isinstance(document.get("resourceSpans"), list)


def _spans(document: Record, _: Inside) -> Iterator[Item]:
    for resource in objects_in(document.get("resourceSpans")):
        for scope in objects_in(resource.get("scopeSpans")):
            for span in objects_in(scope.get("spans")):
                yield from _exceptions(span, _outer(resource))


def _exceptions(span: Record, outer: Record) -> Iterator[Item]:
    inherited = _attributed(span, outer, {"span.name": span.get("name")})
    for event in objects_in(span.get("events")):
        if event.get("name") == "exception":
            yield _attributed(event, inherited, {})


def _outer(resource: Record) -> Record:
    inner = resource.get("resource")
    return _attributes(inner.get("attributes")) if isinstance(inner, dict) else {}


def _attributed(item: Record, outer: Record, more: Record) -> Record:
    """An item's own attributes before its fields before what surrounds it."""
    plain = ("timeUnixNano", "observedTimeUnixNano", "severityText", "severityNumber")
    own = {key: item[key] for key in plain if item.get(key) not in (None, "", "0", 0)}
    return {**outer, **more, **own, **_attributes(item.get("attributes"))}


def _attributes(pairs: object) -> dict[str, object]:
    return {str(pair.get("key")): _typed(pair.get("value")) for pair in objects_in(pairs)}


def _typed(value: object, depth: int = 0) -> object:
    """The value inside OTLP's `{"stringValue": …}`."""
    if not isinstance(value, dict) or depth > MAX_WRAPS:
        return None
    for name, inner in value.items():
        if name == "arrayValue" and isinstance(inner, dict):
            return [_typed(item, depth + 1) for item in objects_in(inner.get("values"))]
        if name == "kvlistValue" and isinstance(inner, dict):
            pairs = objects_in(inner.get("values"))
            return {str(pair.get("key")): _typed(pair.get("value"), depth + 1) for pair in pairs}
        if name.endswith("Value"):
            return inner
    return None


OTLP_FORMATS = (
    Shape("OpenTelemetry logs", _is_logs, _logs, ("resourceLogs",), ("resourceLogs",)),
    Shape("OpenTelemetry spans", _is_spans, _spans, ("resourceSpans",), ("resourceSpans",)),
)
