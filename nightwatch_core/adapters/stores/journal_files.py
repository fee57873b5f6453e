"""Journals on disk: `journal/<night>~<run>.jsonl`, or `journal/<run>.jsonl` outside nights.

One writer a process, for the owner only; a file is packed once its process is done with the night.
"""

import logging
import lzma
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import GiveUp
from nightwatch_core.journal.reader import NightJournal, read_file
from nightwatch_core.journal.resuming import Earlier
from nightwatch_core.journal.writer import EVENT
from nightwatch_core.models.journal import Event

PLAIN, PACKED = ".jsonl", ".jsonl.xz"
LEVEL = 3  # of lzma: a tenth larger than its best, in a fifth of the time
MEMORY = 128 * 2**20  # bytes that unpacking may take
TEXT = 1_024 * 2**20  # bytes that a file may unpack to
UNNAMED_DAYS = 30  # files of what was sent outside nights
_NIGHT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
log = logging.getLogger(__name__)


class JournalFile:
    """The file that one process writes; safe for threads."""

    def __init__(self, folder: Path, night: str = "") -> None:
        """Nothing is written before the first line."""
        self._folder, self._run, self._guard = folder, new_run(), Lock()
        self.night = night

    @property
    def path(self) -> Path:
        """Return where it is now."""
        name = f"{self.night}~{self._run}" if self.night else self._run
        return self._folder / f"{name}{PLAIN}"

    def write(self, lines: list[str]) -> None:
        """Append whole lines; raises `OSError`."""
        with self._guard:
            content = "".join(f"{line}\n" for line in lines).encode("ascii")
            atomic_files.append(self.path, content)

    def belongs_to(self, night: str) -> None:
        """Give the file to a night, with what is in it already."""
        with self._guard:
            before, self.night = self.path, night_name(night)
            with suppress(FileNotFoundError):  # nothing was written yet
                before.rename(self.path)

    def pack(self) -> None:
        """Pack the file: its night is over; what comes after that begins another one."""
        with self._guard:
            if self.path.is_file():
                pack(self.path)
            self._run = new_run()


class JournalFiles:
    """All journals below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def nights(self) -> tuple[str, ...]:
        """Return the nights with a journal, the newest first."""
        newest: dict[str, float] = {}
        for path in self._files():
            night = path.name.rpartition("~")[0]
            with suppress(OSError):
                newest[night] = max(newest.get(night, 0.0), path.stat().st_mtime)
        return tuple(sorted(filter(None, newest), key=lambda night: -newest[night]))

    def read(self, night: str, run: str = "", but: Path | None = None) -> NightJournal:
        """Read the files of a night, or of what was sent outside nights where it is empty.

        With `run` only those of that run; the file `but` is left out.
        """
        wanted = night_name(night) if night else ""
        paths = [path for path in self._files() if path.name.rpartition("~")[0] == wanted]
        files = (read_file(lines_of(path)) for path in sorted(paths) if path != but)
        return NightJournal(
            file for file in files if not run or (file.header and file.header.run == run)
        )

    def delete_old(self, nights: Path) -> None:
        """Delete journals of nights whose folders are gone, and old ones of no night.

        What changed within a day stays: a night that was cut may have no folder yet.
        """
        now = datetime.now(UTC)
        oldest, settled = now - timedelta(days=UNNAMED_DAYS), now - timedelta(days=1)
        with suppress(OSError):
            for path in self._files():
                night = path.name.rpartition("~")[0]
                changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                is_over = changed < settled and not (nights / night).is_dir()
                if is_over if night else changed < oldest:
                    path.unlink(missing_ok=True)

    def _files(self) -> Iterator[Path]:
        for path in self.folder.glob(f"*{PLAIN}*"):
            if path.name.endswith((PLAIN, PACKED)):
                yield path


class NightAnswers:
    """What all processes of a night were answered so far; reads what was added since it looked."""

    def __init__(self, folder: Path, night: Callable[[], str]) -> None:
        """`night` names the night once it has a name."""
        self._folder, self._night, self._guard = folder, night, Lock()
        self._read: dict[str, int] = {}  # bytes, by file
        self._found: dict[tuple[str, str, str], list[Event]] = {}
        self._journal = NightJournal(())  # its texts are read with the first answer that is found

    def of(self, question: Event) -> tuple[Earlier, ...]:
        """Return the events with the same question, in their order."""
        with self._guard:
            self._look()
            found = sorted(self._found.get(_key(question), ()), key=lambda event: event.at)
            if any(event.answer not in self._journal.texts for event in found):
                self._journal = JournalFiles(self._folder).read(self._night())
            journal = self._journal
        rows = []
        for event in found:
            with suppress(GiveUp):  # a text of it is gone
                rows.append(Earlier(event, journal.value(event.answer)))
        return tuple(rows)

    def _look(self) -> None:
        night = self._night()
        for path in sorted(self._folder.glob(f"{night}~*{PLAIN}*")) if night else ():
            name = path.name.removesuffix(".xz")
            offset = self._read.get(name, 0)
            if path.name.endswith(PACKED):
                added, offset = ([] if offset else list(lines_of(path))), sys.maxsize
            else:
                added, offset = _lines_from(path, offset)
            self._read[name] = offset
            events = read_file(line for line in added if line[:1] == EVENT).events
            for event in events:
                if event.exact and not event.to:
                    self._found.setdefault(_key(event), []).append(event)


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a file, as far as they can be read."""
    try:
        content = path.read_bytes()
        if path.name.endswith(PACKED):
            unpacking = lzma.LZMADecompressor(memlimit=MEMORY)
            content = unpacking.decompress(content, TEXT)
            if not unpacking.eof:
                log.warning("%s is cut: only its beginning is read", path.name)
    except (OSError, lzma.LZMAError) as trouble:
        log.warning("%s cannot be read: %s", path.name, trouble)
        return
    yield from content.decode("ascii", "replace").splitlines()


def pack(path: Path) -> None:
    """Pack a file; the plain one goes when the packed one is whole. Raises `OSError`."""
    packed = lzma.compress(path.read_bytes(), preset=LEVEL)
    atomic_files.write(path.with_name(f"{path.name}.xz"), packed)
    path.unlink(missing_ok=True)


def night_name(night: str) -> str:
    """Return a night's name; raises `GiveUp` for what cannot name one."""
    if not _NIGHT.fullmatch(night):
        raise GiveUp(f"{night[:80]!a} cannot name a night")
    return night


def new_run() -> str:
    """Return a name that no other process has."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{os.getpid()}"


def _lines_from(path: Path, offset: int) -> tuple[list[str], int]:
    """Return the whole lines after `offset` bytes, and where the next one begins."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            content = file.read()
    except OSError:
        return [], offset
    whole = content[: content.rfind(b"\n") + 1]
    return whole.decode("ascii", "replace").splitlines(), offset + len(whole)


def _key(event: Event) -> tuple[str, str, str]:
    return event.port, event.call, event.exact
