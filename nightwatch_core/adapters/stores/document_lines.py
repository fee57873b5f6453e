"""The lines of documents for the index: each document is read once, and again when it changes."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from nightwatch_core.adapters.stores.document_folder import Stamp, documents, stamps, text_of
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.lessons.index_text import LONGEST, entry_of, index_of
from nightwatch_core.memory.lessons.text import lesson_of
from nightwatch_core.models.knowledge import IndexEntry, PatternEntry
from nightwatch_core.patterns.pattern_text import pattern_entry

INDEX = "index.yml"
ERRORS, PATTERNS, ARCHIVE = "errors", "patterns", "archive"

Entry = IndexEntry | PatternEntry
_READ: Mapping[str, Callable[[str, str], Entry]] = {
    ERRORS: lambda text, file: entry_of(lesson_of(text, file)),
    ARCHIVE: lambda text, file: entry_of(lesson_of(text, file)),
    PATTERNS: pattern_entry,
}


class DocumentLines:
    """Lines of the documents of a knowledge folder; where one cannot be read, what is wrong."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`; nothing is read before it is asked for."""
        self._folder = folder
        self._read: dict[str, tuple[Stamp, Entry | str]] = {}
        self._listing: tuple[Stamp, dict[str, Entry]] | None = None  # of index.yml

    def on(self, *shelves: str, trusted: bool) -> dict[str, Entry | str]:
        """Every document's line; `trusted` believes index.yml where it is newer than a document."""
        found: dict[str, Stamp] = {}
        for shelf in shelves:
            found |= documents(self._folder, shelf)
        return self._lines(found, trusted)

    def of(self, files: Iterable[str], *, trusted: bool) -> dict[str, Entry | str]:
        """The lines of those of these documents that are there."""
        return self._lines(stamps(self._folder, files), trusted)

    def _lines(self, found: Mapping[str, Stamp], trusted: bool) -> dict[str, Entry | str]:
        unread = {
            file: stamp
            for file, stamp in found.items()
            if file not in self._read or self._read[file][0] != stamp
        }
        listed = self._listed(unread) if trusted and unread else {}
        for file, stamp in unread.items():
            if file not in listed:
                self._read[file] = (stamp, self._line(file))
        return {file: listed[file] if file in listed else self._read[file][1] for file in found}

    def _line(self, file: str) -> Entry | str:
        try:
            return _READ[file.partition("/")[0]](text_of(self._folder / file), file)
        except GiveUp as wrong:
            return str(wrong)
        except OSError as error:
            return f"it cannot be opened: {error.strerror}"

    def _listed(self, unread: Mapping[str, Stamp]) -> dict[str, Entry]:
        """Lines of index.yml for documents that did not change since it began to be made."""
        try:
            info = (self._folder / INDEX).lstat()
            stamp = (info.st_ino, info.st_size, info.st_ctime_ns)
            if self._listing is None or self._listing[0] != stamp:
                index = index_of(text_of(self._folder / INDEX, LONGEST))
                lines: tuple[Entry, ...] = (*index.solutions, *index.patterns)
                self._listing = (stamp, {entry.file: entry for entry in lines})
        except (GiveUp, OSError):
            return {}
        lines_of = self._listing[1]
        return {
            file: lines_of[file]
            for file, (_, _, changed) in unread.items()
            if file in lines_of and changed < info.st_mtime_ns
        }
