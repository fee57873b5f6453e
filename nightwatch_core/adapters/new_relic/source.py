"""Errors of one application in New Relic."""

import difflib
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nightwatch_core.adapters.new_relic import nerdgraph
from nightwatch_core.adapters.new_relic.answers import Answer, TooSlow, Unwell
from nightwatch_core.adapters.new_relic.groups import (
    Counter,
    Draft,
    drafts,
    frames_document,
    groups,
    integer,
    moment,
    read_inbox,
    results_of,
    text,
    traced_occurrences,
    traces_in,
)
from nightwatch_core.adapters.new_relic.nerdgraph import (
    AROUND,
    LAG,
    LONGEST_LABEL,
    LONGEST_LANGUAGE,
    LONGEST_TITLE,
    LONGEST_TRACE_WINDOW,
    QUERY_SECONDS,
    RELEASES_SINCE,
    NerdGraph,
)
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.models.code import Release
from nightwatch_core.models.errors import LONGEST_WINDOW, ErrorGroup, Fetched, Trace, Window
from nightwatch_core.ports import Clock

KEPT_SECONDS = 3_600.0  # for which the entities of a name are not asked for again
SEARCH_PAGES = 5  # of entities, of New Relic's length
MOST_ENTITIES = 10  # more of one name do not fit into a query

# Which application of New Relic is meant, and what its events hold.

DAY = timedelta(days=1)
_GUID = re.compile(r"[A-Za-z0-9+/=_-]{1,100}")


@dataclass(frozen=True)
class Entity:
    """An application as New Relic knows it."""

    guid: str
    name: str
    language: str
    reporting: bool


@dataclass(frozen=True)
class Attributes:
    """Names of what the application's events hold; empty where nothing happened in a day."""

    errors: frozenset[str] = frozenset()
    traces: frozenset[str] = frozenset()
    complete: bool = True  # false: they could not be asked for


class Application:
    """One application by name: several entities where several share it. Kept for an hour."""

    def __init__(self, client: NerdGraph, account: int, name: str, clock: Clock) -> None:
        self._client = client
        self._account = account
        self._name = name
        self._clock = clock
        self._lock = threading.Lock()
        self._entities: tuple[Entity, ...] = ()
        self._attributes: Attributes | None = None
        self._asked_at = 0.0

    @property
    def guids(self) -> tuple[str, ...]:
        """Return the ids of the entities."""
        return tuple(entity.guid for entity in self.entities())

    def ask(self, **queries: str) -> Answer:
        """Run NRQL texts in one request, each under its alias."""
        variables = {"account": self._account, "timeout": QUERY_SECONDS, **queries}
        return self._client.ask(nrql_document(queries), **variables)

    def entities(self) -> tuple[Entity, ...]:
        """Return the applications of this name; raises `StopTheNight` where there is none."""
        with self._lock:
            if not self._entities or self._clock.monotonic() - self._asked_at > KEPT_SECONDS:
                self._entities, self._attributes = self._search(self._name), None
                self._asked_at = self._clock.monotonic()
            if len(self._entities) > MOST_ENTITIES:
                raise StopTheNight(
                    f"more than {MOST_ENTITIES} applications of New Relic account {self._account} "
                    f"are named {self._name[:100]!r}: give the one that is meant a name of its own"
                )
            if self._entities:
                return self._entities
        names = {entity.name for entity in self._search("")}
        near = difflib.get_close_matches(self._name, names, n=3, cutoff=0.4)
        others = f"; there are {', '.join(map(repr, near))}" if near else ""
        raise StopTheNight(
            f"New Relic account {self._account} has no APM application named {self._name[:100]!r}"
            f"{others}: check NEW_RELIC_APP_NAME and NEW_RELIC_ACCOUNT_ID"
        )

    def attributes(self) -> Attributes:
        """Return the attributes of its events."""
        guids, now = self.guids, self._clock.now()
        with self._lock:
            if self._attributes is not None:
                return self._attributes
            day = Window(since=now - DAY, until=now)
            try:
                answer = self.ask(
                    errors=nerdgraph.keys("TransactionError", guids, day),
                    traces=nerdgraph.keys("ErrorTrace", guids, day),
                )
                errors, traces = (_keys(results_of(answer, a)[0]) for a in ("errors", "traces"))
            except (GiveUp, TooSlow):
                return Attributes(complete=False)
            self._attributes = Attributes(errors, traces)
            return self._attributes

    def _search(self, name: str) -> tuple[Entity, ...]:
        query, cursor = nerdgraph.applications(self._account, name), None
        entities: list[Entity] = []
        for _ in range(SEARCH_PAGES):
            answer = self._client.ask(nerdgraph.QUERIES["entities"], q=query, cursor=cursor)
            page = answer.at("actor", "entitySearch", "results")
            if not isinstance(page, Mapping) or not isinstance(page.get("entities"), list):
                raise Unwell("New Relic left the applications out of its answer: try again")
            rows = [item for item in page["entities"] if isinstance(item, Mapping)]
            entities += [_entity(row) for row in rows if row.get("accountId") == self._account]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        valid = (entity for entity in entities if _GUID.fullmatch(entity.guid))
        return tuple(entity for entity in valid if not name or entity.name == name)


def nrql_document(aliases: Iterable[str]) -> str:
    """Build a document that runs several NRQL texts, each in a variable named as its alias.

    >>> nrql_document(("whole",))[:58]
    'query Nrql($account:Int!,$timeout:Seconds!,$whole:Nrql!){a'
    """
    aliases = tuple(aliases)
    variables = "".join(f",${alias}:Nrql!" for alias in aliases)
    parts = " ".join(
        f"{alias}:nrql(query:${alias},timeout:$timeout){{results totalResult otherResult}}"
        for alias in aliases
    )
    return (
        f"query Nrql($account:Int!,$timeout:Seconds!{variables})"
        f"{{actor{{account(id:$account){{{parts}}}}}}}"
    )


def _entity(row: Mapping[str, Any]) -> Entity:
    return Entity(
        guid=text(row.get("guid"), LONGEST_TITLE),
        name=text(row.get("name"), LONGEST_TITLE),
        language=text(row.get("language"), LONGEST_LANGUAGE),
        reporting=row.get("reporting") is not False,
    )


def _keys(rows: list[Any]) -> frozenset[str]:
    """Names of attributes: rows of `key` and `type`, or lists of names in one row."""
    fields = [row for row in rows if isinstance(row, Mapping)]
    lists = [value for row in fields for value in row.values() if isinstance(value, list)]
    names = [row.get("key") for row in fields]
    return frozenset(name for name in (*names, *sum(lists, [])) if isinstance(name, str))


class NewRelic:
    """The ErrorSource port on New Relic; safe to share between threads."""

    def __init__(
        self,
        client: NerdGraph,
        account_id: int,
        app_name: str,
        watermark: datetime | None,
        clock: Clock,
        app_prefixes: tuple[str, ...] = (),
    ) -> None:
        if account_id < 1 or not app_name.strip():
            raise StopTheNight(
                "New Relic needs NEW_RELIC_ACCOUNT_ID (a number) and NEW_RELIC_APP_NAME"
            )
        self._account = account_id
        self._app = app_name.strip()
        self._watermark = watermark
        self._clock = clock
        self._own = app_prefixes
        self._client = client
        self._application = Application(self._client, account_id, self._app, clock)

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        """Return the window since the watermark, or of `lookback` (a day), until three minutes ago.

        A watermark from the future is a wrong clock's, and is not used; one that is older than a
        week brings a week.
        """
        until = now - LAG
        if lookback is None and self._watermark is not None and self._watermark <= now:
            since = max(self._watermark, until - LONGEST_WINDOW)
            return Window(since=since, until=max(until, since))
        return Window(since=until - (lookback or DAY), until=until)

    def error_groups(self, window: Window) -> Fetched:
        """Return every unexpected error of the window; raises `TryLater` or `StopTheNight`."""
        if window.until <= window.since:
            until = f"{window.since:%Y-%m-%d %H:%M %Z}"
            empty = f"the window is empty: all errors until {until} were read before"
            return Fetched(window=window, partial=(empty,))
        try:
            return self._fetched(window)
        except GiveUp as error:
            raise StopTheNight(str(error)) from error

    def traces(self, group: ErrorGroup, limit: int = 3) -> tuple[Trace, ...]:
        """Return up to `limit` traces, newest first; New Relic samples, so often fewer."""
        if limit < 1:
            return ()
        guids, names = self._application.guids, self._application.attributes().traces
        version = nerdgraph.first_of(nerdgraph.RELEASES, names)
        transaction = group.transaction if not names or "transactionName" in names else ""
        until = (group.last_seen or self._clock.now()) + AROUND
        since = (group.first_seen or until - DAY) - AROUND
        window = Window(since=max(since, until - LONGEST_TRACE_WINDOW), until=until)
        query = nerdgraph.occurrences(guids, window, group.error_class, transaction, version)
        rows = results_of(self._application.ask(rows=query), "rows")[0]
        asked = traced_occurrences(rows, group, guids, version)[:limit]
        if not asked:
            return ()
        places = {f"g{at}": item.entity for at, item in enumerate(asked)}
        ids = {f"o{at}": item.id for at, item in enumerate(asked)}
        answer = self._client.ask(frames_document(len(asked)), **places, **ids)
        traces, troubles = traces_in(asked, answer, group, self._own)
        if troubles and not traces:
            raise troubles[0]
        return traces

    def releases(self) -> tuple[Release, ...]:
        """Return deployments of the last 30 days, newest first; empty where none are recorded."""
        now = self._clock.now()
        since, until = (round(at.timestamp() * 1_000) for at in (now - RELEASES_SINCE, now))
        releases: dict[tuple[str, datetime], Release] = {}
        for entity in self._application.entities():
            variables: dict[str, object] = {"g": entity.guid, "from": since, "to": until}
            answer = self._client.ask(nerdgraph.QUERIES["deployments"], **variables)
            search = (answer.at("actor", "entity") or {}).get("deploymentSearch") or {}
            for row in search.get("results") or ():
                release = _release(row)
                if release:
                    releases[(release.version, release.at)] = release
        return tuple(sorted(releases.values(), key=lambda release: release.at, reverse=True))

    def probe(self) -> str:
        """Say who asks, for which application; raises `StopTheNight` with what to do."""
        actor = self._client.ask(nerdgraph.QUERIES["ping"]).at("actor") or {}
        accounts = [item for item in actor.get("accounts") or () if isinstance(item, Mapping)]
        ids = [account.get("id") for account in accounts]
        if self._account not in ids:
            raise StopTheNight(
                f"the New Relic key is valid, but account {self._account} is not among the "
                f"accounts it reads ({', '.join(map(str, ids[:5])) or 'none'}): check "
                "NEW_RELIC_ACCOUNT_ID and NEW_RELIC_REGION, or give the user access"
            )
        entities = self._application.entities()
        now = self._clock.now()
        query = nerdgraph.count(self._application.guids, Window(since=now - DAY, until=now))
        rows = results_of(self._application.ask(n=query), "n")[0]
        seen = integer(rows[0].get("n")) if rows else 0
        quiet = "" if any(entity.reporting for entity in entities) else ", not reporting now"
        languages = ", ".join(sorted({entity.language for entity in entities if entity.language}))
        return (
            f"application {self._app!r} ({languages or 'language unknown'}{quiet}) in account "
            f"{self._account}: {seen or 0} unexpected errors in the last 24 hours"
        )

    def _fetched(self, window: Window) -> Fetched:
        attributes = self._application.attributes()
        guids = self._application.guids
        counts = Counter(self._application.ask, guids, attributes.errors).count(window)
        by_name = drafts(counts.whole, counts.detail, self._app)
        listed = groups(by_name, counts, self._app, window)
        listed, partial = self._with_triage(listed, by_name, window)
        if not attributes.complete:
            partial += ("New Relic did not say which attributes errors have: no users, releases",)
        return Fetched(
            groups=listed,
            window=window,
            rejects=tuple(counts.rejects),
            partial=(*counts.partial, *partial),
            traffic=counts.traffic,
        )

    def _with_triage(
        self, listed: tuple[ErrorGroup, ...], by_name: Mapping[str, Draft], window: Window
    ) -> tuple[tuple[ErrorGroup, ...], tuple[str, ...]]:
        if not listed:
            return listed, ()
        try:
            entries = read_inbox(self._client, self._application.guids, window)
        except NightWatchError as trouble:
            return listed, (f"the Errors Inbox could not be read: {trouble}",)
        triaged = tuple(
            group.model_copy(update=entries.entry(by_name[group.fingerprint])._asdict())
            for group in listed
        )
        more = "the Errors Inbox holds more groups than were read: some may be ignored there"
        return triaged, (more,) if entries.more else ()


def _release(row: object) -> Release | None:
    fields = row if isinstance(row, Mapping) else {}
    at = moment(fields.get("timestamp"))
    version = text(fields.get("version"), LONGEST_LABEL)
    if at is None or not version:
        return None
    return Release(version=version, sha=text(fields.get("commit"), LONGEST_LABEL), at=at)
