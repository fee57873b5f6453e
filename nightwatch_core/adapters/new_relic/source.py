"""Errors of one application in New Relic."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from nightwatch_core.adapters.new_relic import nrql
from nightwatch_core.adapters.new_relic.application import DAY, Application
from nightwatch_core.adapters.new_relic.counts import Counter
from nightwatch_core.adapters.new_relic.groups import Draft, drafts, groups, read_inbox
from nightwatch_core.adapters.new_relic.limits import (
    AROUND,
    LAG,
    LONGEST_LABEL,
    LONGEST_TRACE_WINDOW,
    RELEASES_SINCE,
)
from nightwatch_core.adapters.new_relic.nerdgraph import NerdGraph
from nightwatch_core.adapters.new_relic.rows import integer, moment, results_of, text
from nightwatch_core.adapters.new_relic.traces import frames_document, traced_occurrences, traces_in
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.intake.windows import LONGEST
from nightwatch_core.models.code import Release
from nightwatch_core.models.error import ErrorGroup, Fetched, Window
from nightwatch_core.models.trace import Trace
from nightwatch_core.ports import Clock

PING = "query Ping{actor{user{id email name} accounts{id name}}}"
DEPLOYMENTS = (
    "query Deployments($g:EntityGuid!,$from:EpochMilliseconds!,$to:EpochMilliseconds!){actor{"
    "entity(guid:$g){... on ApmApplicationEntity{deploymentSearch(filter:{limit:50,"
    "timeWindow:{startTime:$from,endTime:$to}}){results{version commit timestamp}}}}}}"
)


class NewRelic:
    """The ErrorSource port on New Relic; safe to share between threads."""

    def __init__(
        self,
        api_key: str,
        account_id: int,
        app_name: str,
        url: str,
        watermark: datetime | None,
        clock: Clock,
        lag: timedelta = LAG,
        *,
        app_prefixes: tuple[str, ...] = (),
        source: str = "newrelic",
        client: NerdGraph | None = None,
    ) -> None:
        """Ask at `url`, a region's name or an address, for what came after `watermark`."""
        if account_id < 1 or not app_name.strip():
            raise StopTheNight(
                "New Relic needs NEW_RELIC_ACCOUNT_ID (a number) and NEW_RELIC_APP_NAME"
            )
        self._account = account_id
        self._app = app_name.strip()
        self._watermark = watermark
        self._clock = clock
        self._lag = lag
        self._own = app_prefixes
        self._source = source
        self._client = client or NerdGraph(api_key, url)
        self._application = Application(self._client, account_id, self._app, clock)

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        """Until `lag` ago; since the watermark, or `lookback` (a day) before the end.

        A watermark from the future is a wrong clock's, and is not used; one that is older than a
        week brings a week.
        """
        until = now - self._lag
        if lookback is None and self._watermark is not None and self._watermark <= now:
            since = max(self._watermark, until - LONGEST)
            return Window(since=since, until=max(until, since))
        return Window(since=until - (lookback or DAY), until=until)

    def error_groups(self, window: Window) -> Fetched:
        """Every unexpected error of the window; raises `TryLater` or `StopTheNight`."""
        if window.until <= window.since:
            until = f"{window.since:%Y-%m-%d %H:%M %Z}"
            empty = f"the window is empty: all errors until {until} were read before"
            return Fetched(window=window, partial=(empty,))
        try:
            return self._fetched(window)
        except GiveUp as error:
            raise StopTheNight(str(error)) from error

    def traces(self, group: ErrorGroup, limit: int = 3) -> tuple[Trace, ...]:
        """Up to `limit` traces, newest first; often there are fewer, or none: New Relic samples."""
        if limit < 1:
            return ()
        guids, names = self._application.guids, self._application.attributes().traces
        version = nrql.first_of(nrql.RELEASES, names)
        transaction = group.transaction if not names or "transactionName" in names else ""
        window = self._around(group)
        query = nrql.occurrences(guids, window, group.error_class, transaction, version)
        rows = results_of(self._application.ask(rows=query), "rows")[0]
        asked = traced_occurrences(rows, group, guids, version)[:limit]
        if not asked:
            return ()
        places = {f"g{at}": each.entity for at, each in enumerate(asked)}
        ids = {f"o{at}": each.id for at, each in enumerate(asked)}
        answer = self._client.ask(frames_document(len(asked)), **places, **ids)
        traces, troubles = traces_in(asked, answer, group, self._own)
        if troubles and not traces:
            raise troubles[0]
        return traces

    def releases(self) -> tuple[Release, ...]:
        """Deployments of the last 30 days, newest first; empty where none are recorded."""
        now = self._clock.now()
        since, until = (round(at.timestamp() * 1_000) for at in (now - RELEASES_SINCE, now))
        releases: dict[tuple[str, datetime], Release] = {}
        for entity in self._application.entities():
            variables: dict[str, object] = {"g": entity.guid, "from": since, "to": until}
            answer = self._client.ask(DEPLOYMENTS, **variables)
            search = (answer.at("actor", "entity") or {}).get("deploymentSearch") or {}
            for row in search.get("results") or ():
                release = _release(row)
                if release:
                    releases[(release.version, release.at)] = release
        return tuple(sorted(releases.values(), key=lambda release: release.at, reverse=True))

    def probe(self) -> str:
        """Say who asks, for which application; raises `StopTheNight` with what to do."""
        actor = self._client.ask(PING).at("actor") or {}
        accounts = [each for each in actor.get("accounts") or () if isinstance(each, Mapping)]
        ids = [each.get("id") for each in accounts]
        if self._account not in ids:
            raise StopTheNight(
                f"the New Relic key is valid, but account {self._account} is not among the "
                f"accounts it reads ({', '.join(map(str, ids[:5])) or 'none'}): check "
                "NEW_RELIC_ACCOUNT_ID and NEW_RELIC_REGION, or give the user access"
            )
        entities = self._application.entities()
        now = self._clock.now()
        query = nrql.count(self._application.guids, Window(since=now - DAY, until=now))
        rows = results_of(self._application.ask(n=query), "n")[0]
        seen = integer(rows[0].get("n")) if rows else 0
        quiet = "" if any(each.reporting for each in entities) else ", not reporting now"
        languages = ", ".join(sorted({each.language for each in entities if each.language}))
        return (
            f"application {self._app!r} ({languages or 'language unknown'}{quiet}) in account "
            f"{self._account}: {seen or 0} unexpected errors in the last 24 hours"
        )

    def _fetched(self, window: Window) -> Fetched:
        attributes = self._application.attributes()
        guids = self._application.guids
        counts = Counter(self._application.ask, guids, attributes.errors).count(window)
        by_name = drafts(counts.whole, counts.detail, self._app)
        listed = groups(by_name, counts, self._app, self._source, window)
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
        """The groups with what the team said about them, and what is missing from that."""
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

    def _around(self, group: ErrorGroup) -> Window:
        until = (group.last_seen or self._clock.now()) + AROUND
        since = (group.first_seen or until - DAY) - AROUND
        return Window(since=max(since, until - LONGEST_TRACE_WINDOW), until=until)


def _release(row: object) -> Release | None:
    fields = row if isinstance(row, Mapping) else {}
    at = moment(fields.get("timestamp"))
    version = text(fields.get("version"), LONGEST_LABEL)
    if at is None or not version:
        return None
    return Release(version=version, sha=text(fields.get("commit"), LONGEST_LABEL), at=at)
