"""Bundles of nights in the state folder: `bundles/<night>.bundle`, for the owner only.

While a night runs its journal grows beside it, so that one that is killed leaves what it was told
to the run that takes it up. A bundle is one line that names it, and lines that are packed: what is
read of it is bounded, and is nothing but text.
"""

import logging
import lzma
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.limits import BUNDLE_PACKED, BUNDLE_ROOM, BUNDLE_TEXT
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.bundle import Bundle
from nightwatch_core.replay.pieces import name_of
from nightwatch_core.replay.sealing import SCHEMA, opened

MAGIC = "NIGHTWATCH BUNDLE"
LEVEL = 3  # of lzma: a tenth larger than its best, in a fifth of the time
MEMORY = 128 * 2**20  # bytes that unpacking may take
DAY = 86_400.0  # seconds
_NIGHT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HEAD = re.compile(rf"{MAGIC} (\d{{1,6}}) ([0-9a-f]{{64}})\n".encode())
_OPEN = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
_log = logging.getLogger(__name__)


class BundleFiles:
    """Bundles below `folder`."""

    def __init__(self, folder: Path) -> None:
        """Touch nothing yet."""
        self._folder = folder

    def path(self, night: str) -> Path:
        """Return where a night's bundle is; raises `GiveUp` for what cannot name one."""
        if not _NIGHT.fullmatch(night):
            raise GiveUp(f"{night[:80]!a} cannot name a night")
        return self._folder / f"{night}.bundle"

    def add(self, night: str, lines: Iterable[str]) -> None:
        """Add lines to a night's journal; raises `OSError`."""
        journal = self._journal(night)
        journal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(journal, _OPEN, atomic_files.OWNERS)
        with open(handle, "ab") as file:  # noqa: PTH123
            file.write("".join(f"{line}\n" for line in lines).encode("ascii"))

    def journal(self, night: str) -> Iterator[str]:
        """Return the lines of a night's journal, as far as they were written."""
        path = self._journal(night)
        if path.is_file():
            with path.open(encoding="ascii", errors="replace") as file:
                for line in file:
                    yield line.rstrip("\n")

    def seal(self, night: str, lines: list[str], *, is_over: bool) -> Path:
        """Write a bundle; where the night is over its journal goes. Raises `OSError`."""
        path, name = self.path(night), name_of(lines[0])
        packed = lzma.compress("\n".join(lines).encode("ascii"), preset=LEVEL)
        atomic_files.write(path, f"{MAGIC} {SCHEMA} {name}\n".encode() + packed)
        if is_over:
            self._journal(night).unlink(missing_ok=True)
        return path

    def prune(self, days: int, room: int = BUNDLE_ROOM, now: float | None = None) -> int:
        """Delete what is older than `days`, and the oldest beyond `room` bytes; returns how many.

        Nothing is younger than now, so that a clock that was set back deletes nothing.
        """
        since = (time.time() if now is None else now) - days * DAY
        ages = [(one.stat().st_mtime, one.stat().st_size, one) for one in self._files()]
        used = deleted = 0
        for changed, size, path in sorted(ages, reverse=True):
            used += size
            if changed < since or used > room:
                path.unlink(missing_ok=True)
                deleted += 1
        return deleted

    def newest(self) -> Path:
        """Return the newest bundle; raises `GiveUp` where there is none."""
        bundles = [one for one in self._files() if one.suffix == ".bundle"]
        if not bundles:
            raise GiveUp(f"no bundle is in {self._folder}: run `nightwatch night` first")
        return max(bundles, key=lambda one: (one.stat().st_mtime, one.name))

    def _files(self) -> list[Path]:
        named = (*self._folder.glob("*.bundle"), *self._folder.glob("*.journal"))
        return [one for one in named if one.is_file() and not one.is_symlink()]

    def _journal(self, night: str) -> Path:
        return self.path(night).with_suffix(".journal")


def read_bundle(path: Path) -> Bundle:
    """Read and verify a bundle, whoever made it; raises `GiveUp` saying what is wrong with it."""
    try:
        with path.open("rb") as file:
            packed = file.read(BUNDLE_PACKED + 1)
    except OSError as error:
        raise GiveUp(f"{path} cannot be read: {error.strerror}") from error
    head = _HEAD.match(packed[:200])
    if head is None:
        raise GiveUp(f"{path} is no bundle of a night")
    if int(head[1]) > SCHEMA:
        raise GiveUp(
            f"{path} is of a newer NightWatch (its schema is {int(head[1])}, this one reads up to "
            f"{SCHEMA}): read it with that one"
        )
    if len(packed) > BUNDLE_PACKED:
        raise GiveUp(f"{path} is larger than {BUNDLE_PACKED:,} bytes: it is not ours")
    text = _unpacked(packed[head.end() :], path)
    return opened(head[2].decode(), text.split("\n"), len(packed))


def _unpacked(packed: bytes, path: Path) -> str:
    """The text, never more of it than a night comes to."""
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY)
    try:
        text = unpacker.decompress(packed, BUNDLE_TEXT)
    except (lzma.LZMAError, EOFError):
        raise GiveUp(f"{path} was cut or changed: it cannot be unpacked") from None
    if not unpacker.eof:
        more = "is larger than any night" if len(text) >= BUNDLE_TEXT else "was cut"
        raise GiveUp(f"{path} {more}: it cannot be unpacked")
    if unpacker.unused_data:
        raise GiveUp(f"{path} was changed: something follows its end")
    return text.decode("ascii", "replace")
