"""The ledger, the nights, and what Slack was told: in SQLite's one file, or in PostgreSQL."""

import atexit
import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout
from pydantic import SecretStr, ValidationError
from pydantic_core import PydanticSerializationError

from nightwatch_core.adapters.html.page import as_html, as_index
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.atomic_files import PATIENCE, make_private
from nightwatch_core.adapters.stores.postgres import Postgres
from nightwatch_core.errors import GiveUp, NightWatchError, NotTonight, StopTheNight, TryLater
from nightwatch_core.intake.windows import read_until
from nightwatch_core.models.proposals import Proposal, Receipt, receipt_for
from nightwatch_core.models.report import Night, NightKind, NightRecord, RunReport
from nightwatch_core.ports import Clock, Outbox
from nightwatch_core.report.view import as_markdown, record_of

PUBLISHING_PATIENCE = 120.0  # until another publisher has to be done
REASON_CHARACTERS = 500

_FOLDER = files("nightwatch_core.adapters.stores") / "migrations"
MIGRATIONS = tuple(  # applied in order, once each; add at the end, change none
    (_FOLDER / f"{name}.sql").read_text("utf-8")
    for name in ("1_ledger", "2_nights", "3_slack_messages")
)

_TORN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_FREE = "free disk space, or check who owns it"
_MOVE = "move it away to start without history; what was published is looked for all the same"


Place = Path | SecretStr  # SQLite's file, or PostgreSQL's address


def connect(place: Place) -> Any:
    """Open the database, made or brought up to date as needed; close it when done.

    Statements commit by themselves. Raises `StopTheNight` where it cannot be used, `TryLater`
    where another process keeps it busy.
    """
    return _connect(place) if isinstance(place, Path) else Postgres(place, MIGRATIONS)


def _connect(path: Path) -> sqlite3.Connection:
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
def transaction(path: Place) -> Iterator[Any]:
    """Yield a transaction that holds the write lock; raises as `connect` does."""
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


def ask(place: Place, query: str, values: Sequence[object] = ()) -> list[Any]:
    """Return the rows of one statement; raises as `connect` does."""
    with translated(place), closing(connect(place)) as database:
        rows: list[Any] = database.execute(query, values).fetchall()
        return rows


@contextmanager
def alone(place: Place, what: str, patience: float) -> Iterator[None]:
    """Hold something that one process at a time may do; it is free when that process has died.

    Raises `TryLater` after `patience` seconds, else as `connect` does.
    """
    if isinstance(place, Path):
        lock = place.with_name(f"{place.name}.{what}.lock")
        with translated(place):
            lock.parent.mkdir(parents=True, exist_ok=True)
            held = FileLock(lock, timeout=patience).acquire()
        with held:
            yield
    else:
        with closing(Postgres(place, MIGRATIONS)) as connection:
            connection.hold(what, patience)
            yield


@contextmanager
def translated(path: Place) -> Iterator[None]:
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


# The ledger: one key is one effect for ever.
#
# A row goes intent → act → done, refused or unknown. After a crash in `act` or `unknown` the outbox
# is asked again, which is safe because outboxes look for the key before they create. A refusal
# holds for one payload in one night.

_UPSERT = """
    INSERT INTO ledger (key, kind, fingerprint, payload_digest, state, receipt, night, updated)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET payload_digest = excluded.payload_digest,
        state = excluded.state, receipt = excluded.receipt, night = excluded.night,
        updated = excluded.updated
"""


@dataclass(eq=False)
class LedgerOutbox:
    """An `Outbox` around another one; safe against kill -9 and against a second process."""

    outbox: Outbox
    path: Place  # of the database
    night: str
    clock: Clock
    patience: float = PUBLISHING_PATIENCE  # seconds to wait for another publisher

    def publish(self, proposal: Proposal) -> Receipt:
        """Publish once per key; an outbox that fails leaves an `unknown` receipt with the reason.

        Raises `StopTheNight` where the ledger cannot be written (then nothing is published) or the
        outbox says so, `TryLater` where another process keeps publishing.
        """
        # Outboxes look, then create: two processes must not look at the same time.
        with alone(self.path, "publish", self.patience):
            return self._answered(proposal) or self._asked(proposal)

    def probe(self) -> str:
        """Return the outbox's answer once the ledger is readable."""
        with transaction(self.path) as connection:
            connection.execute("SELECT count(*) FROM ledger")
        return self.outbox.probe()

    def _answered(self, proposal: Proposal) -> Receipt | None:
        """The receipt of a key that is settled; else the intent is written, and there is none."""
        with transaction(self.path) as connection:
            row = connection.execute(
                "SELECT state, payload_digest, night, receipt FROM ledger WHERE key = ?",
                (proposal.key,),
            ).fetchone()
            if row is None:
                self._write(connection, proposal, "intent")
                return None
            if row["state"] == "done":
                return _kept(proposal, row["receipt"], "already there")
            same = (digest(proposal), self.night)
            if row["state"] == "refused" and (row["payload_digest"], row["night"]) == same:
                return _kept(proposal, row["receipt"], "refused")
        return None

    def _asked(self, proposal: Proposal) -> Receipt:
        self._note(proposal, "act")
        try:
            receipt = self.outbox.publish(proposal)
        except (TryLater, GiveUp) as error:
            receipt = _unknown(proposal, error)
        except StopTheNight as error:
            self._note(proposal, "unknown", _unknown(proposal, error))
            raise
        try:
            self._note(proposal, _STATES.get(receipt.status, receipt.status), receipt)
        except NightWatchError as error:
            raise StopTheNight(
                f"{proposal.kind} {receipt.number or ''} {receipt.url} is {receipt.status}, "
                f"but the ledger cannot say so: {error}"
            ) from error
        return receipt

    def _note(self, proposal: Proposal, state: str, receipt: Receipt | None = None) -> None:
        with transaction(self.path) as connection:
            self._write(connection, proposal, state, receipt)

    def _write(
        self, connection: Any, proposal: Proposal, state: str, receipt: Receipt | None = None
    ) -> None:
        row = (proposal.key, proposal.kind, proposal.fingerprint, digest(proposal), state)
        kept = receipt.model_dump_json() if receipt else ""
        now = self.clock.now().astimezone(UTC).isoformat(timespec="seconds")
        connection.execute(_UPSERT, (*row, kept, self.night, now))


_STATES = {"already there": "done", "held back": "intent"}  # others are called as the receipt's


def published(path: Place) -> frozenset[str]:
    """Return the addresses of everything that was published, as the ledger at `path` says."""
    if isinstance(path, Path) and not path.exists():
        return frozenset()
    with transaction(path) as connection:
        rows = connection.execute("SELECT receipt FROM ledger WHERE state = 'done'").fetchall()
    receipts = (_receipt(row["receipt"]) for row in rows)
    return frozenset(item.url for item in receipts if item and item.url)


def digest(proposal: Proposal) -> str:
    """Return the digest of a payload."""
    content = proposal.model_dump(mode="json")
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _kept(proposal: Proposal, kept: str, status: Literal["already there", "refused"]) -> Receipt:
    receipt = _receipt(kept) or receipt_for(proposal, "unknown")  # the row's state still counts
    return receipt.model_copy(update={"key": proposal.key, "also": proposal.also, "status": status})


def _receipt(kept: str) -> Receipt | None:
    try:
        return Receipt.model_validate_json(kept, extra="ignore")
    except ValidationError:
        return None


def _unknown(proposal: Proposal, error: NightWatchError) -> Receipt:
    return receipt_for(proposal, "unknown", reason=str(error)[:REASON_CHARACTERS])


# Past nights: their folders `nights/<id>/` with reports, and their history.

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HELD: dict[Path, ExitStack] = {}  # nights of this process; they are free when it has ended
UNFINISHED = ("running", "failed")  # taken up again by the next run of the same window
FINISHED = ("complete", "degraded")


class NightStore:
    """The Nights port on the folder `state`, and on its database or another one."""

    def __init__(self, state: Path, clock: Clock, database: Place | None = None) -> None:
        self._nights = state / "nights"
        self._database = database or state / "nightwatch.db"
        self._clock = clock

    def begin(self, name: str, night: Callable[[str, bool], Night]) -> Night:
        """Raises `StopTheNight` where another process runs it or the folder cannot be written."""
        for number in count(1):
            id = name if number == 1 else f"{name}-{number}"
            if self._is_finished(id):
                continue
            self._hold(id)
            if not self._is_finished(id):  # it may have ended while we came for the lock
                break
            self._release(id)
        resumed = self._status(id) in UNFINISHED
        begun = night(id, resumed).model_copy(update={"folder": str(self._folder(id))})
        if not resumed:
            started = self._clock.now()
            self._record(NightRecord(id=id, status="running", started=started, night=begun), name)
        return begun

    def unfinished(self, kind: NightKind, since: datetime) -> Night | None:
        nights = (record.night for record in self._records(*UNFINISHED) if record.started >= since)
        alike = (night for night in nights if night and night.kind == kind)
        return next((night for night in alike if night.window.since < night.window.until), None)

    def watermark(self, key: str) -> datetime | None:
        ends = (read_until(record, key) for record in self._records(*FINISHED))
        return next(filter(None, ends), None)

    def keep(self, report: RunReport) -> str:
        """Raises `StopTheNight` where the disk is full or the folder cannot be written."""
        folder = self._folder(report.night.id)
        night = report.night.model_copy(update={"folder": str(folder)})
        report = _encodable(report.model_copy(update={"night": night}))
        rejects = "".join(f"{reject.model_dump_json()}\n" for reject in report.rejects)
        with atomic_files.on_disk(folder):
            atomic_files.write(folder / "report.json", report.model_dump_json(indent=1).encode())
            atomic_files.write(folder / "report.md", as_markdown(report).encode())
            atomic_files.write(folder / "report.html", as_html(report).encode())
            if rejects:
                atomic_files.write(folder / "rejects.jsonl", rejects.encode())
            else:
                (folder / "rejects.jsonl").unlink(missing_ok=True)
        return str(folder)

    def finish(self, report: RunReport) -> None:
        self._record(record_of(_encodable(report)), report.night.id)
        with atomic_files.on_disk(self._nights):
            atomic_files.write(self._nights / "index.html", as_index(self._every()).encode())
        make_private(self._nights.parent)
        self._release(report.night.id)

    def reports(self) -> Iterator[RunReport]:
        listed = [row["id"] for row in self._rows()]
        with atomic_files.on_disk(self._nights):
            files = {file.parent.name: file for file in self._nights.glob("*/report.json")}
            lost = sorted(files.keys() - {*listed}, key=lambda id: files[id].stat().st_mtime)
        newest = (*listed, *reversed(lost))  # those whose history was lost came before
        return filter(None, (_read(files[id]) for id in newest if id in files))

    def report(self, night_id: str) -> RunReport | None:
        if not _ID.fullmatch(night_id):
            return None
        return _read(self._folder(night_id) / "report.json")

    def history(self) -> tuple[NightRecord, ...]:
        """Every night, newest first; one that crashed is `running` until it is taken up again."""
        return tuple(filter(None, map(_record_in, self._rows())))

    def _every(self) -> Iterator[tuple[str, NightRecord]]:
        """Every night with its folder, also of other applications: their states lie beside ours."""
        state = self._nights.parent.resolve()
        rows = [(item.id, item) for item in self.history()]
        for other in sorted(state.parent.glob("*/nightwatch.db")):
            with suppress(NightWatchError):  # its own nights tell what is wrong with it
                if other.parent != state:
                    folder = f"../../{other.parent.name}/nights/"
                    history = NightStore(other.parent, self._clock).history()
                    rows += [(f"{folder}{item.id}", item) for item in history]
        yield from sorted(rows, key=lambda row: row[1].started, reverse=True)

    def _folder(self, id: str) -> Path:
        if not _ID.fullmatch(id):
            raise StopTheNight(f"{id!r} cannot name a night: use letters, digits, '.', '_' and '-'")
        return self._nights / id

    def _is_finished(self, id: str) -> bool:
        """Also where the history was lost but the report is there: reports are not overwritten."""
        status = self._status(id)
        exists = bool(status) or (self._folder(id) / "report.json").exists()
        return exists and status not in UNFINISHED

    def _hold(self, id: str) -> None:
        folder = self._folder(id)
        lock = FileLock(folder / ".lock", thread_local=False)
        with atomic_files.on_disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if folder.resolve() in _HELD:
                return
            with ExitStack() as held:
                try:
                    lock.acquire(timeout=0)
                    held.callback(lock.release, force=True)
                    if not isinstance(self._database, Path):  # also on another machine
                        held.enter_context(alone(self._database, f"night {id}", 0))
                except (Timeout, TryLater) as error:
                    raise NotTonight(
                        f"night {id} is running in another process: wait until it has ended, "
                        "or stop it"
                    ) from error
                _HELD[folder.resolve()] = kept = held.pop_all()
                atexit.register(kept.close)  # later there is no library left to close it with
            for torn in folder.glob(".tmp-*"):  # of a process that was killed while writing
                torn.unlink(missing_ok=True)

    def _release(self, id: str) -> None:
        if held := _HELD.pop(self._folder(id).resolve(), None):
            held.close()

    def _status(self, id: str) -> str:
        rows = self._ask("SELECT status FROM nights WHERE id = ?", id)
        return rows[0]["status"] if rows else ""

    def _record(self, record: NightRecord, name: str) -> None:
        """Write the night's line; the name and the start of a night that is known are kept."""
        started = _moment(record.started)
        ended = _moment(record.finished) if record.finished else None
        self._ask(
            "INSERT INTO nights (id, name, status, started, finished, record)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
            " status = excluded.status, finished = excluded.finished, record = excluded.record",
            *(record.id, name, record.status, started, ended, record.model_dump_json()),
        )

    def _rows(self) -> list[Any]:
        if isinstance(self._database, Path) and not self._database.exists():
            return []
        return self._ask("SELECT rowid, * FROM nights ORDER BY started DESC, rowid DESC")

    def _records(self, *statuses: str) -> Iterator[NightRecord]:
        query = "SELECT record FROM nights WHERE status IN (?, ?) ORDER BY rowid DESC"
        return filter(None, map(_record_in, self._ask(query, *statuses)))

    def _ask(self, query: str, *values: str | None) -> list[Any]:
        return ask(self._database, query, values)


def _record_in(row: Any) -> NightRecord | None:
    try:
        return NightRecord.model_validate_json(row["record"], extra="ignore")
    except ValidationError:
        return None


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _read(file: Path) -> RunReport | None:
    """The report in a report.json; None where there is none that can be read."""
    try:
        return RunReport.model_validate_json(file.read_bytes(), extra="ignore")
    except (OSError, ValidationError):
        return None


def _encodable(report: RunReport) -> RunReport:
    """The report without half characters, which a broken export may hold and no file can."""
    try:
        report.model_dump_json()
    except (PydanticSerializationError, UnicodeEncodeError):
        return RunReport.model_validate(_whole(report.model_dump()))
    return report


def _whole(value: object) -> object:
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_whole(item) for item in value)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
