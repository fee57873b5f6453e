"""Rows of NRQL answers as error groups, and what the team said of them in the Errors Inbox."""

from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from nightwatch_core.adapters.new_relic.answers import Unwell
from nightwatch_core.adapters.new_relic.counts import Counts
from nightwatch_core.adapters.new_relic.limits import (
    LONGEST_CURSOR,
    LONGEST_LABEL,
    LONGEST_PERSON,
    PAGES,
)
from nightwatch_core.adapters.new_relic.nerdgraph import NerdGraph
from nightwatch_core.adapters.new_relic.rows import Pair, Row, moment, text
from nightwatch_core.intake.fingerprint import fingerprint, former_fingerprint
from nightwatch_core.intake.grouping import hours_of
from nightwatch_core.intake.limits import FORMER_LOOKS, FORMER_NAMES, HOSTS
from nightwatch_core.models.error import ErrorGroup, Window
from nightwatch_core.models.triage import Triage, TriageState
from nightwatch_core.text.message_templates import message_template
from nightwatch_core.text.transaction_templates import transaction_template


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
                commit=newest.commit if newest.release in releases[-1:] else "",
                hourly=_hourly(draft, counts, window) if alone else (),
                formerly=_formerly(app, draft),
            )
        )
    return tuple(sorted(made, key=lambda g: (-g.occurrences, g.title, g.fingerprint)))


def _name(app: str, row: Row) -> str:
    return fingerprint(app, row.pair[0], row.pair[1], row.message)


def _formerly(app: str, draft: Draft) -> tuple[str, ...]:
    rows = sorted(draft.rows, key=lambda row: -row.n)[:FORMER_LOOKS]
    names = (former_fingerprint(app, *row.pair, row.message) for row in rows)
    return tuple(dict.fromkeys(filter(None, names)))[:FORMER_NAMES]


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


NAMES = {"service": "New Relic", "inbox": "Errors Inbox"}
ERROR_GROUPS = (
    "query ErrorGroups($guids:[EntityGuid!],$cursor:String,$states:[ErrorsInboxErrorGroupState!],"
    "$from:EpochMilliseconds!,$to:EpochMilliseconds!){actor{errorsInbox{errorGroups("
    "entityGuids:$guids,cursor:$cursor,filter:{states:$states},"
    "sortBy:[{field:OCCURRENCES,direction:DESC}],timeWindow:{startTime:$from,endTime:$to})"
    "{nextCursor totalCount results{id name message state source regressedAt "
    "assignment{email userInfo{name}}}}}}}"
)
STATES: Mapping[object, TriageState] = {
    "UNRESOLVED": "",
    "RESOLVED": "resolved",
    "IGNORED": "ignored",
}


class Entry(NamedTuple):
    """What the team said about a group, and when the group came back."""

    triage: Triage = Triage()
    regressed_at: datetime | None = None


@dataclass(frozen=True)
class Inbox:
    """Entries by the source's own group id, and by class and message template."""

    by_id: Mapping[str, Entry]
    by_name: Mapping[tuple[str, str], frozenset[Entry]]
    more: bool = False  # there are groups that were not read

    def entry(self, draft: Draft) -> Entry:
        """What was said about a group; nothing where its rows were told different things."""
        entries = {self.by_id[row.inbox_id] for row in draft.rows if row.inbox_id in self.by_id}
        if not entries:
            names = {(row.pair[0], message_template(row.message)) for row in draft.rows}
            nothing = frozenset({Entry()})
            entries = {entry for name in names for entry in self.by_name.get(name, nothing)}
        triages = {entry.triage for entry in entries}
        if len(triages) != 1:
            return Entry()
        returns = (entry.regressed_at for entry in entries if entry.regressed_at)
        return Entry(triages.pop(), max(returns, default=None))


def read_inbox(client: NerdGraph, guids: Iterable[str], window: Window) -> Inbox:
    """Read the inbox; raises where it cannot be read."""
    first, last = (round(at.timestamp() * 1_000) for at in (window.since, window.until))
    groups: list[Mapping[str, Any]] = []
    cursor: str | None = None
    for _ in range(PAGES):
        answer = client.ask(
            ERROR_GROUPS,
            **{"guids": list(guids), "states": list(STATES), "cursor": cursor},
            **{"from": first, "to": last},
        )
        page = answer.at("actor", "errorsInbox", "errorGroups")
        if not isinstance(page, Mapping) or not isinstance(page.get("results"), list):
            raise Unwell("New Relic left the Errors Inbox out of its answer")
        groups += [each for each in page["results"] if isinstance(each, Mapping)]
        cursor = text(page.get("nextCursor"), LONGEST_CURSOR) or None
        if cursor is None:
            break
    return _inbox(groups, window, cursor is not None)


def _inbox(groups: Iterable[Mapping[str, Any]], window: Window, more: bool) -> Inbox:
    by_id: dict[str, Entry] = {}
    by_name: dict[tuple[str, str], frozenset[Entry]] = {}
    for group in groups:
        entry = _entry(group, window)
        by_id[text(group.get("id"), LONGEST_LABEL)] = entry
        name = (text(group.get("name")), message_template(text(group.get("message"))))
        by_name[name] = by_name.get(name, frozenset()) | {entry}
    return Inbox(by_id, by_name, more)


def _entry(group: Mapping[str, Any], window: Window) -> Entry:
    """Read a group's entry.

    New Relic itself opens a resolved group again at its next event, and notes when. So a group that
    is still resolved has not come back, whatever the window holds.
    """
    state, assignee = STATES.get(group.get("state"), ""), _assignee(group.get("assignment"))
    regressed_at = moment(group.get("regressedAt"))
    if state or not regressed_at or regressed_at < window.since:
        regressed_at = None
    state = "regressed" if regressed_at else state
    if not state and not assignee:
        return Entry()
    return Entry(Triage(state=state, assignee=assignee, **NAMES), regressed_at)


def _assignee(assignment: object) -> str:
    """The assignee's name; reports may be public, so of an address only what stands before @."""
    if not isinstance(assignment, Mapping):
        return ""
    info = assignment.get("userInfo")
    name = info.get("name") if isinstance(info, Mapping) else ""
    mailbox = text(assignment.get("email"), LONGEST_PERSON).partition("@")[0]
    return " ".join((text(name, LONGEST_PERSON) or mailbox).split())
