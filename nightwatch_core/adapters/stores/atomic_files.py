"""Files that are either whole or not there, whenever the power goes."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

Sync = Callable[[int], None]  # brings what a file descriptor names to the disk


def write(path: Path, content: bytes, through: Path | None = None, sync: Sync = os.fsync) -> None:
    """Write or replace a file, and its folder where it is missing; raises `OSError`.

    The content goes to a temporary neighbour, or one in the folder `through` of the same disk, to
    the disk, and only then to its name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = (through or path.parent) / f".tmp-{secrets.token_hex(8)}"
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            sync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _keep(path.parent, sync)


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


def _keep(folder: Path, sync: Sync) -> None:
    """Bring a folder's names to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        sync(handle)
    finally:
        os.close(handle)
