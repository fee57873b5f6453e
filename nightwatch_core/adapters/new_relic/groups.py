"""Rows of NRQL answers as error groups."""

from collections import Counter as Tally
from collections.abc import Iterable
from dataclasses import dataclass, field

from nightwatch_core.adapters.new_relic.counts import Counts
from nightwatch_core.adapters.new_relic.rows import Pair, Row
from nightwatch_core.intake.fingerprint import fingerprint
from nightwatch_core.intake.grouping import hours_of
from nightwatch_core.intake.limits import HOSTS
from nightwatch_core.models.error import ErrorGroup, Window
from nightwatch_core.text.templates import transaction_template


@dataclass
class Draft:
    """A group while it is counted."""

    rows: list[Row] = field(default_factory=list)
    extra: int = 0  # occurrences whose message is not known

    @property
    def n(self) -> int:
        """Occurrences so far."""
        return self.extra + sum(row.n for row in self.rows)

    @property
    def pairs(self) -> frozenset[Pair]:
        """Whose rows these are."""
        return frozenset(row.pair for row in self.rows)


def drafts(whole: Iterable[Row], detail: Iterable[Row], app: str) -> dict[str, Draft]:
    """Groups by fingerprint: `detail` tells messages apart, `whole` tells how many there are."""
    by_name: dict[str, Draft] = {}
    detailed: Tally[Pair] = Tally()
    for row in detail:
        by_name.setdefault(_name(app, row), Draft()).rows.append(row)
        detailed[row.pair] += row.n
    largest: dict[Pair, Draft] = {}
    for draft in by_name.values():
        for pair in draft.pairs:
            if pair not in largest or largest[pair].n < draft.n:
                largest[pair] = draft
    for row in whole:
        missing = row.n - detailed[row.pair]
        if missing > 0 and row.pair in largest:
            largest[row.pair].extra += missing
        elif missing > 0:
            by_name.setdefault(_name(app, row), Draft()).rows.append(row)
    return by_name


def groups(
    by_name: dict[str, Draft], counts: Counts, app: str, source: str, window: Window
) -> tuple[ErrorGroup, ...]:
    """The drafts as groups, most occurrences first."""
    owners = Tally(pair for draft in by_name.values() for pair in draft.pairs)
    users = {row.pair: row.users for row in counts.whole}
    made = []
    for name, draft in by_name.items():
        newest = max(draft.rows, key=lambda row: row.newest)
        alone = all(owners[pair] == 1 for pair in draft.pairs)
        releases = _releases(draft, counts if alone else Counts())
        made.append(
            ErrorGroup(
                fingerprint=name,
                source=source,
                app=app,
                error_class=newest.pair[0],
                transaction=transaction_template(newest.pair[1]),
                message=newest.message,
                occurrences=draft.n,
                users=_users(draft, users),
                hosts=tuple(sorted({h for row in draft.rows for h in row.hosts}))[:HOSTS],
                first_seen=min((r.first for r in draft.rows if r.first), default=None),
                last_seen=newest.last,
                release=releases[-1] if releases else "",
                releases=releases,
                hourly=_hourly(draft, counts, window) if alone else (),
            )
        )
    return tuple(sorted(made, key=lambda g: (-g.occurrences, g.title, g.fingerprint)))


def _name(app: str, row: Row) -> str:
    return fingerprint(app, row.pair[0], row.pair[1], row.message)


def _users(draft: Draft, whole: dict[Pair, int | None]) -> int | None:
    """Users of a group; of a pair with several messages no more than the pair has."""
    by_pair: Tally[Pair] = Tally()
    for row in draft.rows:
        if row.users is not None:
            by_pair[row.pair] += row.users
    if not by_pair:
        return None
    bounds = {pair: n for pair, n in whole.items() if n is not None}
    return sum(min(n, bounds.get(pair, n)) for pair, n in by_pair.items())


def _releases(draft: Draft, counts: Counts) -> tuple[str, ...]:
    listed = [name for pair in sorted(draft.pairs) for name in counts.releases.get(pair, ())]
    seen = [row.release for row in sorted(draft.rows, key=lambda r: r.newest) if row.release]
    return tuple(dict.fromkeys(listed or seen))


def _hourly(draft: Draft, counts: Counts, window: Window) -> tuple[int, ...]:
    """By clock hour; the first one was asked for whole, so it is what the others leave."""
    if not draft.pairs <= set(counts.hourly):
        return ()
    hours = [
        sum(counts.hourly[pair].get(hour, 0) for pair in draft.pairs) for hour in hours_of(window)
    ]
    if hours:
        hours[0] = max(0, draft.n - sum(hours[1:]))
    return tuple(hours)
