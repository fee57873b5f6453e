"""Occurrences counted into error groups, one at a time and in bounded memory."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from nightwatch_core.errors import NightWatchError, StopTheNight, TryLater
from nightwatch_core.intake import limits
from nightwatch_core.intake.ignore_rules import is_missing
from nightwatch_core.models import errors
from nightwatch_core.models.code import Release
from nightwatch_core.ports import ErrorSource
from nightwatch_core.text.fingerprints import fingerprint
from nightwatch_core.text.templates import transaction_template

_HOUR = 3_600
_NEVER = datetime.min.replace(tzinfo=UTC)
Span = tuple[datetime, datetime] | None  # first and last moment; None: no moment is known


@dataclass(frozen=True)
class Stack:
    """A raw stack trace and the release that printed it."""

    raw: str
    release: str = ""
    seen: datetime | None = None


@dataclass
class _Group:
    """Counts of one group so far."""

    newest: errors.Occurrence
    occurrences: int = 0
    users: set[int] = field(default_factory=set)
    most_users: int | None = None  # the largest count a source made: users are at least so many
    hosts: set[str] = field(default_factory=set)
    span: Span = None
    releases: dict[str, tuple[datetime, int]] = field(default_factory=dict)  # by first sighting
    commits: dict[str, str] = field(default_factory=dict)  # by release that names one besides
    hours: dict[int, int] | None = field(default_factory=dict)  # None: spread over unknown hours
    stacks: dict[tuple[str, int], tuple[datetime, int, str]] = field(default_factory=dict)
    messages: Counter[str] = field(default_factory=Counter)


@dataclass(eq=False)
class Tally:
    """Counts occurrences into groups; give them in any order, then ask for the groups."""

    source: str  # the name the groups carry
    max_groups: int = limits.GROUPS
    max_stack_text: int = limits.STACK_TEXT
    records: int = 0
    left_out: int = 0  # records of errors beyond `max_groups`
    stacks_left_out: int = 0
    span: Span = None  # first and last moment of all records
    _groups: dict[str, _Group] = field(default_factory=dict)
    _stack_text: int = 0

    def add(self, occurrence: errors.Occurrence) -> None:
        """Count one record."""
        self.records += 1
        span = _span(occurrence)
        self.span = _extended(self.span, span)
        counted = self._counted(occurrence)
        if counted is None:
            self.left_out += 1
            return
        first, last = span or (_NEVER, _NEVER)
        if last >= (counted.span[1] if counted.span else _NEVER):
            counted.newest = occurrence.model_copy(update={"stacktrace": ""})
        counted.occurrences += occurrence.count
        said = _said(occurrence)[: errors.MESSAGE_LENGTH]
        _add_message(counted.messages, said, occurrence.count)
        counted.span = _extended(counted.span, span)
        if occurrence.user and len(counted.users) < limits.USERS:
            counted.users.add(hash(occurrence.user))
        if occurrence.users is not None:
            counted.most_users = max(counted.most_users or 0, occurrence.users)
        if occurrence.host and (
            len(counted.hosts) < errors.MOST_HOSTS or occurrence.host in counted.hosts
        ):
            counted.hosts.add(occurrence.host)
        _add_hours(counted, occurrence)
        if occurrence.release:
            _add_release(counted, occurrence, first, self.records)
        if occurrence.stacktrace:
            self._add_stack(counted, occurrence, last)

    def groups(self, window: errors.Window) -> tuple[errors.ErrorGroup, ...]:
        """Return the groups, most occurrences first; `window` bounds the hourly counts."""
        groups = [self._group(name, counted, window) for name, counted in self._groups.items()]
        return tuple(sorted(groups, key=lambda g: (-g.occurrences, g.title, g.fingerprint)))

    def stacks(self, name: str) -> tuple[Stack, ...]:
        """Return raw stack traces of the group `name`, newest release first, then newest first."""
        counted = self._groups.get(name)
        if counted is None:
            return ()
        order = {release: at for at, release in enumerate(_releases(counted))}
        kept = sorted(
            ((key[0], *stack) for key, stack in _kept_stacks(counted).items()),
            key=lambda stack: (order.get(stack[0], -1), stack[1], stack[2]),
            reverse=True,
        )
        return tuple(
            Stack(raw=raw, release=release, seen=None if seen == _NEVER else seen)
            for release, seen, _, raw in kept
        )

    def _counted(self, occurrence: errors.Occurrence) -> _Group | None:
        done = occurrence.transaction or occurrence.failed_in
        name = fingerprint(occurrence.app, occurrence.error_class, done, occurrence.message)
        counted = self._groups.get(name)
        if counted is None and len(self._groups) < self.max_groups:
            counted = self._groups[name] = _Group(newest=occurrence)
        return counted

    def _add_stack(self, counted: _Group, occurrence: errors.Occurrence, seen: datetime) -> None:
        raw = occurrence.stacktrace
        begin, end = raw.find("\n"), raw.rstrip("\n").rfind("\n")
        frames_of = raw[begin:end] if 0 <= begin < end else raw
        key = (occurrence.release, hash(frames_of))
        if key in counted.stacks:
            last, _, kept_raw = counted.stacks[key]
            if seen >= last:
                counted.stacks[key] = (seen, self.records, kept_raw)
            return
        if self._stack_text + len(raw) > self.max_stack_text:
            self.stacks_left_out += 1
            return
        counted.stacks[key] = (seen, self.records, raw)
        self._stack_text += len(raw)
        if len(counted.stacks) > 3 * limits.STACKS:
            kept = _kept_stacks(counted)
            self._stack_text -= sum(len(s[2]) for k, s in counted.stacks.items() if k not in kept)
            counted.stacks = kept

    def _group(self, name: str, counted: _Group, window: errors.Window) -> errors.ErrorGroup:
        newest, releases, hours = counted.newest, _releases(counted), counted.hours or {}
        has_users = bool(counted.users) or counted.most_users is not None
        return errors.ErrorGroup(
            fingerprint=name,
            source=self.source,
            app=newest.app,
            error_class=newest.error_class,
            transaction=transaction_template(newest.transaction),
            message=_said(newest),
            occurrences=counted.occurrences,
            users=max(len(counted.users), counted.most_users or 0) if has_users else None,
            hosts=tuple(sorted(counted.hosts)[: errors.MOST_HOSTS]),
            first_seen=counted.span[0] if counted.span else None,
            last_seen=counted.span[1] if counted.span else None,
            release=releases[-1] if releases else "",
            releases=releases,
            commit=counted.commits.get(releases[-1], "") if releases else "",
            hourly=tuple(hours.get(hour, 0) for hour in window.hours) if hours else (),
            messages=errors.most_frequent(counted.messages, _said(newest)),
        )


def _span(occurrence: errors.Occurrence) -> tuple[datetime, datetime] | None:
    moments = [at for at in (occurrence.first_seen, occurrence.last_seen) if at]
    return (min(moments), max(moments)) if moments else None


def _extended(span: Span, other: Span) -> Span:
    if span is None or other is None:
        return span or other
    return min(span[0], other[0]), max(span[1], other[1])


def _add_hours(counted: _Group, occurrence: errors.Occurrence) -> None:
    span = _span(occurrence)
    if counted.hours is None or span is None:
        return
    hour, last_hour = (int(at.timestamp()) // _HOUR for at in span)
    one_moment = occurrence.count == 1 or (occurrence.first_seen and occurrence.last_seen)
    if not one_moment or last_hour != hour:
        counted.hours = None  # a count over an unknown stretch of time
        return
    counted.hours[hour] = counted.hours.get(hour, 0) + occurrence.count
    if len(counted.hours) > 4 * errors.MOST_HOURS:
        newest = sorted(counted.hours)[-2 * errors.MOST_HOURS :]
        counted.hours = {hour: counted.hours[hour] for hour in newest}


def _said(seen: errors.Occurrence) -> str:
    """Return the message; of what is missing, with the address where nothing else says it."""
    is_known = not seen.address or seen.address in f"{seen.message} {seen.transaction}"
    return seen.message if is_known or not is_missing(seen) else f"{seen.message} ({seen.address})"


def _add_message(messages: Counter[str], message: str, count: int) -> None:
    """Count a message; a frequent one is never lost to many rare ones (Misra and Gries, 1982)."""
    if message not in messages and len(messages) >= limits.MESSAGES:
        least = min(count, *messages.values())
        for known in tuple(messages):
            messages[known] -= least
            if not messages[known]:
                del messages[known]
        count -= least
    if count:
        messages[message] += count


def _add_release(
    counted: _Group, occurrence: errors.Occurrence, seen: datetime, place: int
) -> None:
    release = occurrence.release
    if occurrence.commit:
        counted.commits[release] = occurrence.commit
    if release not in counted.releases or seen < counted.releases[release][0]:
        counted.releases[release] = (seen, place)
    if len(counted.releases) > 2 * limits.RELEASES:
        counted.releases = {name: counted.releases[name] for name in _releases(counted)}
        counted.commits = {n: sha for n, sha in counted.commits.items() if n in counted.releases}


def _releases(counted: _Group) -> tuple[str, ...]:
    names = sorted(counted.releases, key=lambda name: counted.releases[name])
    return tuple(names[-limits.RELEASES :])


def _kept_stacks(counted: _Group) -> dict[tuple[str, int], tuple[datetime, int, str]]:
    newest_first = sorted(counted.stacks, key=lambda key: counted.stacks[key][:2], reverse=True)
    firsts = {key[0]: key for key in reversed(newest_first)}
    ranked = sorted(newest_first, key=lambda key: firsts[key[0]] != key)
    return {key: counted.stacks[key] for key in ranked[: limits.STACKS]}


# Several error sources as one; one that fails leaves the others' answer partial.

T = TypeVar("T")


class ManySources:
    """The ErrorSource port over named sources; groups name theirs in `source`."""

    def __init__(self, sources: Mapping[str, ErrorSource]) -> None:
        if not sources:
            raise StopTheNight("no error source is named: choose one with --source")
        self._sources = sources

    def window(self, lookback: timedelta | None, now: datetime) -> errors.Window:
        """Return a window from the earliest beginning to the latest end of those that answer."""
        windows, _ = self._answers(lambda source: source.window(lookback, now))
        since = min(window.since for window in windows)
        return errors.Window(since=since, until=max(window.until for window in windows))

    def error_groups(self, window: errors.Window) -> errors.Fetched:
        """Return everybody's groups; a group that several sources know is one of them.

        Where nobody answers, raises `TryLater` if all are unwell, else `StopTheNight`.
        """
        answers, troubles = self._answers(lambda source: source.error_groups(window))
        return errors.Fetched(
            groups=_each_once(group for answer in answers for group in answer.groups),
            window=window,
            rejects=tuple(reject for answer in answers for reject in answer.rejects),
            partial=(*(p for answer in answers for p in answer.partial), *troubles),
            left_out=tuple(sentence for answer in answers for sentence in answer.left_out),
            whole=not troubles and all(answer.whole for answer in answers),
            traffic=None if troubles else _traffic(answers),
        )

    def traces(self, group: errors.ErrorGroup, limit: int = 3) -> tuple[errors.Trace, ...]:
        """Return the traces its own source has, else those of another one that knows the error."""
        source = self._sources.get(group.source)
        found = source.traces(group, limit) if source else ()
        others = [other for other in self._sources.values() if source and other is not source]
        while others and not found:
            with suppress(NightWatchError):
                found = others.pop(0).traces(group, limit)
        return found

    def releases(self) -> tuple[Release, ...]:
        """Return the deployments of those that answer, newest first."""
        answers, _ = self._answers(lambda source: source.releases())
        releases = (release for answer in answers for release in answer)
        return tuple(sorted(releases, key=lambda release: release.at, reverse=True))

    def probe(self) -> str:
        """Return every source's answer; raises `StopTheNight` where one cannot be reached."""
        texts, troubles = self._answers(lambda source: source.probe())
        if troubles:
            raise StopTheNight("; ".join((*troubles, *texts)))
        return "; ".join(f"{name}: {text}" for name, text in zip(self._sources, texts, strict=True))

    def _answers(self, ask: Callable[[ErrorSource], T]) -> tuple[list[T], list[str]]:
        answers: list[T] = []
        troubles: dict[str, NightWatchError] = {}
        for name, source in self._sources.items():
            try:
                answers.append(ask(source))
            except NightWatchError as trouble:
                troubles[name] = trouble
        texts = [f"{name}: {trouble}" for name, trouble in troubles.items()]
        if answers:
            return answers, texts
        unwell = all(isinstance(trouble, TryLater) for trouble in troubles.values())
        kind = TryLater if unwell else StopTheNight
        raise kind("no error source answered: " + "; ".join(texts))


def _traffic(answers: Iterable[errors.Fetched]) -> int | None:
    """Return the transactions of all sources; None where one does not know its own.

    Errors of all are counted, so the transactions of some would make every rate too high, and by
    another factor on every night on which another source has none.
    """
    counts = [answer.traffic for answer in answers]
    numbers = [count for count in counts if count is not None]
    return sum(numbers) if len(numbers) == len(counts) else None


def _each_once(groups: Iterable[errors.ErrorGroup]) -> tuple[errors.ErrorGroup, ...]:
    known: dict[str, errors.ErrorGroup] = {}
    for group in groups:
        other = known.get(group.fingerprint)
        known[group.fingerprint] = _joined(other, group) if other else group
    return tuple(known.values())


def _joined(one: errors.ErrorGroup, other: errors.ErrorGroup) -> errors.ErrorGroup:
    """Return the group of the source that saw more, with what only the other one knows."""
    both = sorted((one, other), key=lambda group: -group.occurrences)
    most, least = both
    states = list(errors.STATE_TEXTS)
    first_seen = (group.first_seen for group in both if group.first_seen)
    releases = most if most.release else least
    triaged = min(both, key=lambda group: states.index(group.triage.state))
    return most.model_copy(
        update={
            "users": max((g.users for g in both if g.users is not None), default=None),
            "first_seen": min(first_seen, key=datetime.timestamp, default=None),
            "hourly": most.hourly or least.hourly,
            "triage": triaged.triage,
            "regressed_at": triaged.regressed_at,
            **{name: getattr(releases, name) for name in ("release", "releases", "commit")},
        }
    )
