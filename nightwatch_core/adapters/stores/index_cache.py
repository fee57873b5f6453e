"""The index entries of documents: each document is read once, and again when it changes."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.document_folder import Stamp, documents, stamps, text_of
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.lessons.index_text import entry_of
from nightwatch_core.memory.lessons.text import lesson_of
from nightwatch_core.models.knowledge import IndexEntry, PatternEntry
from nightwatch_core.models.value import Value
from nightwatch_core.patterns.pattern_text import pattern_entry

ERRORS, PATTERNS, ARCHIVE = "errors", "patterns", "archive"

Entry = IndexEntry | PatternEntry
_READ: Mapping[str, Callable[[str, str], Entry]] = {
    ERRORS: lambda text, file: entry_of(lesson_of(text, file)),
    ARCHIVE: lambda text, file: entry_of(lesson_of(text, file)),
    PATTERNS: pattern_entry,
}


class _Kept(Value):
    """What is in the cache file; count `version` up when entries say something else."""

    version: Literal[2] = 2
    lessons: dict[str, tuple[Stamp, IndexEntry]] = {}
    patterns: dict[str, tuple[Stamp, PatternEntry]] = {}


class IndexCache:
    """Index entries of a knowledge folder; where a document cannot be read, what is wrong.

    They are kept in memory and, from one process to the next, in a file that may be deleted.
    """

    def __init__(self, folder: Path, file: Path | None) -> None:
        """Use `folder`, and `file` where there is one; nothing is read before it is asked for."""
        self._folder, self._file = folder, file
        self._read: dict[str, tuple[Stamp, Entry | str]] = {}
        self._loaded = False

    def on(self, *stores: str) -> dict[str, Entry | str]:
        """The entries of all documents in these folders, by file."""
        there: dict[str, Stamp] = {}
        for store in stores:
            there |= documents(self._folder, store)
        return self._entries(there)

    def of(self, files: Iterable[str]) -> dict[str, Entry | str]:
        """The entries of those of these documents that are there."""
        return self._entries(stamps(self._folder, files))

    def keep(self, files: Iterable[str]) -> None:
        """Write the entries of these documents for the next process; a full disk does no harm."""
        if self._file is None:
            return
        read = {file: self._read[file] for file in files if file in self._read}
        kept = _Kept(
            lessons={f: (s, e) for f, (s, e) in read.items() if isinstance(e, IndexEntry)},
            patterns={f: (s, e) for f, (s, e) in read.items() if isinstance(e, PatternEntry)},
        )
        with suppress(OSError):
            atomic_files.write(self._file, kept.model_dump_json().encode("utf-8", "replace"))

    def _entries(self, there: Mapping[str, Stamp]) -> dict[str, Entry | str]:
        if there and not self._loaded:
            self._load()
        for file, stamp in there.items():
            if file not in self._read or self._read[file][0] != stamp:
                self._read[file] = (stamp, self._entry(file))
        return {file: self._read[file][1] for file in there}

    def _load(self) -> None:
        self._loaded = True
        if self._file:
            with suppress(OSError, ValueError):  # gone, torn, or of another version
                kept = _Kept.model_validate_json(self._file.read_bytes())
                self._read = {**kept.lessons, **kept.patterns, **self._read}

    def _entry(self, file: str) -> Entry | str:
        try:
            return _READ[file.partition("/")[0]](text_of(self._folder / file), file)
        except GiveUp as wrong:
            return str(wrong)
        except OSError as error:
            return f"it cannot be opened: {error.strerror}"
