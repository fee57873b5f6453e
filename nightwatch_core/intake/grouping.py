"""Occurrences counted into error groups, one at a time and in bounded memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from nightwatch_core.intake.fingerprint import fingerprint
from nightwatch_core.models.error import ErrorGroup, Occurrence, Window
from nightwatch_core.text.templates import transaction_template

MAX_GROUPS = 20_000  # different errors of one source; the records of further ones are counted
MAX_HOSTS = 20
MAX_RELEASES = 200
MAX_USERS = 200_000  # single users told apart in one group
MAX_STACKS = 5  # raw stack traces kept of one group
MAX_STACK_TEXT = 134_217_728  # characters of all stack traces together
HOURLY_BUCKETS = 168
_HOUR = 3_600
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Stack:
    """A raw stack trace and the release that printed it."""

    raw: str
    release: str = ""
    seen: datetime | None = None


@dataclass
class _Counted:
    """What is known of one group so far."""

    newest: Occurrence
    occurrences: int = 0
    users: set[int] = field(default_factory=set)
    most_users: int | None = None  # the largest count a source made: users are at least so many
    hosts: set[str] = field(default_factory=set)
    first: datetime | None = None
    last: datetime | None = None
    releases: dict[str, tuple[datetime, int]] = field(default_factory=dict)  # by first sighting
    hours: dict[int, int] | None = field(default_factory=dict)  # None: spread over unknown hours
    stacks: dict[tuple[str, int], tuple[datetime, int, str]] = field(default_factory=dict)


class Tally:
    """Counts occurrences into groups; give them in any order, then ask for the groups."""

    def __init__(
        self, source: str, max_groups: int = MAX_GROUPS, max_stack_text: int = MAX_STACK_TEXT
    ) -> None:
        """Begin with nothing counted; `source` is the name the groups carry."""
        self._source = source
        self._max_groups = max_groups
        self._max_stack_text = max_stack_text
        self._groups: dict[str, _Counted] = {}
        self._stack_text = 0
        self.records = 0
        self.left_out = 0  # records of errors beyond `max_groups`
        self.stacks_left_out = 0
        self.first: datetime | None = None
        self.last: datetime | None = None

    def add(self, occurrence: Occurrence) -> None:
        """Count one record."""
        self.records += 1
        first, last = _span(occurrence)
        self.first = _least(self.first, first)
        self.last = _most(self.last, last)
        counted = self._counted(occurrence)
        if counted is None:
            self.left_out += 1
            return
        if (last or _NEVER) >= (counted.last or _NEVER):
            counted.newest = occurrence.model_copy(update={"stacktrace": ""})
        counted.occurrences += occurrence.count
        counted.first = _least(counted.first, first)
        counted.last = _most(counted.last, last)
        _add_who(counted, occurrence)
        _add_hours(counted, occurrence)
        if occurrence.release:
            _add_release(counted, occurrence.release, first or _NEVER, self.records)
        if occurrence.stacktrace:
            self._add_stack(counted, occurrence, last or _NEVER)

    def groups(self, window: Window) -> tuple[ErrorGroup, ...]:
        """The groups, most occurrences first; `window` bounds the hourly counts."""
        groups = [self._group(name, counted, window) for name, counted in self._groups.items()]
        return tuple(sorted(groups, key=lambda g: (-g.occurrences, g.title, g.fingerprint)))

    def stacks(self, name: str) -> tuple[Stack, ...]:
        """Raw stack traces of the group `name`, newest release first, then newest first."""
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

    def _counted(self, occurrence: Occurrence) -> _Counted | None:
        name = fingerprint(
            occurrence.app, occurrence.error_class, occurrence.transaction, occurrence.message
        )
        counted = self._groups.get(name)
        if counted is None and len(self._groups) < self._max_groups:
            counted = self._groups[name] = _Counted(newest=occurrence)
        return counted

    def _add_stack(self, counted: _Counted, occurrence: Occurrence, seen: datetime) -> None:
        raw = occurrence.stacktrace
        key = (occurrence.release, hash(_frames_of(raw)))
        known = counted.stacks.get(key)
        if known is not None:
            if seen >= known[0]:
                counted.stacks[key] = (seen, self.records, known[2])
            return
        if self._stack_text + len(raw) > self._max_stack_text:
            self.stacks_left_out += 1
            return
        counted.stacks[key] = (seen, self.records, raw)
        self._stack_text += len(raw)
        if len(counted.stacks) > 3 * MAX_STACKS:
            kept = _kept_stacks(counted)
            self._stack_text -= sum(len(s[2]) for k, s in counted.stacks.items() if k not in kept)
            counted.stacks = kept

    def _group(self, name: str, counted: _Counted, window: Window) -> ErrorGroup:
        newest, releases, hours = counted.newest, _releases(counted), counted.hours or {}
        known = bool(counted.users) or counted.most_users is not None
        return ErrorGroup(
            fingerprint=name,
            source=self._source,
            app=newest.app,
            error_class=newest.error_class,
            transaction=transaction_template(newest.transaction),
            message=newest.message,
            occurrences=counted.occurrences,
            users=max(len(counted.users), counted.most_users or 0) if known else None,
            hosts=tuple(sorted(counted.hosts)[:MAX_HOSTS]),
            first_seen=counted.first,
            last_seen=counted.last,
            release=releases[-1] if releases else "",
            releases=releases,
            hourly=tuple(hours.get(hour, 0) for hour in hours_of(window)) if hours else (),
        )


def group(occurrences: Iterable[Occurrence], source: str, window: Window) -> tuple[ErrorGroup, ...]:
    """Count occurrences into groups, most occurrences first.

    >>> day = datetime(2026, 11, 3, tzinfo=UTC)
    >>> seen = [Occurrence(error_class="KeyError", message=f"no order {n}") for n in (1, 2)]
    >>> [(g.title, g.occurrences) for g in group(seen, "file", Window(since=day, until=day))]
    [('KeyError', 2)]
    """
    tally = Tally(source)
    for occurrence in occurrences:
        tally.add(occurrence)
    return tally.groups(window)


def hours_of(window: Window) -> range:
    """Clock hours (UTC, counted from 1970) that the hourly counts of a window stand for.

    The last 168 of a longer window; empty where the window is.

    >>> begin, end = datetime(2026, 11, 3, 9, 30, tzinfo=UTC), datetime(2026, 11, 4, 9, tzinfo=UTC)
    >>> len(hours_of(Window(since=begin, until=end)))
    24
    """
    first = int(window.since.timestamp()) // _HOUR
    end = -int(-window.until.timestamp() // _HOUR)
    return range(max(first, end - HOURLY_BUCKETS), end)


def _span(occurrence: Occurrence) -> tuple[datetime | None, datetime | None]:
    first, last = occurrence.first_seen, occurrence.last_seen
    first, last = first or last, last or first
    return (last, first) if first and last and first > last else (first, last)


def _least(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(one, other) if one and other else one or other


def _most(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else one or other


def _add_who(counted: _Counted, occurrence: Occurrence) -> None:
    if occurrence.user and len(counted.users) < MAX_USERS:
        counted.users.add(hash(occurrence.user))
    if occurrence.users is not None:
        counted.most_users = max(counted.most_users or 0, occurrence.users)
    if occurrence.host and (len(counted.hosts) < MAX_HOSTS or occurrence.host in counted.hosts):
        counted.hosts.add(occurrence.host)


def _add_hours(counted: _Counted, occurrence: Occurrence) -> None:
    first, last = _span(occurrence)
    if counted.hours is None or first is None or last is None:
        return
    hour = int(first.timestamp()) // _HOUR
    one_moment = occurrence.count == 1 or (occurrence.first_seen and occurrence.last_seen)
    if not one_moment or int(last.timestamp()) // _HOUR != hour:
        counted.hours = None  # a count over an unknown stretch of time
        return
    counted.hours[hour] = counted.hours.get(hour, 0) + occurrence.count
    if len(counted.hours) > 4 * HOURLY_BUCKETS:
        newest = sorted(counted.hours)[-2 * HOURLY_BUCKETS :]
        counted.hours = {hour: counted.hours[hour] for hour in newest}


def _add_release(counted: _Counted, release: str, seen: datetime, place: int) -> None:
    known = counted.releases.get(release)
    if known is None or seen < known[0]:
        counted.releases[release] = (seen, place)
    if len(counted.releases) > 2 * MAX_RELEASES:
        counted.releases = {name: counted.releases[name] for name in _releases(counted)}


def _releases(counted: _Counted) -> tuple[str, ...]:
    """Releases by first sighting, oldest first; without times by their order in the source."""
    return tuple(sorted(counted.releases, key=lambda name: counted.releases[name]))[-MAX_RELEASES:]


def _frames_of(raw: str) -> str:
    """A trace without its first and last line: one of them holds the message."""
    begin, end = raw.find("\n"), raw.rstrip("\n").rfind("\n")
    return raw[begin:end] if 0 <= begin < end else raw


def _kept_stacks(counted: _Counted) -> dict[tuple[str, int], tuple[datetime, int, str]]:
    """The newest trace of every release first, then the newest of the others."""
    newest_first = sorted(counted.stacks, key=lambda key: counted.stacks[key][:2], reverse=True)
    firsts = {key[0]: key for key in reversed(newest_first)}
    ranked = sorted(newest_first, key=lambda key: firsts[key[0]] != key)
    return {key: counted.stacks[key] for key in ranked[:MAX_STACKS]}
