"""Rows of NRQL answers as error groups, and what the team decided in the Errors Inbox."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from nightwatch_core.adapters.new_relic import nrql
from nightwatch_core.adapters.new_relic.nerdgraph import QUERIES, Answer, NerdGraph, listed
from nightwatch_core.adapters.stores.traffic import Unwell
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.errors import (
    MESSAGE_LENGTH,
    MOST_HOSTS,
    MOST_HOURS,
    ErrorGroup,
    ExceptionLink,
    Frame,
    Trace,
    Triage,
    TriageState,
    Window,
    most_frequent,
)
from nightwatch_core.text.fingerprints import fingerprint
from nightwatch_core.text.templates import message_template, transaction_template
from nightwatch_core.traces import in_app
from nightwatch_core.traces.parsing import parse

PAGES = 3  # of the Errors Inbox, of New Relic's length
MOST_FRAMES = 500  # of a stack trace
LONGEST_MESSAGE = 16_000  # characters
LONGEST_NAME = 4_096  # of a class or a transaction
LONGEST_FRAME = 2_000
LONGEST_TITLE = 500  # of an entity or a function
LONGEST_LABEL = 200  # of a host, a release, an id
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
    users: int | None
    first: datetime | None
    last: datetime | None
    hosts: tuple[str, ...]
    release: str
    commit: str

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


def first_text(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the label that stands at the first of these names."""
    return next(filter(None, (text(fields.get(name), LONGEST_LABEL) for name in names)), "")


def objects(values: Iterable[object]) -> list[Mapping[str, Any]]:
    """Return the JSON objects among values."""
    return [value for value in values if isinstance(value, Mapping)]


def _row(fields: Mapping[str, Any], facets: tuple[str, ...]) -> Row | None:
    names = (*facet(fields, facets), "", "")
    count = integer(fields.get("n", fields.get("count")))
    if not names[0] or count is None or count < 1:
        return None
    users = (integer(fields.get(f"u{at}")) or 0 for at in range(len(nrql.USERS)))
    commit = first_text(fields, nrql.COMMITS)
    return Row(
        pair=(names[0], names[1]),
        message=names[2] or text(fields.get("msg")),
        n=count,
        users=max(users) or None,
        first=moment(fields.get("first")),
        last=moment(fields.get("last")),
        hosts=tuple(text(host, LONGEST_LABEL) for host in listed(fields.get("hosts"))[:MOST_HOSTS]),
        release=first_text(fields, nrql.VERSIONS) or commit,
        commit=commit,
    )


# Counting a window's errors in New Relic: what is asked, in which order, and what is missing.


@dataclass
class Counts:
    """Rows of a window, and what is known to be missing."""

    whole: list[Row] = field(default_factory=list)  # by class and transaction: how many there are
    detail: list[Row] = field(default_factory=list)  # by message too: which failures they are
    partial: list[str] = field(default_factory=list)
    traffic: int | None = None  # transactions, failed or not; None: not known
    releases: Mapping[Pair, tuple[str, ...]] = field(default_factory=dict)  # oldest first
    hourly: Mapping[Pair, Mapping[int, int]] = field(default_factory=dict)  # by clock hour


def count(ask: Callable[..., Answer], guids: tuple[str, ...], window: Window) -> Counts:
    """Count everything in the window; raises where counts are missing. `ask` runs NRQL by alias."""
    answer = ask(
        whole=nrql.errors(guids, window, nrql.FACETS),
        outside=nrql.errors(guids, window, nrql.FACETS[:1], nrql.OUTSIDE),
        detail=nrql.errors(guids, window, nrql.DETAIL),
        traffic=nrql.traffic(guids, window),
    )
    counts = Counts(traffic=_traffic(answer))
    missing = unreadable = 0
    for alias, facets in (("whole", nrql.FACETS), ("outside", nrql.FACETS[:1])):
        results, container = results_of(answer, alias)
        rows = [row for fields in objects(results) if (row := _row(fields, facets))]
        counts.whole += rows
        unreadable += len(results) - len(rows)
        missing += max(0, (_n(container.get("totalResult")) or 0) - sum(row.n for row in rows))
    if missing:
        why = f"{missing} more occurrences are not listed: too many different errors"
        counts.partial.append(why)
    if unreadable:
        counts.partial.append(f"{unreadable} rows of New Relic's answer are unreadable")
    try:
        fields = objects(results_of(answer, "detail")[0])
        counts.detail = [row for row in (_row(item, nrql.DETAIL) for item in fields) if row]
    except NightWatchError as trouble:
        counts.partial.append(f"errors could not be told apart by message: {trouble}")
    if counts.whole:
        results = objects(results_of(answer, "whole")[0])
        release = next((name for name in nrql.RELEASES if any(r.get(name) for r in results)), "")
        _add_releases_and_hours(counts, ask, guids, window, release)
    return counts


def _traffic(answer: Answer) -> int | None:
    """Return the transactions; None where New Relic does not say, or records none.

    Errors stand without them, so whatever went wrong with this part ends no night.
    """
    try:
        rows = results_of(answer, "traffic")[0]
    except NightWatchError:
        return None
    count = _n(rows[0]) if rows else None
    return count if count and count > 0 else None


def _n(fields: object) -> int | None:
    return integer(fields.get("n")) if isinstance(fields, Mapping) else None


def _add_releases_and_hours(
    counts: Counts, ask: Callable[..., Answer], guids: tuple[str, ...], window: Window, release: str
) -> None:
    """Ask for the failing releases, named by the attribute `release`, and for errors by hour."""
    queries = {"versions": nrql.versions(guids, window, release)} if release else {}
    if len(window.hours) < MOST_HOURS:
        queries["hours"] = nrql.hourly(guids, window)
    rows: dict[str, list[Mapping[str, Any]]] = {}
    try:
        answer = ask(**queries) if queries else Answer({})
        for alias in queries:
            rows[alias] = objects(results_of(answer, alias)[0])
    except NightWatchError as trouble:
        counts.partial.append(f"releases and hours could not be read: {trouble}")
    counts.releases = _by_release(rows.get("versions", ()), release)
    counts.hourly = _by_hour(rows.get("hours", ()))


def _by_release(rows: Iterable[Mapping[str, Any]], name: str) -> dict[Pair, tuple[str, ...]]:
    """Return releases seen failing by pair, oldest first."""
    seen: dict[Pair, list[tuple[datetime, str]]] = {}
    for fields in rows:
        error_class, transaction, release = facet(fields, (*nrql.FACETS, name))
        if error_class and release:
            first = moment(fields.get("first")) or _NEVER
            found = seen.setdefault((error_class, transaction), [])
            found.append((first, release[:LONGEST_LABEL]))
    return {
        pair: tuple(dict.fromkeys(release for _, release in sorted(releases)))
        for pair, releases in seen.items()
    }


def _by_hour(rows: Iterable[Mapping[str, Any]]) -> dict[Pair, dict[int, int]]:
    """Return errors by pair and clock hour, counted from 1970."""
    seen: dict[Pair, dict[int, int]] = {}
    for fields in rows:
        error_class, transaction = facet(fields, nrql.FACETS)
        begin, n = integer(fields.get("beginTimeSeconds")), integer(fields.get("n"))
        if error_class and begin is not None and n:
            seen.setdefault((error_class, transaction), {})[begin // _HOUR] = n
    return seen


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
        return frozenset(row.pair for row in self.rows)


def drafts(whole: Iterable[Row], detail: Iterable[Row], app: str) -> dict[str, Draft]:
    """Build groups by fingerprint: `detail` separates messages, `whole` has the counts."""
    by_name: dict[str, Draft] = {}
    detailed: Counter[Pair] = Counter()
    for row in detail:
        by_name.setdefault(_name(app, row), Draft()).rows.append(row)
        detailed[row.pair] += row.n
    largest: dict[Pair, Draft] = {}
    for draft in sorted(by_name.values(), key=lambda draft: draft.n):
        largest |= dict.fromkeys(draft.pairs, draft)
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
    owners = Counter(pair for draft in by_name.values() for pair in draft.pairs)
    users = {row.pair: row.users for row in counts.whole}
    made = []
    for name, draft in by_name.items():
        newest = max(draft.rows, key=lambda row: row.newest)
        alone = all(owners[pair] == 1 for pair in draft.pairs)
        counted = counts.releases if alone else {}
        listed = [item for pair in sorted(draft.pairs) for item in counted.get(pair, ())]
        seen = [row.release for row in sorted(draft.rows, key=lambda row: row.newest)]
        releases = tuple(filter(None, dict.fromkeys(listed or seen)))
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
                messages=most_frequent(_messages(draft), newest.message),
            )
        )
    return tuple(sorted(made, key=lambda g: (-g.occurrences, g.title, g.fingerprint)))


def _messages(draft: Draft) -> Counter[str]:
    counted = Counter[str]()
    for row in draft.rows:
        counted[row.message[:MESSAGE_LENGTH]] += row.n
    return counted


def _name(app: str, row: Row) -> str:
    return fingerprint(app, row.pair[0], row.pair[1], row.message)


def _users(draft: Draft, whole: dict[Pair, int | None]) -> int | None:
    """Return the users; rows of one pair may have the same ones, so its own count is a bound."""
    by_pair: Counter[Pair] = Counter()
    for row in draft.rows:
        by_pair[row.pair] += row.users or 0
    bounds = {pair: n for pair, n in whole.items() if n is not None}
    return sum(min(n, bounds.get(pair, n)) for pair, n in by_pair.items()) or None


def _hourly(draft: Draft, counts: Counts, window: Window) -> tuple[int, ...]:
    """Count by clock hour; the first was asked for whole, so it is what the others leave."""
    if not draft.pairs <= set(counts.hourly):
        return ()
    hours = [sum(counts.hourly[pair].get(hour, 0) for pair in draft.pairs) for hour in window.hours]
    if hours:
        hours[0] = max(0, draft.n - sum(hours[1:]))
    return tuple(hours)


# The Errors Inbox.

STATES: Mapping[object, TriageState] = {
    "UNRESOLVED": "",
    "RESOLVED": "resolved",
    "IGNORED": "ignored",
}


class Entry(NamedTuple):
    """The team's entry for a group, and when the group regressed."""

    triage: Triage = Triage()
    regressed_at: datetime | None = None


@dataclass
class Inbox:
    """Entries by class and message template."""

    by_name: dict[tuple[str, str], set[Entry]] = field(default_factory=dict)
    more: bool = False  # there are groups that were not read

    def entry(self, draft: Draft) -> Entry:
        """Return the inbox entry of a group; nothing where its rows disagree."""
        names = {(row.pair[0], message_template(row.message)) for row in draft.rows}
        entries = {entry for name in names for entry in self.by_name.get(name, {Entry()})}
        triages = {entry.triage for entry in entries}
        if len(triages) != 1:
            return Entry()
        returns = (entry.regressed_at for entry in entries if entry.regressed_at)
        return Entry(triages.pop(), max(returns, default=None))


def read_inbox(client: NerdGraph, guids: Iterable[str], window: Window) -> Inbox:
    """Read the inbox; raises where it cannot be read."""
    first, last = (round(at.timestamp() * 1_000) for at in (window.since, window.until))
    inbox, cursor = Inbox(), None
    asked = {"guids": list(guids), "states": list(STATES), "from": first, "to": last}
    for _ in range(PAGES):
        answer = client.ask(QUERIES["error_groups"], **asked, cursor=cursor)
        page = answer.at("actor", "errorsInbox", "errorGroups")
        if not isinstance(page, Mapping) or not isinstance(page.get("results"), list):
            raise Unwell("New Relic left the Errors Inbox out of its answer")
        for group in objects(page["results"]):
            name = (text(group.get("name")), message_template(text(group.get("message"))))
            inbox.by_name.setdefault(name, set()).add(_entry(group, window))
        cursor = text(page.get("nextCursor")) or None
        if cursor is None:
            break
    inbox.more = cursor is not None
    return inbox


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
    triage = Triage(state=state, assignee=assignee, service="New Relic", inbox="Errors Inbox")
    return Entry(triage, regressed_at)


def _assignee(assignment: object) -> str:
    """Return a name; reports may be public, so of an address only what stands before @."""
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
    is_same: bool  # has the group's message; else none


def traced_occurrences(
    rows: Iterable[object], group: ErrorGroup, entities: Sequence[str]
) -> tuple[TracedOccurrence, ...]:
    """Return the occurrences of a group among rows of its class, in their order.

    Rows without a message count where no row has the group's: they are the same transaction's.
    """
    read = (_occurrence(row, group, entities) for row in objects(rows))
    traced = tuple(filter(None, read))
    return tuple(occurrence for occurrence in traced if occurrence.is_same) or traced


def _occurrence(
    row: Mapping[str, Any], group: ErrorGroup, entities: Sequence[str]
) -> TracedOccurrence | None:
    name, transaction = facet(row, nrql.FACETS)
    id, entity = text(row.get("id"), LONGEST_LABEL), text(row.get("entityGuid"), LONGEST_TITLE)
    if name != group.error_class or not _ID.fullmatch(id) or entity not in entities:
        return None
    same = transaction_template(transaction) == group.transaction
    if transaction and group.transaction and not same:
        return None
    message = text(row.get("error.message")) or text(row.get("message"))
    is_same = message_template(message) == message_template(group.message)
    if message and group.message and not is_same:
        return None
    return TracedOccurrence(id, entity, message, first_text(row, nrql.RELEASES), is_same)


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
) -> tuple[Trace, ...]:
    """Return the traces in an answer to `frames_document`; raises the first error for none."""
    traces, troubles = [], []
    for at, occurrence in enumerate(asked):
        try:
            entity = answer.at("actor", f"x{at}")
        except NightWatchError as trouble:
            troubles.append(trouble)
            continue
        if isinstance(entity, Mapping) and (trace := _trace(entity, occurrence, group, own)):
            traces.append(trace)
    if troubles and not traces:
        raise troubles[0]
    return tuple(traces)


def _trace(
    entity: Mapping[str, Any], occurrence: TracedOccurrence, group: ErrorGroup, own: tuple[str, ...]
) -> Trace | None:
    exception = entity.get("exception")
    stack = exception.get("stackTrace") if isinstance(exception, Mapping) else None
    frames = objects(listed(stack.get("frames") if isinstance(stack, Mapping) else None))
    frames = frames[:MOST_FRAMES]
    lines = [text(frame.get("formatted"), LONGEST_FRAME) for frame in frames]
    # The message stays out of the text: it is the user's, and could hold lines like frames.
    trace = parse("\n".join(lines), text(entity.get("language"), LONGEST_LABEL), own)
    links = trace.links or _links(frames, trace.language, own)
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
