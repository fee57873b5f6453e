"""Recall over a folder of lessons: a derived index in the state folder, kept in line with them."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from nightwatch_core.adapters.stores.document_folder import Stamp, documents, stamp_of, text_of
from nightwatch_core.adapters.stores.search_store import FORMAT, SearchStore, make
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.memory.lessons.index_text import entry_of
from nightwatch_core.memory.lessons.text import lesson_of
from nightwatch_core.memory.recall.ranking import Recalled, search
from nightwatch_core.memory.recall.search_document import (
    SearchDocument,
    Terms,
    document_of_lesson,
    terms_of,
)
from nightwatch_core.memory.recall.seed_score import LIMIT, THRESHOLD
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import IndexEntry, Lesson

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
            lessons = [one for one in read.values() if isinstance(one, Lesson)]
            wrong = {file: one for file, one in read.items() if isinstance(one, str)}
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
        """Which index it is, and what changes when documents come, go or are replaced."""
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
        """Which file it is, and the process: a fork must not use its parent's connection."""
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
