"""Formats that many exports share: rows with a title, wrapped lists, hits of Elasticsearch."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.limits import MAX_WRAPS
from nightwatch_core.adapters.files.records import FIELDS, squeezed
from nightwatch_core.adapters.files.shapes.described import descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.fields import (
    Inside,
    Item,
    Record,
    at,
    record_of,
    text_at,
    title_parts,
)
from nightwatch_core.adapters.files.shapes.monitors import with_facets

# What such rows call things, squeezed, best first.
_TITLES = ("title", "issuetitle", "itemtitle", "errortitle", "exceptiontitle")
_COUNTS = ("occurrences", "totaloccurrences", "count", "events", "eventcount", "timesseen",
           "noticescount", "total")  # fmt: skip
_USERS = ("users", "usercount", "affectedusers", "usersaffected", "impactedusers")
_FIRST = ("firstseen", "firstoccurrence", "firstoccurredat", "firstevent")
_LAST = ("lastseen", "lastoccurrence", "lastoccurredat", "lastevent", "latestevent")
_PLACES = ("transaction", "culprit", "location", "context", "page")
_CLASSES = frozenset(
    squeezed(name) for name in FIELDS["error_class"] if name not in ("type", "class")
)
_BESIDE = frozenset((*_COUNTS, *_USERS, *_FIRST, *_LAST, "timestamp", "time", "date", "culprit"))


def _is_row(record: Record) -> bool:
    names = {squeezed(name): name for name in record}
    if names.keys() & _CLASSES or not names.keys() & _BESIDE:
        return False
    title = text_at(record, *(names[name] for name in _TITLES if name in names))
    return bool(title_parts(title)[0])


def _row(record: Record, _: Inside) -> Iterator[Item]:
    """The other fields stay as they are: they have the names that many sources use."""
    plain = {squeezed(name): value for name, value in record.items()}
    error_class, message = title_parts(text_at(plain, *_TITLES))
    mapped = {*_TITLES, *_COUNTS, *_USERS, *_FIRST, *_LAST, *_PLACES, "message", "error"}
    yield {
        **{name: value for name, value in record.items() if squeezed(name) not in mapped},
        **record_of(
            error_class=error_class,
            message=message,
            transaction=text_at(plain, *_PLACES),
            count=at(plain, *_COUNTS),
            users=at(plain, *_USERS),
            first_seen=at(plain, *_FIRST),
            last_seen=at(plain, *_LAST),
        ),
    }


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
    descriptions("generic.toml"),
    {"wrapper": _wrapper, "facets": _facets, "titled": _row},
    {"wrapper": _is_wrapper, "titled": _is_row},
)
