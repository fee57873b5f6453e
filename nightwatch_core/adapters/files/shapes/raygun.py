"""Raygun: occurrences, groups, and what its webhook says."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.files.exceptions import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.limits import MAX_LINKS
from nightwatch_core.adapters.files.shapes.fields import (
    MESSAGE,
    at,
    record_of,
    request_of,
    someone,
    text_at,
    title_parts,
)
from nightwatch_core.adapters.files.shapes.shape import Inside, Item, Record, Shape

_STACKS = ("stackTrace", "stacktrace")


def _is_occurrence(record: Record) -> bool:
    error = at(record, "details.error", "error", "Details.Error")
    if not isinstance(error, Mapping):
        return False
    return "className" in error and any(name in error for name in _STACKS)


def _occurrence(record: Record, _: Inside) -> Iterator[Item]:
    details = at(record, "details", "Details") or record
    chain = _chain(at(details, "error", "Error"))
    request = at(details, "request")
    host, url = text_at(request, "hostName"), text_at(request, "url", "rawUrl")
    yield record_of(
        error_class=chain[0].error_class,
        message=chain[0].message,
        stack=chain_text(chain, text_at(details, "client.language")),
        transaction=request_of(
            at(request, "httpMethod"), url if "://" in url or not host else f"https://{host}{url}"
        ),
        app=text_at(record, "application.name"),
        release=text_at(details, "version"),
        host=text_at(details, "machineName"),
        user=someone(at(details, "user")),
        time=at(record, "occurredOn", "occurredAt", "OccurredOn"),
    )


def _chain(error: object) -> list[Thrown]:
    chain: list[Thrown] = []
    while isinstance(error, Mapping) and len(chain) < MAX_LINKS:
        message = text_at(error, "message").removeprefix(f"{text_at(error, 'className')}: ")
        chain.append(thrown(error.get("className"), message, at(error, *_STACKS)))
        error = error.get("innerError")
    return chain


def _is_group(record: Record) -> bool:
    if "lastOccurredAt" in record and "message" in record:
        return "applicationIdentifier" in record or "applicationUrl" in record
    return isinstance(at(record, "error.totalOccurrences"), int | str)


def _group(record: Record, _: Inside) -> Iterator[Item]:
    group = at(record, "error") if "lastOccurredAt" not in record else record
    error_class, message = title_parts(text_at(group, "message"))
    yield record_of(
        error_class=error_class or MESSAGE,
        message=message,
        app=text_at(record, "application.name"),
        count=at(group, "totalOccurrences", "occurrenceCount"),
        users=at(group, "usersAffected"),
        first_seen=at(group, "firstOccurredOn", "createdAt"),
        last_seen=at(group, "lastOccurredOn", "lastOccurredAt"),
    )


RAYGUN_FORMATS = (
    Shape(
        "occurrence of Raygun",
        _is_occurrence,
        _occurrence,
        ("occurredOn", "details.error.className", "details.error.stackTrace"),
        ("details", "Details", "error"),
    ),
    Shape(
        "error group of Raygun",
        _is_group,
        _group,
        ("message", "lastOccurredAt", "applicationIdentifier", "status"),
        ("lastOccurredAt", "error"),
    ),
)
