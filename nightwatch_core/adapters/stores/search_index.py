"""Recall over a folder of lessons: a derived index in the state folder, kept in line with them."""

import json
import os
import secrets
import sqlite3
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from nightwatch_core.adapters.stores.documents import Stamp, documents, stamp_of, text_of
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.memory.index import entry_of
from nightwatch_core.memory.lesson_text import lesson_of
from nightwatch_core.memory.recall import (
    FIELDS,
    LIMIT,
    THRESHOLD,
    VERSION,
    Corpus,
    Recalled,
    Row,
    SearchDocument,
    Terms,
    document_of_lesson,
    search,
    terms_of,
)
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import IndexEntry, Lesson

# Lessons to search, in one SQLite file of its own: made from documents, never kept.
#
# FTS5 holds which lessons have a term. Scores are computed from the terms of the best candidates:
# FTS5's own `bm25()` knows no length of a field, so that it neither normalises by it nor says how
# much of an error a lesson matches; on the development data it finds less (Recall@1 .74, not .77).

SCHEMA = """
CREATE TABLE lessons (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL UNIQUE,
    seen INTEGER NOT NULL,
    entry TEXT NOT NULL,  -- JSON
    document TEXT NOT NULL,  -- JSON
    numbers BLOB NOT NULL,  -- of its terms, 32 bits each
    lengths BLOB NOT NULL  -- of its fields, 16 bits each
);
CREATE TABLE documents (
    file TEXT PRIMARY KEY,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    wrong TEXT NOT NULL  -- why it is no lesson; empty where it is one
) WITHOUT ROWID;
CREATE TABLE names (name TEXT, lesson INTEGER, PRIMARY KEY (name, lesson)) WITHOUT ROWID;
CREATE INDEX names_of ON names (lesson);
CREATE TABLE frequencies (number INTEGER PRIMARY KEY, lessons INTEGER NOT NULL);
CREATE TABLE totals (
    field INTEGER PRIMARY KEY,  -- -1 counts lessons
    terms INTEGER NOT NULL
);
CREATE TABLE identity (made TEXT NOT NULL);
CREATE VIRTUAL TABLE postings USING fts5(terms, content='', detail=none, columnsize=0,
                                         tokenize='ascii');
"""
FORMAT = 2_000 + VERSION  # a file of another format is made again
_LESSONS = -1


def make(connection: sqlite3.Connection) -> None:
    """Create the tables; call it within a transaction."""
    for statement in SCHEMA.split(";\n"):
        connection.execute(statement)
    rows = [(field, 0) for field in range(_LESSONS, len(FIELDS))]
    connection.executemany("INSERT INTO totals VALUES (?, ?)", rows)
    connection.execute("INSERT INTO identity VALUES (?)", (secrets.token_hex(8),))
    connection.execute(f"PRAGMA user_version = {FORMAT}")


class SearchStore:
    """`ranking.LessonIndex` over an open database; writes want a transaction around them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    @property
    def identity(self) -> str:
        """Tells this index from one that was made in its place."""
        return str(self._db.execute("SELECT made FROM identity").fetchone()[0])

    def corpus(self) -> Corpus:
        """Count the lessons, and the terms of a field on average."""
        totals = dict(self._db.execute("SELECT field, terms FROM totals"))
        count = totals.get(_LESSONS, 0)
        lengths = (totals.get(field, 0) / (count or 1) for field in range(len(FIELDS)))
        return Corpus(count, tuple(lengths))

    def frequencies(self, numbers: Iterable[int]) -> Mapping[int, int]:
        """Count the lessons that each of these terms is in."""
        return dict(self._among("SELECT number, lessons FROM frequencies WHERE number", numbers))

    def lessons_with(self, number: int) -> Iterable[int]:
        """Find the lessons that have a term."""
        select = "SELECT rowid FROM postings WHERE postings MATCH ?"
        return [row[0] for row in self._db.execute(select, (_spelled(number),))]

    def rows(self, lessons: Sequence[int]) -> Iterable[Row]:
        """Read what scoring needs of these lessons, in any order."""
        select = "SELECT id, file, seen, numbers, lengths FROM lessons WHERE id"
        for lesson, file, seen, numbers, lengths in self._among(select, lessons):
            yield Row(lesson, file, seen, array("I", numbers), array("H", lengths))

    def named(self, names: Iterable[str]) -> Sequence[int]:
        """Find the lessons that carry one of these names."""
        return sorted({row[0] for row in self._among("SELECT lesson FROM names WHERE name", names)})

    def entry(self, lesson: int) -> tuple[IndexEntry, SearchDocument]:
        """Read one lesson's line in the index, and what is compared of it."""
        select = "SELECT entry, document FROM lessons WHERE id = ?"
        entry, document = self._db.execute(select, (lesson,)).fetchone()
        return IndexEntry.model_validate_json(entry), SearchDocument.model_validate_json(document)

    def put(self, lessons: Iterable[tuple[IndexEntry, SearchDocument, Terms]]) -> int:
        """Add lessons, or put them in the place of those of the same file; returns how many."""
        sums = _Sums()
        added = 0
        for entry, document, terms in lessons:
            self._remove(entry.file, sums)
            numbers, lengths = array("I", terms.all), array("H", terms.lengths)
            seen = entry.last_seen.toordinal() if entry.last_seen else 0
            texts = entry.model_dump_json(), document.model_dump_json()
            lesson = self._db.execute(
                "INSERT INTO lessons (file, seen, entry, document, numbers, lengths)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (entry.file, seen, *texts, numbers.tobytes(), lengths.tobytes()),
            ).lastrowid
            posting = "INSERT INTO postings (rowid, terms) VALUES (?, ?)"
            self._db.execute(posting, (lesson, _text(numbers)))
            named = {(name, lesson) for name in (entry.fingerprint, *entry.aliases) if name}
            self._db.executemany("INSERT INTO names VALUES (?, ?)", sorted(named))
            sums.count(1, numbers, lengths)
            added += 1
        self._add(sums)
        return added

    def remove(self, files: Iterable[str]) -> None:
        """Remove lessons by their files."""
        sums = _Sums()
        for file in files:
            self._remove(file, sums)
        self._add(sums)

    def _remove(self, file: str, sums: "_Sums") -> None:
        select = "SELECT id, numbers, lengths FROM lessons WHERE file = ?"
        found = self._db.execute(select, (file,)).fetchone()
        if found is None:
            return
        lesson, numbers, lengths = found[0], array("I", found[1]), array("H", found[2])
        delete = "INSERT INTO postings (postings, rowid, terms) VALUES ('delete', ?, ?)"
        self._db.execute(delete, (lesson, _text(numbers)))
        self._db.execute("DELETE FROM names WHERE lesson = ?", (lesson,))
        self._db.execute("DELETE FROM lessons WHERE id = ?", (lesson,))
        sums.count(-1, numbers, lengths)

    def _add(self, sums: "_Sums") -> None:
        self._db.executemany(
            "INSERT INTO frequencies VALUES (?, ?)"
            " ON CONFLICT (number) DO UPDATE SET lessons = lessons + excluded.lessons",
            [(number, more) for number, more in sorted(sums.frequencies.items()) if more],
        )
        self._db.executemany(
            "UPDATE totals SET terms = terms + ? WHERE field = ?",
            [(more, field) for field, more in sums.totals.items()],
        )

    def _among(self, select: str, values: Iterable[int | str]) -> sqlite3.Cursor:
        among = f"{select} IN (SELECT value FROM json_each(?))"
        return self._db.execute(among, (json.dumps(list(values)),))


class _Sums:
    """What several lessons add to, or take from, the sums: added up once for all of them."""

    def __init__(self) -> None:
        self.frequencies: Counter[int] = Counter()
        self.totals: Counter[int] = Counter()

    def count(self, sign: int, numbers: Iterable[int], lengths: Iterable[int]) -> None:
        self.totals[_LESSONS] += sign
        for number in set(numbers):
            self.frequencies[number] += sign
        for field, length in enumerate(lengths):
            self.totals[field] += sign * length


def _spelled(number: int) -> str:
    return f"t{number:x}"


def _text(numbers: Iterable[int]) -> str:
    return " ".join(map(_spelled, sorted(set(numbers))))


MAPPED_BYTES = 256 << 20
BATCH = 200  # documents of one transaction: what is read stays read when a night is killed
_TORN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

_T = TypeVar("_T")


class SearchIndex:
    """Recall over `shelf/*.md` of a knowledge folder, by an index at `path` that may be deleted.

    Documents are read once, and again when they change: the first search of a process compares all
    of them with the index, later ones look whether the folder has changed. A document that cannot
    be read is not searched. Methods raise `TryLater` where another process keeps the index busy,
    `GiveUp` where it, or the folder, cannot be used.
    """

    def __init__(
        self, path: Path, folder: Path, shelf: str = "errors", patience: float = 30.0
    ) -> None:
        """Nothing is opened before it is needed; others may keep it busy for `patience` seconds."""
        self._patience = patience
        self._lock = threading.Lock()
        self._open: tuple[tuple[int, int], sqlite3.Connection] | None = None  # file, connection
        self._path, self._folder, self._shelf = path, folder, shelf
        self._compared: tuple[str, Stamp] | None = None  # index and folder, when last equal

    def similar(self, case: Case, limit: int = LIMIT, threshold: float = THRESHOLD) -> Recalled:
        """The case's own lesson and those of similar errors, best first; see `search`."""

        def find(connection: sqlite3.Connection) -> Recalled:
            if self._compared != self._state(connection):
                self._compare(connection)
            with _transaction(connection, "DEFERRED"):  # one state, whoever else writes
                return search(case, SearchStore(connection), limit, threshold)

        return self._use(find)

    def compare(self) -> int:
        """Bring the index in line with the documents; returns how many were read or forgotten."""
        return self._use(self._compare)

    def refresh(self, file: str) -> None:
        """Read one document again, or forget it where it is gone; call it after a change."""
        shelf, _, name = file.partition("/")
        if shelf != self._shelf or "/" in name or not name.endswith(".md"):
            return

        def renew(connection: sqlite3.Connection) -> None:
            try:
                self._read(connection, {file: stamp_of(self._folder / file)})
            except FileNotFoundError:
                self._forget(connection, [file])

        self._use(renew)

    def _compare(self, connection: sqlite3.Connection) -> int:
        before = self._state(connection)
        stamps = documents(self._folder, self._shelf)
        rows = connection.execute("SELECT file, inode, size, changed FROM documents")
        indexed: dict[str, Stamp] = {row[0]: (row[1], row[2], row[3]) for row in rows}
        gone = [file for file in indexed if file not in stamps]
        changed = {file: stamp for file, stamp in stamps.items() if indexed.get(file) != stamp}
        self._forget(connection, gone)
        self._read(connection, changed)
        self._compared = before
        return len(gone) + len(changed)

    def _read(self, connection: sqlite3.Connection, changed: Mapping[str, Stamp]) -> None:
        left = iter(changed.items())
        while batch := dict(islice(left, BATCH)):
            read = {file: self._lesson(file) for file in batch}
            lessons = [item for item in read.values() if isinstance(item, Lesson)]
            wrong = {file: item for file, item in read.items() if isinstance(item, str)}
            with _transaction(connection):
                store = SearchStore(connection)
                store.remove(wrong)
                store.put(map(_compared, lessons))
                connection.executemany(
                    "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)",
                    [(file, *stamp, wrong.get(file, "")) for file, stamp in batch.items()],
                )

    def _forget(self, connection: sqlite3.Connection, gone: list[str]) -> None:
        if not gone:
            return
        with _transaction(connection):
            SearchStore(connection).remove(gone)
            connection.executemany(
                "DELETE FROM documents WHERE file = ?", [(file,) for file in gone]
            )

    def _lesson(self, file: str) -> Lesson | str:
        try:
            return lesson_of(text_of(self._folder / file), file)
        except (GiveUp, OSError, ValueError) as wrong:
            return str(wrong) or "it cannot be read"

    def _state(self, connection: sqlite3.Connection) -> tuple[str, Stamp]:
        try:
            folder = stamp_of(self._folder / self._shelf)
        except FileNotFoundError:
            folder = (0, 0, 0)
        return SearchStore(connection).identity, folder

    def close(self) -> None:
        """Let go of the index; the next use opens it again."""
        with self._lock:
            self._close()

    def _use(self, act: Callable[[sqlite3.Connection], _T]) -> _T:
        """Do something with the index; one that is torn, or of another format, is made again."""
        with self._lock, self._translated():
            try:
                return act(self._connection())
            except sqlite3.DatabaseError as error:
                self._close()
                if _code(error) not in _TORN:
                    raise
            with FileLock(f"{self._path}.lock", timeout=self._patience):
                self._remove()
            return act(self._connection())

    def _connection(self) -> sqlite3.Connection:
        """The connection to the file that is there now: opening one anew costs half a search."""
        if self._open and self._path.is_file() and self._open[0] == self._file():
            return self._open[1]
        self._close()
        connection = self._connected()
        self._open = (self._file(), connection)
        return connection

    def _file(self) -> tuple[int, int]:
        return stamp_of(self._path)[0], os.getpid()

    def _close(self) -> None:
        if self._open and self._open[0][1] == os.getpid():
            self._open[1].close()
        self._open = None

    def _connected(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self._path, self._patience, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA synchronous = NORMAL")  # what power takes is read again
            connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != FORMAT:
                self._make(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make(self, connection: sqlite3.Connection) -> None:
        """Create the tables; switching to WAL does not wait, so one process at a time does it."""
        with FileLock(f"{self._path}.lock", timeout=self._patience):
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == FORMAT:
                return  # another process was quicker
            if version or connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise sqlite3.DatabaseError("of another format")
            connection.execute("PRAGMA journal_mode = WAL")
            with _transaction(connection):
                make(connection)

    def _remove(self) -> None:
        for ending in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except Timeout as error:
            raise TryLater(f"another process keeps {self._path} locked") from error
        except sqlite3.Error as error:
            if _code(error) in _BUSY:
                raise TryLater(f"another process keeps {self._path} busy: {error}") from error
            raise GiveUp(
                f"the search index {self._path} cannot be used ({error}): free disk space, "
                "check who owns it, or delete it"
            ) from error
        except OSError as error:
            raise GiveUp(
                f"cannot search {self._folder / self._shelf} by {self._path} ({error.strerror}): "
                "check their permissions"
            ) from error


def _compared(lesson: Lesson) -> tuple[IndexEntry, SearchDocument, Terms]:
    document = document_of_lesson(lesson)
    return entry_of(lesson), document, terms_of(document)


def _code(error: sqlite3.Error) -> int:
    """SQLite's own number for what went wrong; errors of ours count as a file of another format."""
    return (getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_NOTADB) & 0xFF


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
