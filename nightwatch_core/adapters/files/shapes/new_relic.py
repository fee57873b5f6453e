"""Answers of New Relic: NerdGraph, and NRQL in every form its pages and tools export."""

from collections.abc import Iterator, Sequence

from nightwatch_core.adapters.files.limits import MAX_WRAPS
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape, objects_in

# Attributes that a facet stands for where the answer does not name them.
FACETS = ("error.class", "transactionName", "error.message")


def _is_nerdgraph(document: Record) -> bool:
    data = document.get("data")
    return isinstance(data, dict) and isinstance(data.get("actor"), dict)


def _nerdgraph(document: Record, inside: Inside) -> Iterator[Item]:
    answers = list(_answers(document.get("data"), 0))
    for answer in answers:
        yield from _nrql(answer, inside)
    errors = document.get("errors")
    if errors or not answers:
        words = [str(error.get("message", "")) for error in objects_in(errors)]
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


def _is_nrql(document: Record) -> bool:
    results = document.get("results")
    return isinstance(results, list) and ("metadata" in document or _has_events(results))


def _has_events(results: Sequence[object]) -> bool:
    return any(isinstance(result, dict) and "events" in result for result in results)


def _nrql(answer: Record, inside: Inside) -> Iterator[Item]:
    metadata = answer.get("metadata")
    named = metadata.get("facets") if isinstance(metadata, dict) else None
    names = [named] if isinstance(named, str) else list(named or ())
    for row in objects_in(answer.get("results")):
        if isinstance(row.get("events"), list):
            yield from inside(row["events"])
        else:
            yield _with_facets(row, [str(name) for name in names] or FACETS)
    other = answer.get("otherResult")
    missing = other.get("count") if isinstance(other, dict) else None
    if isinstance(missing, int | float) and missing > 0:
        yield f"New Relic left {int(missing)} more occurrences out of its answer"


def _is_row(document: Record) -> bool:
    return "facet" in document


def _row(document: Record, _: Inside) -> Iterator[Item]:
    yield _with_facets(document, FACETS)


def _with_facets(row: Record, names: Sequence[str]) -> Record:
    facet = row.get("facet")
    values = facet if isinstance(facet, list) else [facet] if isinstance(facet, str) else []
    named = {name: value for name, value in zip(names, values, strict=False) if value is not None}
    return {**named, **{key: value for key, value in row.items() if value is not None}}


NEW_RELIC_FORMATS = (
    Shape("answer of New Relic's NerdGraph", _is_nerdgraph, _nerdgraph, ("data.actor",), ("data",)),
    Shape("answer of New Relic", _is_nrql, _nrql, ("results", "metadata"), ("results",)),
)
NEW_RELIC_ROW_FORMATS = (
    Shape("row of a New Relic answer", _is_row, _row, ("facet", "count"), ("facet",)),
)
