"""Files that are either whole or not there, whenever the power goes, and places with one writer."""

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater

OWNERS, SHARED = 0o600, 0  # permissions of files
TEMPORARY = ".tmp-"  # begins the name of a file that is being written
Sync = Callable[[int], None]  # brings what a file descriptor names to the disk


def write(
    path: Path,
    content: bytes,
    through: Path | None = None,
    mode: int = OWNERS,
    sync: Sync = os.fsync,
) -> None:
    """Write or replace a file, and its folder where it is missing; raises `OSError`.

    The content goes to a temporary neighbour, or one in the folder `through` of the same disk, to
    the disk, and only then to its name. `mode` are its permissions, the owner's alone where none
    are given; `SHARED` leaves them to the system.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = (through or path.parent) / f"{TEMPORARY}{secrets.token_hex(8)}"
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            if mode:
                os.fchmod(file.fileno(), mode)
            sync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _keep(path.parent, sync)


def rewrite(path: Path, content: bytes) -> None:
    """Write a file that people own: it keeps the permissions it has; raises `OSError`."""
    write(path, content, mode=stat.S_IMODE(path.lstat().st_mode) if path.exists() else SHARED)


def move(path: Path, target: Path, sync: Sync = os.fsync) -> None:
    """Give a file another name on the same disk: it has one of them, whenever the power goes.

    Raises `OSError`. What has the name already is replaced: look before, as the only writer.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)
    _keep(target.parent, sync)
    _keep(path.parent, sync)


def remove(path: Path, sync: Sync = os.fsync) -> None:
    """Remove a file, for good; one that is not there is removed already."""
    path.unlink(missing_ok=True)
    _keep(path.parent, sync)


@contextmanager
def only_writer(
    lock: Path, patience: float, place: str, trouble: type[NightWatchError] = GiveUp
) -> Iterator[None]:
    """Hold a lock file while a place is written to.

    Raises `TryLater` where another process holds it for longer than `patience` seconds, `trouble`
    where the place cannot be written.
    """
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock, timeout=patience):
            yield
    except Timeout as error:
        raise TryLater(f"another process keeps {lock} locked: try again when it is done") from error
    except OSError as error:
        raise trouble(
            f"cannot write to {place} ({error.strerror or error}): check its permissions and the "
            "space left on its disk"
        ) from error


def _keep(folder: Path, sync: Sync) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        sync(handle)
    finally:
        os.close(handle)


# A folder that only its owner can enter and read, with everything in it.

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private(folder: Path) -> None:
    """Make the folder, or take from others every right they have to it or to anything in it.

    Links are not followed; what belongs to somebody else stays as it is. Raises `StopTheNight`
    where there cannot be such a folder.
    """
    try:
        folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    except OSError as error:
        raise StopTheNight(
            f"{folder} cannot be made or is no folder ({error.strerror}): change NIGHTWATCH_STATE"
        ) from error
    _close(folder)
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            _close(Path(place, name))


def _close(path: Path) -> None:
    with suppress(OSError):  # gone in between, or not ours
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & OTHERS:
            path.chmod(stat.S_IMODE(mode) & ~OTHERS)


# The bounds of this room, each with its unit.

# Time, in seconds
PATIENCE = 30.0  # until another writer of the same place, or of the database, has to be done
PUBLISHING_PATIENCE = 120.0  # until another publisher has to be done

# Documents
DOCUMENT_BYTES = 1024 * 1024
AGENT_BYTES = 256 * 1024
TASK_FILES = 10_000
TASK_FOLDERS = 1_000  # in the folder of task files
KEPT_LESSONS = 1_000  # that stay in memory
ARCHIVED_LESSONS = 20  # of one short name, that are looked at

# Ledger and transcripts
REASON_CHARACTERS = 500
TRANSCRIPT_BYTES = 8_000_000
HEAD_CHARACTERS, TAIL_CHARACTERS = 14_000, 6_000  # kept of a longer text
ARGUMENT_LEVELS = 20  # of a tool's arguments
UNNAMED_DAYS = 30  # lists of what was sent outside nights

# Code that was read, and results of Prefect
CACHED_CHARACTERS = 64_000_000  # of JSON whose values stay in memory
NAMED_FILES = 2_000  # of what a reader read; the rest is counted
RECORD_DAYS = 30  # since a record was last used
RECORD_BYTES = 512 * 1024 * 1024  # of all records; those used least recently go first

# The state folder
NIGHT_BYTES = 16 * 1024 * 1024  # that are left on its disk when a night begins

# Batches
BATCH_BYTES = 512 * 1024 * 1024  # of one file: 100,000 errors have some 100 MB
COLLECTED_DAYS = 100  # between a batch that was collected, and one that makes it go: what was
# said of an error holds as long as a lesson, and is not asked again meanwhile
COLLECTED_ERRORS = 100_000  # of all collected batches; the oldest of them go first

BUNDLE_PACKED = 64 * 2**20  # bytes of a bundle that are read
BUNDLE_TEXT = 256 * 2**20  # bytes that it may unpack to
BUNDLE_ROOM = 500 * 2**20  # bytes of all bundles, beyond which the oldest go
