"""The nights that were: their folders `nights/<id>/` with reports, and their history."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from nightwatch_core.adapters.html.page import as_html
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.database import connect, translated
from nightwatch_core.adapters.stores.private_folder import make_private
from nightwatch_core.errors import NotTonight, StopTheNight
from nightwatch_core.intake.windows import read_until
from nightwatch_core.models.report import Night, NightKind, NightRecord, RunReport
from nightwatch_core.ports import Clock
from nightwatch_core.report.markdown import as_markdown
from nightwatch_core.report.view import record_of

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HELD: dict[Path, BaseFileLock] = {}  # nights of this process; the system frees them when it ends
UNFINISHED = ("running", "failed")  # taken up again by the next run of the same window
FINISHED = ("complete", "degraded")


class NightStore:
    """The Nights port on the folder `state`."""

    def __init__(self, state: Path, clock: Clock) -> None:
        """Nothing is touched before it is needed."""
        self._nights = state / "nights"
        self._database = state / "nightwatch.db"
        self._clock = clock

    def begin(self, name: str, night: Callable[[str, bool], Night]) -> Night:
        """Start, or take up again, the night called `name`; its folder is made and held.

        Raises `StopTheNight` where another process runs it or the folder cannot be written.
        """
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
        """The last night of this kind that began after `since`, had a window, and never ended."""
        nights = (one.night for one in self._records(*UNFINISHED) if one.started >= since)
        alike = (night for night in nights if night and night.kind == kind)
        return next((night for night in alike if night.window.since < night.window.until), None)

    def watermark(self, key: str) -> datetime | None:
        """Until when the sources of this key were read by the last scheduled, whole night."""
        ends = (read_until(record, key) for record in self._records(*FINISHED))
        return next(filter(None, ends), None)

    def keep(self, report: RunReport) -> str:
        """Write report.json, .md, .html and, where there are any, rejects.jsonl; each one whole.

        The JSON, which the others are made from, comes first. Returns the night's folder. Raises
        `StopTheNight` where the disk is full or the folder cannot be written.
        """
        folder = self._folder(report.night.id)
        night = report.night.model_copy(update={"folder": str(folder)})
        report = _encodable(report.model_copy(update={"night": night}))
        rejects = "".join(f"{each.model_dump_json()}\n" for each in report.rejects)
        with _on_disk(folder):
            atomic_files.write(folder / "report.json", report.model_dump_json(indent=1).encode())
            atomic_files.write(folder / "report.md", as_markdown(report).encode())
            atomic_files.write(folder / "report.html", as_html(report).encode())
            if rejects:
                atomic_files.write(folder / "rejects.jsonl", rejects.encode())
            else:
                (folder / "rejects.jsonl").unlink(missing_ok=True)
        return str(folder)

    def finish(self, report: RunReport) -> None:
        """Close the night in the history, the state folder to others, and let go of its folder."""
        self._record(record_of(report), report.night.id)
        make_private(self._nights.parent)
        self._release(report.night.id)

    def reports(self) -> Iterator[RunReport]:
        """Reports that can be read, newest first, read one by one as they are asked for."""
        started = {row["id"]: (row["started"], row["rowid"]) for row in self._rows()}
        with _on_disk(self._nights):
            files = {file.parent.name: file for file in self._nights.glob("*/report.json")}
            unlisted = {id: (_changed(files[id]), 0) for id in files.keys() - started.keys()}
        ages = started | unlisted
        newest = sorted(files, key=ages.__getitem__, reverse=True)
        return filter(None, (_read(files[id]) for id in newest))

    def report(self, night_id: str) -> RunReport | None:
        """The report of one night; None where there is none that can be read."""
        if not _ID.fullmatch(night_id):
            return None
        return _read(self._folder(night_id) / "report.json")

    def history(self) -> tuple[NightRecord, ...]:
        """Every night, newest first; one that crashed is `running` until it is taken up again."""
        return tuple(filter(None, map(_record_in, self._rows())))

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
        with _on_disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if folder.resolve() in _HELD:
                return
            try:
                lock.acquire(timeout=0)
            except Timeout as error:
                raise NotTonight(
                    f"night {id} is running in another process: wait until it has ended, or stop it"
                ) from error
            _HELD[folder.resolve()] = lock
            for torn in folder.glob(".tmp-*"):  # of a process that was killed while writing
                torn.unlink(missing_ok=True)

    def _release(self, id: str) -> None:
        lock = _HELD.pop(self._folder(id).resolve(), None)
        if lock is not None:
            lock.release(force=True)

    def _status(self, id: str) -> str:
        query = "SELECT status FROM nights WHERE id = ?"
        with translated(self._database), closing(connect(self._database)) as database:
            row = database.execute(query, (id,)).fetchone()
        return row["status"] if row else ""

    def _record(self, record: NightRecord, name: str) -> None:
        """Write the night's line; the name and the start of a night that is known are kept."""
        started = _moment(record.started)
        ended = _moment(record.finished) if record.finished else None
        with translated(self._database), closing(connect(self._database)) as database:
            database.execute(
                "INSERT INTO nights (id, name, status, started, finished, record)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
                " status = excluded.status, finished = excluded.finished, record = excluded.record",
                (record.id, name, record.status, started, ended, record.model_dump_json()),
            )

    def _rows(self) -> list[sqlite3.Row]:
        query = "SELECT rowid, * FROM nights ORDER BY started DESC, rowid DESC"
        with translated(self._database), closing(connect(self._database)) as database:
            return database.execute(query).fetchall()

    def _records(self, *statuses: str) -> Iterator[NightRecord]:
        """Nights in one of two states, the one that began last first, whatever its clock said."""
        query = "SELECT record FROM nights WHERE status IN (?, ?) ORDER BY rowid DESC"
        with translated(self._database), closing(connect(self._database)) as database:
            rows = database.execute(query, statuses).fetchall()
        return filter(None, map(_record_in, rows))


def _record_in(row: sqlite3.Row) -> NightRecord | None:
    try:
        return NightRecord.model_validate_json(row["record"])
    except ValidationError:
        return None


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _changed(file: Path) -> str:
    return _moment(datetime.fromtimestamp(file.stat().st_mtime, UTC))


def _read(file: Path) -> RunReport | None:
    """The report in a report.json; None where there is none that can be read."""
    try:
        return RunReport.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


@contextmanager
def _on_disk(folder: Path) -> Iterator[None]:
    """Tell what the file system complains about as what to do."""
    try:
        yield
    except OSError as error:
        raise StopTheNight(
            f"{folder} cannot be used ({error.strerror or error}): free some space, check who may "
            "write there, or name another state folder with NIGHTWATCH_STATE"
        ) from error


def _encodable(report: RunReport) -> RunReport:
    """The report without half characters, which a broken export may hold and no file can."""
    try:
        report.model_dump_json()
    except (PydanticSerializationError, UnicodeEncodeError):
        return RunReport.model_validate(_whole(report.model_dump()))
    return report


def _whole(value: object) -> object:
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_whole(each) for each in value)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
