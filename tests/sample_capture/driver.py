"""Sends a part of the sample's day through one release; run inside a checkout of it.

`python -P -m sample_capture.driver RELEASE SINCE UNTIL STATE`, with the checkout and the
folder of its dependency on PYTHONPATH. STATE is a folder that outlives the release: the database,
the suppliers' feeds, and the application's own error report.
"""

import io
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sample_capture.day import JOB_HOST, WEB_HOSTS, Step, steps
from sample_capture.services import Services
from sample_capture.world import inserts, send_feeds

PATIENT = 20.0  # seconds; a busy machine must not look like a slow carrier
IMPATIENT = 0.05


@dataclass
class Production:
    """The application on all its hosts, its neighbours, and the time."""

    release: str
    state: Path
    now: datetime

    def __post_init__(self) -> None:
        self.services = Services()
        self.services.start()
        self.database = self.state / "larder.sqlite"
        fresh = not self.database.exists()
        self.hosts = {host: self._host(host) for host in (*WEB_HOSTS, JOB_HOST)}
        self.jobs = import_module("app.jobs").JOBS
        self.run_job = import_module("app.jobs.runner").run
        import_module("app.clock").use(lambda: self.now)
        if fresh:
            for sql, rows in inserts():
                self.hosts[JOB_HOST].database.write_many(sql, rows)

    def _host(self, host: str) -> Any:
        settings = {
            "DATABASE": self.database,
            "DATABASE_TIMEOUT": PATIENT,
            "CARRIER_URL": self.services.url,
            "PAYMENT_URL": self.services.url,
            "PAYMENT_TIMEOUT": PATIENT,
            "FEEDS_PATH": self.state / "feeds",
            "OUTBOX_PATH": self.state / "outbox",
            "REPORT_PATH": self.state / "errors.jsonl",
            "RELEASE": self.release,
            "HOST": host,
        }
        environ = {f"LARDER_{name}": str(value) for name, value in settings.items()}
        return import_module("app.wsgi").Application(import_module("app.config").load(environ))

    def take(self, step: Step) -> None:
        self.now = step.at
        self.services.mood = step.carrier
        application = self.hosts[step.host]
        application.config.carrier_timeout = IMPATIENT if step.carrier == "slow" else PATIENT
        if step.call == "FEED":
            send_feeds(self.state / "feeds", step.target)
            return
        with self._locked(application) if step.locked else _free():
            if step.call == "JOB":
                self.run_job(application, self.jobs[step.target])
            else:
                _send(application, step)

    @contextmanager
    def _locked(self, application: Any) -> Iterator[None]:
        other = sqlite3.connect(self.database, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        application.database.connection.execute(f"PRAGMA busy_timeout = {IMPATIENT * 1000:.0f}")
        try:
            yield
        finally:
            application.database.connection.execute(f"PRAGMA busy_timeout = {PATIENT * 1000:.0f}")
            other.execute("ROLLBACK")
            other.close()


@contextmanager
def _free() -> Iterator[None]:
    """Nobody else writes."""
    yield


def _send(application: Any, step: Step) -> None:
    """One request through WSGI; a field without a name is the whole body."""
    text = urlencode(step.fields)
    raw = step.fields.get("")
    body = (raw if raw is not None else text).encode("utf-8") if step.call == "POST" else b""
    environ = {
        "REQUEST_METHOD": step.call,
        "PATH_INFO": step.target,
        "QUERY_STRING": text if step.call == "GET" else "",
        "CONTENT_TYPE": "text/csv" if raw is not None else "application/x-www-form-urlencoded",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_X_TOKEN": step.token,
        "wsgi.input": io.BytesIO(body),
    }
    for _ in application(environ, lambda status, headers: None):
        pass


def main(release: str, since: str, until: str, state: str) -> None:
    """Everything that happens from `since` until before `until`."""
    begin, end = datetime.fromisoformat(since), datetime.fromisoformat(until)
    production = Production(release, Path(state), begin)
    for step in steps():
        if begin <= step.at < end:
            production.take(step)


if __name__ == "__main__":
    main(*sys.argv[1:])
