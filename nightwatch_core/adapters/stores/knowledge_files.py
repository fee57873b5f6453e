"""Lessons, patterns and ignore rules as Markdown and YAML in one folder."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from nightwatch_core.adapters.stores import atomic_files, lesson_store
from nightwatch_core.adapters.stores.document_folder import (
    QUARANTINE,
    documents,
    links,
    names,
    put_away,
    quarantined,
    remove_temporaries,
    text_of,
)
from nightwatch_core.adapters.stores.index_cache import ARCHIVE, ERRORS, PATTERNS, Entry, IndexCache
from nightwatch_core.adapters.stores.limits import PATIENCE
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.intake.ignore_file import rules_from
from nightwatch_core.memory.lessons.index_text import index_over, index_text
from nightwatch_core.memory.lessons.text import document
from nightwatch_core.models.knowledge import Index, IndexEntry, Lesson, PatternEntry
from nightwatch_core.models.pattern import IgnoreRules, Pattern
from nightwatch_core.patterns import merge_pattern
from nightwatch_core.patterns.pattern_text import pattern_document, pattern_of
from nightwatch_core.text.escaping import line

INDEX = "index.yml"
LOCK = ".lock"


class KnowledgeFiles:
    """KnowledgeReader and KnowledgeWriter over a folder; one that does not exist yet is empty.

    `index.yml` is written for people and never read. Reading changes nothing; documents that cannot
    be read are listed, and moved away when the index is rebuilt.
    """

    def __init__(
        self, folder: Path, ignore_file: Path | None = None, cache: Path | None = None
    ) -> None:
        """Use `folder`, and the ignore rules of `ignore_file`, else of ignore.yml in the folder.

        `cache` is a file that saves the next process reading what did not change.
        """
        self._folder = folder
        self._ignore_file = ignore_file or folder / "ignore.yml"
        self._entries = IndexCache(folder, cache)
        self._lessons = lesson_store.LessonReader(folder)

    def probe(self) -> str:
        """Say what is there."""
        index = self.index()
        wrong = f", {len(index.quarantined)} unreadable" if index.quarantined else ""
        return f"{len(index.solutions)} lessons, {len(index.patterns)} patterns{wrong}"

    def index(self) -> Index:
        """Every document's line; raises `StopTheNight` where the folder cannot be read."""
        with self._reading():
            entries = self._entries.on(ERRORS, PATTERNS)
            return _index(entries, (*_broken(entries), *self._complaints()))

    def archived(self) -> Index:
        """Every archived lesson's line; all of them are read, so that it is for requests only."""
        with self._reading():
            entries = self._entries.on(ARCHIVE)
            return _index(entries, (*_broken(entries), *links(self._folder, ARCHIVE)))

    def read(self, file: str) -> Lesson | None:
        """One lesson, archived or not; None where it is gone, cannot be read, or is none."""
        return self._lessons.at(file)

    def archived_lesson(self, names: frozenset[str]) -> Lesson | None:
        """The archived lesson of one of these fingerprints; see `lesson_store.archived_lesson`."""
        with self._reading():
            return lesson_store.archived_lesson(self._folder, names)

    def read_patterns(self) -> tuple[Pattern, ...]:
        """Every pattern whose document can be read."""
        with self._reading():
            files = documents(self._folder, PATTERNS)
        return tuple(filter(None, map(self._pattern, files)))

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
        with self._writing() as at_hand:
            file = lesson_store.file_for(self._folder, lesson, self._entries, at_hand)
            before = self._before(file)
            kept = lesson_store.with_notes_of(lesson.model_copy(update={"file": file}), before)
            self._put(file, document(kept), before)
            lesson_store.drop_from_archive(self._folder, lesson)
        return file

    def write_pattern(self, pattern: Pattern) -> str:
        """Write or replace one pattern's document, keeping its notes; returns its file."""
        with self._writing():
            file = self._pattern_file(pattern)
            before = self._before(file)
            self._put(
                file, pattern_document(merge_pattern(pattern, self._pattern(file)), before), before
            )
        return file

    def archive(self, files: Sequence[str]) -> tuple[str, ...]:
        """Move lessons to archive/; returns their new names, of those that were there."""
        with self._writing():
            self._check(ARCHIVE)
            return lesson_store.archive(self._folder, files)

    def rebuild_index(self) -> Index:
        """Read what changed since it was last read, and write index.yml.

        Documents of one error are united; those that gave way are moved to archive/, and broken
        ones to quarantine/, with the reason.
        """
        with self._writing():
            self._check(ARCHIVE)
            entries = self._entries.on(ERRORS, PATTERNS)
            for file, entry in entries.items():
                if isinstance(entry, str):
                    put_away(self._folder, file, QUARANTINE, entry)
            lesson_store.unite(self._folder, entries)
            entries = self._entries.on(ERRORS, PATTERNS)
            index = _index(entries, self._complaints())
            atomic_files.write(
                self._folder / INDEX, index_text(index).encode(), mode=atomic_files.SHARED
            )
            self._entries.keep(entries)
        return index

    def _complaints(self) -> tuple[str, ...]:
        return (*links(self._folder, ERRORS, PATTERNS), *quarantined(self._folder))

    def _pattern_file(self, pattern: Pattern) -> str:
        """A pattern is known by its title; another one of the same slug gets a longer name."""
        title = line(pattern.title, 200)
        digest = hashlib.sha256(pattern.title.encode("utf-8", "replace")).hexdigest()[:8]
        short = f"{PATTERNS}/{pattern.slug}.md"
        entry = self._entries.of([short]).get(short)
        if pattern.slug and (entry is None or getattr(entry, "title", "") == title):
            return short
        return f"{PATTERNS}/{pattern.slug or 'pattern'}-{digest}.md"

    def _pattern(self, file: str) -> Pattern | None:
        try:
            return pattern_of(text_of(self._folder / file), file)
        except (GiveUp, OSError):
            return None

    def _before(self, file: str) -> str:
        try:
            return text_of(self._folder / file)
        except (GiveUp, FileNotFoundError):
            return ""

    def _put(self, file: str, text: str, before: str) -> None:
        self._check(file.partition("/")[0])
        if before != text:
            atomic_files.write(
                self._folder / file, text.encode("utf-8", "replace"), mode=atomic_files.SHARED
            )

    def _check(self, place: str) -> None:
        if (self._folder / place).is_symlink():
            raise GiveUp(f"{self._folder / place} is a link: make it a folder")

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
    def _writing(self) -> Iterator[tuple[str, ...]]:
        """Be the only writer; gives the names in errors/, which are listed once for all."""
        place = f"the knowledge folder {self._folder}"
        with atomic_files.only_writer(self._folder / LOCK, PATIENCE, place):
            places = (self._folder / name for name in (PATTERNS, QUARANTINE))
            remove_temporaries(self._folder, *places)
            yield names(self._folder, ERRORS, tidy=True)


def _broken(entries: Mapping[str, Entry | str]) -> tuple[str, ...]:
    return tuple(f"{file}: {why}" for file, why in entries.items() if isinstance(why, str))


def _index(entries: Mapping[str, Entry | str], complaints: tuple[str, ...]) -> Index:
    return index_over(
        tuple(entry for entry in entries.values() if isinstance(entry, IndexEntry)),
        tuple(entry for entry in entries.values() if isinstance(entry, PatternEntry)),
        complaints,
    )
