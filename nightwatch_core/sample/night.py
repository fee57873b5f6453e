"""The sample as a night reads it: its errors, and its repository unpacked from its history."""

import hashlib
import secrets
import shutil
from functools import cached_property
from pathlib import Path

from nightwatch_core import sample
from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.adapters.git.checkout import LOCAL, Checkout
from nightwatch_core.adapters.git.command import Git, new_repository
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import GiveUp, StopTheNight

_PATIENCE = 120.0  # seconds until another process has unpacked
_DIGEST = "nightwatch-sample.sha256"
_BRANCHES = ("main", "master")


def sample_errors(folder: Path) -> ErrorFiles:
    """Unpack the records into `folder` and read them as any other export."""
    path = folder / sample.ERRORS
    records = sample.errors()
    if not path.is_file() or path.read_bytes() != records:
        atomic_files.write(path, records)
    return ErrorFiles((path,), name="sample")


class SampleCode(Checkout):
    """A `CodeHost` over a `git fast-import` stream, unpacked to a bare repository in `folder`.

    Branches that the delivery makes stay there until the stream changes.
    """

    def __init__(self, stream: bytes, folder: Path) -> None:
        super().__init__(folder)
        self._stream = stream

    @cached_property
    def git(self) -> Git:
        """Return the repository; raises `StopTheNight` where it cannot be unpacked."""
        return unpacked(self._stream, self._folder)


def unpacked(stream: bytes, folder: Path) -> Git:
    """Return the repository in `folder`, made of `stream` unless that was done before.

    Raises `TryLater` while another process unpacks, `StopTheNight` where the stream is broken, the
    folder holds something else or cannot be written.
    """
    digest = hashlib.sha256(stream).hexdigest()
    lock = folder.with_name(f"{folder.name}.lock")
    with atomic_files.only_writer(lock, _PATIENCE, f"the sample's {folder}", StopTheNight):
        if not _is_whole(folder, digest):
            _clear(folder)
            _unpack(stream, folder, digest)
    return Git(folder.resolve())


def _is_whole(folder: Path, digest: str) -> bool:
    try:
        known = (folder / _DIGEST).read_text() == digest
    except (OSError, UnicodeDecodeError):
        return False
    return known and not Git(folder).attempt("rev-parse", "--verify", "HEAD^{tree}").code


def _clear(folder: Path) -> None:
    """Move an old or broken copy away in one step, then delete it; never anybody else's folder."""
    for left in folder.parent.glob(f".{folder.name}-????????????????"):
        shutil.rmtree(left, ignore_errors=True)  # of an unpacking that was killed
    if not folder.exists():
        return
    is_ours = (folder / _DIGEST).exists() or (folder / "objects").is_dir()
    if any(folder.iterdir()) and not is_ours:
        raise StopTheNight(f"{folder} holds something else than the sample: move it away")
    trash = _neighbour(folder)
    folder.rename(trash)
    shutil.rmtree(trash, ignore_errors=True)


def _unpack(stream: bytes, folder: Path, digest: str) -> None:
    new = _neighbour(folder)
    new.mkdir()
    try:
        git = new_repository(new, _BRANCHES[0])
        git.run("fast-import", "--quiet", stdin=stream)
        listing = git.run("for-each-ref", "--format=%(refname)", LOCAL).decode()
        branches = listing.split()
        if not branches:
            raise GiveUp("it has no branch")
        wanted = (f"{LOCAL}{name}" for name in _BRANCHES)
        main_branch = next((branch for branch in wanted if branch in branches), branches[0])
        git.run("symbolic-ref", "HEAD", main_branch)
    except GiveUp as error:
        shutil.rmtree(new, ignore_errors=True)
        raise StopTheNight(
            f"the sample's history is broken, reinstall NightWatch: {error}"
        ) from error
    (new / _DIGEST).write_text(digest)
    new.rename(folder)


def _neighbour(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}-{secrets.token_hex(8)}")
