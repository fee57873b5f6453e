"""Markdown documents in folders that strangers write to: no link is followed, no size trusted."""

import hashlib
import itertools
import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import Generic, Literal, NamedTuple, TypeVar

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.atomic_files import DOCUMENT_BYTES, PATIENCE
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.intake.ignore_rules import expired, rules_from, unreadable
from nightwatch_core.memory.index import entry_of, file_name, index_over, index_text, is_named_for
from nightwatch_core.memory.lesson_text import document, lesson_of
from nightwatch_core.memory.lessons import merge_lessons
from nightwatch_core.memory.note_reader import normalised, notes_in
from nightwatch_core.memory.occurrences import last_seen
from nightwatch_core.models import knowledge
from nightwatch_core.patterns import merge_pattern
from nightwatch_core.patterns.pattern_text import pattern_document, pattern_entry, pattern_of
from nightwatch_core.ports import Clock
from nightwatch_core.text.escaping import line
from nightwatch_core.text.frontmatter import Quoted, read, rows_of, with_items
from nightwatch_core.text.plain_text import plural

ARCHIVED_LESSONS = 20  # of one short name, that are looked at

QUARANTINE = "quarantine"
REASON = ".reason.txt"  # ends the name of a file that says why a document was put away
_NO_DOCUMENTS = (".", "README")

# inode, size, time of change in ns, which nobody can set: equal means unchanged
Stamp = tuple[int, int, int]
T = TypeVar("T")


def documents(folder: Path, name: str) -> dict[str, Stamp]:
    """Return the stamps of the documents `name/*.md`, by file; links are left out.

    Empty where there is no such folder. Raises `OSError` where it cannot be listed.
    """
    if (folder / name).is_symlink():
        return {}
    try:
        with os.scandir(folder / name) as entries:
            found = {
                f"{name}/{entry.name}": _stamp(entry.stat(follow_symlinks=False))
                for entry in entries
                if _is_document(entry.name) and entry.is_file(follow_symlinks=False)
            }
    except FileNotFoundError:
        return {}
    return dict(sorted(found.items()))


@contextmanager
def reading(place: str, setting: str = "") -> Iterator[None]:
    """Raise `StopTheNight` with what to do where a place, which a setting names, is unreadable."""
    try:
        yield
    except OSError as error:
        advice = f", or set {setting} to another folder" if setting else ""
        text = f"cannot read {place} ({error.strerror}): check its permissions{advice}"
        raise StopTheNight(text) from error


def is_plain(file: str, *folders: str) -> bool:
    """Tell whether a file is a document's name directly in one of these folders."""
    folder, _, name = file.partition("/")
    return folder in folders and "/" not in name and "\0" not in name and _is_document(name)


def links(folder: Path, *names: str) -> tuple[str, ...]:
    """Complaints about links where documents belong."""
    found_links: list[Path] = []
    for place in (folder / name for name in names):
        inside = place.glob("*.md") if place.is_dir() and not place.is_symlink() else ()
        found_links += [path for path in (place, *inside) if path.is_symlink()]
    inner = (link.relative_to(folder) for link in sorted(found_links))
    return tuple(f"{link}: a link, not followed" for link in inner)


def text_of(path: Path, most: int = DOCUMENT_BYTES) -> str:
    """The text of one plain file; raises `GiveUp` where it is too long or no text, or `OSError`."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise GiveUp("not a plain file")
        content = file.read(most + 1)
    if len(content) > most:
        raise GiveUp(f"longer than {most // 1024} KiB")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GiveUp(f"not UTF-8 text: byte {error.start}") from None


def remove_temporaries(*folders: Path) -> None:
    """Remove what a writer that was killed left behind; call it as the only writer."""
    for folder in folders:
        if folder.is_dir() and not folder.is_symlink():
            for left in folder.glob(f"{atomic_files.TEMPORARY}*"):
                left.unlink(missing_ok=True)


def put_away(folder: Path, file: str, place: str, reason: str = "") -> str:
    """Move a document to `place/`, with a file that says why; returns its new name.

    A name that is taken gets a number. Empty where the document is gone. Raises `OSError`.
    """
    if not os.path.lexists(folder / file):
        return ""  # somebody has removed it since
    target = free_name(folder, f"{place}/{file.rpartition('/')[2]}")
    reason_path = reason_file(folder, target)
    if reason:
        content = f"{file}: {reason}\n".encode("utf-8", "replace")
        atomic_files.write(reason_path, content, through=folder)
    else:
        reason_path.unlink(missing_ok=True)  # of a document that is gone
    atomic_files.move(folder / file, folder / target)
    return target


def reason_file(folder: Path, file: str) -> Path:
    """Return the file that says why a document was quarantined."""
    return (folder / file).with_suffix(REASON)


def free_name(folder: Path, file: str) -> str:
    """Return the name, with a number where it is taken."""
    stem = file.removesuffix(".md")
    numbered = (file if n == 1 else f"{stem}-{n}.md" for n in itertools.count(1))
    return next(item for item in numbered if not os.path.lexists(folder / item))


def quarantined(folder: Path, most: int = 100) -> tuple[str, ...]:
    """Return the reasons of quarantined documents, one line each."""
    place = folder / QUARANTINE
    if not place.is_dir() or place.is_symlink():
        return ()
    return tuple(
        " ".join(path.read_text(encoding="utf-8", errors="replace")[:1_000].split())
        for path in sorted(place.glob(f"*{REASON}"))[:most]
        if path.is_file() and not path.is_symlink()
    )


def _is_document(name: str) -> bool:
    return name.endswith(".md") and not name.startswith(_NO_DOCUMENTS)


def _stamp(info: os.stat_result) -> Stamp:
    return info.st_ino, info.st_size, info.st_ctime_ns


# Parsed documents: each is read once, and again when it changes.

ERRORS, PATTERNS, ARCHIVE = "errors", "patterns", "archive"

Entry = knowledge.IndexEntry | knowledge.PatternEntry


class ParsedFiles(Generic[T]):
    """Documents below a folder as values; each is read once, and again when it changes."""

    def __init__(self, folder: Path, parse: Callable[[str, str], T]) -> None:
        """`parse` takes a text and its file, and raises `GiveUp` with what is wrong."""
        self._folder, self._parse = folder, parse
        self._parsed: dict[str, tuple[Stamp, T | str]] = {}

    def all(self, stamps: Mapping[str, Stamp]) -> dict[str, T | str]:
        """Return the values of these files; what is wrong where one cannot be read."""
        for file, stamp in stamps.items():
            if file not in self._parsed or self._parsed[file][0] != stamp:
                self._parsed[file] = (stamp, self._value(file))
        return {file: self._parsed[file][1] for file in stamps}

    def _value(self, file: str) -> T | str:
        try:
            return self._parse(text_of(self._folder / file), file)
        except GiveUp as wrong:
            return str(wrong)
        except OSError as error:
            return f"it cannot be opened: {error.strerror}"


def _entry(text: str, file: str) -> Entry:
    is_pattern = file.startswith(f"{PATTERNS}/")
    return pattern_entry(text, file) if is_pattern else entry_of(lesson_of(text, file))


def with_notes_of(lesson: knowledge.Lesson, before: str) -> knowledge.Lesson:
    """Return the lesson with the notes that people added to the document it replaces."""
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


# Lessons, patterns and ignore rules as Markdown and YAML in one folder.

INDEX = "index.yml"
LOCK = ".lock"


class KnowledgeFiles:
    """KnowledgeReader and KnowledgeWriter over a folder; one that does not exist yet is empty.

    Reading changes nothing; broken documents are moved away when the index is rebuilt.
    """

    def __init__(self, folder: Path, ignore_file: Path | None = None) -> None:
        """Use `folder`, and the ignore rules of `ignore_file`, else of ignore.yml in the folder."""
        self._folder = folder
        self._ignore_file = ignore_file or folder / "ignore.yml"
        self._entries = ParsedFiles(folder, _entry)
        self._lessons = ParsedFiles(folder, lesson_of)

    def probe(self) -> str:
        index = self.index()
        wrong = f", {len(index.quarantined)} unreadable" if index.quarantined else ""
        lessons, patterns = len(index.solutions), len(index.patterns)
        return f"{plural(lessons, 'lesson')}, {plural(patterns, 'pattern')}{wrong}"

    def index(self) -> knowledge.Index:
        with self._reading():
            entries = self._entries_in(ERRORS, PATTERNS)
            return _index(entries, (*_broken(entries), *self._complaints()))

    def archived(self) -> knowledge.Index:
        """Every archived lesson's line; all of them are read, so that it is for requests only."""
        with self._reading():
            entries = self._entries_in(ARCHIVE)
            return _index(entries, (*_broken(entries), *links(self._folder, ARCHIVE)))

    def read(self, file: str) -> knowledge.Lesson | None:
        """Return one lesson, archived or not; None where it is gone, cannot be read, or is none."""
        path = self._folder / file
        if not is_plain(file, ERRORS, ARCHIVE) or path.parent.is_symlink():
            return None
        try:
            lesson = self._lessons.all({file: _stamp(path.lstat())})[file]
        except OSError:
            return None
        return lesson if isinstance(lesson, knowledge.Lesson) else None

    def archived_lesson(self, names: frozenset[str]) -> knowledge.Lesson | None:
        """Read only files named for a fingerprint; superseded ones do not count."""
        with self._reading():
            files = documents(self._folder, ARCHIVE)
        named = (file for file in files if is_named_for(file, names))
        valid = [file for file in named if not reason_file(self._folder, file).exists()]
        lessons = filter(None, map(self.read, valid[-ARCHIVED_LESSONS:]))
        own = (lesson for lesson in lessons if lesson.names & names)
        return max(own, key=last_seen, default=None)

    def read_patterns(self) -> tuple[knowledge.Pattern, ...]:
        with self._reading():
            files = documents(self._folder, PATTERNS)
        return tuple(filter(None, map(self._pattern, files)))

    def ignore_rules(self) -> knowledge.IgnoreRules:
        """The team's rules; none where the file is missing, a complaint where it is wrong."""
        try:
            rules = rules_from(text_of(self._ignore_file))
        except FileNotFoundError:
            return knowledge.IgnoreRules()
        except (GiveUp, OSError) as error:
            rules = knowledge.IgnoreRules(complaints=(str(error),))
        name = self._ignore_file.name
        complaints = tuple(f"{name}: {complaint}" for complaint in rules.complaints)
        return rules.model_copy(update={"complaints": complaints})

    def write(self, lesson: knowledge.Lesson) -> str:
        with self._writing():
            file = self._file_for(lesson)
            before = self._before(file)
            kept = with_notes_of(lesson.model_copy(update={"file": file}), before)
            self._put(file, document(kept), before)
            archived = self.read(lesson.file) if is_plain(lesson.file, ARCHIVE) else None
            if archived and archived.fingerprint == lesson.fingerprint:
                atomic_files.remove(self._folder / lesson.file)
        return file

    def write_pattern(self, pattern: knowledge.Pattern) -> str:
        with self._writing():
            file = self._pattern_file(pattern)
            before = self._before(file)
            merged = merge_pattern(pattern, self._pattern(file))
            self._put(file, pattern_document(merged, before), before)
        return file

    def archive(self, files: Sequence[str]) -> tuple[str, ...]:
        with self._writing():
            self._check(ARCHIVE)
            lessons = documents(self._folder, ERRORS)
            return tuple(put_away(self._folder, file, ARCHIVE) for file in files if file in lessons)

    def rebuild_index(self) -> knowledge.Index:
        """Move superseded documents to archive/, broken ones to quarantine/, with the reason."""
        with self._writing():
            self._check(ARCHIVE)
            entries = self._entries_in(ERRORS, PATTERNS)
            for file, entry in entries.items():
                if isinstance(entry, str):
                    put_away(self._folder, file, QUARANTINE, entry)
            self._unite(entries)
            entries = self._entries_in(ERRORS, PATTERNS)
            index = _index(entries, self._complaints())
            text = index_text(index).encode()
            atomic_files.write(self._folder / INDEX, text, mode=atomic_files.SHARED)
        return index

    def _entries_in(self, *stores: str) -> dict[str, Entry | str]:
        stamps = (documents(self._folder, store) for store in stores)
        return self._entries.all({file: stamp for each in stamps for file, stamp in each.items()})

    def _file_for(self, lesson: knowledge.Lesson) -> str:
        entries = self._entries_in(ERRORS).items()
        lines = ((file, item) for file, item in entries if isinstance(item, knowledge.IndexEntry))
        own = [file for file, item in lines if item.fingerprint == lesson.fingerprint]
        if own:
            return lesson.file if lesson.file in own else max(own)
        before = f"{ERRORS}/{lesson.file.partition('/')[2]}"
        if is_plain(lesson.file, ARCHIVE) and not os.path.lexists(self._folder / before):
            return before
        return free_name(self._folder, file_name(lesson))

    def _unite(self, entries: Mapping[str, Entry | str]) -> None:
        """Make one document of those of one fingerprint, and then put the others away.

        After a kill in between, the next writer unites them to the same.
        """
        groups: dict[str, list[knowledge.Lesson]] = defaultdict(list)
        for file, entry in entries.items():
            if isinstance(entry, knowledge.IndexEntry) and (lesson := self.read(file)):
                groups[entry.fingerprint].append(lesson)
        for fingerprint, lessons in groups.items():
            if len(lessons) > 1:
                whole = merge_lessons(tuple(lessons))
                ours = (item.file for item in lessons if is_named_for(item.file, [fingerprint]))
                file = max(ours, default="") or free_name(self._folder, file_name(whole))
                self._put(file, document(whole.model_copy(update={"file": file})), "")
                for item in lessons:
                    if item.file != file:
                        why = f"superseded by {file}, of {fingerprint}"
                        put_away(self._folder, item.file, ARCHIVE, why)

    def _complaints(self) -> tuple[str, ...]:
        return (*links(self._folder, ERRORS, PATTERNS), *quarantined(self._folder))

    def _pattern_file(self, pattern: knowledge.Pattern) -> str:
        title = line(pattern.title, 200)
        digest = hashlib.sha256(pattern.title.encode("utf-8", "replace")).hexdigest()[:8]
        short = f"{PATTERNS}/{pattern.slug}.md"
        entry = self._entries_in(PATTERNS).get(short)
        if pattern.slug and (entry is None or getattr(entry, "title", "") == title):
            return short
        return f"{PATTERNS}/{pattern.slug or 'pattern'}-{digest}.md"

    def _pattern(self, file: str) -> knowledge.Pattern | None:
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
            content = text.encode("utf-8", "replace")
            atomic_files.write(self._folder / file, content, mode=atomic_files.SHARED)

    def _check(self, place: str) -> None:
        if (self._folder / place).is_symlink():
            raise GiveUp(f"{self._folder / place} is a link: make it a folder")

    def _reading(self) -> AbstractContextManager[None]:
        return reading(f"the knowledge folder {self._folder}", "NIGHTWATCH_KNOWLEDGE_DIR")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        place = f"the knowledge folder {self._folder}"
        with atomic_files.only_writer(self._folder / LOCK, PATIENCE, place):
            places = (self._folder / name for name in (ERRORS, PATTERNS, QUARANTINE))
            remove_temporaries(self._folder, *places)
            yield


def _broken(entries: Mapping[str, Entry | str]) -> tuple[str, ...]:
    return tuple(f"{file}: {why}" for file, why in entries.items() if isinstance(why, str))


def _index(entries: Mapping[str, Entry | str], complaints: tuple[str, ...]) -> knowledge.Index:
    values = entries.values()
    lessons = tuple(entry for entry in values if isinstance(entry, knowledge.IndexEntry))
    patterns = tuple(entry for entry in values if isinstance(entry, knowledge.PatternEntry))
    return index_over(lessons, patterns, complaints)


# The team's ignore.yml: read as the night reads it, and written when a person accepts a rule.

IGNORE_LOCK = ".ignore.lock"


class Added(NamedTuple):
    """Result of adding a rule; `rule` as it is in the file now."""

    status: Literal["added", "already there"]
    rule: knowledge.IgnoreRule


class IgnoreFile:
    """An ignore.yml, to which one rule at a time may be added."""

    def __init__(self, path: Path, clock: Clock, first: Path | None = None) -> None:
        """Nothing is touched before it is needed; a file not there yet has the rules of `first`."""
        self.path = path
        self._first = first
        self._clock = clock

    @property
    def source(self) -> Path:
        return self._first if self._first and not self.path.is_file() else self.path

    def today(self) -> date:
        return self._clock.now().astimezone().date()

    def rules(self) -> knowledge.IgnoreRules:
        """Return its rules; raises `StopTheNight` where it cannot be read."""
        return rules_from(self._text())

    @staticmethod
    def written(rule: knowledge.IgnoreRule) -> str:
        """Return the rule as it would stand in the file."""
        return rows_of([_fields(rule)])

    def add(self, rule: knowledge.IgnoreRule) -> Added:
        """Add a rule at the end; all other text stays as it is.

        Raises `StopTheNight`, and changes nothing, where the file would not hold exactly the rules
        it held and this one.
        """
        lock, place = self.path.with_name(IGNORE_LOCK), str(self.path)
        with atomic_files.only_writer(lock, PATIENCE, place, StopTheNight):
            before = self._text()
            old = rules_from(before)
            live = (item for item in old.rules if not expired(item, self.today()))
            pattern = rule.pattern.strip().casefold()
            for item in live:
                is_same = (item.match, item.field) == (rule.match, rule.field)
                if is_same and item.pattern.strip().casefold() == pattern:
                    return Added("already there", item)
            after = self._edited(before, rule)
            new = rules_from(after)
            expected = [_fields(item) for item in (*old.rules, rule)]
            is_whole = len(old.complaints) == len(new.complaints)
            if not is_whole or [_fields(item) for item in new.rules] != expected:
                raise self._refused("another rule would change", rule)
            atomic_files.rewrite(self.path, after.encode())
            return Added("added", new.rules[-1])

    def _edited(self, before: str, rule: knowledge.IgnoreRule) -> str:
        if why := unreadable(before):
            raise self._refused(f"it cannot be read ({why}): fix it first", rule)
        if "\r" in before:
            raise self._refused("it has Windows line endings", rule)
        try:
            return with_items(before, "ignore", [_fields(rule)])
        except GiveUp as error:
            raise self._refused(str(error), rule) from None

    def _text(self) -> str:
        try:
            return text_of(self.source)
        except FileNotFoundError:
            return ""
        except GiveUp as error:
            raise StopTheNight(f"{self.path} cannot be read: {error}") from error
        except OSError as error:
            link = "it is a link, name the file itself" if self.path.is_symlink() else ""
            raise StopTheNight(f"{self.path} cannot be read: {link or error.strerror}") from error

    def _refused(self, why: str, rule: knowledge.IgnoreRule) -> StopTheNight:
        return StopTheNight(
            f"{self.path} was not changed: {why}. To add the rule by hand:\n\n{self.written(rule)}"
        )


def _fields(rule: knowledge.IgnoreRule) -> dict[str, object]:
    rate = rule.unless_rate_above
    fields = {
        "pattern": Quoted(rule.pattern),
        "match": rule.match,
        "field": rule.field,
        "reason": Quoted(rule.reason) if rule.reason else None,
        "expires": rule.expires,
        "unless_rate_above": int(rate) if rate and rate == int(rate) else rate,
    }
    return {key: value for key, value in fields.items() if value}
