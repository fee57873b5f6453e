"""Counting a window's errors in New Relic: what is asked, in which order, and what is missing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nightwatch_core.adapters.new_relic import nrql
from nightwatch_core.adapters.new_relic.answers import Answer, TooSlow
from nightwatch_core.adapters.new_relic.limits import HALVINGS, MAX_HOURS, MOST_FACETS, MOST_REJECTS
from nightwatch_core.adapters.new_relic.rows import (
    Pair,
    Row,
    by_hour,
    by_release,
    integer,
    merged,
    read,
    results_of,
)
from nightwatch_core.errors import NightWatchError
from nightwatch_core.intake.grouping import hours_of
from nightwatch_core.models.error import RejectedRecord, Window


@dataclass
class Counts:
    """Rows of a window, and what is known to be missing."""

    whole: list[Row] = field(default_factory=list)  # by class and transaction: how many there are
    classes: list[Row] = field(default_factory=list)  # by class alone
    detail: list[Row] = field(default_factory=list)  # by message too: which failures they are
    total: int = 0  # occurrences the service counted, whether it listed them or not
    rejects: list[RejectedRecord] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    traffic: int | None = None  # transactions, failed or not; None: not known
    releases: Mapping[Pair, tuple[str, ...]] = field(default_factory=dict)  # oldest first
    hourly: Mapping[Pair, Mapping[int, int]] = field(default_factory=dict)  # by clock hour


class Counter:
    """Asks for counts of one application; `ask` runs NRQL texts, each named by its alias."""

    def __init__(
        self, ask: Callable[..., Answer], guids: tuple[str, ...], attributes: frozenset[str]
    ) -> None:
        """Take the names of attributes that errors have; nothing is asked yet."""
        self._ask = ask
        self._guids = guids
        self._attributes = attributes

    def count(self, window: Window) -> Counts:
        """Everything of the window; raises where the counts themselves cannot be had."""
        counts = self._count(window, HALVINGS)
        counts.whole, counts.detail = merged(counts.whole), merged(counts.detail)
        counts.whole += _outside_transactions(counts)
        missing = counts.total - sum(row.n for row in counts.whole)
        if missing > 0:
            counts.partial.append(
                f"{missing} more occurrences are not listed: too many different errors"
            )
        counts.traffic = counts.traffic or None  # none at all: they are not recorded
        if counts.whole:
            self._add_releases_and_hours(counts, window)
        if len(counts.rejects) > MOST_REJECTS:
            many = f"{len(counts.rejects)} rows of New Relic's answer are unreadable"
            counts.partial.append(many)
            del counts.rejects[MOST_REJECTS:]
        counts.partial = list(dict.fromkeys(counts.partial))
        return counts

    def _count(self, window: Window, halvings: int) -> Counts:
        counts = Counts()
        try:
            answer = self._ask(
                whole=self._errors(window, nrql.FACETS),
                classes=self._errors(window, nrql.FACETS[:1]),
                detail=self._errors(window, nrql.DETAIL),
                traffic=nrql.traffic(self._guids, window),
            )
            counts.traffic = _traffic(answer)
            counts.whole, counts.total, counts.rejects = _rows(answer, "whole", nrql.FACETS)
            counts.classes, in_classes, _ = _rows(answer, "classes", nrql.FACETS[:1])
            counts.total = max(counts.total, in_classes)
            counts.detail, _, _ = _rows(answer, "detail", nrql.DETAIL)
        except TooSlow:
            if not halvings:
                raise
            return self._count_halves(window, halvings - 1)
        except NightWatchError as trouble:
            if not counts.classes:
                raise
            counts.partial.append(f"errors could not be told apart by message: {trouble}")
        return counts

    def _errors(self, window: Window, facets: tuple[str, ...]) -> str:
        return nrql.errors(self._guids, window, self._attributes, facets)

    def _count_halves(self, window: Window, halvings: int) -> Counts:
        middle = window.since + (window.until - window.since) / 2
        middle = middle.replace(microsecond=middle.microsecond // 1_000 * 1_000)
        one = self._count(Window(since=window.since, until=middle), halvings)
        other = self._count(Window(since=middle, until=window.until), halvings)
        unknown = one.traffic is None or other.traffic is None  # half a traffic is none
        return Counts(
            whole=one.whole + other.whole,
            classes=one.classes + other.classes,
            detail=one.detail + other.detail,
            total=one.total + other.total,
            rejects=one.rejects + other.rejects,
            partial=one.partial + other.partial,
            traffic=None if unknown else (one.traffic or 0) + (other.traffic or 0),
        )

    def _add_releases_and_hours(self, counts: Counts, window: Window) -> None:
        """Ask for what the counts stand without."""
        version = nrql.first_of(nrql.RELEASES, self._attributes)
        queries = {}
        if version:
            queries["versions"] = nrql.versions(self._guids, window, version)
        if len(hours_of(window)) < MAX_HOURS:
            queries["hours"] = nrql.hourly(self._guids, window)
        if not queries:
            return
        try:
            answer = self._ask(**queries)
        except NightWatchError as trouble:
            counts.partial.append(f"releases and hours could not be read: {trouble}")
            return
        results: dict[str, list[Any]] = {}
        for alias in queries:
            try:
                results[alias] = results_of(answer, alias)[0]
            except NightWatchError as trouble:
                counts.partial.append(f"{alias} of errors could not be read: {trouble}")
        counts.releases = by_release(results.get("versions", []), (*nrql.FACETS, version))
        counts.hourly = by_hour(results.get("hours", []), nrql.FACETS)


def _traffic(answer: Answer) -> int | None:
    """The transactions; None where New Relic does not say.

    Errors stand without them, so whatever went wrong with this part ends no night.
    """
    try:
        rows = results_of(answer, "traffic")[0]
    except NightWatchError:
        return None
    count = _count_in(rows[0]) if rows else None
    return count if count is not None and count >= 0 else None


def _outside_transactions(counts: Counts) -> list[Row]:
    """Errors outside of transactions, which a facet on transactions leaves out.

    Where the list of transactions is full, nobody knows which of them are.
    """
    if len(counts.whole) >= MOST_FACETS:
        return []
    listed: dict[str, int] = {}
    for row in counts.whole:
        listed[row.pair[0]] = listed.get(row.pair[0], 0) + row.n
    missing = ((row, row.n - listed.get(row.pair[0], 0)) for row in merged(counts.classes))
    return [replace(row, n=n) for row, n in missing if n > 0]


def _rows(
    answer: Answer, alias: str, facets: tuple[str, ...]
) -> tuple[list[Row], int, list[RejectedRecord]]:
    """Rows, how many occurrences there are in all, and rows that cannot be read."""
    results, container = results_of(answer, alias)
    rows, rejects = read(results, facets)
    listed = sum(row.n for row in rows)
    total = _count_in(container.get("totalResult"))
    other = _count_in(container.get("otherResult")) or 0
    return rows, listed + other if total is None else max(total, listed), rejects


def _count_in(fields: object) -> int | None:
    return integer(fields.get("n")) if isinstance(fields, Mapping) else None
