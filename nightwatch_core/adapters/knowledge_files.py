"""Lessons, patterns and ignore rules as Markdown and YAML in one folder."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from nightwatch_core.adapters import atomic
from nightwatch_core.adapters.document_folder import (
    QUARANTINE,
    Stamp,
    documents,
    links,
    quarantine,
    quarantined,
    remove_temporaries,
    stamp_of,
    text_of,
)
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.escaping import line
from nightwatch_core.ignore_file import rules_from
from nightwatch_core.index_text import LONGEST, entry_of, index_of, index_over, index_text
from nightwatch_core.lesson_text import document, lesson_of
from nightwatch_core.lessons import file_name
from nightwatch_core.models.knowledge import Index, IndexEntry, Lesson, PatternEntry
from nightwatch_core.models.pattern import IgnoreRules, Pattern
from nightwatch_core.pattern_text import pattern_document, pattern_entry

INDEX, LOCK = "index.yml", ".lock"
ERRORS, PATTERNS = "errors", "patterns"
_PATIENCE = 30.0  # seconds that another writer may take

Entry = IndexEntry | PatternEntry
_READ: dict[str, Callable[[str, str], Entry]] = {
    ERRORS: lambda text, file: entry_of(lesson_of(text, file)),
    PATTERNS: pattern_entry,
}


class KnowledgeFiles:
    """KnowledgeReader and KnowledgeWriter over a folder; one that does not exist yet is empty.

    `index.yml` only saves reading: a document newer than it is read itself. Reading changes
    nothing; documents that cannot be read are listed, and moved away when the index is rebuilt.
    """

    def __init__(self, folder: Path, ignore_file: Path | None = None) -> None:
        """Use `folder`, and the ignore rules of `ignore_file`, else of ignore.yml in the folder."""
        self._folder = folder
        self._ignore_file = ignore_file or folder / "ignore.yml"
        self._parsed: dict[str, tuple[Stamp, Entry | str]] = {}  # an entry, or what is wrong
        self._listing: tuple[Stamp, dict[str, Entry]] | None = None  # of index.yml

    def probe(self) -> str:
        """Say what is there."""
        index = self.index()
        wrong = f", {len(index.quarantined)} unreadable" if index.quarantined else ""
        return f"{len(index.solutions)} lessons, {len(index.patterns)} patterns{wrong}"

    def index(self) -> Index:
        """Every document's line; raises `StopTheNight` where the folder cannot be read."""
        with self._reading():
            entries = self._entries(trusted=True)
            broken = (f"{file}: {why}" for file, why in entries.items() if isinstance(why, str))
            return _index(entries, (*broken, *self._complaints()))

    def read(self, file: str) -> Lesson | None:
        """One lesson; None where it is gone, cannot be read, or is no lesson's file."""
        shelf, _, name = file.partition("/")
        if shelf != ERRORS or "/" in name or not name.endswith(".md"):
            return None
        if (self._folder / ERRORS).is_symlink():
            return None
        try:
            return lesson_of(text_of(self._folder / file), file)
        except (GiveUp, OSError, ValueError):  # a NUL in a name is a ValueError
            return None

    def ignore_rules(self) -> IgnoreRules:
        """The team's rules; none where the file is missing, a complaint where it is wrong."""
        try:
            rules = rules_from(text_of(self._ignore_file))
        except FileNotFoundError:
            return IgnoreRules()
        except (GiveUp, OSError) as error:
            rules = IgnoreRules(complaints=(str(error),))
        name = self._ignore_file.name
        complaints = tuple(f"{name}: {complaint}" for complaint in rules.complaints)
        return rules.model_copy(update={"complaints": complaints})

    def write(self, lesson: Lesson) -> str:
        """Write or replace the document of the lesson's fingerprint; returns its file.

        Raises `TryLater` while another process writes, `GiveUp` where the folder cannot be written.
        """
        with self._writing():
            file = self._file_for(lesson)
            self._put(file, document(lesson.model_copy(update={"file": file})))
        return file

    def write_pattern(self, pattern: Pattern) -> str:
        """Write or replace one pattern's document, keeping its notes; returns its file."""
        with self._writing():
            file = self._pattern_file(pattern)
            self._put(file, pattern_document(pattern, self._before(file)))
        return file

    def rebuild_index(self) -> Index:
        """Read all documents, move broken ones to quarantine/ with the reason, write index.yml."""
        with self._writing():
            for file, entry in self._entries(trusted=False).items():
                if isinstance(entry, str):
                    quarantine(self._folder, file, entry)
            index = _index(self._entries(trusted=False), self._complaints())
            atomic.write(self._folder / INDEX, index_text(index).encode())
        return index

    def _entries(self, *, trusted: bool) -> dict[str, Entry | str]:
        """Each document's line, or what is wrong with it; `trusted` believes a newer index.yml."""
        found = documents(self._folder, ERRORS) | documents(self._folder, PATTERNS)
        unread = {
            file: stamp
            for file, stamp in found.items()
            if file not in self._parsed or self._parsed[file][0] != stamp
        }
        listed = self._listed(unread) if trusted and unread else {}
        for file, stamp in unread.items():
            if file not in listed:
                self._parsed[file] = (stamp, self._entry(file))
        return {file: listed[file] if file in listed else self._parsed[file][1] for file in found}

    def _entry(self, file: str) -> Entry | str:
        try:
            return _READ[file.partition("/")[0]](text_of(self._folder / file), file)
        except GiveUp as wrong:
            return str(wrong)
        except OSError as error:
            return f"it cannot be opened: {error.strerror}"

    def _listed(self, unread: dict[str, Stamp]) -> dict[str, Entry]:
        """Lines of index.yml for those documents that are older than it."""
        try:
            stamp = stamp_of(self._folder / INDEX)
            if self._listing is None or self._listing[0] != stamp:
                index = index_of(text_of(self._folder / INDEX, LONGEST))
                lines: tuple[Entry, ...] = (*index.solutions, *index.patterns)
                self._listing = (stamp, {entry.file: entry for entry in lines})
        except (GiveUp, OSError):
            return {}
        since, lines_of = stamp[2], self._listing[1]
        return {
            file: lines_of[file]
            for file, (_, _, changed) in unread.items()
            if file in lines_of and changed < since
        }

    def _complaints(self) -> tuple[str, ...]:
        return (*links(self._folder, ERRORS, PATTERNS), *quarantined(self._folder))

    def _file_for(self, lesson: Lesson) -> str:
        """The document that holds the fingerprint, the newest of several; else a free name."""
        entries = self._entries(trusted=False)
        own = [
            file
            for file, entry in entries.items()
            if isinstance(entry, IndexEntry) and entry.fingerprint == lesson.fingerprint
        ]
        if own:
            return lesson.file if lesson.file in own else own[-1]
        name = file_name(lesson)
        free = (name if n == 1 else f"{name[:-3]}-{n}.md" for n in range(1, len(entries) + 2))
        return next(file for file in free if file not in entries)

    def _pattern_file(self, pattern: Pattern) -> str:
        """A pattern is known by its title; another one of the same slug gets a longer name."""
        known = self._entries(trusted=False)
        title = line(pattern.title, 200)
        digest = hashlib.sha256(pattern.title.encode("utf-8", "replace")).hexdigest()[:8]
        short = f"{PATTERNS}/{pattern.slug}.md"
        entry = known.get(short)
        if pattern.slug and (entry is None or getattr(entry, "title", "") == title):
            return short
        return f"{PATTERNS}/{pattern.slug or 'pattern'}-{digest}.md"

    def _before(self, file: str) -> str:
        try:
            return text_of(self._folder / file)
        except (GiveUp, FileNotFoundError):
            return ""

    def _put(self, file: str, text: str) -> None:
        if (self._folder / file).parent.is_symlink():
            raise GiveUp(f"{(self._folder / file).parent} is a link: make it a folder")
        if self._before(file) != text:
            atomic.write(self._folder / file, text.encode("utf-8", "replace"))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StopTheNight(
                f"cannot read the knowledge folder {self._folder} ({error.strerror}): "
                "check its permissions, or set NIGHTWATCH_KNOWLEDGE_DIR to another folder"
            ) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the only writer."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / LOCK, timeout=_PATIENCE):
                shelves = (self._folder / name for name in (ERRORS, PATTERNS, QUARANTINE))
                remove_temporaries(self._folder, *shelves)
                yield
        except Timeout as error:
            raise TryLater(f"another process keeps {self._folder / LOCK} locked") from error
        except OSError as error:
            raise GiveUp(
                f"cannot write to the knowledge folder {self._folder} ({error.strerror}): "
                "check its permissions and the space left on its disk"
            ) from error


def _index(entries: dict[str, Entry | str], complaints: tuple[str, ...]) -> Index:
    return index_over(
        tuple(entry for entry in entries.values() if isinstance(entry, IndexEntry)),
        tuple(entry for entry in entries.values() if isinstance(entry, PatternEntry)),
        complaints,
    )
