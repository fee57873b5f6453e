"""Errors of one application in New Relic."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from nightwatch_core.adapters.new_relic import groups, nerdgraph, nrql
from nightwatch_core.adapters.stores.traffic import Unwell
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.models.code import Release
from nightwatch_core.models.errors import ErrorGroup, Fetched, Trace, Window
from nightwatch_core.ports import Clock

SEARCH_PAGES = 5  # of entities, of New Relic's length
MOST_ENTITIES = 10  # more of one name do not fit into a query
DAY = timedelta(days=1)
LAG = timedelta(minutes=3)  # agents send once a minute, and New Relic needs its time
AROUND = timedelta(seconds=100)  # a trace may be that far from the event it belongs to
LONGEST_TRACE_WINDOW = timedelta(days=8)  # New Relic keeps traces about so long
RELEASES_SINCE = timedelta(days=30)
_GUID = re.compile(r"[A-Za-z0-9+/=_-]{1,100}")


@dataclass(frozen=True)
class Entity:
    """An application as New Relic knows it."""

    guid: str
    name: str
    language: str
    reporting: bool


def nrql_document(aliases: Iterable[str]) -> str:
    """Build a document that runs several NRQL texts, each in a variable named as its alias."""
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


@dataclass(eq=False)
class NewRelic:
    """The ErrorSource port on New Relic; safe to share between threads."""

    client: nerdgraph.NerdGraph
    account_id: int
    app_name: str
    watermark: datetime | None
    clock: Clock
    app_prefixes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise `StopTheNight` where account or application cannot be one."""
        self.app_name = self.app_name.strip()
        if self.account_id < 1 or not self.app_name:
            raise StopTheNight(
                "New Relic needs NEW_RELIC_ACCOUNT_ID (a number) and NEW_RELIC_APP_NAME"
            )

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        return Window.live(lookback, now, self.watermark, LAG)

    def error_groups(self, window: Window) -> Fetched:
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
        until = (group.last_seen or self.clock.now()) + AROUND
        since = (group.first_seen or until - DAY) - AROUND
        window = Window(since=max(since, until - LONGEST_TRACE_WINDOW), until=until)
        guids = self._guids
        query = nrql.occurrences(guids, window, group.error_class, group.transaction)
        rows = groups.results_of(self._ask(rows=query), "rows")[0]
        asked = groups.traced_occurrences(rows, group, guids)[:limit]
        if not asked:
            return ()
        variables = {f"g{at}": item.entity for at, item in enumerate(asked)}
        variables |= {f"o{at}": item.id for at, item in enumerate(asked)}
        answer = self.client.ask(groups.frames_document(len(asked)), **variables)
        return groups.traces_in(asked, answer, group, self.app_prefixes)

    def releases(self) -> tuple[Release, ...]:
        """Return deployments of the last 30 days, newest first; empty where none are recorded."""
        now = self.clock.now()
        since, until = (round(at.timestamp() * 1_000) for at in (now - RELEASES_SINCE, now))
        releases: dict[tuple[str, datetime], Release] = {}
        for entity in self._entities:
            variables: dict[str, object] = {"g": entity.guid, "from": since, "to": until}
            answer = self.client.ask(nerdgraph.QUERIES["deployments"], **variables)
            search = (answer.at("actor", "entity") or {}).get("deploymentSearch") or {}
            for row in groups.objects(search.get("results") or ()):
                at = groups.moment(row.get("timestamp"))
                version = groups.text(row.get("version"), groups.LONGEST_LABEL)
                sha = groups.text(row.get("commit"), groups.LONGEST_LABEL)
                if at and version:
                    releases[(version, at)] = Release(version=version, sha=sha, at=at)
        return tuple(sorted(releases.values(), key=lambda release: release.at, reverse=True))

    def probe(self) -> str:
        """Say who asks, for which application; raises `StopTheNight` with what to do."""
        actor = self.client.ask(nerdgraph.QUERIES["ping"]).at("actor") or {}
        accounts = groups.objects(actor.get("accounts") or ())
        ids = [account.get("id") for account in accounts]
        if self.account_id not in ids:
            raise StopTheNight(
                f"the New Relic key is valid, but account {self.account_id} is not among the "
                f"accounts it reads ({', '.join(map(str, ids[:5])) or 'none'}): check "
                "NEW_RELIC_ACCOUNT_ID and NEW_RELIC_REGION, or give the user access"
            )
        entities = self._entities
        now = self.clock.now()
        query = nrql.count(self._guids, Window(since=now - DAY, until=now))
        rows = groups.results_of(self._ask(n=query), "n")[0]
        seen = groups.integer(rows[0].get("n")) if rows else 0
        quiet = "" if any(entity.reporting for entity in entities) else ", not reporting now"
        languages = ", ".join(sorted({entity.language for entity in entities if entity.language}))
        return (
            f"application {self.app_name!r} ({languages or 'language unknown'}{quiet}) in account "
            f"{self.account_id}: {seen or 0} unexpected errors in the last 24 hours"
        )

    @property
    def _guids(self) -> tuple[str, ...]:
        return tuple(entity.guid for entity in self._entities)

    def _ask(self, **queries: str) -> nerdgraph.Answer:
        """Run NRQL texts in one request, each under its alias."""
        variables = {"account": self.account_id, "timeout": nerdgraph.QUERY_SECONDS, **queries}
        return self.client.ask(nrql_document(queries), **variables)

    @cached_property
    def _entities(self) -> tuple[Entity, ...]:
        """Return the applications of this name; raises `StopTheNight` where there is none."""
        entities = self._search(self.app_name)
        if len(entities) > MOST_ENTITIES:
            raise StopTheNight(
                f"more than {MOST_ENTITIES} applications of New Relic account {self.account_id} "
                f"are named {self.app_name[:100]!r}: give the one that is meant a name of its own"
            )
        if entities:
            return entities
        names = {entity.name for entity in self._search("")}
        near = difflib.get_close_matches(self.app_name, names, n=3, cutoff=0.4)
        others = f"; there are {', '.join(map(repr, near))}" if near else ""
        raise StopTheNight(
            f"New Relic account {self.account_id} has no APM application named "
            f"{self.app_name[:100]!r}{others}: check NEW_RELIC_APP_NAME and NEW_RELIC_ACCOUNT_ID"
        )

    def _search(self, name: str) -> tuple[Entity, ...]:
        query, cursor = nrql.applications(self.account_id, name), None
        entities: list[Entity] = []
        for _ in range(SEARCH_PAGES):
            answer = self.client.ask(nerdgraph.QUERIES["entities"], q=query, cursor=cursor)
            page = answer.at("actor", "entitySearch", "results")
            if not isinstance(page, Mapping) or not isinstance(page.get("entities"), list):
                raise Unwell("New Relic left the applications out of its answer: try again")
            entities += [
                Entity(
                    guid=groups.text(row.get("guid"), groups.LONGEST_TITLE),
                    name=groups.text(row.get("name"), groups.LONGEST_TITLE),
                    language=groups.text(row.get("language"), groups.LONGEST_LABEL),
                    reporting=row.get("reporting") is not False,
                )
                for row in groups.objects(page["entities"])
                if row.get("accountId") == self.account_id
            ]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        valid = (entity for entity in entities if _GUID.fullmatch(entity.guid))
        return tuple(entity for entity in valid if not name or entity.name == name)

    def _fetched(self, window: Window) -> Fetched:
        counts = groups.count(self._ask, self._guids, window)
        by_name = groups.drafts(counts.whole, counts.detail, self.app_name)
        listed = groups.groups(by_name, counts, self.app_name, window)
        listed, untriaged = self._with_triage(listed, by_name, window)
        partial = (*counts.partial, *untriaged)
        return Fetched(groups=listed, window=window, partial=partial, traffic=counts.traffic)

    def _with_triage(
        self, listed: tuple[ErrorGroup, ...], by_name: Mapping[str, groups.Draft], window: Window
    ) -> tuple[tuple[ErrorGroup, ...], tuple[str, ...]]:
        if not listed:
            return listed, ()
        try:
            entries = groups.read_inbox(self.client, self._guids, window)
        except NightWatchError as trouble:
            return listed, (f"the Errors Inbox could not be read: {trouble}",)
        triaged = tuple(
            group.model_copy(update=entries.entry(by_name[group.fingerprint])._asdict())
            for group in listed
        )
        more = "the Errors Inbox holds more groups than were read: some may be ignored there"
        return triaged, (more,) if entries.more else ()
