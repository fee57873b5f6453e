"""Rows whose title is all they say about an error: lists of many trackers, GitLab's, and CSV."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.records import FIELDS, squeezed
from nightwatch_core.adapters.files.shapes.fields import at, record_of, text_at, title_parts
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape

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


TITLED_ROWS_FORMATS = (
    Shape(
        "row with a title",
        _is_row,
        _row,
        ("title", "count", "first_seen", "last_seen"),
        ("title", "Title", "Issue title", "Item Title", "Error title", "issue.title"),
    ),
)
