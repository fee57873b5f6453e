"""How the state folder is: room on its disk, and locks that a killed process may have left."""

import shutil
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from nightwatch_core.models.health import StateFolder

OLD = 3_600  # seconds: no command of ours holds one of git's locks that long
LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "shallow.lock", "config.lock")
MOST = 50  # repositories that are looked at


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
