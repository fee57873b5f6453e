"""A folder that only its owner can enter and read, with everything in it."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from nightwatch_core.errors import StopTheNight

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
