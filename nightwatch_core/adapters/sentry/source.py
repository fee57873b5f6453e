"""Errors of one or more projects of an organization in Sentry."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from nightwatch_core.adapters.files.occurrences import occurrence_of
from nightwatch_core.adapters.files.records import name_of, number_of
from nightwatch_core.adapters.files.shapes.table import records_of
from nightwatch_core.adapters.files.shapes.values import at, objects_in, text_at
from nightwatch_core.adapters.files.times import time_of
from nightwatch_core.adapters.sentry.client import SERVICE, Denied, Missing, SentryApi
from nightwatch_core.adapters.stores.traffic import Unwell
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.models.code import Release
from nightwatch_core.models.errors import (
    LONGEST_WINDOW,
    ErrorGroup,
    ExceptionLink,
    Fetched,
    Occurrence,
    Trace,
    Triage,
    TriageState,
    Window,
)
from nightwatch_core.ports import Clock
from nightwatch_core.text.fingerprints import fingerprint
from nightwatch_core.text.plain_text import plural
from nightwatch_core.text.templates import transaction_template
from nightwatch_core.traces.parsing import parse

PAGES = 10  # of open issues, of 100; of the others a tenth
PAGE = 100
EVENTS = 30  # groups whose release is looked up, most occurrences first
EVENTS_OF = ("latest", "recommended")  # of an issue, which are read for its traces
RELEASE_PAGES = 2
LAG = timedelta(minutes=3)  # events are accepted, processed and counted one after the other
RELEASES_SINCE = timedelta(days=30)
MOST_SUSPECTS = 5  # commits
HOUR = 3_600
OPEN, DONE = "is:unresolved", "!is:unresolved"
ERRORS = "issue.category:error"  # neither slow requests nor feedback
STATES: Mapping[str, TriageState] = {"resolved": "resolved", "ignored": "ignored"}
_NEVER = datetime.min.replace(tzinfo=UTC)


class Issue(NamedTuple):
    """An issue as it is listed; its counts are of the window."""

    id: str
    occurrence: Occurrence
    began: datetime | None  # as long as Sentry remembers
    hours: Mapping[int, int]  # by clock hour, counted from 1970; empty where not by the hour
    triage: Triage


class Event(NamedTuple):
    """An event of an issue."""

    id: str
    project: str
    occurrence: Occurrence


class Sentry:
    """The ErrorSource port on Sentry; safe to share between threads."""

    def __init__(
        self,
        api: SentryApi,
        projects: tuple[str, ...],
        environments: tuple[str, ...],
        watermark: datetime | None,
        clock: Clock,
        app_prefixes: tuple[str, ...] = (),
    ) -> None:
        """Ask nothing yet; without environments, all of them are read."""
        if not projects or not api.organization:
            raise StopTheNight("Sentry needs SENTRY_ORG and SENTRY_PROJECT, as its addresses have")
        self._api, self._names, self._environments = api, projects, environments
        self._watermark, self._clock, self._own = watermark, clock, app_prefixes
        self._issues_of = ("organizations", api.organization, "issues")
        self._ids: dict[str, tuple[str, ...]] = {}  # of issues, by fingerprint
        self._events: dict[tuple[str, str], Event | None] = {}

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        """Return the window since the watermark, or of `lookback` (a day), in whole seconds."""
        return Window.live(lookback, now.replace(microsecond=0), self._watermark, LAG)

    def error_groups(self, window: Window) -> Fetched:
        """Return every error of the window that nobody resolved; archived ones say so."""
        if window.until <= window.since:
            until = f"{window.since:%Y-%m-%d %H:%M %Z}"
            empty = f"the window is empty: all errors until {until} were read before"
            return Fetched(window=window, partial=(empty,))
        try:
            issues, is_cut = self._issues(window)
            groups, partial = self._with_releases(self._groups(issues, window))
        except GiveUp as error:
            raise StopTheNight(str(error)) from error
        if is_cut:
            many = PAGES * PAGE
            partial += (f"Sentry has more than {many:,} open issues: the rarest were not read",)
        resolved = sum(issue.triage.state == "resolved" for issue in issues)
        left_out = (f"{plural(resolved, 'issue')} resolved in Sentry",) if resolved else ()
        return Fetched(groups=groups, window=window, partial=partial, left_out=left_out)

    def traces(self, group: ErrorGroup, limit: int = 3) -> tuple[Trace, ...]:
        """Return traces of the latest and the recommended event, newest first."""
        if not self._ids:  # another process fetched the groups
            until = (group.last_seen or self._clock.now()).replace(microsecond=0)
            until += timedelta(seconds=1)
            window = Window(since=until - LONGEST_WINDOW, until=until)
            self._groups(self._issues(window)[0], None)
        events: dict[str, Event] = {}
        for issue in self._ids.get(group.fingerprint, ())[: max(0, limit)]:
            for which in EVENTS_OF:
                if (event := self._event(issue, which)) and event.occurrence.stacktrace:
                    events[event.id] = event
        newest = sorted(events.values(), key=lambda e: e.occurrence.last_seen or _NEVER)[::-1]
        parsed = (self._trace(event.occurrence) for event in newest[: max(0, limit)])
        traces = tuple(trace for trace in parsed if trace.links)
        if not traces:
            return ()
        suspected = self._suspected(newest[0])
        return (traces[0].model_copy(update={"suspected": suspected}), *traces[1:])

    def releases(self) -> tuple[Release, ...]:
        """Return releases and deployments of the last 30 days, newest first."""
        query: dict[str, Any] = {"project": self._projects, "environment": self._environments}
        path = ("organizations", self._api.organization, "releases")
        rows, _ = self._api.rows(RELEASE_PAGES, *path, **query, per_page=PAGE)
        since = self._clock.now() - RELEASES_SINCE
        found = []
        for row in rows:
            environment, wanted = text_at(row, "lastDeploy.environment"), self._environments
            deployed = "lastDeploy.dateFinished" if not wanted or environment in wanted else ""
            moment = _time(row, deployed, "dateReleased", "dateCreated")
            version = name_of(row.get("version"))
            if version and moment and moment >= since:
                sha = text_at(row, "lastCommit.id")
                found.append(Release(version=version, sha=sha, at=moment))
        return tuple(sorted(found, key=lambda release: release.at, reverse=True))

    def probe(self) -> str:
        """Say what is read; raises `StopTheNight` with every scope that the token lacks."""
        lacking: list[str] = []
        query: dict[str, Any] = {"environment": self._environments, "query": f"{OPEN} {ERRORS}"}
        try:
            query["project"] = self._projects
        except Denied:
            lacking.append("project:read")
        try:
            rows, is_cut = self._api.rows(1, *self._issues_of, **query, statsPeriod="24h")
        except Denied:
            lacking, rows, is_cut = [*lacking, "event:read"], [], False
        if lacking:
            raise StopTheNight(
                f"the token of SENTRY_AUTH_TOKEN lacks {' and '.join(lacking)}, or may not see "
                f"the organization {self._api.organization!r}: give its integration read access "
                "to Project and to Issue & Event (tokens of an organization cannot read issues)"
            )
        where = f" in {', '.join(self._environments)}" if self._environments else ""
        return (
            f"{plural(len(self._names), 'project')} {', '.join(self._names)} of "
            f"{self._api.organization!r}{where}: {len(rows)}{' or more' if is_cut else ''} open "
            "issues in the last 24 hours"
        )

    @cached_property
    def _projects(self) -> tuple[str, ...]:
        """Return the ids of the projects: older servers do not filter by name."""
        ids = []
        for name in self._names:
            try:
                found = self._api.get("projects", self._api.organization, name)
            except Missing as error:
                raise StopTheNight(
                    f"Sentry shows no project {name[:100]!r} in organization "
                    f"{self._api.organization[:100]!r} to this token: check SENTRY_PROJECT and "
                    "SENTRY_ORG, or give the token's team access"
                ) from error
            id = text_at(found, "id")
            if not id.isdecimal():
                raise Unwell("Sentry's answer is of no project: check SENTRY_URL")
            ids.append(id)
        return tuple(ids)

    def _issues(self, window: Window) -> tuple[list[Issue], bool]:
        """Return the issues of a window, the most frequent first, and whether open ones lack."""
        since, until = (
            moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
            for moment in (window.since, window.until)
        )
        is_day = window.until - window.since >= timedelta(hours=24)
        query: dict[str, Any] = {
            "project": self._projects,
            "environment": self._environments,
            "start": since,
            "end": until,
            "sort": "freq",
            "limit": PAGE,
            "groupStatsPeriod": "auto" if is_day else "24h",
            "collapse": ("filtered", "unhandled"),
        }
        path = self._issues_of
        rows, is_cut = self._api.rows(PAGES, *path, **query, query=f"{OPEN} {ERRORS}")
        done, _ = self._api.rows(1, *path, **query, query=f"{DONE} {ERRORS}")
        return [issue for row in (*rows, *done) if (issue := self._issue(row))], is_cut

    def _issue(self, row: Mapping[str, Any]) -> Issue | None:
        occurrence, id = _occurrence(row), text_at(row, "id")
        if occurrence is None or not id.isdecimal():
            return None
        state = STATES.get(text_at(row, "status"), "")
        back = text_at(row, "substatus") == "regressed" and not state
        assignee = name_of(at(row, "assignedTo.name")) or text_at(row, "assignedTo.email")
        triage = Triage(
            state="regressed" if back else state,
            assignee=" ".join(assignee.partition("@")[0][:80].split()),
            service=SERVICE,
            inbox="Issues",
        )
        return Issue(
            id=id,
            occurrence=occurrence,
            began=_time(row, "lifetime.firstSeen", "firstSeen"),
            hours=_hours(row.get("stats")),
            triage=triage if triage.state or triage.assignee else Triage(),
        )

    def _groups(self, issues: Iterable[Issue], window: Window | None) -> tuple[ErrorGroup, ...]:
        """Return issues as groups, largest first; of issues with one name the open ones count."""
        by_name: dict[str, list[Issue]] = {}
        for issue in issues:
            seen = issue.occurrence
            name = fingerprint(seen.app, seen.error_class, seen.transaction, seen.message)
            by_name.setdefault(name, []).append(issue)
        groups = []
        for name, every in by_name.items():
            is_open = [issue for issue in every if issue.triage.state in ("", "regressed")]
            ignored = [issue for issue in every if issue.triage.state == "ignored"]
            if found := sorted(is_open or ignored, key=lambda item: -item.occurrence.count):
                self._ids[name] = tuple(issue.id for issue in found)
                groups += [self._group(name, found, window)] if window else []
        return tuple(sorted(groups, key=lambda g: (-g.occurrences, g.title, g.fingerprint)))

    def _group(self, name: str, issues: Sequence[Issue], window: Window) -> ErrorGroup:
        newest = max(issues, key=lambda issue: issue.occurrence.last_seen or _NEVER)
        seen, count = newest.occurrence, sum(issue.occurrence.count for issue in issues)
        users = max(issue.occurrence.users or 0 for issue in issues)
        triage = max((issue.triage for issue in issues), key=lambda t: (t.state, t.assignee))
        group = ErrorGroup(
            fingerprint=name,
            source="sentry",
            app=seen.app,
            error_class=seen.error_class,
            transaction=transaction_template(seen.transaction),
            message=seen.message,
            occurrences=count,
            users=users or None,
            first_seen=min((issue.began for issue in issues if issue.began), default=None),
            last_seen=seen.last_seen,
            hourly=_hourly(issues, count, window),
            triage=triage,
        )
        return self._regressed(group, window) if triage.state == "regressed" else group

    def _regressed(self, group: ErrorGroup, window: Window) -> ErrorGroup:
        """Add when the group came back; Sentry calls it regressed for a week, we for a night."""
        moments: list[datetime | None] = []
        for id in self._ids[group.fingerprint]:
            with suppress(Missing):
                for item in objects_in(at(self._api.get(*self._issues_of, id), "activity")):
                    is_back = text_at(item, "type") == "set_regression"
                    moments += [_time(item, "dateCreated")] if is_back else []
        back = max(filter(None, moments), default=None)
        if back is None or back >= window.since:
            return group.model_copy(update={"regressed_at": back})
        return group.model_copy(update={"triage": group.triage.model_copy(update={"state": ""})})

    def _with_releases(
        self, groups: tuple[ErrorGroup, ...]
    ) -> tuple[tuple[ErrorGroup, ...], tuple[str, ...]]:
        """Add the release, commit and host of the latest event to the most frequent groups."""
        found = list(groups)
        for number, group in enumerate(groups[:EVENTS]):
            try:
                event = self._event(self._ids[group.fingerprint][0], EVENTS_OF[0])
            except NightWatchError as trouble:
                return tuple(found), (f"releases of errors could not be read: {trouble}",)
            if event:
                seen = event.occurrence
                update: dict[str, object] = {"release": seen.release, "commit": seen.commit}
                update["releases"] = (seen.release,) if seen.release else ()
                update["hosts"] = (seen.host,) if seen.host else ()
                found[number] = group.model_copy(update=update)
        return tuple(found), ()

    def _event(self, issue: str, which: str) -> Event | None:
        """Return an event of an issue; None where it has none, or one that is no error."""
        key = (issue, which)
        if key not in self._events:
            path = (*self._issues_of, issue, "events", which)
            try:
                found = self._api.get(*path, environment=self._environments)
            except Missing:
                found = {}
            occurrence = _occurrence(found)
            names = text_at(found, "eventID", "id"), text_at(found, "projectID")
            self._events[key] = Event(*names, occurrence) if occurrence else None
        return self._events[key]

    def _trace(self, seen: Occurrence) -> Trace:
        trace = parse(seen.stacktrace, "", self._own)
        return trace.model_copy(update={"release": seen.release})

    def _suspected(self, event: Event) -> tuple[str, ...]:
        """Return the commits that Sentry suspects; empty where it suspects none, or does not say.

        Its documentation lists no such answer, so its absence is no trouble.
        """
        names = (self._api.organization, event.project, "events", event.id, "committers")
        try:
            rows = objects_in(at(self._api.get("projects", *names), "committers"))
        except NightWatchError:
            return ()
        commits = (item for row in rows for item in objects_in(row.get("commits")))
        shas = (text_at(item, "id").lower() for item in commits)
        found = dict.fromkeys(sha for sha in shas if re.fullmatch("[0-9a-f]{7,64}", sha))
        return tuple(found)[:MOST_SUSPECTS]


def _occurrence(document: object) -> Occurrence | None:
    """Read an issue or an event as its export is read; None for what is no error."""
    records = (record for record in records_of(document) if isinstance(record, Mapping))
    found = occurrence_of(next(records, {}), "", lambda _: ExceptionLink())
    return found if isinstance(found, Occurrence) else None


def _time(row: object, *paths: str) -> datetime | None:
    return next((found for path in paths if (found := time_of(at(row, path)))), None)


def _hours(stats: object) -> dict[int, int]:
    """Return counts by clock hour; empty where Sentry counted other stretches of time."""
    series = next(iter(stats.values()), None) if isinstance(stats, Mapping) else None
    listed = series if isinstance(series, list) else []
    rows = [row for row in listed if isinstance(row, list) and len(row) == 2]
    counts = {number_of(begin) or 0: number_of(count) or 0 for begin, count in rows}
    is_hourly = all(begin % HOUR == 0 for begin in counts)
    if not is_hourly or any(b - a != HOUR for a, b in pairwise(sorted(counts))):
        return {}
    return {begin // HOUR: count for begin, count in counts.items()}


def _hourly(issues: Sequence[Issue], count: int, window: Window) -> tuple[int, ...]:
    """Count by clock hour; the first was counted whole, so it is what the others leave."""
    first, *others = window.hours
    if not all(set(others) <= issue.hours.keys() for issue in issues):
        return ()
    hours = [sum(issue.hours[hour] for issue in issues) for hour in others]
    return (max(0, count - sum(hours)), *hours)
