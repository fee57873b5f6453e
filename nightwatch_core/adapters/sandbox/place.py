"""Where a sandbox keeps trees, changes and dependencies: a folder that its user can be shown."""

import os
import shutil
import tempfile
import time
from pathlib import Path

from nightwatch_core.adapters.sandbox.limits import LEFT_SECONDS
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposal import FileChange

_FILES = {  # of /etc: this machine's are not shown
    "passwd": "root:x:0:0::/tmp:/bin/sh\nuser:x:{user}:{user}::/tmp:/bin/sh\n",
    "group": "root:x:0:\nuser:x:{user}:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


def open_place(state: Path, user: int) -> Path:
    """Return the folder, made where it is not there.

    Below the state folder; who is root has it beside, because nobody may look into a root's state.
    Raises `GiveUp` where somebody else has made it, or it cannot be written.
    """
    place, folder_mode, file_mode = state / "sandbox", 0o700, 0o600
    if user != os.geteuid():
        place = Path(tempfile.gettempdir()) / f"nightwatch-sandbox-{os.geteuid()}"
        folder_mode, file_mode = 0o711, 0o644
    try:
        place.mkdir(mode=folder_mode, parents=True, exist_ok=True)
        about = place.lstat()
        if place.is_symlink() or about.st_uid != os.geteuid() or about.st_mode & 0o022:
            raise GiveUp(f"nothing is run in a sandbox: {place} is not ours alone, move it away")
        place.chmod(folder_mode)
        for name in ("trees", "prepared", "etc"):
            (place / name).mkdir(mode=folder_mode, exist_ok=True)
            (place / name).chmod(folder_mode)
        for name, text in _FILES.items():
            (place / "etc" / name).write_text(text.format(user=user))
            (place / "etc" / name).chmod(file_mode)
        _clear(place / "trees")
    except OSError as error:
        raise GiveUp(f"nothing can be run in a sandbox: {error}") from error
    return place


def _clear(trees: Path) -> None:
    """Delete what runs that were killed have left; others may be at work."""
    for left in trees.iterdir():
        if left.lstat().st_mtime < time.time() - LEFT_SECONDS:
            delete(left)


def new_folder(below: Path, user: int) -> Path:
    """Make a folder with a name that nobody can guess, which that user owns."""
    folder = Path(tempfile.mkdtemp(dir=below))
    if user != os.geteuid():
        os.chown(folder, user, user)
    return folder


def lay_changes(changes: tuple[FileChange, ...], folder: Path) -> tuple[str, ...]:
    """Write the files that changes make below an empty folder; returns what they delete.

    Raises `GiveUp` for a path that leads out of a tree.
    """
    for change in changes:
        parts = change.path.split("/")
        if "\0" in change.path or any(part in ("", ".", "..") for part in parts):
            raise GiveUp(f"{change.path[:80]!a} is no path of a tree")
        if change.text is not None:
            path = folder.joinpath(*parts)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(change.text, "utf-8", newline="")
                path.chmod(0o644)
            except (OSError, UnicodeEncodeError) as error:
                raise GiveUp(f"{change.path[:80]!a} cannot be laid out: {error}") from error
    for inner in (one for one in folder.rglob("*") if one.is_dir()):
        inner.chmod(0o755)
    return tuple(change.path for change in changes if change.text is None)


def delete(folder: Path) -> None:
    """Delete a folder and all below it, as far as that goes."""
    shutil.rmtree(folder, ignore_errors=True)
