"""Bounds the folder of Prefect's results, which deletes nothing by itself."""

import time
from pathlib import Path
from typing import NamedTuple

from nightwatch_core.adapters.stores.limits import RECORD_BYTES, RECORD_DAYS

OURS = ("analysis", "code", "night", "turns")  # folders of records that are named by us
DAY = 86_400.0  # seconds


class Pruned(NamedTuple):
    """What was deleted, and what is left."""

    deleted: int
    left: int
    bytes: int  # of what is left


def prune(
    folder: Path, *, days: float = RECORD_DAYS, room: int = RECORD_BYTES, now: float | None = None
) -> Pruned:
    """Delete records not used for `days`, then those used least recently beyond `room` bytes.

    Other results in the folder are left alone; `now` is in seconds since 1970.
    """
    since = (time.time() if now is None else now) - days * DAY
    files = [file for name in OURS for file in _files(folder / name)]
    files.sort(reverse=True)  # newest first
    used = deleted = 0
    for changed, size, path in files:
        if changed >= since and used + size <= room:
            used += size
            continue
        path.unlink(missing_ok=True)
        deleted += 1
    for name in OURS:
        _drop_empty_folders(folder / name)
    return Pruned(deleted, len(files) - deleted, used)


def _files(folder: Path) -> list[tuple[float, int, Path]]:
    found = []
    for path in folder.rglob("*"):
        try:
            about = path.lstat()
        except OSError:  # gone in between
            continue
        if not path.is_dir():
            found.append((about.st_mtime, about.st_size, path))
    return found


def _drop_empty_folders(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            try:
                path.rmdir()
            except OSError:  # it holds something
                continue
