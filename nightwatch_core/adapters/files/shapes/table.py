"""All export formats in their order, with those that many exports share: rows with a title, wrapped
lists, hits of Elasticsearch
"""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from nightwatch_core.adapters.files.limits import MAX_WRAPS
from nightwatch_core.adapters.files.records import FIELDS, squeezed
from nightwatch_core.adapters.files.shapes import clouds, log_stores, trackers
from nightwatch_core.adapters.files.shapes.described import Shape, descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.values import Inside, Item, Record, text_at, title_parts

_DESCRIBED = descriptions("generic.toml")
_TITLED = _DESCRIBED["titled"].fields  # by squeezed names
_CLASSES = frozenset(
    squeezed(name) for name in FIELDS["error_class"] if name not in ("type", "class")
)
_TELLING = frozenset(("timestamp", "time", "date", "culprit")).union(
    *(_TITLED[field] for field in ("count", "users", "first_seen", "last_seen"))
)


def _is_row(record: Record) -> bool:
    plain = {squeezed(name): value for name, value in record.items()}
    if plain.keys() & _CLASSES or not plain.keys() & _TELLING:
        return False
    return bool(title_parts(text_at(plain, *_TITLED["title"]))[0])


# Lists of records that exports are wrapped in.
_WRAPPERS = (
    "errors", "events", "records", "items", "data", "occurrences", "exceptions", "logs", "entries",
    "results", "hits", "issues",
)  # fmt: skip

_EMPTY_WRAPPER = 3  # fields of an answer that found nothing; with more of them it is a record


def _is_wrapper(document: Record) -> bool:
    return len(document) <= MAX_WRAPS and _wrapped(document) is not None


def _wrapped(document: Record) -> object:
    for name in _WRAPPERS:
        held = document.get(name)
        if isinstance(held, list) and held and isinstance(held[0], dict):
            return held
        if held == [] and len(document) <= _EMPTY_WRAPPER:
            return held
        if isinstance(held, dict) and name in ("hits", "data") and _wrapped(held) is not None:
            return held
    return None


def _wrapper(document: Record, inside: Inside) -> Iterator[Item]:
    yield from inside(_wrapped(document))


def _facets(document: Record, _: Inside) -> Iterator[Item]:
    yield trackers.with_facets(document)


GENERIC = shapes_of(
    _DESCRIBED,
    {"wrapper": _wrapper, "facets": _facets},
    {"wrapper": _is_wrapper, "titled": _is_row},
)

# The first that applies wins; a document that is none of these is a record itself.
SHAPES: tuple[Shape, ...] = (*clouds.CLOUDS, *trackers.TRACKERS, *log_stores.LOG_STORES, *GENERIC)
OWN_RECORD = "JSON record"  # a record whose fields have the names that many sources use
ROW = "row of a table"  # the same


def records_of(
    document: object, shapes: Counter[str] | None = None, own: str = OWN_RECORD
) -> Iterator[Item]:
    """Yield every record in a JSON value; what is not an object becomes an empty record.

    Counts in `shapes` how many records came in which shape, by its name; `own` is that of none.

    >>> [record["type"] for record in records_of({"errors": [{"type": "KeyError"}]})]
    ['KeyError']
    """
    yield from _unpacked(document, 0, Counter() if shapes is None else shapes, own)


def _unpacked(document: object, depth: int, shapes: Counter[str], own: str) -> Iterator[Item]:
    if isinstance(document, list):
        for item in document if depth < MAX_WRAPS else ():
            yield from _unpacked(item, depth + 1, shapes, own)
        return
    if not isinstance(document, dict):
        yield {}
        return
    shape = next((shape for shape in _possible(tuple(document)) if shape.applies(document)), None)
    if shape is None or depth >= MAX_WRAPS:
        shapes[own] += 1
        yield document
        return
    inner = Counter[str]() if shape.name else shapes  # counted once, by the outermost that is named
    for item in shape.unpack(document, lambda value: _unpacked(value, depth + 1, inner, own)):
        shapes[shape.name] += bool(shape.name) and not isinstance(item, str)
        yield item


@lru_cache(maxsize=1_024)
def _possible(names: tuple[str, ...]) -> tuple[Shape, ...]:
    """The shapes that a document with these fields may have: those of one file are alike."""
    fields = frozenset(names)
    return tuple(shape for shape in SHAPES if not shape.needs or not fields.isdisjoint(shape.needs))
