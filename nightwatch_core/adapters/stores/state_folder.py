"""The state folder: checks of it, records, batches, bundles and transcripts."""

import json
import logging
import lzma
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout
from pydantic import ValidationError

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.atomic_files import PATIENCE, make_private
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.batch import Batch
from nightwatch_core.models.conversation import Transcript, TranscriptEntry
from nightwatch_core.models.options import StateFolder
from nightwatch_core.models.report import Bundle
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.replay.record import name_of
from nightwatch_core.replay.sealing import SCHEMA as BUNDLE_SCHEMA
from nightwatch_core.replay.sealing import opened

TRANSCRIPT_BYTES = 8_000_000
HEAD_CHARACTERS, TAIL_CHARACTERS = 14_000, 6_000  # kept of a longer text
ARGUMENT_LEVELS = 20  # of a tool's arguments
RECORD_DAYS = 30  # since a record was last used
RECORD_BYTES = 512 * 1024 * 1024  # of all records; those used least recently go first
NIGHT_BYTES = 16 * 1024 * 1024  # that are left on its disk when a night begins
COLLECTED_DAYS = 100  # what a batch said of an error holds as long as a lesson
BUNDLE_PACKED = 64 * 2**20  # bytes of a bundle that are read
BUNDLE_TEXT = 256 * 2**20  # bytes that it may unpack to
BUNDLE_ROOM = 500 * 2**20  # bytes of all bundles, beyond which the oldest go

_FOLDERS = ("nights", "results", "transcripts", "batches", "sample", "clones", "input", "pasted")
_FILES = ("nightwatch.db", "mask-key")


@contextmanager
def one_night(state: Path, say: Callable[[str], object]) -> Iterator[None]:
    """Hold the state folder: nights of several applications run one after another."""
    lock = FileLock(state / "nights" / ".lock")
    with atomic_files.on_disk(state):
        Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say(f"Another night runs in {state}: this one waits until it has ended.")
            lock.acquire()
    try:
        yield
    finally:
        lock.release()


def check_state_folder(state: Path, needed: int = 0) -> None:
    """Raise `StopTheNight` where `state` cannot be used, or has less than `needed` bytes left."""
    try:
        with suppress(FileNotFoundError):
            state.lstat()
        places = (state, *state.absolute().parents)
        lowest = next(place for place in places if os.path.lexists(place))
        inside = (state / name for name in (*_FOLDERS, *_FILES))
        existing = (lowest, *(path for path in inside if os.path.lexists(path)))
        reason = next(filter(None, map(_unusable, existing)), "")
        free = shutil.disk_usage(lowest).free if needed and not reason else needed
        if free < needed:
            left, least = f"{free / 2**20:.1f} MiB", f"{needed / 2**20:.0f}"
            reason = f"{left} are left on its disk, and a night needs {least}"
    except OSError as error:
        reason = f"{error.strerror or error}"
    if reason:
        shown = f"the state folder {str(state)[:300]} cannot be used ({reason[:500]})"
        raise StopTheNight(
            f"{ascii(shown)[1:-1]}: fix that, or set NIGHTWATCH_STATE to another folder"
        )


def check_room_for_a_night(state: Path) -> None:
    """Check the folder, and that a night's report, lessons and records fit on its disk."""
    check_state_folder(state, NIGHT_BYTES)


def _unusable(path: Path) -> str:
    is_folder = path.name not in _FILES
    if not (path.is_dir() if is_folder else path.is_file()):
        return f"{path} is no {'folder' if is_folder else 'file'}"
    rights = os.R_OK | os.W_OK | (os.X_OK if is_folder else 0)
    return "" if os.access(path, rights) else f"{path} cannot be read and written"


def state_folder(state: Path) -> StateFolder:
    """Look at the disk of `state`; zeros where it cannot be looked at."""
    try:
        disk = shutil.disk_usage(state)
    except OSError:
        return StateFolder()
    return StateFolder(free=disk.free, size=disk.total)


# folders of Prefect's results that are named by us
OURS = ("analysis", "code", "gate", "health", "night", "proofs", "runs", "single", "talks", "turns")
DAY = 86_400.0  # seconds


class Pruned(NamedTuple):
    """Counts of deleted and remaining files."""

    deleted: int
    left: int
    bytes: int  # of what is left
    freed: int = 0


def prune(
    folder: Path, *, days: float = RECORD_DAYS, room: int = RECORD_BYTES, now: float | None = None
) -> Pruned:
    """Delete records not used for `days`, then those used least recently beyond `room` bytes.

    Files of others in Prefect's folder are left alone; `now` is in seconds since 1970.
    """
    inside = [path for name in OURS for path in (folder / name).rglob("*")]
    folders = [path for path in inside if path.is_dir() and not path.is_symlink()]
    pruned = _keep_newest((path for path in inside if not path.is_dir()), days, room, now)
    for path in sorted(folders, reverse=True):
        with suppress(OSError):  # it holds something
            path.rmdir()
    return pruned


def _keep_newest(
    files: Iterable[Path],
    days: float,
    room: int,
    now: float | None,
    settled: float = 0.0,
    delete: Callable[[Path], object] = lambda path: path.unlink(missing_ok=True),
) -> Pruned:
    """What changed within `settled` days stays, whatever the room."""
    now = time.time() if now is None else now
    ages = []
    for path in files:
        with suppress(OSError):  # gone in between
            ages.append((*_age_and_size(path), path))
    used = deleted = freed = 0
    for changed, size, path in sorted(ages, reverse=True):
        is_wanted = changed >= now - days * DAY and used + size <= room
        if is_wanted or (settled and changed >= now - settled * DAY):
            used += size
        else:
            delete(path)
            deleted, freed = deleted + 1, freed + size
    return Pruned(deleted, len(ages) - deleted, used, freed)


def _age_and_size(path: Path) -> tuple[float, int]:
    """When something was changed and its bytes; of a folder those of everything in it."""
    about = path.lstat()
    if not stat.S_ISDIR(about.st_mode):
        return about.st_mtime, about.st_size
    inside = [Path(place, name).lstat() for place, _, names in os.walk(path) for name in names]
    newest = max((item.lstat().st_mtime for item in path.iterdir()), default=0.0)
    return max(about.st_mtime, newest), sum(item.st_size for item in inside)


class Keeping(NamedTuple):
    """How long and how much of something is kept; the newest first."""

    what: str
    days: float  # since it was changed or used
    room: int  # bytes of all
    place: str  # the folder that the patterns count from
    patterns: tuple[str, ...]


GIB = 2**30
KEEPING = (
    Keeping("bundles", 30, BUNDLE_ROOM, "state", ("bundles/*.bundle", "bundles/*.journal")),
    Keeping("transcripts", 100, 2 * GIB, "state", ("transcripts/*/*.jsonl",)),
    Keeping("clones", 30, 10 * GIB, "state", ("clones/*",)),
    Keeping("environments", 14, 10 * GIB, "sandbox", ("prepared/*",)),
    Keeping("given input", 7, GIB, "state", ("input/*", "pasted/*")),
    Keeping("archived lessons", 730, GIB // 16, "knowledge", ("archive/*.md",)),
)
SETTLED = 1.0  # days: a run that holds no lock may still use what is younger


def free_space(
    places: Mapping[str, Path], results: Path, *, dry: bool, now: float | None = None
) -> dict[str, Pruned]:
    """Delete what KEEPING says, and records, while no night runs; with `dry` only count."""
    delete = (lambda path: None) if dry else _delete
    freed = {}
    for rule in KEEPING:
        found = (path for pattern in rule.patterns for path in places[rule.place].glob(pattern))
        freed[rule.what] = _keep_newest(found, rule.days, rule.room, now, SETTLED, delete)
    records = (path for name in OURS for path in (results / name).rglob("*") if path.is_file())
    bounds = RECORD_DAYS, RECORD_BYTES, now, SETTLED, delete
    return freed | {"records": _keep_newest(records, *bounds)}


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# The key of masks: one for a state folder, never shown.

_BYTES = 32


def mask_key(state: Path) -> bytes:
    """Return the key of a state folder, made where it is missing or torn; raises `StopTheNight`."""
    path = state / "mask-key"
    try:
        if path.exists() and len(path.read_bytes()) != _BYTES:
            path.unlink(missing_ok=True)
        if not path.exists():
            with suppress(FileExistsError):  # of several processes the first one's key stays
                atomic_files.create(path, secrets.token_bytes(_BYTES))
        return path.read_bytes()
    except OSError as error:
        raise StopTheNight(
            f"{path} cannot be made or read ({error.strerror}): change NIGHTWATCH_STATE"
        ) from error


# Batches: one file each, `batches/<digest>.json`. A broken one is named and left as it is.

_ADVICE = "NightWatch leaves it unchanged. Fix it, or move it away"


class BatchFiles:
    """Batches below the folder `state`."""

    def __init__(self, state: Path, patience: float = PATIENCE) -> None:
        """Nothing is touched before it is needed; another process may take `patience` seconds."""
        self._folder, self._patience = state / "batches", patience

    def alone(self) -> AbstractContextManager[None]:
        make_private(self._folder)
        lock, place = self._folder / ".lock", str(self._folder)
        return atomic_files.only_writer(lock, self._patience, place, StopTheNight)

    def keep(self, batch: Batch) -> None:
        """Remove, with a new intent, batches that were collected long before."""
        fields = batch.model_dump(mode="json", exclude_defaults=True)
        content = json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")
        oldest = batch.submitted - timedelta(days=COLLECTED_DAYS)
        with atomic_files.on_disk(self._folder):
            make_private(self._folder)
            atomic_files.write(self._file(batch), content)
            for old in self.batches() if batch.is_intent else ():
                if old.collected_by and old.submitted < oldest:
                    atomic_files.remove(self._file(old))

    def drop(self, batch: Batch) -> None:
        kept, _ = _read(self._file(batch))
        if kept and kept.is_intent:
            with atomic_files.on_disk(self._folder):
                atomic_files.remove(self._file(batch))

    def batches(self) -> tuple[Batch, ...]:
        read = (batch for batch, _ in map(_read, self._files()) if batch)
        return tuple(sorted(read, key=lambda item: (item.submitted, item.digest)))

    def complaints(self) -> tuple[str, ...]:
        complaints = ((file, reason) for file in self._files() if (reason := _read(file)[1]))
        return tuple(f"{file}: {reason}: {_ADVICE}" for file, reason in complaints)

    def _file(self, batch: Batch) -> Path:
        return self._folder / f"{batch.digest}.json"

    def _files(self) -> list[Path]:
        with atomic_files.on_disk(self._folder):
            return sorted(self._folder.glob("*.json"))


def _read(file: Path) -> tuple[Batch | None, str]:
    try:
        batch = Batch.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"it cannot be read ({error.strerror or error})"
    except ValidationError as error:
        return None, f"it is no batch of this version ({error.error_count()} fields do not fit)"
    if file.stem != batch.digest:
        return None, f"it is the batch {batch.digest} under another name"
    return batch, ""


# Bundles of nights: `bundles/<night>.bundle`, for the owner only. A running night has a journal,
# which a resumed night reads. A bundle is a line that names it, and packed lines of text.

MAGIC = "NIGHTWATCH BUNDLE"
LEVEL = 3  # of lzma: a tenth larger than its best, in a fifth of the time
MEMORY = 128 * 2**20  # bytes that unpacking may take
_NIGHT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HEAD = re.compile(rf"{MAGIC} (\d{{1,6}}) ([0-9a-f]{{64}})\n".encode())
log = logging.getLogger(__name__)


class BundleFiles:
    """Bundles below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, night: str) -> Path:
        """Return where a night's bundle is; raises `GiveUp` for what cannot name one."""
        if not _NIGHT.fullmatch(night):
            raise GiveUp(f"{night[:80]!a} cannot name a night")
        return self._folder / f"{night}.bundle"

    def add(self, night: str, lines: Iterable[str]) -> None:
        """Add lines to a night's journal; raises `OSError`."""
        content = "".join(f"{line}\n" for line in lines).encode("ascii")
        atomic_files.append(self._journal(night), content)

    def journal(self, night: str) -> Iterator[str]:
        """Return the lines of a night's journal, as far as they were written."""
        path = self._journal(night)
        if path.is_file():
            with path.open(encoding="ascii", errors="replace") as file:
                for line in file:
                    yield line.rstrip("\n")

    def seal(self, night: str, lines: list[str], *, is_over: bool) -> Path:
        """Write a bundle; where the night is over its journal goes. Raises `OSError`."""
        path, name = self.path(night), name_of(lines[0])
        packed = lzma.compress("\n".join(lines).encode("ascii"), preset=LEVEL)
        atomic_files.write(path, f"{MAGIC} {BUNDLE_SCHEMA} {name}\n".encode() + packed)
        if is_over:
            self._journal(night).unlink(missing_ok=True)
        return path

    def prune(self, days: int, room: int = BUNDLE_ROOM, now: float | None = None) -> int:
        """Delete what is older than `days`, then the oldest beyond `room` bytes; count them."""
        return _keep_newest(self._files(), days, room, now).deleted

    def newest(self) -> Path:
        """Return the newest bundle; raises `GiveUp` where there is none."""
        bundles = [file for file in self._files() if file.suffix == ".bundle"]
        if not bundles:
            raise GiveUp(f"no bundle is in {self._folder}: run `nightwatch night` first")
        return max(bundles, key=lambda bundle: (bundle.stat().st_mtime, bundle.name))

    def _files(self) -> list[Path]:
        named = (*self._folder.glob("*.bundle"), *self._folder.glob("*.journal"))
        return [item for item in named if item.is_file() and not item.is_symlink()]

    def _journal(self, night: str) -> Path:
        return self.path(night).with_suffix(".journal")


def read_bundle(path: Path) -> Bundle:
    """Read and verify a bundle, whoever made it; raises `GiveUp` saying what is wrong with it."""
    try:
        with path.open("rb") as file:
            packed = file.read(BUNDLE_PACKED + 1)
    except OSError as error:
        raise GiveUp(f"{path} cannot be read: {error.strerror}") from error
    head = _HEAD.match(packed[:200])
    if head is None:
        raise GiveUp(f"{path} is no bundle of a night")
    if int(head[1]) > BUNDLE_SCHEMA:
        raise GiveUp(
            f"{path} is of a newer NightWatch (its schema is {int(head[1])}, this one reads up to "
            f"{BUNDLE_SCHEMA}): read it with that one"
        )
    if len(packed) > BUNDLE_PACKED:
        raise GiveUp(f"{path} is larger than {BUNDLE_PACKED:,} bytes: it is not ours")
    text = _unpacked(packed[head.end() :], path)
    return opened(head[2].decode(), text.split("\n"), len(packed))


def _unpacked(packed: bytes, path: Path) -> str:
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY)
    try:
        text = unpacker.decompress(packed, BUNDLE_TEXT)
    except (lzma.LZMAError, EOFError):
        raise GiveUp(f"{path} was cut or changed: it cannot be unpacked") from None
    if not unpacker.eof:
        more = "is larger than any night" if len(text) >= BUNDLE_TEXT else "was cut"
        raise GiveUp(f"{path} {more}: it cannot be unpacked")
    if unpacker.unused_data:
        raise GiveUp(f"{path} was changed: something follows its end")
    return text.decode("ascii", "replace")


# Transcripts: `transcripts/<night>/<fingerprint>.jsonl`, for the owner only. Lines are added at
# once, without secrets. A full disk costs the transcript, never the analysis.

LONGEST = 400_000  # characters of a text that are looked at; the rest is dropped


@dataclass(eq=False)
class Transcripts:
    """Keeps transcripts below `folder`, and finds them again."""

    folder: Path  # not touched before it is needed
    clock: Clock
    most: int = TRANSCRIPT_BYTES  # of a file
    scrub: Callable[[str], str] = REMOVAL.scrub
    _closed: set[Path] = field(default_factory=set, init=False)  # full, or where writing failed

    def keep(self, night: str, fingerprint: str, entry: TranscriptEntry) -> None:
        """Add one line; what cannot be written is logged once and left out."""
        file = self.folder / _file_name(night) / f"{_file_name(fingerprint)}.jsonl"
        if file in self._closed:
            return
        try:
            self._append(file, entry.model_copy(update={"at": self.clock.now()}))
        except OSError as trouble:
            self._closed.add(file)
            log.warning("the transcript %s cannot be written: %s", file, trouble.strerror)

    def find(self, name: str, night: str = "") -> Transcript:
        """Return the newest transcript of the error called `name`, or beginning so.

        Raises `StopTheNight` where none, or more than one error, is meant.
        """
        start = _file_name(name)
        files = [
            file
            for file in self.folder.glob("*/*.jsonl")
            if file.name.startswith(start) or file.name.partition("-")[2].startswith(start)
        ]
        files.sort(key=lambda file: (file.stat().st_mtime_ns, str(file)), reverse=True)
        matches = [(file, kept) for file in files if (kept := _read_transcript(file))]
        names = sorted({kept.fingerprint for _, kept in matches})
        if len(names) > 1:
            several = ", ".join(names[:5])
            raise StopTheNight(
                f"{name[:80]!r} matches {several}: give more characters of the fingerprint"
            )
        meant = [kept for file, kept in matches if night in ("", kept.night, file.parent.name)]
        if meant:
            return meant[0]
        if matches:
            nights = ", ".join(kept.night for _, kept in matches[:5])
            raise StopTheNight(f"no transcript of {names[0]} was kept in that night: see {nights}")
        raise StopTheNight(
            f"no transcript of {name[:80]!r} was kept: reports name the fingerprints, see "
            "`nightwatch report`"
        )

    def _append(self, file: Path, entry: TranscriptEntry) -> None:
        line = self._line(entry)
        size = file.stat().st_size if file.is_file() else 0
        if size + len(line) > self.most:
            self._closed.add(file)
            line = self._line(TranscriptEntry(kind="full", at=entry.at))
        atomic_files.append(file, line)

    def _line(self, entry: TranscriptEntry) -> bytes:
        values = self._clean(entry.model_dump(mode="json", exclude_defaults=True), ARGUMENT_LEVELS)
        return json.dumps(values).encode() + b"\n"

    def _clean(self, value: object, deep: int) -> object:
        if isinstance(value, str):
            return self._kept(value)
        if deep and isinstance(value, dict):
            return {
                self._kept(str(key)): self._clean(item, deep - 1) for key, item in value.items()
            }
        if deep and isinstance(value, list):
            return [self._clean(item, deep - 1) for item in value]
        return "…" if isinstance(value, dict | list) else value

    def _kept(self, text: str) -> str:
        """A text without secrets and half characters, which no reader takes; its middle may go."""
        text = self.scrub(text[:LONGEST]).encode("utf-8", "replace").decode()
        head, tail = text[:HEAD_CHARACTERS], text[-TAIL_CHARACTERS:]
        left = len(text) - HEAD_CHARACTERS - TAIL_CHARACTERS
        return f"{head}\n[… {left} characters left out …]\n{tail}" if left > 0 else text


def _read_transcript(file: Path) -> Transcript | None:
    try:
        lines = file.read_bytes()[: TRANSCRIPT_BYTES + 1_000].splitlines()
    except OSError:
        return None
    entries, unread = list[TranscriptEntry](), 0
    for line in lines:
        try:
            entry = TranscriptEntry.model_validate_json(line)
        except ValidationError:
            unread += 1
            continue
        if entry.opening and entry.opening.look == 1:
            entries, unread = [], 0
        entries.append(entry)
    begun = next((entry.opening for entry in entries if entry.opening), None)
    if begun is None:
        return None
    return Transcript(
        night=begun.night, fingerprint=begun.fingerprint, entries=tuple(entries), unread=unread
    )


def _file_name(name: str) -> str:
    return re.sub(r"^\.|[^A-Za-z0-9._-]", "-", name[:80])
