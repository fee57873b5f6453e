"""Counting a window's errors in New Relic: what is asked, in which order, and what is missing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nightwatch_core.adapters.new_relic import nrql
from nightwatch_core.adapters.new_relic.answers import Answer, TooSlow, Unwell
from nightwatch_core.adapters.new_relic.groups import Extras
from nightwatch_core.adapters.new_relic.rows import Row, by_hour, by_release, integer, merged, read
from nightwatch_core.errors import NightWatchError
from nightwatch_core.intake.grouping import hours_of
from nightwatch_core.models.error import RejectedRecord, Window

HALVINGS = 3  # a window that is too much is read in up to 2 ** 3 parts
MOST_REJECTS = 50
MOST_FACETS = 5_000  # what LIMIT MAX means


@dataclass
class Counted:
    """Rows of a window, and what is known to be missing."""

    whole: list[Row] = field(default_factory=list)  # by class and transaction: how many there are
    classes: list[Row] = field(default_factory=list)  # by class alone
    detail: list[Row] = field(default_factory=list)  # by message too: which failures they are
    total: int = 0  # occurrences the service counted, whether it listed them or not
    rejects: list[RejectedRecord] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    traffic: int | None = None  # transactions, failed or not; None: not known
    extras: Extras = field(default_factory=Extras)


class Counter:
    """Asks for counts of one application; `ask` runs NRQL texts, each named by its alias."""

    def __init__(
        self, ask: Callable[..., Answer], guids: tuple[str, ...], known: frozenset[str]
    ) -> None:
        """Nothing is asked yet."""
        self._ask = ask
        self._guids = guids
        self._known = known

    def counted(self, window: Window) -> Counted:
        """Everything of the window; raises where the counts themselves cannot be had."""
        found = self._counts(window, HALVINGS)
        found.whole, found.detail = merged(found.whole), merged(found.detail)
        found.whole += _unnamed(found)
        more = found.total - sum(row.n for row in found.whole)
        if more > 0:
            found.partial.append(
                f"{more} more occurrences are not listed: too many different errors"
            )
        found.traffic = found.traffic or None  # none at all: they are not recorded
        if found.whole:
            found.extras = self._extras(found, window)
        if len(found.rejects) > MOST_REJECTS:
            found.partial.append(f"{len(found.rejects)} rows of New Relic's answer are unreadable")
            del found.rejects[MOST_REJECTS:]
        found.partial = list(dict.fromkeys(found.partial))
        return found

    def _counts(self, window: Window, halvings: int) -> Counted:
        found = Counted()
        try:
            answer = self._ask(
                whole=self._errors(window, nrql.FACETS),
                classes=self._errors(window, nrql.FACETS[:1]),
                detail=self._errors(window, nrql.DETAIL),
                traffic=nrql.traffic(self._guids, window),
            )
            found.traffic = _traffic(answer)
            found.whole, found.total, found.rejects = _rows(answer, "whole", nrql.FACETS)
            found.classes, in_classes, _ = _rows(answer, "classes", nrql.FACETS[:1])
            found.total = max(found.total, in_classes)
            found.detail, _, _ = _rows(answer, "detail", nrql.DETAIL)
        except TooSlow:
            if not halvings:
                raise
            return self._halves(window, halvings - 1)
        except NightWatchError as trouble:
            if not found.classes:
                raise
            found.partial.append(f"errors could not be told apart by message: {trouble}")
        return found

    def _errors(self, window: Window, facets: tuple[str, ...]) -> str:
        return nrql.errors(self._guids, window, self._known, facets)

    def _halves(self, window: Window, halvings: int) -> Counted:
        middle = window.since + (window.until - window.since) / 2
        middle = middle.replace(microsecond=middle.microsecond // 1_000 * 1_000)
        both = Counted(traffic=0)
        for part in (
            Window(since=window.since, until=middle),
            Window(since=middle, until=window.until),
        ):
            found = self._counts(part, halvings)
            both.whole += found.whole
            both.classes += found.classes
            both.detail += found.detail
            both.total += found.total
            both.rejects += found.rejects
            both.partial += found.partial
            both.traffic = _sum(both.traffic, found.traffic)
        return both

    def _extras(self, found: Counted, window: Window) -> Extras:
        """Releases and hours; without them the counts still stand."""
        version = nrql.first_of((*nrql.VERSIONS, *nrql.COMMITS), self._known)
        queries = {}
        if version:
            queries["versions"] = nrql.versions(self._guids, window, version)
        if len(hours_of(window)) < nrql.MAX_HOURS:
            queries["hours"] = nrql.hourly(self._guids, window)
        if not queries:
            return Extras()
        try:
            answer = self._ask(**queries)
        except NightWatchError as trouble:
            found.partial.append(f"releases and hours could not be read: {trouble}")
            return Extras()
        facets = (*nrql.FACETS, version)
        releases = self._extra(found, answer, "versions") if version else []
        hours = self._extra(found, answer, "hours") if "hours" in queries else []
        return Extras(by_release(releases, facets), by_hour(hours, nrql.FACETS))

    def _extra(self, found: Counted, answer: Answer, alias: str) -> list[Any]:
        try:
            return results_of(answer, alias)[0]
        except NightWatchError as trouble:
            found.partial.append(f"{alias} of errors could not be read: {trouble}")
            return []


def _traffic(answer: Answer) -> int | None:
    """The transactions; None where New Relic does not say.

    Errors stand without them, so whatever went wrong with this part ends no night.
    """
    try:
        rows = results_of(answer, "traffic")[0]
    except NightWatchError:
        return None
    first = rows[0] if rows and isinstance(rows[0], Mapping) else {}
    told = integer(first.get("n"))
    return told if told is not None and told >= 0 else None


def _sum(one: int | None, other: int | None) -> int | None:
    """Both parts together; half a window's traffic is no window's.

    >>> _sum(2, 3), _sum(2, None)
    (5, None)
    """
    return None if one is None or other is None else one + other


def _unnamed(found: Counted) -> list[Row]:
    """Errors outside of transactions, which a facet on transactions leaves out.

    Where the list of transactions is full, nobody knows which of them are.
    """
    if len(found.whole) >= MOST_FACETS:
        return []
    listed: dict[str, int] = {}
    for row in found.whole:
        listed[row.pair[0]] = listed.get(row.pair[0], 0) + row.n
    missing = ((row, row.n - listed.get(row.pair[0], 0)) for row in merged(found.classes))
    return [replace(row, n=n) for row, n in missing if n > 0]


def _rows(
    answer: Answer, alias: str, facets: tuple[str, ...]
) -> tuple[list[Row], int, list[RejectedRecord]]:
    results, container = results_of(answer, alias)
    rows, rejects = read(results, facets)
    listed = sum(row.n for row in rows)
    total = _count(container.get("totalResult"))
    other = _count(container.get("otherResult")) or 0
    return rows, listed + other if total is None else max(total, listed), rejects


def results_of(answer: Answer, alias: str) -> tuple[list[Any], Mapping[str, Any]]:
    """Rows of one NRQL text and what stands beside them; raises where New Relic left them out."""
    container = answer.at("actor", "account", alias)
    rows = container.get("results") if isinstance(container, Mapping) else None
    if not isinstance(rows, list):
        raise Unwell("New Relic left the rows out of its answer: try again in some minutes")
    return rows, container


def _count(beside: object) -> int | None:
    return integer(beside.get("n")) if isinstance(beside, Mapping) else None
