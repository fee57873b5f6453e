"""Rows that Sentry's Discover and Explore export, as JSON and as CSV."""

import json
from collections.abc import Iterator

from nightwatch_core.adapters.files.shapes.fields import at, record_of, text_at, title_parts
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape

# Columns that no other export has: any of them beside a title or a class tells it.
_COLUMNS = frozenset(
    ("count()", "count_unique(user)", "last_seen()", "first_seen()", "error.type", "error.value",
     "project.name", "issue.id", "max(timestamp)", "event.type")
)  # fmt: skip
_TELLING = frozenset(("count()", "count_unique(user)", "last_seen()"))


def _is_row(record: Record) -> bool:
    names = record.keys()
    if (
        not (names & _TELLING)
        and not ({"title", "issue.id"} <= names or {"title", "project.name"} <= names)
        and not isinstance(record.get("error.type"), list)
    ):
        return False
    return bool(names & {"title", "error.type", "issue", "message"})


def _row(record: Record, _: Inside) -> Iterator[Item]:
    told_class, told_message = title_parts(text_at(record, "title", "issue.title", "message"))
    values = _listed(at(record, "error.value"))
    yield record_of(
        error_class=_class(_listed(at(record, "error.type")), told_class),
        message=(values[-1] if values else "") or told_message,
        transaction=text_at(record, "transaction", "culprit", "location"),
        app=text_at(record, "project.name", "project"),
        release=text_at(record, "release"),
        host=text_at(record, "server_name"),
        user=text_at(record, "user", "user.display", "user.id", "user.email"),
        users=at(record, "count_unique(user)", "count_unique(user.id)", "userCount"),
        count=at(record, "count()", "events", "count"),
        first_seen=at(record, "first_seen()", "min(timestamp)", "firstSeen"),
        last_seen=at(record, "last_seen()", "max(timestamp)", "lastSeen"),
        time=at(record, "timestamp"),
        level=text_at(record, "level"),
    )


def _class(types: list[str], told_class: str) -> str:
    """The reported class of a chain: the title's, else the last."""
    return told_class if told_class in types or not types else types[-1]


def _listed(value: object) -> list[str]:
    """A list, as JSON has it and as CSV prints it."""
    if isinstance(value, str):
        if not value.startswith("["):
            return [value]
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            bare = (part.strip().strip("'\"") for part in str(value).strip("[]").split(","))
            return [part for part in bare if part]
    return [str(one) for one in value if one is not None] if isinstance(value, list) else []


SENTRY_ROWS_FORMATS = (
    Shape(
        "row of Sentry's Discover",
        _is_row,
        _row,
        ("title", "error.type", "count()", "count_unique(user)", "last_seen()"),
        ("title", "count()", "count_unique(user)", "last_seen()", "error.type"),
    ),
)
