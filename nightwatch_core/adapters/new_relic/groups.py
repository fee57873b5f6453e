"""Rows of NRQL answers as error groups, and what the team said of them in the Errors Inbox."""

import math
import re
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeGuard

from nightwatch_core.adapters.new_relic import nerdgraph
from nightwatch_core.adapters.new_relic.answers import Answer, TooSlow, Unwell
from nightwatch_core.adapters.new_relic.nerdgraph import (
    DETAIL,
    LONGEST_LABEL,
    LONGEST_LANGUAGE,
    LONGEST_TITLE,
    USERS,
    NerdGraph,
)
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.errors import (
    MOST_HOSTS,
    MOST_HOURS,
    ErrorGroup,
    ExceptionLink,
    Frame,
    RejectedRecord,
    Trace,
    Triage,
    TriageState,
    Window,
)
from nightwatch_core.text.fingerprints import fingerprint
from nightwatch_core.text.templates import message_template, transaction_template
from nightwatch_core.traces import in_app
from nightwatch_core.traces.parsing import parse

PAGES = 3  # of the Errors Inbox, of New Relic's length
MOST_FACETS = 5_000  # what LIMIT MAX means
MOST_REJECTS = 50  # rows that cannot be read and are listed
MOST_FRAMES = 500  # of a stack trace
HALVINGS = 3  # a window that is too much is read in up to 2 ** 3 parts
LONGEST_MESSAGE = 16_000
LONGEST_NAME = 4_096  # of a class or a transaction
LONGEST_FRAME = 2_000
LONGEST_CURSOR = 4_000  # that says where a list goes on
LONGEST_PERSON = 80

# Rows of NRQL answers, read with suspicion.

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
        return self.last or _NEVER


def results_of(answer: Answer, alias: str) -> tuple[list[Any], Mapping[str, Any]]:
    """Return the rows of one NRQL text and its totals; raises where New Relic left them out."""
    container = answer.at("actor", "account", alias)
    rows = container.get("results") if isinstance(container, Mapping) else None
    if not isinstance(rows, list):
        raise Unwell("New Relic left the rows out of its answer: try again in some minutes")
    return rows, container


def read(
    results: Iterable[object], facets: tuple[str, ...]
) -> tuple[list[Row], list[RejectedRecord]]:
    """Return the rows of an answer, and the unreadable ones."""
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
    """Merge the rows of each facet; its users are at least the most of one row."""
    by_facet: dict[tuple[Pair, str], Row] = {}
    for row in rows:
        key = (row.pair, row.message)
        by_facet[key] = _both(by_facet[key], row) if key in by_facet else row
    return list(by_facet.values())


def by_release(results: Iterable[object], facets: tuple[str, ...]) -> dict[Pair, tuple[str, ...]]:
    """Return releases seen failing by pair, oldest first."""
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
    """Return errors by pair and clock hour, counted from 1970."""
    seen: dict[Pair, dict[int, int]] = {}
    for fields in filter(_is_object, results):
        error_class, transaction = facet(fields, facets)
        begin, n = integer(fields.get("beginTimeSeconds")), integer(fields.get("n"))
        if error_class and begin is not None and n:
            seen.setdefault((error_class, transaction), {})[begin // _HOUR] = n
    return seen


def facet(fields: Mapping[str, Any], facets: tuple[str, ...]) -> tuple[str, ...]:
    """Return the facets of a row: a list, a single text, or attributes by name.

    >>> facet({"facet": ["KeyError", "orders/show"]}, ("error.class", "transactionName"))
    ('KeyError', 'orders/show')
    """
    given = fields.get("facet")
    listed = given if isinstance(given, list) else [given] if isinstance(given, str) else []
    named = [fields.get(name) for name in facets]
    values = [*listed, *named[len(listed) :]][: len(facets)]
    return tuple(text(value, LONGEST_NAME) for value in values)


def integer(value: object) -> int | None:
    """Return a count; New Relic writes them as floats."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if abs(value) < 2**53 else None


def moment(value: object) -> datetime | None:
    """Return a time from milliseconds since 1970."""
    milliseconds = integer(value)
    if milliseconds is None or not 0 < milliseconds < 32_503_680_000_000:
        return None
    return datetime.fromtimestamp(milliseconds / 1_000, UTC)


def text(value: object, limit: int = LONGEST_MESSAGE) -> str:
    """Return a text of at most `limit` characters; empty for anything else."""
    if not isinstance(value, str):
        return ""
    return value[:limit].encode("utf-8", "replace").decode()


def _row(fields: Mapping[str, Any], names: tuple[str, ...], count: int) -> Row:
    message = names[2] if len(names) == len(DETAIL) else ""
    users = [integer(fields.get(f"u{at}")) for at in range(len(USERS))]
    commit = text(fields.get("commit"), LONGEST_LABEL)
    hosts = fields.get("hosts")
    hosts = hosts[:MOST_HOSTS] if isinstance(hosts, list) else []
    return Row(
        pair=(names[0], names[1] if len(names) > 1 else ""),
        message=message or text(fields.get("msg")),
        n=count,
        users=max((user for user in users if user is not None), default=None),
        first=moment(fields.get("first")),
        last=moment(fields.get("last")),
        hosts=tuple(text(host, LONGEST_LABEL) for host in hosts),
        release=text(fields.get("ver"), LONGEST_LABEL) or commit,
        commit=commit,
        inbox_id=text(fields.get("inbox"), LONGEST_LABEL),
    )


def _both(item: Row, other: Row) -> Row:
    newest = max(item, other, key=lambda row: row.newest)
    return replace(
        newest,
        n=item.n + other.n,
        users=max((n for n in (item.users, other.users) if n is not None), default=None),
        first=min((row.first for row in (item, other) if row.first), default=None),
        hosts=tuple(dict.fromkeys((*item.hosts, *other.hosts))),
    )


def _is_object(result: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(result, Mapping)


# Counting a window's errors in New Relic: what is asked, in which order, and what is missing.


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
        """Count everything in the window; raises where the counts themselves are missing."""
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
                whole=self._errors(window, nerdgraph.FACETS),
                classes=self._errors(window, nerdgraph.FACETS[:1]),
                detail=self._errors(window, nerdgraph.DETAIL),
                traffic=nerdgraph.traffic(self._guids, window),
            )
            counts.traffic = _traffic(answer)
            counts.whole, counts.total, counts.rejects = _rows(answer, "whole", nerdgraph.FACETS)
            counts.classes, in_classes, _ = _rows(answer, "classes", nerdgraph.FACETS[:1])
            counts.total = max(counts.total, in_classes)
            counts.detail, _, _ = _rows(answer, "detail", nerdgraph.DETAIL)
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
        return nerdgraph.errors(self._guids, window, self._attributes, facets)

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
        version = nerdgraph.first_of(nerdgraph.RELEASES, self._attributes)
        queries = {}
        if version:
            queries["versions"] = nerdgraph.versions(self._guids, window, version)
        if len(window.hours) < MOST_HOURS:
            queries["hours"] = nerdgraph.hourly(self._guids, window)
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
        counts.releases = by_release(results.get("versions", []), (*nerdgraph.FACETS, version))
        counts.hourly = by_hour(results.get("hours", []), nerdgraph.FACETS)


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


@dataclass
class Draft:
    """A group while it is counted."""

    rows: list[Row] = field(default_factory=list)
    extra: int = 0  # occurrences whose message is not known

    @property
    def n(self) -> int:
        """Return the occurrences so far."""
        return self.extra + sum(row.n for row in self.rows)

    @property
    def pairs(self) -> frozenset[Pair]:
        """Return the class and transaction pairs of these rows."""
        return frozenset(row.pair for row in self.rows)


def drafts(whole: Iterable[Row], detail: Iterable[Row], app: str) -> dict[str, Draft]:
    """Build groups by fingerprint: `detail` separates messages, `whole` has the counts."""
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
    by_name: dict[str, Draft], counts: Counts, app: str, window: Window
) -> tuple[ErrorGroup, ...]:
    """Return the drafts as groups, most occurrences first."""
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
                source="newrelic",
                app=app,
                error_class=newest.pair[0],
                transaction=transaction_template(newest.pair[1]),
                message=newest.message,
                occurrences=draft.n,
                users=_users(draft, users),
                hosts=tuple(sorted({h for row in draft.rows for h in row.hosts}))[:MOST_HOSTS],
                first_seen=min((r.first for r in draft.rows if r.first), default=None),
                last_seen=newest.last,
                release=releases[-1] if releases else "",
                releases=releases,
                commit=newest.commit if newest.release in releases[-1:] else "",
                hourly=_hourly(draft, counts, window) if alone else (),
            )
        )
    return tuple(sorted(made, key=lambda g: (-g.occurrences, g.title, g.fingerprint)))


def _name(app: str, row: Row) -> str:
    return fingerprint(app, row.pair[0], row.pair[1], row.message)


def _users(draft: Draft, whole: dict[Pair, int | None]) -> int | None:
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
    hours = [sum(counts.hourly[pair].get(hour, 0) for pair in draft.pairs) for hour in window.hours]
    if hours:
        hours[0] = max(0, draft.n - sum(hours[1:]))
    return tuple(hours)


NAMES = {"service": "New Relic", "inbox": "Errors Inbox"}
STATES: Mapping[object, TriageState] = {
    "UNRESOLVED": "",
    "RESOLVED": "resolved",
    "IGNORED": "ignored",
}


class Entry(NamedTuple):
    """The team's entry for a group, and when the group regressed."""

    triage: Triage = Triage()
    regressed_at: datetime | None = None


@dataclass(frozen=True)
class Inbox:
    """Entries by the source's own group id, and by class and message template."""

    by_id: Mapping[str, Entry]
    by_name: Mapping[tuple[str, str], frozenset[Entry]]
    more: bool = False  # there are groups that were not read

    def entry(self, draft: Draft) -> Entry:
        """Return the inbox entry of a group; nothing where its rows disagree."""
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
            nerdgraph.QUERIES["error_groups"],
            **{"guids": list(guids), "states": list(STATES), "cursor": cursor},
            **{"from": first, "to": last},
        )
        page = answer.at("actor", "errorsInbox", "errorGroups")
        if not isinstance(page, Mapping) or not isinstance(page.get("results"), list):
            raise Unwell("New Relic left the Errors Inbox out of its answer")
        groups += [item for item in page["results"] if isinstance(item, Mapping)]
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


# Stack traces from New Relic: from an occurrence's id to frames of the application.

_ID = re.compile(r"[A-Za-z0-9+/=_-]{8,120}")


@dataclass(frozen=True)
class TracedOccurrence:
    """An occurrence that New Relic keeps a trace of."""

    id: str
    entity: str
    message: str
    release: str
    closeness: int  # 2: the group's own, 1: same message in another spelling, 0: no message


def traced_occurrences(
    rows: Sequence[object], group: ErrorGroup, entities: Sequence[str], version: str
) -> tuple[TracedOccurrence, ...]:
    """Return the occurrences of a group among rows of its class, in their order.

    Rows without a message count where no row has the group's: they are the same transaction's.
    """
    fields = (row for row in rows if isinstance(row, Mapping))
    candidates = [_occurrence(row, group, entities, version) for row in fields]
    occurrences = [candidate for candidate in candidates if candidate is not None]
    closest = max((occurrence.closeness for occurrence in occurrences), default=0)
    return tuple(occurrence for occurrence in occurrences if occurrence.closeness == closest)


def _occurrence(
    row: Mapping[str, Any], group: ErrorGroup, entities: Sequence[str], version: str
) -> TracedOccurrence | None:
    name, transaction = facet(row, ("error.class", "transactionName"))
    id, entity = text(row.get("id"), LONGEST_LABEL), text(row.get("entityGuid"), LONGEST_TITLE)
    if name != group.error_class or not _ID.fullmatch(id) or entity not in entities:
        return None
    same = transaction_template(transaction) == group.transaction
    if transaction and group.transaction and not same:
        return None
    message = text(row.get("error.message")) or text(row.get("message"))
    if fingerprint(group.app, name, transaction, message) == group.fingerprint:
        closeness = 2
    elif message_template(message) == message_template(group.message):
        closeness = 1
    elif not message or not group.message:
        closeness = 0
    else:
        return None
    return TracedOccurrence(id, entity, message, text(row.get(version), LONGEST_LABEL), closeness)


def frames_document(many: int) -> str:
    """Build a document that reads stack traces of several occurrences, aliased `x0`, `x1` …"""
    variables = ",".join(f"$g{at}:EntityGuid!,$o{at}:String!" for at in range(many))
    parts = " ".join(
        f"x{at}:entity(guid:$g{at}){{... on ApmApplicationEntity{{language "
        f"exception(occurrenceId:$o{at}){{message stackTrace{{frames"
        "{filepath line name formatted}}}}}"
        for at in range(many)
    )
    return f"query Frames({variables}){{actor{{{parts}}}}}"


def traces_in(
    asked: Sequence[TracedOccurrence], answer: Answer, group: ErrorGroup, own: tuple[str, ...]
) -> tuple[tuple[Trace, ...], tuple[NightWatchError, ...]]:
    """Return the traces of an answer to `frames_document`, and what went wrong.

    A trace that is gone is neither.
    """
    traces, troubles = [], []
    for at, occurrence in enumerate(asked):
        try:
            entity = answer.at("actor", f"x{at}")
        except NightWatchError as trouble:
            troubles.append(trouble)
            continue
        trace = _trace(entity, occurrence, group, own) if isinstance(entity, Mapping) else None
        traces += [trace] if trace else []
    return tuple(traces), tuple(troubles)


def _trace(
    entity: Mapping[str, Any], occurrence: TracedOccurrence, group: ErrorGroup, own: tuple[str, ...]
) -> Trace | None:
    exception = entity.get("exception")
    stack = exception.get("stackTrace") if isinstance(exception, Mapping) else None
    frames = stack.get("frames") if isinstance(stack, Mapping) else None
    if not isinstance(frames, list) or not frames:
        return None
    read = [frame for frame in frames[:MOST_FRAMES] if isinstance(frame, Mapping)]
    lines = [text(frame.get("formatted"), LONGEST_FRAME) for frame in read]
    # The message stays out of the text: it is the user's, and could hold lines like frames.
    trace = parse("\n".join(lines), text(entity.get("language"), LONGEST_LANGUAGE), own)
    links = trace.links or _links(read, trace.language, own)
    if not links:
        return None
    first, *others = links
    if not first.error_class:
        message = occurrence.message or group.message
        first = first.model_copy(update={"error_class": group.error_class, "message": message})
    return trace.model_copy(update={"links": (first, *others), "release": occurrence.release})


def _links(
    frames: Sequence[Mapping[str, Any]], language: str, own: tuple[str, ...]
) -> tuple[ExceptionLink, ...]:
    parts = tuple(
        Frame(
            path=text(frame.get("filepath"), LONGEST_FRAME),
            line=integer(frame.get("line")),
            function=text(frame.get("name"), LONGEST_TITLE),
        )
        for frame in frames
        if text(frame.get("filepath"))
    )
    return in_app.mark((ExceptionLink(frames=parts),), language, own) if parts else ()
