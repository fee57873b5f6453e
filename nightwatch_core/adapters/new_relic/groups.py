"""Rows of NRQL answers as error groups."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nightwatch_core.adapters.new_relic.rows import Pair, Row
from nightwatch_core.intake.fingerprint import fingerprint
from nightwatch_core.intake.grouping import MAX_HOSTS, hours_of
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


@dataclass(frozen=True)
class Extras:
    """What is known beside the counts, by raw class and transaction."""

    releases: Mapping[Pair, tuple[str, ...]] = field(default_factory=dict)
    hourly: Mapping[Pair, Mapping[int, int]] = field(default_factory=dict)


def drafts(whole: Iterable[Row], detail: Iterable[Row], app: str) -> dict[str, Draft]:
    """Groups by fingerprint: `detail` tells messages apart, `whole` tells how many there are."""
    found: dict[str, Draft] = {}
    counted: dict[Pair, int] = {}
    for row in detail:
        found.setdefault(_name(app, row), Draft()).rows.append(row)
        counted[row.pair] = counted.get(row.pair, 0) + row.n
    largest: dict[Pair, Draft] = {}
    for draft in found.values():
        for pair in draft.pairs:
            if pair not in largest or largest[pair].n < draft.n:
                largest[pair] = draft
    for row in whole:
        missing = row.n - counted.get(row.pair, 0)
        if missing > 0 and row.pair in largest:
            largest[row.pair].extra += missing
        elif missing > 0:
            found.setdefault(_name(app, row), Draft()).rows.append(row)
    return found


def groups(
    found: Mapping[str, Draft],
    whole: Iterable[Row],
    extras: Extras,
    app: str,
    source: str,
    window: Window,
) -> tuple[ErrorGroup, ...]:
    """The drafts as groups, most occurrences first."""
    owners: dict[Pair, int] = {}
    for draft in found.values():
        for pair in draft.pairs:
            owners[pair] = owners.get(pair, 0) + 1
    users = {row.pair: row.users for row in whole}
    made = []
    for name, draft in found.items():
        newest = max(draft.rows, key=lambda row: row.newest)
        alone = all(owners[pair] == 1 for pair in draft.pairs)
        releases = _releases(draft, extras if alone else Extras())
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
                hosts=tuple(sorted({h for row in draft.rows for h in row.hosts}))[:MAX_HOSTS],
                first_seen=min((r.first for r in draft.rows if r.first), default=None),
                last_seen=newest.last,
                release=releases[-1] if releases else "",
                releases=releases,
                hourly=_hourly(draft, extras, window) if alone else (),
            )
        )
    return tuple(sorted(made, key=lambda g: (-g.occurrences, g.title, g.fingerprint)))


def _name(app: str, row: Row) -> str:
    return fingerprint(app, row.pair[0], row.pair[1], row.message)


def _users(draft: Draft, whole: Mapping[Pair, int | None]) -> int | None:
    """Users of a group; of a pair with several messages no more than the pair has."""
    by_pair: dict[Pair, int] = {}
    for row in draft.rows:
        if row.users is not None:
            by_pair[row.pair] = by_pair.get(row.pair, 0) + row.users
    if not by_pair:
        return None
    return sum(min(n, _known(whole.get(pair), n)) for pair, n in by_pair.items())


def _known(number: int | None, otherwise: int) -> int:
    return otherwise if number is None else number


def _releases(draft: Draft, extras: Extras) -> tuple[str, ...]:
    known = [name for pair in sorted(draft.pairs) for name in extras.releases.get(pair, ())]
    seen = [row.release for row in sorted(draft.rows, key=lambda r: r.newest) if row.release]
    if not known:
        return tuple(dict.fromkeys(seen))
    return tuple(dict.fromkeys(known))


def _hourly(draft: Draft, extras: Extras, window: Window) -> tuple[int, ...]:
    """By clock hour; the first one was asked for whole, so it is what the others leave."""
    if not draft.pairs <= set(extras.hourly):
        return ()
    hours = hours_of(window)
    counts = [sum(extras.hourly[pair].get(hour, 0) for pair in draft.pairs) for hour in hours]
    if counts:
        counts[0] = max(0, draft.n - sum(counts[1:]))
    return tuple(counts)
