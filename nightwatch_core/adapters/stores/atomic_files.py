"""Files that are either whole or not there, whenever the power goes, and places with one writer."""

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater

PATIENCE = 30.0  # seconds until another writer of a place, or of the database, has to be done
DOCUMENT_BYTES = 1024 * 1024
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
    """Write or replace a file and bring it to the disk; raises `OSError`.

    The content goes to a temporary file in the folder, or in `through`, and then to its name.
    `mode` are its permissions; `SHARED` leaves them to the system.
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


def create(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, whole; raises `FileExistsError`, or another `OSError`."""
    own = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
    try:
        write(own, content)
        os.link(own, path)
    finally:
        own.unlink(missing_ok=True)


def append(path: Path, content: bytes) -> None:
    """Add to a file that only its owner may read, made where it is missing; raises `OSError`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, OWNERS)
    try:
        os.write(handle, content)
    finally:
        os.close(handle)


def move(path: Path, target: Path, sync: Sync = os.fsync) -> None:
    """Give a file another name on the same disk, replacing what has it; raises `OSError`."""
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

    Raises `TryLater` after `patience` seconds, `trouble` where the place cannot be written.
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


@contextmanager
def on_disk(folder: Path) -> Iterator[None]:
    """Raise `StopTheNight` with what to do where a folder of the state cannot be used."""
    try:
        yield
    except OSError as error:
        raise StopTheNight(
            f"{folder} cannot be used ({error.strerror or error}): free some space, check who may "
            "write there, or name another state folder with NIGHTWATCH_STATE"
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
    """Make the folder, or take from others every right to it and to anything in it.

    Links are not followed. Raises `StopTheNight` where there cannot be such a folder.
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
