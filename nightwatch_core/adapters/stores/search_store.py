"""Lessons to search, in one SQLite file of its own: made from documents, never kept.

FTS5 holds which lessons have a term. Scores are computed from the terms of the best candidates:
FTS5's own `bm25()` knows no length of a field, so that it neither normalises by it nor says how
much of an error a lesson matches; on the development data it finds less (Recall@1 .74, not .77).
"""

import json
import secrets
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

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
        """Use a database that `make` has made."""
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
        """The rows whose last named column is one of these values, however many."""
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
