"""Rows of NRQL answers, read with suspicion."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeGuard

from nightwatch_core.adapters.new_relic.answers import Answer, Unwell
from nightwatch_core.adapters.new_relic.limits import (
    LONGEST_LABEL,
    LONGEST_MESSAGE,
    LONGEST_NAME,
    LONGEST_TITLE,
)
from nightwatch_core.adapters.new_relic.nrql import DETAIL, USERS
from nightwatch_core.intake.limits import HOSTS
from nightwatch_core.models.error import RejectedRecord

_HOUR = 3_600
_NEVER = datetime.min.replace(tzinfo=UTC)
Pair = tuple[str, str]  # raw error class and raw transaction


@dataclass(frozen=True)
class Row:
    """One facet: errors of a class, in a transaction where known, with a message where asked."""

    pair: Pair
    message: str
    n: int
    users: int | None = None
    first: datetime | None = None
    last: datetime | None = None
    hosts: tuple[str, ...] = ()
    release: str = ""
    commit: str = ""
    inbox_id: str = ""

    @property
    def newest(self) -> datetime:
        """When it was last seen, for comparisons."""
        return self.last or _NEVER


def results_of(answer: Answer, alias: str) -> tuple[list[Any], Mapping[str, Any]]:
    """Rows of one NRQL text and what stands beside them; raises where New Relic left them out."""
    container = answer.at("actor", "account", alias)
    rows = container.get("results") if isinstance(container, Mapping) else None
    if not isinstance(rows, list):
        raise Unwell("New Relic left the rows out of its answer: try again in some minutes")
    return rows, container


def read(
    results: Iterable[object], facets: tuple[str, ...]
) -> tuple[list[Row], list[RejectedRecord]]:
    """The rows of an answer, and those that cannot be read."""
    rows, rejects = [], []
    for at, result in enumerate(results):
        fields = result if isinstance(result, Mapping) else {}
        names = facet(fields, facets)
        count = integer(fields.get("n", fields.get("count")))
        if not names[0] or count is None or count < 1:
            shown = str(result)[:LONGEST_TITLE]
            rejects.append(
                RejectedRecord(place=f"row {at}", reason="no class or no count", text=shown)
            )
        else:
            rows.append(_row(fields, names, count))
    return rows, rejects


def merged(rows: Iterable[Row]) -> list[Row]:
    """One row a facet; users of several are at least the most of one."""
    by_facet: dict[tuple[Pair, str], Row] = {}
    for row in rows:
        key = (row.pair, row.message)
        by_facet[key] = _both(by_facet[key], row) if key in by_facet else row
    return list(by_facet.values())


def by_release(results: Iterable[object], facets: tuple[str, ...]) -> dict[Pair, tuple[str, ...]]:
    """Releases seen failing by pair, oldest first."""
    seen: dict[Pair, list[tuple[datetime, str]]] = {}
    for fields in filter(_is_object, results):
        error_class, transaction, release = facet(fields, facets)
        if error_class and release:
            first = moment(fields.get("first")) or _NEVER
            pair = (error_class, transaction)
            seen.setdefault(pair, []).append((first, release[:LONGEST_LABEL]))
    return {
        pair: tuple(dict.fromkeys(name for _, name in sorted(releases)))
        for pair, releases in seen.items()
    }


def by_hour(results: Iterable[object], facets: tuple[str, ...]) -> dict[Pair, dict[int, int]]:
    """Errors by pair and clock hour, counted from 1970."""
    seen: dict[Pair, dict[int, int]] = {}
    for fields in filter(_is_object, results):
        error_class, transaction = facet(fields, facets)
        begin, n = integer(fields.get("beginTimeSeconds")), integer(fields.get("n"))
        if error_class and begin is not None and n:
            seen.setdefault((error_class, transaction), {})[begin // _HOUR] = n
    return seen


def facet(fields: Mapping[str, Any], facets: tuple[str, ...]) -> tuple[str, ...]:
    """The facets of a row: a list, a single text, or attributes by name.

    >>> facet({"facet": ["KeyError", "orders/show"]}, ("error.class", "transactionName"))
    ('KeyError', 'orders/show')
    """
    given = fields.get("facet")
    listed = given if isinstance(given, list) else [given] if isinstance(given, str) else []
    named = [fields.get(name) for name in facets]
    values = [*listed, *named[len(listed) :]][: len(facets)]
    return tuple(text(value, LONGEST_NAME) for value in values)


def integer(value: object) -> int | None:
    """A count; New Relic writes them as floats."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if abs(value) < 2**53 else None


def moment(value: object) -> datetime | None:
    """A time in milliseconds since 1970."""
    milliseconds = integer(value)
    if milliseconds is None or not 0 < milliseconds < 32_503_680_000_000:
        return None
    return datetime.fromtimestamp(milliseconds / 1_000, UTC)


def text(value: object, limit: int = LONGEST_MESSAGE) -> str:
    """A text, cut at `limit` characters and storable; empty for anything else."""
    if not isinstance(value, str):
        return ""
    return value[:limit].encode("utf-8", "replace").decode()


def _row(fields: Mapping[str, Any], names: tuple[str, ...], count: int) -> Row:
    message = names[2] if len(names) == len(DETAIL) else ""
    users = [integer(fields.get(f"u{at}")) for at in range(len(USERS))]
    commit = text(fields.get("commit"), LONGEST_LABEL)
    hosts = fields.get("hosts")
    hosts = hosts[:HOSTS] if isinstance(hosts, list) else []
    return Row(
        pair=(names[0], names[1] if len(names) > 1 else ""),
        message=message or text(fields.get("msg")),
        n=count,
        users=max((each for each in users if each is not None), default=None),
        first=moment(fields.get("first")),
        last=moment(fields.get("last")),
        hosts=tuple(text(host, LONGEST_LABEL) for host in hosts),
        release=text(fields.get("ver"), LONGEST_LABEL) or commit,
        commit=commit,
        inbox_id=text(fields.get("inbox"), LONGEST_LABEL),
    )


def _both(one: Row, other: Row) -> Row:
    newest = max(one, other, key=lambda row: row.newest)
    return replace(
        newest,
        n=one.n + other.n,
        users=max((n for n in (one.users, other.users) if n is not None), default=None),
        first=min((row.first for row in (one, other) if row.first), default=None),
        hosts=tuple(dict.fromkeys((*one.hosts, *other.hosts))),
    )


def _is_object(result: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(result, Mapping)
