"""How the state folder is: usable, with room on its disk, or with locks of a killed process."""

import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from nightwatch_core.adapters.stores.limits import NIGHT_BYTES
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.health import StateFolder

OLD = 3_600  # seconds: no command of ours holds one of git's locks that long
LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "shallow.lock", "config.lock")
MOST = 50  # repositories that are looked at
_FOLDERS = ("nights", "results", "transcripts", "batches", "sample", "clones", "input", "pasted")
_FILES = ("nightwatch.db", "mask-key", "recall.sqlite3", "knowledge-index.json")


def check_state_folder(state: Path, needed: int = 0) -> None:
    """Raise `StopTheNight` where nothing can be kept in `state`, before anything is paid for.

    That is, where it is no folder or cannot be made, read or written, where something else lies in
    the place of what belongs there, or where its disk has less than `needed` bytes left.
    """
    try:
        why = _in_the_way(state) or _lack_of_room(state, needed)
    except OSError as error:
        why = f"{error.strerror or error}"
    if why:
        told = ascii(f"the state folder {str(state)[:300]} cannot be used ({why[:500]})")[1:-1]
        raise StopTheNight(f"{told}: mend that, or name another folder with NIGHTWATCH_STATE")


def check_room_for_a_night(state: Path) -> None:
    """Check the folder, and that a night's report, lessons and records fit on its disk."""
    check_state_folder(state, NIGHT_BYTES)


def _in_the_way(state: Path) -> str:
    try:
        state.lstat()
    except FileNotFoundError:
        above = next(place for place in state.absolute().parents if os.path.lexists(place))
        return _wrong(above, is_folder=True)
    parts = [(state, True), *((state / name, True) for name in _FOLDERS)]
    parts += [(state / name, False) for name in _FILES]
    there = (_wrong(path, is_folder) for path, is_folder in parts if os.path.lexists(path))
    return next(filter(None, there), "")


def _wrong(path: Path, is_folder: bool) -> str:
    """What is wrong with something that is there."""
    if not (path.is_dir() if is_folder else path.is_file()):
        return f"{path} is no {'folder' if is_folder else 'file'}"
    rights = os.R_OK | os.W_OK | (os.X_OK if is_folder else 0)
    return "" if os.access(path, rights) else f"{path} cannot be read and written"


def _lack_of_room(state: Path, needed: int) -> str:
    above = next(place for place in (state, *state.absolute().parents) if place.exists())
    left = shutil.disk_usage(above).free if needed else 0
    if left >= needed:
        return ""
    return f"{left / 2**20:.1f} MiB are left on its disk, and a night needs {needed / 2**20:.0f}"


def state_folder(state: Path, repositories: Iterable[Path], now: float) -> StateFolder:
    """Look at the disk of `state`, and for old locks in `repositories` and in the clones there.

    `now` is in seconds since 1970. What cannot be looked at is left out.
    """
    try:
        disk = shutil.disk_usage(state)
    except OSError:
        return StateFolder()
    places = (*repositories, *islice(_clones(state), MOST))
    locks = (str(lock) for place in places for lock in _old_locks(place, now))
    return StateFolder(free=disk.free, size=disk.total, old_locks=tuple(locks))


def _clones(state: Path) -> Iterator[Path]:
    try:
        yield from sorted((state / "clones").glob("*/*.git"))
    except OSError:
        return


def _old_locks(repository: Path, now: float) -> Iterator[Path]:
    """Locks of git in a work tree's or bare repository's own folder."""
    folder = repository / ".git"
    for lock in ((folder if folder.is_dir() else repository) / name for name in LOCKS):
        try:
            if now - lock.stat().st_mtime > OLD:
                yield lock
        except OSError:
            continue
