"""JSON documents of error exports, unpacked into flat records, whatever wraps them."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from nightwatch_core.adapters.files.limits import MAX_WRAPS

Record = Mapping[str, object]
RecordOrGap = Record | str  # a record, or a sentence about what the export itself says is missing

Unpack = Callable[[Record, int], Iterator[RecordOrGap]]  # of a document, at a depth of wraps

# Attributes that a New Relic facet stands for where the answer does not name them.
FACETS = ("error.class", "transactionName", "error.message")

# Lists of records that exports are wrapped in.
WRAPPERS = (
    "errors", "events", "records", "items", "data", "occurrences", "exceptions", "logs", "entries",
    "results", "hits", "issues",
)  # fmt: skip


def records_of(document: object) -> Iterator[RecordOrGap]:
    """Every record in a JSON value; what is not an object becomes an empty record.

    >>> [record["type"] for record in records_of({"errors": [{"type": "KeyError"}]})]
    ['KeyError']
    """
    yield from _records_of(document, 0)


def _records_of(document: object, depth: int) -> Iterator[RecordOrGap]:
    if isinstance(document, list):
        for item in document:
            yield from _records_of(item, depth + 1) if depth < MAX_WRAPS else ()
        return
    if not isinstance(document, dict):
        yield {}
        return
    for applies, unpack in SHAPES:
        if depth < MAX_WRAPS and applies(document):
            yield from unpack(document, depth)
            return
    yield _with_facets(document, FACETS) if "facet" in document else document


def _is_nerdgraph(document: Record) -> bool:
    data = document.get("data")
    return isinstance(data, dict) and isinstance(data.get("actor"), dict)


def _nerdgraph(document: Record, depth: int) -> Iterator[RecordOrGap]:
    answers = list(_answers(document.get("data"), 0))
    for answer in answers:
        yield from _new_relic(answer, depth)
    errors = document.get("errors")
    if errors or not answers:
        words = [str(error.get("message", "")) for error in _dicts(errors)]
        yield f"New Relic answered with errors: {'; '.join(words)[:300] or 'no results'}"


def _answers(value: object, depth: int) -> Iterator[Record]:
    """Every result container below `data`, under any alias."""
    if not isinstance(value, dict) or depth > MAX_WRAPS:
        return
    if isinstance(value.get("results"), list):
        yield value
        return
    for inner in value.values():
        yield from _answers(inner, depth + 1)


def _is_new_relic(document: Record) -> bool:
    results = document.get("results")
    return isinstance(results, list) and ("metadata" in document or _has_events(results))


def _has_events(results: Sequence[object]) -> bool:
    return any(isinstance(result, dict) and "events" in result for result in results)


def _new_relic(answer: Record, depth: int) -> Iterator[RecordOrGap]:
    metadata = answer.get("metadata")
    named = metadata.get("facets") if isinstance(metadata, dict) else None
    names = [named] if isinstance(named, str) else list(named or ())
    for row in _dicts(answer.get("results")):
        if isinstance(row.get("events"), list):
            yield from _records_of(row["events"], depth + 1)
        else:
            yield _with_facets(row, [str(name) for name in names] or FACETS)
    other = answer.get("otherResult")
    missing = other.get("count") if isinstance(other, dict) else None
    if isinstance(missing, int | float) and missing > 0:
        yield f"New Relic left {int(missing)} more occurrences out of its answer"


def _with_facets(row: Record, names: Sequence[str]) -> Record:
    facet = row.get("facet")
    values = facet if isinstance(facet, list) else [facet] if isinstance(facet, str) else []
    named = {name: value for name, value in zip(names, values, strict=False) if value is not None}
    return {**named, **{key: value for key, value in row.items() if value is not None}}


def _is_otlp(document: Record) -> bool:
    return isinstance(document.get("resourceLogs"), list) or isinstance(
        document.get("resourceSpans"), list
    )


def _otlp(document: Record, _: int) -> Iterator[RecordOrGap]:
    for resource in _dicts(document.get("resourceLogs")):
        for scope in _dicts(resource.get("scopeLogs")):
            for log in _dicts(scope.get("logRecords")):
                yield _attributed(log, _outer(resource), {"body": _typed(log.get("body"))})
    for resource in _dicts(document.get("resourceSpans")):
        for scope in _dicts(resource.get("scopeSpans")):
            for span in _dicts(scope.get("spans")):
                yield from _exceptions(span, _outer(resource))


def _exceptions(span: Record, outer: Record) -> Iterator[RecordOrGap]:
    inherited = _attributed(span, outer, {"span.name": span.get("name")})
    for event in _dicts(span.get("events")):
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
    return {str(pair.get("key")): _typed(pair.get("value")) for pair in _dicts(pairs)}


def _typed(value: object, depth: int = 0) -> object:
    """The value inside OTLP's `{"stringValue": …}`."""
    if not isinstance(value, dict) or depth > MAX_WRAPS:
        return None
    for name, inner in value.items():
        if name == "arrayValue" and isinstance(inner, dict):
            return [_typed(item, depth + 1) for item in _dicts(inner.get("values"))]
        if name == "kvlistValue" and isinstance(inner, dict):
            pairs = _dicts(inner.get("values"))
            return {str(pair.get("key")): _typed(pair.get("value"), depth + 1) for pair in pairs}
        if name.endswith("Value"):
            return inner
    return None


def _is_elastic(document: Record) -> bool:
    return isinstance(document.get("_source"), dict)


def _elastic(document: Record, depth: int) -> Iterator[RecordOrGap]:
    yield from _records_of(document["_source"], depth + 1)


def _is_wrapper(document: Record) -> bool:
    return len(document) <= MAX_WRAPS and _wrapped(document) is not None


def _wrapped(document: Record) -> object:
    for name in WRAPPERS:
        inner = document.get(name)
        if isinstance(inner, list) and (not inner or isinstance(inner[0], dict)):
            return inner
        if isinstance(inner, dict) and name in ("hits", "data") and _wrapped(inner) is not None:
            return inner
    return None


def _wrapper(document: Record, depth: int) -> Iterator[RecordOrGap]:
    yield from _records_of(_wrapped(document), depth + 1)


def _dicts(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


# What a document may be, first match wins; one that is none of these is a record itself.
SHAPES: tuple[
    tuple[Callable[[Record], bool], Callable[[Record, int], Iterator[RecordOrGap]]], ...
] = (
    (_is_nerdgraph, _nerdgraph),
    (_is_new_relic, _new_relic),
    (_is_otlp, _otlp),
    (_is_elastic, _elastic),
    (_is_wrapper, _wrapper),
)
