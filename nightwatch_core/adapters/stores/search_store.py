"""A shelf of lessons to search, in one SQLite file of its own: made from documents, never kept."""

import secrets
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from nightwatch_core.memory.recall.ranking import Row
from nightwatch_core.memory.recall.scoring import Corpus
from nightwatch_core.memory.recall.search_document import FIELDS, VERSION, SearchDocument, Terms
from nightwatch_core.models.knowledge import IndexEntry

SCHEMA = """
CREATE TABLE lessons (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL UNIQUE,
    seen INTEGER NOT NULL,
    entry TEXT NOT NULL,  -- JSON
    footprint TEXT NOT NULL,  -- JSON
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
FORMAT = 1_000 + VERSION  # a file of another format is made again
_LESSONS = -1
_BATCH = 500  # parameters of one statement

_T = TypeVar("_T")


def make(connection: sqlite3.Connection) -> None:
    """Create the tables; call it within a transaction."""
    for statement in SCHEMA.split(";\n"):
        connection.execute(statement)
    rows = [(field, 0) for field in range(_LESSONS, len(FIELDS))]
    connection.executemany("INSERT INTO totals VALUES (?, ?)", rows)
    connection.execute("INSERT INTO identity VALUES (?)", (secrets.token_hex(8),))
    connection.execute(f"PRAGMA user_version = {FORMAT}")


class SearchShelf:
    """`recalling.Shelf` over an open database; writes want a transaction around them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Use a database that `make` has made."""
        self._db = connection

    @property
    def identity(self) -> str:
        """Tells this index from one that was made in its place."""
        return str(self._db.execute("SELECT made FROM identity").fetchone()[0])

    def corpus(self) -> Corpus:
        """How many lessons there are."""
        totals = dict(self._db.execute("SELECT field, terms FROM totals"))
        count = totals.get(_LESSONS, 0)
        lengths = (totals.get(field, 0) / (count or 1) for field in range(len(FIELDS)))
        return Corpus(count, tuple(lengths))

    def frequencies(self, numbers: Iterable[int]) -> Mapping[int, int]:
        """In how many lessons each of these terms is."""
        found: dict[int, int] = {}
        for part in _parts(numbers):
            told = f"SELECT number, lessons FROM frequencies WHERE number IN ({_marks(part)})"
            found.update(self._db.execute(told, part))
        return found

    def lessons_with(self, number: int) -> Iterable[int]:
        """The lessons that have a term."""
        told = "SELECT rowid FROM postings WHERE postings MATCH ?"
        return [row[0] for row in self._db.execute(told, (_spelled(number),))]

    def rows(self, lessons: Sequence[int]) -> Iterable[Row]:
        """These lessons, in any order."""
        for part in _parts(lessons):
            told = (
                f"SELECT id, file, seen, numbers, lengths FROM lessons WHERE id IN ({_marks(part)})"
            )
            for lesson, file, seen, numbers, lengths in self._db.execute(told, part):
                yield Row(lesson, file, seen, array("I", numbers), array("H", lengths))

    def named(self, names: Iterable[str]) -> Sequence[int]:
        """The lessons that carry one of these names."""
        found: dict[int, None] = {}
        for part in _parts(names):
            told = f"SELECT lesson FROM names WHERE name IN ({_marks(part)})"
            found.update((row[0], None) for row in self._db.execute(told, part))
        return sorted(found)

    def entry(self, lesson: int) -> tuple[IndexEntry, SearchDocument]:
        """One lesson's line in the index, and its footprint."""
        told = "SELECT entry, footprint FROM lessons WHERE id = ?"
        entry, footprint = self._db.execute(told, (lesson,)).fetchone()
        return IndexEntry.model_validate_json(entry), SearchDocument.model_validate_json(footprint)

    def put(self, lessons: Iterable[tuple[IndexEntry, SearchDocument, Terms]]) -> int:
        """Add lessons, or put them in the place of those of the same file; returns how many."""
        change = _Change()
        for entry, footprint, terms in lessons:
            self._take_out(entry.file, change)
            seen = entry.last_seen.toordinal() if entry.last_seen else 0
            numbers, lengths = array("I", terms.all), array("H", terms.lengths)
            lesson = self._db.execute(
                "INSERT INTO lessons (file, seen, entry, footprint, numbers, lengths)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    entry.file,
                    seen,
                    entry.model_dump_json(),
                    footprint.model_dump_json(),
                    numbers.tobytes(),
                    lengths.tobytes(),
                ),
            ).lastrowid
            different = set(numbers)
            self._db.execute(
                "INSERT INTO postings (rowid, terms) VALUES (?, ?)", (lesson, _text(different))
            )
            named = {(name, lesson) for name in (entry.fingerprint, *entry.aliases) if name}
            self._db.executemany("INSERT INTO names VALUES (?, ?)", sorted(named))
            change.count(1, different, lengths)
        self._settle(change)
        return change.lessons

    def take_out(self, files: Iterable[str]) -> None:
        """Remove lessons by their files."""
        change = _Change()
        for file in files:
            self._take_out(file, change)
        self._settle(change)

    def _take_out(self, file: str, change: "_Change") -> None:
        told = "SELECT id, numbers, lengths FROM lessons WHERE file = ?"
        found = self._db.execute(told, (file,)).fetchone()
        if found is None:
            return
        lesson, numbers, lengths = found[0], set(array("I", found[1])), array("H", found[2])
        self._db.execute(
            "INSERT INTO postings (postings, rowid, terms) VALUES ('delete', ?, ?)",
            (lesson, _text(numbers)),
        )
        self._db.execute("DELETE FROM names WHERE lesson = ?", (lesson,))
        self._db.execute("DELETE FROM lessons WHERE id = ?", (lesson,))
        change.count(-1, numbers, lengths)

    def _settle(self, change: "_Change") -> None:
        """Add up what a change did, once for all of its lessons."""
        self._db.executemany(
            "INSERT INTO frequencies VALUES (?, ?)"
            " ON CONFLICT (number) DO UPDATE SET lessons = lessons + excluded.lessons",
            [(number, more) for number, more in sorted(change.frequencies.items()) if more],
        )
        self._db.executemany(
            "UPDATE totals SET terms = terms + ? WHERE field = ?",
            [(more, field) for field, more in change.totals.items()],
        )


class _Change:
    """What several lessons add to, or take from, the sums."""

    def __init__(self) -> None:
        self.lessons = 0
        self.frequencies: Counter[int] = Counter()
        self.totals: Counter[int] = Counter()

    def count(self, sign: int, numbers: Iterable[int], lengths: Iterable[int]) -> None:
        self.lessons += max(0, sign)
        self.totals[_LESSONS] += sign
        for number in numbers:
            self.frequencies[number] += sign
        for field, length in enumerate(lengths):
            self.totals[field] += sign * length


def _spelled(number: int) -> str:
    return f"t{number:x}"


def _text(numbers: Iterable[int]) -> str:
    return " ".join(_spelled(number) for number in sorted(numbers))


def _parts(values: Iterable[_T]) -> Iterator[list[_T]]:
    left = iter(values)
    while part := list(islice(left, _BATCH)):
        yield part


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
