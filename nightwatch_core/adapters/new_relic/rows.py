"""Rows of NRQL answers, read with suspicion."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from nightwatch_core.adapters.new_relic.nrql import DETAIL, USERS
from nightwatch_core.intake.grouping import MAX_HOSTS
from nightwatch_core.models.error import RejectedRecord

LONGEST_MESSAGE = 16_000  # characters
LONGEST_NAME = 4_096
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
    inbox_id: str = ""

    @property
    def newest(self) -> datetime:
        """When it was last seen, for comparisons."""
        return self.last or _NEVER


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
            told = str(result)[:500]
            rejects.append(
                RejectedRecord(place=f"row {at}", reason="no class or no count", text=told)
            )
            continue
        rows.append(_row(fields, names, count))
    return rows, rejects


def merged(rows: Iterable[Row]) -> list[Row]:
    """One row a facet; users of several are at least the most of one."""
    found: dict[tuple[Pair, str], Row] = {}
    for row in rows:
        key = (row.pair, row.message)
        found[key] = _both(found[key], row) if key in found else row
    return list(found.values())


def by_release(results: Iterable[object], facets: tuple[str, ...]) -> dict[Pair, tuple[str, ...]]:
    """Releases seen failing by pair, oldest first."""
    seen: dict[Pair, list[tuple[datetime, str]]] = {}
    for result in results:
        fields = result if isinstance(result, Mapping) else {}
        names = facet(fields, facets)
        if names[0] and names[2]:
            at = moment(fields.get("first")) or _NEVER
            seen.setdefault((names[0], names[1]), []).append((at, names[2][:200]))
    return {pair: tuple(dict.fromkeys(v for _, v in sorted(found))) for pair, found in seen.items()}


def by_hour(results: Iterable[object], facets: tuple[str, ...]) -> dict[Pair, dict[int, int]]:
    """Errors by pair and clock hour, counted from 1970."""
    seen: dict[Pair, dict[int, int]] = {}
    for result in results:
        fields = result if isinstance(result, Mapping) else {}
        names = facet(fields, facets)
        begin, n = integer(fields.get("beginTimeSeconds")), integer(fields.get("n"))
        if names[0] and begin is not None and n:
            seen.setdefault((names[0], names[1]), {})[begin // _HOUR] = n
    return seen


def facet(fields: Mapping[str, Any], facets: tuple[str, ...]) -> tuple[str, ...]:
    """The facets of a row: a list, a single text, or attributes by name.

    >>> facet({"facet": ["KeyError", "orders/show"]}, ("error.class", "transactionName"))
    ('KeyError', 'orders/show')
    """
    said = fields.get("facet")
    listed = said if isinstance(said, list) else [said] if isinstance(said, str) else []
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
    hosts = fields.get("hosts")
    return Row(
        pair=(names[0], names[1] if len(names) > 1 else ""),
        message=message or text(fields.get("msg")),
        n=count,
        users=max((each for each in users if each is not None), default=None),
        first=moment(fields.get("first")),
        last=moment(fields.get("last")),
        hosts=tuple(text(host, 200) for host in hosts[:MAX_HOSTS])
        if isinstance(hosts, list)
        else (),
        release=text(fields.get("ver"), 200) or text(fields.get("commit"), 200),
        inbox_id=text(fields.get("inbox"), 200),
    )


def _both(one: Row, other: Row) -> Row:
    newest = max(one, other, key=lambda row: row.newest)
    known = [row.users for row in (one, other) if row.users is not None]
    return replace(
        newest,
        n=one.n + other.n,
        users=max(known, default=None),
        first=min((row.first for row in (one, other) if row.first), default=None),
        hosts=tuple(dict.fromkeys((*one.hosts, *other.hosts))),
    )
