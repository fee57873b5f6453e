"""Formats that many exports share: rows with a title, wrapped lists, hits of Elasticsearch."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.limits import MAX_WRAPS
from nightwatch_core.adapters.files.records import FIELDS, squeezed
from nightwatch_core.adapters.files.shapes.described import descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.fields import Inside, Item, Record, text_at, title_parts
from nightwatch_core.adapters.files.shapes.monitors import with_facets

_DESCRIBED = descriptions("generic.toml")
_TITLED = _DESCRIBED["titled"].fields  # by squeezed names
_MAPPED = frozenset(name for names in _TITLED.values() for name in names) | {"message", "error"}
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


def _row(record: Record, _: Inside) -> Iterator[Item]:
    """The other fields stay as they are: they have the names that many sources use."""
    plain = {squeezed(name): value for name, value in record.items()}
    others = {name: value for name, value in record.items() if squeezed(name) not in _MAPPED}
    yield {**others, **_DESCRIBED["titled"].read(plain)}


# Lists of records that exports are wrapped in.
WRAPPERS = (
    "errors", "events", "records", "items", "data", "occurrences", "exceptions", "logs", "entries",
    "results", "hits", "issues",
)  # fmt: skip

EMPTY_WRAPPER = 3  # fields of an answer that found nothing; with more of them it is a record


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


def _facets(document: Record, _: Inside) -> Iterator[Item]:
    yield with_facets(document)


GENERIC = shapes_of(
    _DESCRIBED,
    {"wrapper": _wrapper, "facets": _facets, "titled": _row},
    {"wrapper": _is_wrapper, "titled": _is_row},
)
