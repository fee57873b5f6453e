"""The state folder: checks of it, records and batches."""

import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout
from pydantic import ValidationError

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.atomic_files import PATIENCE, make_private
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.batch import Batch
from nightwatch_core.models.options import StateFolder

RECORD_DAYS = 30  # since a record was last used
RECORD_BYTES = 512 * 1024 * 1024  # of all records; those used least recently go first
NIGHT_BYTES = 16 * 1024 * 1024  # that are left on its disk when a night begins
COLLECTED_DAYS = 100  # what a batch said of an error holds as long as a lesson
JOURNAL_DAYS, JOURNAL_ROOM = 30, 500 * 2**20  # until a night's journal is deleted; bytes of all

_FOLDERS = ("nights", "results", "journal", "batches", "sample", "clones", "input", "pasted")
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
OURS = ("analysis", "code", "gate", "health", "night", "proofs", "runs", "single", "talks")
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
    Keeping("journals", JOURNAL_DAYS, JOURNAL_ROOM, "state", ("journal/*.jsonl*",)),
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
