"""Where the lessons of a knowledge folder lie: at hand in errors/, or in the archive.

Every function that moves something wants to be called by the only writer of the folder.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.document_folder import (
    Stamp,
    free_name,
    is_plain,
    names,
    put_away,
    reason_file,
    stamp_of,
    text_of,
)
from nightwatch_core.adapters.stores.index_cache import ARCHIVE, ERRORS, Entry, IndexCache
from nightwatch_core.adapters.stores.limits import ARCHIVED_LESSONS, KEPT_LESSONS
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.lessons.file_names import candidates_for, file_name, is_named_for
from nightwatch_core.memory.lessons.merge import merge_lessons
from nightwatch_core.memory.lessons.text import document, lesson_of
from nightwatch_core.memory.notes.note_layout import normalised
from nightwatch_core.memory.notes.note_reader import notes_in
from nightwatch_core.models.knowledge import IndexEntry, Lesson
from nightwatch_core.text.frontmatter import read


def lesson_at(folder: Path, file: str) -> Lesson | None:
    """One lesson; None where it is gone, cannot be read, or is no lesson's file."""
    if not is_plain(file, ERRORS, ARCHIVE) or (folder / file).parent.is_symlink():
        return None
    try:
        return lesson_of(text_of(folder / file), file)
    except (GiveUp, OSError, ValueError):
        return None


class LessonReader:
    """Lessons as they were read, each again only when its document changed: a night asks often."""

    def __init__(self, folder: Path) -> None:
        """Read below `folder`."""
        self._folder = folder
        self._kept: dict[str, tuple[Stamp, Lesson]] = {}

    def at(self, file: str) -> Lesson | None:
        """`lesson_at`, remembered."""
        stamp = None
        with suppress(OSError, ValueError):
            stamp = stamp_of(self._folder / file)
        kept = self._kept.get(file)
        if kept and kept[0] == stamp:
            return kept[1]
        self._kept.pop(file, None)
        lesson = lesson_at(self._folder, file) if stamp else None
        if lesson and stamp:
            while len(self._kept) >= KEPT_LESSONS:
                self._kept.pop(next(iter(self._kept)))
            self._kept[file] = (stamp, lesson)
        return lesson


def archived_lesson(folder: Path, fingerprints: frozenset[str]) -> Lesson | None:
    """The archived lesson of one of these fingerprints, the one seen last of several.

    Only files whose names end with the beginning of a fingerprint are read: a lesson that knows
    the error by an alias alone is missed. Those that gave way to another document do not count.
    """
    files = (
        f"{ARCHIVE}/{name}" for name in names(folder, ARCHIVE) if is_named_for(name, fingerprints)
    )
    alike = [file for file in sorted(files) if not reason_file(folder, file).exists()]
    lessons = (
        [lesson_at(folder, file) for file in alike[-ARCHIVED_LESSONS:]] if fingerprints else []
    )
    own = (one for one in lessons if one and one.names & fingerprints)
    return max(own, key=lambda one: max(seen.date for seen in one.nights), default=None)


def file_for(folder: Path, lesson: Lesson, entries: IndexCache, at_hand: Iterable[str]) -> str:
    """The document that holds the lesson's fingerprint, the last of several; else a free name.

    Of the names `at_hand` in errors/ only those are read that speak of the fingerprint, or of none.
    A document that was given another fingerprint's name by hand is not found; the next `unite`
    makes one of both.
    """
    alike, silent = candidates_for(at_hand, lesson.fingerprint)
    files = [f"{ERRORS}/{name}" for name in (*alike, *silent)]
    files += [lesson.file] if is_plain(lesson.file, ERRORS) else []
    candidates = entries.of(files).items()
    own = [file for file, entry in candidates if _holds(entry, lesson.fingerprint)]
    if own:
        return lesson.file if lesson.file in own else sorted(own)[-1]
    if is_plain(lesson.file, ARCHIVE):
        before = f"{ERRORS}/{lesson.file.partition('/')[2]}"
        if not os.path.lexists(folder / before):
            return before
    return free_name(folder, file_name(lesson))


def with_notes_of(lesson: Lesson, before: str) -> Lesson:
    """The lesson with what people may have added to the document that it replaces.

    These are notes, and rows about related patterns.
    """
    if not before:
        return lesson
    try:
        body = read(before)[1]
    except GiveUp:
        return lesson
    notes = dict.fromkeys((*notes_in(body), *map(normalised, lesson.notes)))
    rows = lesson.pattern_notes
    with suppress(GiveUp, ValueError):
        rows = lesson_of(before, lesson.file).pattern_notes
    return lesson.model_copy(update={"notes": tuple(notes), "pattern_notes": rows})


def drop_from_archive(folder: Path, lesson: Lesson) -> None:
    """Remove the archived document that a lesson came back from, once it is written elsewhere."""
    archived = lesson_at(folder, lesson.file) if is_plain(lesson.file, ARCHIVE) else None
    if archived and archived.fingerprint == lesson.fingerprint:
        atomic_files.remove(folder / lesson.file)


def archive(folder: Path, files: Sequence[str]) -> tuple[str, ...]:
    """Move lessons to archive/; returns the names that those have that were there."""
    moved = (put_away(folder, file, ARCHIVE) for file in files if _is_at_hand(folder, file))
    return tuple(name for name in moved if name)


def unite(folder: Path, entries: Mapping[str, Entry | str]) -> None:
    """Make one document of those that hold the same fingerprint.

    It is written first; then the others are put away, with a word on what took their place. A
    writer that is killed in between leaves documents that the next one unites to the same.
    """
    twins = set(names(folder, ARCHIVE))
    groups: dict[str, list[str]] = defaultdict(list)
    for file, entry in entries.items():
        if isinstance(entry, IndexEntry):
            groups[entry.fingerprint].append(file)
            if file.partition("/")[2] in twins:
                groups[entry.fingerprint] += _twin(folder, file, entry.fingerprint)
    for fingerprint, files in groups.items():
        if len(files) > 1:
            _unite(folder, fingerprint, files)


def _unite(folder: Path, fingerprint: str, files: Iterable[str]) -> None:
    lessons = [lesson for file in files if (lesson := lesson_at(folder, file))]
    if len(lessons) < 2:
        return
    whole = merge_lessons(tuple(lessons))
    ours = [
        one.file for one in lessons if is_named_for(one.file, [fingerprint]) and _is_error(one.file)
    ]
    file = max(ours, default="") or free_name(folder, file_name(whole))
    text = document(whole.model_copy(update={"file": file}))
    atomic_files.write(folder / file, text.encode("utf-8", "replace"), mode=atomic_files.SHARED)
    for one in lessons:
        if one.file != file and _is_error(one.file):
            put_away(folder, one.file, ARCHIVE, f"superseded by {file}, of {fingerprint}")
        elif one.file != file:
            atomic_files.remove(folder / one.file)


def _twin(folder: Path, file: str, fingerprint: str) -> list[str]:
    """The archived document a lesson came back from, where its writer was killed on the way."""
    twin = f"{ARCHIVE}/{file.partition('/')[2]}"
    archived = None if reason_file(folder, twin).exists() else lesson_at(folder, twin)
    return [twin] if archived and archived.fingerprint == fingerprint else []


def _holds(entry: Entry | str, fingerprint: str) -> bool:
    return isinstance(entry, IndexEntry) and entry.fingerprint == fingerprint


def _is_error(file: str) -> bool:
    return file.startswith(f"{ERRORS}/")


def _is_at_hand(folder: Path, file: str) -> bool:
    place = folder / file
    return is_plain(file, ERRORS) and place.is_file() and not place.is_symlink()
