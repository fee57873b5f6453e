"""Objects that only wrap a list of records, and hits of Elasticsearch."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.limits import MAX_WRAPS
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape

# Lists of records that exports are wrapped in.
WRAPPERS = (
    "errors", "events", "records", "items", "data", "occurrences", "exceptions", "logs", "entries",
    "results", "hits", "issues",
)  # fmt: skip

EMPTY_WRAPPER = 3  # fields of an answer that found nothing; with more of them it is a record


def _is_elastic(document: Record) -> bool:
    return isinstance(document.get("_source"), dict)


def _elastic(document: Record, inside: Inside) -> Iterator[Item]:
    yield from inside(document["_source"])


def _is_wrapper(document: Record) -> bool:
    return len(document) <= MAX_WRAPS and _wrapped(document) is not None


def _wrapped(document: Record) -> object:
    for name in WRAPPERS:
        inner = document.get(name)
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            return inner
        if inner == [] and len(document) <= EMPTY_WRAPPER:
            return inner
        if isinstance(inner, dict) and name in ("hits", "data") and _wrapped(inner) is not None:
            return inner
    return None


def _wrapper(document: Record, inside: Inside) -> Iterator[Item]:
    yield from inside(_wrapped(document))


WRAPPERS_FORMATS = (
    Shape("hit of Elasticsearch", _is_elastic, _elastic, ("_source",), ("_source",)),
    Shape("", _is_wrapper, _wrapper, (), WRAPPERS),
)
