"""The end of what a failed job of GitHub Actions printed.

GitHub answers with the address of a store elsewhere, that holds for a minute: it is asked without
the token, by another client, and of what it sends only the end is kept. The text is untrusted.
"""

import re
import time
from typing import Any

import httpx

from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.connection import SERVICE
from nightwatch_core.adapters.github.limits import (
    CONNECTING,
    LOG_BYTES,
    LOG_CHARACTERS,
    LOG_SECONDS,
    SILENCE,
)
from nightwatch_core.adapters.stores.manifest import note

_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_END = 4 * LOG_CHARACTERS  # bytes that are kept


def log_of_run(repository: Repository, run: int) -> str:
    """Return the end of the first failed job's log; empty where none failed, or none is there."""
    answer: Any = repository.ask_spare(
        lambda rest, at: rest.actions.list_jobs_for_workflow_run(*at, run, per_page=100)
    )
    jobs = answer.get("jobs") if isinstance(answer, dict) else None
    rows = [row for row in jobs or () if isinstance(row, dict)]
    failed = (row["id"] for row in rows if row.get("conclusion") == "failure" and "id" in row)
    job = next(failed, None)
    return log_of_job(repository, job) if isinstance(job, int) else ""


def log_of_job(repository: Repository, job: int) -> str:
    """Return the end of a job's log; empty where there is none, or it cannot be fetched."""
    path = f"/repos/{repository.full_name}/actions/jobs/{job}/logs"
    address = repository.client.location_of(path)
    return _readable(_end(address)) if address else ""


def _end(address: str) -> bytes:
    """The last bytes that stand there; none where the store does not answer well, or in time."""
    held, read, began = b"", 0, time.monotonic()
    timeout = httpx.Timeout(SILENCE, connect=CONNECTING)
    try:
        with (
            httpx.Client(
                timeout=timeout,
                follow_redirects=False,
                event_hooks={"request": [note(SERVICE)]},
                trust_env=address.startswith("https"),
            ) as client,
            client.stream("GET", address) as answer,
        ):
            if answer.status_code != httpx.codes.OK:
                return b""
            for part in answer.iter_bytes():
                read += len(part)
                held = (held + part)[-_END:]
                if read > LOG_BYTES or time.monotonic() - began > LOG_SECONDS:
                    return b""
    except (httpx.HTTPError, httpx.InvalidURL):
        return b""
    return held


def _readable(log: bytes) -> str:
    """Return the last lines without times and colours.

    >>> _readable(b"2026-11-21T03:00:00.1234567Z \\x1b[31mE  1 != 2\\x1b[0m\\n")
    'E  1 != 2'
    """
    text = _COLOUR.sub("", _STAMP.sub("", log.decode(errors="replace")))
    return text.strip()[-LOG_CHARACTERS:]
