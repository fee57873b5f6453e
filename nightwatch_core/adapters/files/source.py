"""Errors from files: exports of error trackers, JSON logs, tables, plain logs, packed or not."""

import filecmp
import glob
import hashlib
import os
import secrets
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import IO, NamedTuple

from nightwatch_core.adapters.files import limits
from nightwatch_core.adapters.files.frames import ReportedExceptions
from nightwatch_core.adapters.files.json_values import Enough, Listener, Meter
from nightwatch_core.adapters.files.occurrences import CLOCK_SLACK, Entry, FileReader
from nightwatch_core.adapters.files.records import name_of
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.intake.grouping import Tally
from nightwatch_core.intake.limits import GROUPS
from nightwatch_core.models.code import Release
from nightwatch_core.models.errors import (
    ErrorGroup,
    ExceptionLink,
    Fetched,
    FileContents,
    Occurrence,
    RejectedRecord,
    Trace,
    Window,
)
from nightwatch_core.models.options import STANDARD_INPUT
from nightwatch_core.text.plain_text import plural
from nightwatch_core.traces.parsing import parse

# Which files are meant: names with commas between them, folders, patterns, lists of names.

_LIST = "@"  # before the name of a file that lists names, one a line
_MOST_COMMAS = 8  # in one name
_LIST_LIMIT = 16_777_216  # bytes of a list of names


class File(NamedTuple):
    """A file to read, and what stands for it in places."""

    path: Path
    label: str


def named_paths(errors: str) -> tuple[Path, ...]:
    """Split names with commas between them; a name that is there may hold commas itself.

    >>> [str(path) for path in named_paths("a.log, logs/*.gz")]
    ['a.log', 'logs/*.gz']
    """
    whole = _path(errors)
    if errors and is_there(whole):
        return (whole,)
    parts, names, at = errors.split(","), [], 0
    while at < len(parts):
        for end in range(min(len(parts), at + _MOST_COMMAS + 1), at, -1):
            joined = ",".join(parts[at:end]).strip()
            if end == at + 1 or is_there(_path(joined)):
                names += [_path(joined)] if joined else []
                at = end
                break
    return tuple(names)


def files_of(path: Path) -> Iterator[File | str]:
    """Yield a file, or those of a folder, pattern or list; sentences say what is wrong."""
    text = str(path)
    if is_there(path):
        yield from _of_folder(path) if path.is_dir() else (_file(path),)
    elif text == STANDARD_INPUT:
        yield "the standard input is read by `--errors -` of a command alone"
    elif text.startswith(_LIST):
        yield from _of_list(_path(text.removeprefix(_LIST)))
    elif glob.has_magic(text):
        matches = islice(glob.iglob(text, recursive=True), limits.MAX_FILES + 1)  # noqa: PTH207
        files = [_file(path) for path in sorted(map(Path, matches)) if path.is_file()]
        yield from files or (f"no file matches {_shown(text)}",)
    else:
        yield _file(path)  # that it does not exist is said when it is opened


def is_there(path: Path) -> bool:
    """Tell whether something has that name; broken links and impossible names have nothing."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _of_folder(folder: Path) -> Iterator[File | str]:
    """Files below a folder, sorted; hidden ones are left out, links to folders not followed."""
    below: list[Path] = []
    unreadable: list[OSError] = []
    for root, folders, names in os.walk(folder, onerror=unreadable.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below += (Path(root, name) for name in names if not name.startswith("."))
        if len(below) > limits.MAX_FILES:
            break
    for path in sorted(below):
        if path.is_file():
            yield _file(path, folder)
        else:
            yield f"{_shown(path)} is {'a broken link' if path.is_symlink() else 'no file'}"
    for error in unreadable:
        yield f"{_shown(error.filename)} cannot be read ({error.strerror}): check permissions"
    if not below:
        yield f"{_shown(folder)} holds no files"


def _of_list(path: Path) -> Iterator[File | str]:
    try:
        with path.open("rb") as file:
            text = file.read(_LIST_LIMIT).decode("utf-8-sig", "replace")
    except (OSError, ValueError) as error:
        yield f"the list {_shown(path)} cannot be read: {_shown(error)}"
        return
    names = [line.strip() for line in text.splitlines() if line.strip()]
    if not names:
        yield f"{_shown(path)} lists no files"
    for name in names:
        if name.startswith(_LIST):
            yield f"{_shown(path)}: a list names no lists"
        else:
            yield from files_of(_path(name))


def _path(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # the home of nobody
        return Path(name)


def _file(path: Path, folder: Path | None = None) -> File:
    return File(path, _shown(path.relative_to(folder).as_posix() if folder else path.name))


def _shown(name: object) -> str:
    """A name as text on one line: file names may hold any byte."""
    return name_of(str(name))


# What one pass over files of errors gave.

A_MOMENT = timedelta(microseconds=1)
SEEN_BEFORE = "× an event that an earlier file holds (counted once)"
COPIES = "× a file that is a copy of another one (read once)"


@dataclass
class Reading:
    """The result of one pass over all files."""

    tally: Tally
    begin: datetime | None  # records before it are left out
    latest: datetime | None  # times after it cannot be
    app: str = ""  # of records that name none
    rejects: dict[tuple[str, str, str], RejectedRecord] = field(default_factory=dict)
    rejected: int = 0
    harmless: int = 0  # records that are no errors
    older: int = 0
    ahead: int = 0
    opened: int = 0
    shapes: Counter[str] = field(default_factory=Counter)  # records by the name of their shape
    left_out: Counter[str] = field(default_factory=Counter)  # what was not taken, by its reason
    entries: int = 0
    unread: list[str] = field(default_factory=list)  # why files could not be read
    partial: list[str] = field(default_factory=list)
    several: bool = False  # files, which may hold the same events
    in_file: Counter[int] = field(default_factory=Counter)  # how often each event
    earlier: Counter[int] = field(default_factory=Counter)  # how often in one earlier file, at most
    _is_fine: bool = False  # times tell more than seconds

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
            key = (entry.place.rpartition(":")[0], entry.reason, entry.text)
            if earlier := self.rejects.get(key):
                self.rejects[key] = earlier.model_copy(update={"count": earlier.count + 1})
            elif len(self.rejects) < limits.MAX_REJECTS:
                self.rejects[key] = entry
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
        if self.several and self._is_in_earlier(seen):
            self.left_out[SEEN_BEFORE] += 1
            return
        self.tally.add(seen if seen.app else seen.model_copy(update={"app": self.app}))

    def _is_in_earlier(self, seen: Occurrence) -> bool:
        """Tell an event that an earlier file holds; what one file repeats did happen again.

        Without an id, equal events of one second may be those of two machines.
        """
        last = seen.last_seen
        self._is_fine = self._is_fine or bool(last and last.microsecond)
        if len(seen.event) >= limits.EVENT_ID:
            event = hash((seen.event, seen.error_class, last and last.replace(microsecond=0)))
        elif last and (self._is_fine or seen.count > 1):
            event = hash(seen.model_copy(update={"place": ""}))
        else:
            return False
        self.in_file[event] += 1
        return self.in_file[event] <= self.earlier[event]


def window_of(reading: Reading) -> Window | None:
    """Return the span of the records that count; None where no record says a time."""
    if reading.tally.span is None:
        return None
    first, last = reading.tally.span
    return Window(since=max(first, reading.begin or first), until=last + A_MOMENT)


def rejects_of(reading: Reading) -> tuple[RejectedRecord, ...]:
    """List what could not be read; the last line counts what is not listed."""
    listed = tuple(reading.rejects.values())
    more = reading.rejected - sum(item.count for item in listed)
    reason = f"{more} more records are unreadable; they are not listed"
    return (*listed, *([RejectedRecord(place="", reason=reason, count=more)] if more else []))


def left_out_of(reading: Reading) -> tuple[str, ...]:
    """Count what was not taken though it may matter to somebody, by its reason."""
    return tuple(f"{count:,} {reason}" for reason, count in reading.left_out.most_common())


def missing_of(reading: Reading) -> tuple[str, ...]:
    """Say what else is missing, a sentence each."""
    tally, of_files = reading.tally, tuple(dict.fromkeys((*reading.unread, *reading.partial)))
    missing = list(of_files[: limits.MAX_SENTENCES])
    if len(of_files) > limits.MAX_SENTENCES:
        missing.append(f"{len(of_files) - limits.MAX_SENTENCES:,} more sentences like these")
    if reading.ahead:
        missing.append(f"{plural(reading.ahead, 'record')} of a future time, counted without one")
    if tally.left_out:
        missing.append(f"{plural(tally.left_out, 'record')} of more than {GROUPS} errors left out")
    if tally.stacks_left_out:
        missing.append(f"{plural(tally.stacks_left_out, 'stack trace')} left out: too much text")
    return tuple(missing)


NO_TIMES = timedelta(days=1)  # the window of records that say no time


@dataclass(eq=False)
class ErrorFiles:
    """An `ErrorSource` on files and folders; their formats are told by content, not by name.

    The window is the span of the records: from the first to a microsecond after the last, which
    stands for "now". Records older than the lookback before the last record are left out; records
    without a time are always counted. The files are read once, and again for another lookback.
    """

    paths: tuple[Path, ...]  # read when first asked
    name: str = "file"
    app_prefixes: tuple[str, ...] = ()  # they help to read stack traces, as does the language
    language: str = ""
    app: str = ""  # of records that name none
    listener: Listener | None = None  # hears how far the reading is
    zone: tzinfo = UTC  # of times without one
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _newest: Reading | None = field(default=None, init=False)
    _lookback: timedelta | None = field(default=None, init=False)  # of the newest reading

    @cached_property
    def _exceptions(self) -> ReportedExceptions:
        return ReportedExceptions(self._exception_of)

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        """The records' span, or its last `lookback`; raises `StopTheNight` like `error_groups`."""
        reading = self._reading(lookback, now)
        return window_of(reading) or Window(since=now - (lookback or NO_TIMES), until=now)

    def error_groups(self, window: Window) -> Fetched:
        """Return all groups of the window; raises `StopTheNight` where nothing is readable."""
        reading = self._newest or self._reading(window.until - window.since, window.until)
        return Fetched(
            groups=reading.tally.groups(window),
            window=window,
            rejects=rejects_of(reading),
            partial=missing_of(reading),
            left_out=left_out_of(reading),
        )

    def traces(self, group: ErrorGroup, limit: int = 3) -> tuple[Trace, ...]:
        reading = self._newest or self._reading(None, None)
        parsed = (
            (parse(stack.raw, self.language, self.app_prefixes), stack.release)
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

    def check_names(self) -> None:
        unread = []
        for item in chain.from_iterable(map(files_of, self.paths)):
            if isinstance(item, File) and is_there(item.path):
                return
            label = (
                item if isinstance(item, str) else f"{item.label} does not exist: check the name"
            )
            unread.append(label)
        raise StopTheNight(f"no error file can be read: {'; '.join(unread[:3])}")

    def probe(self) -> str:
        """Say how much is there; reads the files."""
        reading = self._reading(None, None)
        window = window_of(reading)
        facts = [plural(reading.tally.records, "record")]
        if window:
            facts.append(f"{window.since:%Y-%m-%d %H:%M} to {window.until:%Y-%m-%d %H:%M} UTC")
        facts += [f"{reading.harmless} that are no errors"] if reading.harmless else []
        facts += [f"{reading.rejected} unreadable"] if reading.rejected else []
        facts += left_out_of(reading)
        return f"{self._names}: {', '.join((*facts, *missing_of(reading)[:3]))}"

    def contents(self) -> FileContents:
        reading = self._reading(None, None, may_fail=False)
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
        return ", ".join(name_of(str(path)) for path in self.paths) or "no file"

    def _exception_of(self, raw: str) -> ExceptionLink:
        trace = parse(raw, self.language, self.app_prefixes)
        reported = trace.links[0] if trace.links else ExceptionLink()
        frames = (trace.top,) if trace.top else trace.frames[:1]
        return reported.with_frames(frames)

    def _reading(
        self, lookback: timedelta | None, until: datetime | None, *, may_fail: bool = True
    ) -> Reading:
        """Read the files, unless they were read for this lookback."""
        with self._lock:
            if self._newest is None or self._lookback != lookback:
                self._newest = self._read(lookback, until and until + CLOCK_SLACK)
                self._lookback = lookback
            reading = self._newest
        if may_fail and not reading.readable and reading.rejected:
            rejects = list(reading.rejects.values())[:3]
            first = "; ".join(f"{reject.place}: {reject.reason}" for reject in rejects)
            raise StopTheNight(
                f"none of the {plural(reading.rejected, 'record')} of {self._names} is readable "
                f"({first}): "
                "give JSON Lines, a JSON export, a table or a log with stack traces; the shapes "
                "that are read are listed in nightwatch_core/adapters/files/README.md"
            )
        return reading

    def _read(self, lookback: timedelta | None, latest: datetime | None) -> Reading:
        if not self.paths:
            raise StopTheNight("no error file is given: name one with --errors")
        reading = self._pass(None, latest)
        if reading.ahead and reading.tally.span is None:
            reading = self._pass(None, None)  # not the records' clock is wrong, but the caller's
        window = window_of(reading)
        if lookback is not None and window and window.since < window.until - lookback:
            reading = self._pass(window.until - lookback, reading.latest)
        if not reading.opened and reading.unread:
            raise StopTheNight(f"no error file can be read: {'; '.join(reading.unread[:3])}")
        return reading

    def _pass(self, begin: datetime | None, latest: datetime | None) -> Reading:
        reading = Reading(Tally(self.name), begin, latest, self.app)
        files: list[File] = []
        by_size = defaultdict[int, list[Path]](list)
        for item in chain.from_iterable(map(files_of, self.paths)):
            if isinstance(item, str):
                reading.unread.append(item)
            elif (size := _size(item)) and _is_copy(item.path, by_size[size]):
                reading.left_out[COPIES] += 1
            elif len(files) < limits.MAX_FILES:
                files.append(item)
            else:
                reading.unread.append(f"files after the first {limits.MAX_FILES:,} are left out")
                break
        reading.several = len(files) > 1
        meter = Meter(self.listener, total=sum(map(_size, files)))
        for number, file in enumerate(files, 1):
            try:
                self._read_file(file, reading, meter)
            except Enough as bound:
                left = f", and {len(files) - number} more files" if number < len(files) else ""
                what = f"what follows{left} is left out: give a part of it"
                reading.partial.append(f"{file.label}: {bound}; {what}")
                break
        return reading

    def _read_file(self, file: File, reading: Reading, meter: Meter) -> None:
        before = reading.entries
        reading.earlier |= reading.in_file
        reading.in_file.clear()
        reader = FileReader(file.label, self._exceptions, meter, self.zone)
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


def _is_copy(path: Path, of_its_size: list[Path]) -> bool:
    """Compare a file with those that are as long, and add it to them."""
    of_its_size.append(path)
    with suppress(OSError, ValueError):
        return any(filecmp.cmp(path, other, shallow=False) for other in of_its_size[:-1])
    return False


def _size(file: File) -> int:
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


# What a person pasted or piped in, kept as a file, so that it can be read again.


def keep_pasted(text: str, folder: Path) -> Path:
    """Write what a person pasted to a file; raises `StopTheNight` where it is empty or huge."""
    if not text.strip() or len(text) > limits.PASTE_LIMIT:
        raise StopTheNight("paste one record: JSON, or a log excerpt with its stack trace")
    return keep_stream(BytesIO(text.encode(errors="replace")), folder)


def keep_stream(stream: IO[bytes], folder: Path, most: int = limits.MOST_BYTES) -> Path:
    """Write all of a stream to a file that is named by its content, so that the same is kept once.

    Files of streams that were given long ago are deleted.
    Raises `StopTheNight` where it is empty, longer than `most` bytes, or cannot be written.
    """
    temporary = folder / f"{atomic_files.TEMPORARY}{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        oldest = time.time() - limits.KEPT_DAYS * 86_400
        for path in folder.glob("*.txt"):
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
        temporary.touch(atomic_files.OWNERS)
        with temporary.open("wb") as file:
            name = _copied(stream, file, most)
        return temporary.replace(folder / f"{name}.txt")
    except OSError as error:
        raise StopTheNight(
            f"cannot write {folder}: {error}; name another state folder with NIGHTWATCH_STATE"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _copied(stream: IO[bytes], file: IO[bytes], most: int) -> str:
    digest, size = hashlib.sha256(), 0
    while block := stream.read(limits.CHUNK):
        size += len(block)
        if size > most:
            raise StopTheNight(f"the input is longer than {most / 1e6:,.0f} MB: give a file")
        digest.update(block)
        file.write(block)
    if not size:
        raise StopTheNight("the input is empty: `--errors -` reads records from it")
    return digest.hexdigest()[:16]
