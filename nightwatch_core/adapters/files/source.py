"""Errors from files: exports of error trackers, JSON logs, tables, plain logs, packed or not."""

import threading
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from nightwatch_core.adapters.files.error_paths import File, files_of
from nightwatch_core.adapters.files.file_reader import CLOCK_SLACK, FileReader
from nightwatch_core.adapters.files.meter import Bounds, Enough, Listener, Meter
from nightwatch_core.adapters.files.reading import (
    Reading,
    left_out_of,
    missing_of,
    rejects_of,
    window_of,
)
from nightwatch_core.adapters.files.record_values import name_of
from nightwatch_core.adapters.files.reported_exceptions import ReportedExceptions
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.intake.grouping import Tally
from nightwatch_core.models.code import Release
from nightwatch_core.models.error import ErrorGroup, Fetched, Window
from nightwatch_core.models.file_contents import FileContents
from nightwatch_core.models.trace import ExceptionLink, Trace
from nightwatch_core.traces.parsing import parse

NO_TIMES = timedelta(days=1)  # the window of records that say no time
_BOUNDS = Bounds()


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
        bounds: Bounds = _BOUNDS,
        listener: Listener | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        """Read `paths` when first asked; prefixes and language help to read stack traces.

        Records that name no application are of `app`. Times without a zone are of `zone`.
        The `listener` hears how far the reading is.
        """
        self._zone = zone
        self._bounds = bounds
        self._listener = listener
        self._app = app
        self._paths = paths
        self._name = name
        self._app_prefixes = app_prefixes
        self._language = language
        self._lock = threading.Lock()
        self._kept: dict[timedelta | None, Reading] = {}
        self._newest: Reading | None = None
        self._exceptions = ReportedExceptions(self._exception_of)

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        """The records' span, or its last `lookback`; raises `StopTheNight` like `error_groups`."""
        reading = self._reading(lookback, now)
        return window_of(reading) or Window(since=now - (lookback or NO_TIMES), until=now)

    def error_groups(self, window: Window) -> Fetched:
        """All groups of the window; raises `StopTheNight` where nothing is readable."""
        reading = self._newest or self._reading(window.until - window.since, window.until)
        return Fetched(
            groups=reading.tally.groups(window),
            window=window,
            rejects=rejects_of(reading),
            partial=missing_of(reading),
            left_out=left_out_of(reading),
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
        window = window_of(reading)
        facts = [f"{reading.tally.records} records"]
        if window:
            facts.append(f"{window.since:%Y-%m-%d %H:%M} to {window.until:%Y-%m-%d %H:%M} UTC")
        facts += [f"{reading.harmless} that are no errors"] if reading.harmless else []
        facts += [f"{reading.rejected} unreadable"] if reading.rejected else []
        facts += left_out_of(reading)
        return f"{self._names}: {', '.join((*facts, *missing_of(reading)[:3]))}"

    def contents(self) -> FileContents:
        """Say what is there, and in which shapes, also where no record of it is readable."""
        reading = self._kept_reading(None, None)
        return FileContents(
            shapes=tuple(reading.shapes.most_common()),
            records=reading.tally.records,
            harmless=reading.harmless,
            left_out=tuple(reading.left_out.most_common()),
            rejected=reading.rejected,
            rejects=tuple(reading.rejects.values()),
            missing=missing_of(reading),
            window=window_of(reading),
        )

    @property
    def _names(self) -> str:
        return ", ".join(name_of(str(path)) for path in self._paths) or "no file"

    def _exception_of(self, raw: str) -> ExceptionLink:
        """The exception that a raw stack trace reports, and one of its frames if it has any."""
        trace = parse(raw, self._language, self._app_prefixes)
        reported = trace.links[0] if trace.links else ExceptionLink()
        return reported.model_copy(update={"frames": trace.frames[:1]})

    def _reading(self, lookback: timedelta | None, until: datetime | None) -> Reading:
        reading = self._kept_reading(lookback, until)
        self._check_records(reading)
        return reading

    def _kept_reading(self, lookback: timedelta | None, until: datetime | None) -> Reading:
        with self._lock:
            if lookback not in self._kept:
                self._kept[lookback] = self._read(lookback, until and until + CLOCK_SLACK)
            self._newest = self._kept[lookback]
            return self._newest

    def _read(self, lookback: timedelta | None, latest: datetime | None) -> Reading:
        reading = self._kept.get(None) or self._pass(None, latest)
        if reading.ahead and reading.tally.span is None:
            reading = self._pass(None, None)  # not the records' clock is wrong, but the caller's
        window = window_of(reading)
        if lookback is not None and window and window.since < window.until - lookback:
            reading = self._pass(window.until - lookback, reading.latest)
        self._check_files(reading)
        return reading

    def _pass(self, begin: datetime | None, latest: datetime | None) -> Reading:
        reading = Reading(Tally(self._name), begin, latest, self._app)
        below = [files_of(path) for path in self._paths]
        files = [file for one in below for file in one.files]
        reading.unread += [sentence for one in below for sentence in one.unread]
        reading.partial += [sentence for one in below for sentence in one.left_out]
        meter = Meter(self._bounds, self._listener, total=sum(map(_size, files)))
        for number, file in enumerate(files, 1):
            try:
                self._read_file(file, reading, meter)
            except Enough as bound:
                left = f", and {len(files) - number} more files" if number < len(files) else ""
                reading.partial.append(
                    f"{file.label}: {bound}; what follows{left} is left out: give a part of it"
                )
                break
        return reading

    def _read_file(self, file: File, reading: Reading, meter: Meter) -> None:
        before = reading.entries
        reader = FileReader(file.label, self._exceptions, meter, self._zone)
        try:
            for entry in reader.entries(file.path):
                reading.count(entry)
        except GiveUp as error:
            reading.unread.append(str(error))
            return
        finally:
            reading.shapes.update(reader.shapes)
            reading.left_out.update(reader.left_out)
        reading.opened += 1
        if reading.entries == before:
            reading.partial.append(f"{file.label} holds no records")

    def _check_files(self, reading: Reading) -> None:
        if not self._paths:
            raise StopTheNight("no error file is given: name one with --errors")
        if not reading.opened and reading.unread:
            raise StopTheNight(f"no error file can be read: {'; '.join(reading.unread[:3])}")

    def _check_records(self, reading: Reading) -> None:
        """A night that could read nothing must not report that there was nothing."""
        if not reading.readable and reading.rejected:
            rejects = list(reading.rejects.values())[:3]
            first = "; ".join(f"{reject.place}: {reject.reason}" for reject in rejects)
            raise StopTheNight(
                f"none of the {reading.rejected} records of {self._names} is readable ({first}): "
                "give JSON Lines, a JSON export, a table or a log with stack traces; the shapes "
                "that are read are listed in nightwatch_core/adapters/files/README.md"
            )


def _size(file: File) -> int:
    """Bytes on disk; none of what cannot be read."""
    try:
        return file.path.stat().st_size
    except (OSError, ValueError):
        return 0


def _links(trace: Trace, group: ErrorGroup) -> tuple[ExceptionLink, ...]:
    """The chain of a trace; its first link is what the group says where the text names nothing."""
    first, *others = trace.links
    if first.error_class:
        return trace.links
    named = {"error_class": group.error_class, "message": group.message}
    return (first.model_copy(update=named), *others)
