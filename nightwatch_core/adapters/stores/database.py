"""The one SQLite file of the state folder: the ledger, the nights, and what Slack was told."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from nightwatch_core.adapters.stores.limits import PATIENCE
from nightwatch_core.errors import StopTheNight, TryLater

MIGRATIONS: tuple[str, ...] = (  # applied in order, once each; add at the end, change none
    """
    CREATE TABLE ledger (
        key TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        payload_digest TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('intent', 'act', 'done', 'refused', 'unknown')),
        receipt TEXT NOT NULL DEFAULT '',  -- JSON
        night TEXT NOT NULL,
        updated TEXT NOT NULL  -- ISO 8601, UTC
    )
    """,
    """
    CREATE TABLE nights (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        status TEXT NOT NULL,
        started TEXT NOT NULL,
        finished TEXT,
        record TEXT NOT NULL DEFAULT ''  -- JSON
    )
    """,
    """
    CREATE TABLE slack_messages (
        night TEXT NOT NULL,
        channel TEXT NOT NULL,
        part TEXT NOT NULL,  -- parent, a reply's error, follow-up
        ts TEXT NOT NULL DEFAULT '',  -- empty: sent, and unknown whether it arrived
        digest TEXT NOT NULL,
        sent REAL NOT NULL,  -- seconds since 1970
        PRIMARY KEY (night, channel, part)
    )
    """,
)

_TORN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_FREE = "free disk space, or check who owns it"
_MOVE = "move it away to start without history; what was published is looked for all the same"


def connect(path: Path) -> sqlite3.Connection:
    """Open the database, made or brought up to date as needed; close it when done.

    Statements commit by themselves; say BEGIN IMMEDIATE, or use `transaction`, for several. One
    connection belongs to one thread. Raises `StopTheNight` where the file cannot be used,
    `TryLater` where another process keeps it busy.
    """
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            connection.row_factory = sqlite3.Row
            if _version(connection) != len(MIGRATIONS):
                _migrate(connection, path)
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction that holds the write lock from its beginning; kept, or all undone.

    Raises as `connect` does.
    """
    with closing(connect(path)) as connection:
        with translated(path):
            connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException as error:
            if connection.in_transaction:  # SQLite itself has undone it where the disk is full
                connection.execute("ROLLBACK")
            if not isinstance(error, sqlite3.Error):
                raise
            with translated(path):
                raise
        with translated(path):
            connection.execute("COMMIT")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Tell what SQLite and the file system complain about as what to do."""
    try:
        yield
    except Timeout as error:
        raise TryLater(f"another process keeps {path} locked") from error
    except sqlite3.Error as error:
        code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise TryLater(f"another process keeps {path} busy: {error}") from error
        advice = _MOVE if code in _TORN else _FREE
        raise StopTheNight(f"the state file {path} cannot be used ({error}): {advice}") from error
    except OSError as error:
        raise StopTheNight(f"the state file {path} cannot be used: {error}") from error


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Switching to WAL does not wait for other connections, so one process at a time does it."""
    with FileLock(path.with_name(f"{path.name}.migration.lock"), timeout=PATIENCE):
        connection.execute("PRAGMA journal_mode = WAL")
        version = _version(connection)
        if version > len(MIGRATIONS):
            raise StopTheNight(f"{path} was written by a newer NightWatch: update this one")
        connection.execute("BEGIN IMMEDIATE")
        for number, statement in enumerate(MIGRATIONS[version:], version + 1):
            connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
