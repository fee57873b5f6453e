"""Errors from files: exports of error trackers, JSON logs, plain logs; gzip too."""

import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path

from nightwatch_core.adapters.files.entries import Entry, entries_of
from nightwatch_core.adapters.files.limits import MAX_REJECTS
from nightwatch_core.adapters.files.record_files import files_below
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.intake.grouping import Tally
from nightwatch_core.intake.limits import GROUPS
from nightwatch_core.models.code import Release
from nightwatch_core.models.error import ErrorGroup, Fetched, Occurrence, RejectedRecord, Window
from nightwatch_core.models.trace import ExceptionLink, Trace
from nightwatch_core.traces.parsing import parse

CLOCK_SLACK = timedelta(days=1)  # a time later than `until` by more comes from a wrong clock
NO_TIMES = timedelta(days=1)  # the window of records that say no time
A_MOMENT = timedelta(microseconds=1)


@dataclass
class _Reading:
    """What one pass over all files gave."""

    tally: Tally
    begin: datetime | None  # records before it are left out
    latest: datetime | None  # times after it cannot be
    app: str = ""  # of records that name none
    rejects: list[RejectedRecord] = field(default_factory=list)
    rejected: int = 0
    harmless: int = 0  # records that are no errors
    older: int = 0
    ahead: int = 0
    opened: int = 0
    entries: int = 0
    unread: list[str] = field(default_factory=list)  # why files could not be read
    partial: list[str] = field(default_factory=list)

    @property
    def readable(self) -> int:
        """Records that were understood."""
        return self.tally.records + self.harmless + self.older

    def count(self, entry: Entry) -> None:
        self.entries += 1
        if isinstance(entry, Occurrence):
            self._count_occurrence(entry)
        elif isinstance(entry, RejectedRecord):
            self.rejected += 1
            self.rejects += [entry] if len(self.rejects) < MAX_REJECTS else []
        elif isinstance(entry, str):
            self.partial.append(entry)
        else:
            self.harmless += 1

    def _count_occurrence(self, seen: Occurrence) -> None:
        last = seen.last_seen
        if last and self.latest and last > self.latest:
            self.ahead += 1
            seen = seen.model_copy(update={"first_seen": None, "last_seen": None})
        elif last and self.begin and last < self.begin:
            self.older += 1
            return
        self.tally.add(seen if seen.app else seen.model_copy(update={"app": self.app}))


class ErrorFiles:
    """An `ErrorSource` on files and folders; their formats are told by content, not by name.

    The window is the span of the records: from the first to a microsecond after the last, which
    stands for "now". Records older than the lookback before the last record are left out; records
    without a time are always counted. The files are read once for each lookback and kept.
    """

    def __init__(
        self,
        paths: tuple[Path, ...],
        name: str = "file",
        app_prefixes: tuple[str, ...] = (),
        language: str = "",
        app: str = "",
    ) -> None:
        """Read `paths` when first asked; prefixes and language help to read stack traces.

        Records that name no application are of `app`.
        """
        self._app = app
        self._paths = paths
        self._name = name
        self._app_prefixes = app_prefixes
        self._language = language
        self._lock = threading.Lock()
        self._kept: dict[timedelta | None, _Reading] = {}
        self._newest: _Reading | None = None
        self._exceptions = lru_cache(maxsize=256)(self._exception_of)

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        """The records' span, or its last `lookback`; raises `StopTheNight` like `error_groups`."""
        reading = self._reading(lookback, now)
        return _window(reading) or Window(since=now - (lookback or NO_TIMES), until=now)

    def error_groups(self, window: Window) -> Fetched:
        """All groups of the window; raises `StopTheNight` where nothing is readable."""
        reading = self._newest or self._reading(window.until - window.since, window.until)
        return Fetched(
            groups=reading.tally.groups(window),
            window=window,
            rejects=_rejects(reading),
            partial=_partial(reading),
        )

    def traces(self, group: ErrorGroup, limit: int = 3) -> tuple[Trace, ...]:
        """Up to `limit` stack traces of the group, of the newest release first."""
        reading = self._newest or self._reading(None, None)
        parsed = (
            (parse(stack.raw, self._language, self._app_prefixes), stack.release)
            for stack in reading.tally.stacks(group.fingerprint)
        )
        return tuple(
            trace.model_copy(update={"release": release, "links": _links(trace, group)})
            for trace, release in parsed
            if trace.links
        )[: max(0, limit)]

    def releases(self) -> tuple[Release, ...]:
        """None: files tell of no deployments."""
        return ()

    def probe(self) -> str:
        """Say how much is there; reads the files."""
        reading = self._reading(None, None)
        window = _window(reading)
        facts = [f"{reading.tally.records} records"]
        if window:
            facts.append(f"{window.since:%Y-%m-%d %H:%M} to {window.until:%Y-%m-%d %H:%M} UTC")
        facts += [f"{reading.harmless} that are no errors"] if reading.harmless else []
        facts += [f"{reading.rejected} unreadable"] if reading.rejected else []
        return f"{self._names}: {', '.join((*facts, *_partial(reading)[:3]))}"

    @property
    def _names(self) -> str:
        return ", ".join(str(path) for path in self._paths) or "no file"

    def _exception_of(self, raw: str) -> ExceptionLink:
        """The exception that a raw stack trace reports, and one of its frames if it has any."""
        trace = parse(raw, self._language, self._app_prefixes)
        reported = trace.links[0] if trace.links else ExceptionLink()
        return reported.model_copy(update={"frames": trace.frames[:1]})

    def _reading(self, lookback: timedelta | None, until: datetime | None) -> _Reading:
        with self._lock:
            if lookback not in self._kept:
                self._kept[lookback] = self._read(lookback, until and until + CLOCK_SLACK)
            self._newest = self._kept[lookback]
            return self._newest

    def _read(self, lookback: timedelta | None, latest: datetime | None) -> _Reading:
        reading = self._kept.get(None) or self._pass(None, latest)
        if reading.ahead and reading.tally.span is None:
            reading = self._pass(None, None)  # not the records' clock is wrong, but the caller's
        window = _window(reading)
        if lookback is not None and window and window.since < window.until - lookback:
            reading = self._pass(window.until - lookback, reading.latest)
        self._check(reading)
        return reading

    def _pass(self, begin: datetime | None, latest: datetime | None) -> _Reading:
        reading = _Reading(Tally(self._name), begin, latest, self._app)
        for path in self._paths:
            files = files_below(path)
            if not files:
                reading.partial.append(f"{path} holds no files")
            for file in files:
                inside = file.relative_to(path).as_posix() if file != path else file.name
                self._read_file(file, inside, reading)
        return reading

    def _read_file(self, file: Path, label: str, reading: _Reading) -> None:
        before = reading.entries
        try:
            for entry in entries_of(file, label, self._exceptions):
                reading.count(entry)
        except GiveUp as error:
            reading.unread.append(str(error))
            return
        reading.opened += 1
        if reading.entries == before:
            reading.partial.append(f"{label} holds no records")

    def _check(self, reading: _Reading) -> None:
        """A night that could read nothing must not report that there was nothing."""
        if not self._paths:
            raise StopTheNight("no error file is given: name one with --errors")
        if not reading.opened and reading.unread:
            raise StopTheNight(f"no error file can be read: {'; '.join(reading.unread[:3])}")
        if not reading.readable and reading.rejected:
            first = "; ".join(f"{reject.place}: {reject.reason}" for reject in reading.rejects[:3])
            raise StopTheNight(
                f"none of the {reading.rejected} records of {self._names} is readable ({first}): "
                "give JSON Lines, a JSON export or a log with stack traces"
            )


def _links(trace: Trace, group: ErrorGroup) -> tuple[ExceptionLink, ...]:
    """The chain of a trace; its first link is what the group says where the text names nothing."""
    first, *others = trace.links
    if first.error_class:
        return trace.links
    named = {"error_class": group.error_class, "message": group.message}
    return (first.model_copy(update=named), *others)


def _window(reading: _Reading) -> Window | None:
    if reading.tally.span is None:
        return None
    first, last = reading.tally.span
    return Window(since=max(first, reading.begin or first), until=last + A_MOMENT)


def _rejects(reading: _Reading) -> tuple[RejectedRecord, ...]:
    more = reading.rejected - len(reading.rejects)
    rest = RejectedRecord(
        place="", reason=f"{more} more records are unreadable; they are not listed"
    )
    return (*reading.rejects, *([rest] if more else []))


def _partial(reading: _Reading) -> tuple[str, ...]:
    tally, missing = reading.tally, [*reading.unread, *reading.partial]
    if reading.ahead:
        missing.append(f"{reading.ahead} records say a time in the future; counted without a time")
    if tally.left_out:
        missing.append(f"{tally.left_out} records of more than {GROUPS} errors are left out")
    if tally.stacks_left_out:
        missing.append(f"{tally.stacks_left_out} stack traces are left out: too much text")
    return tuple(dict.fromkeys(missing))
