"""CI results of our drafts, where the token may read them.

It may be told in three ways, each with a permission of its own. Check runs hold what Actions did,
too, but fine-grained tokens cannot read them: for those the runs of Actions count. Commit statuses
are told by other services. What may not be read is not known, and is never taken for a pass.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

import httpx

from nightwatch_core.adapters.github.client import Repository, RepositoryCall
from nightwatch_core.adapters.github.connection import CONNECTING, SERVICE, SILENCE, Rejected
from nightwatch_core.adapters.github.rows import PullRow
from nightwatch_core.adapters.stores.traffic import note
from nightwatch_core.errors import NightWatchError, TryLater
from nightwatch_core.models.code import CiRun, CiState

FAILED_CHECKS, LOGS_READ = 10, 3  # of one commit: named; whose logs are tried until one is there
LOG_CHARACTERS, LOG_BYTES, LOG_SECONDS = 12_000, 64 * 1024 * 1024, 60.0  # of one job; all of it

# The end of what a failed job of GitHub Actions printed.
#
# GitHub answers with the address of a store elsewhere, that holds for a minute: it is asked without
# the token, by another client, and of what it sends only the end is kept. The text is untrusted.

_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_END = 4 * LOG_CHARACTERS  # bytes that are kept


def log_of_run(repository: Repository, run: int) -> str:
    """Return the end of the first failed job's log; empty where none failed, or none is there."""
    answer: Any = repository.ask(
        lambda rest, at: rest.actions.list_jobs_for_workflow_run(*at, run, per_page=100), spare=True
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


Verdict = Literal["passed", "failed", ""]  # empty: not known, or not yet
_GOOD = ("success", "neutral", "skipped")
_PENDING = "pending"
_MAY_NOT = "what ran on it may not be read: give the token Actions (an App: Checks), for reading"
_NO_STATUSES = "commit statuses may not be read: give the token Commit statuses, for reading"
_LISTS: Mapping[str, Callable[[str], RepositoryCall]] = {
    "check_runs": lambda sha: (
        lambda rest, at: rest.checks.list_for_ref(*at, sha, filter_="latest", per_page=100)
    ),
    "workflow_runs": lambda sha: (
        lambda rest, at: rest.actions.list_workflow_runs_for_repo(*at, head_sha=sha, per_page=100)
    ),
    "statuses": lambda sha: lambda rest, at: rest.repos.get_combined_status_for_ref(*at, sha),
}
_LOGS = {"check_runs": log_of_job, "workflow_runs": log_of_run}


class Concluded(NamedTuple):
    """A check, run or status, and how it ended."""

    name: str
    conclusion: str
    id: int = 0
    way: str = ""

    @property
    def is_bad(self) -> bool:
        """Tell whether it failed."""
        return self.conclusion not in (*_GOOD, _PENDING)


class Results(NamedTuple):
    """What ran on a commit, and its statuses; None for what cannot be read."""

    runs: tuple[Concluded, ...] | None
    statuses: tuple[Concluded, ...] | None

    @property
    def all(self) -> tuple[Concluded, ...]:
        """Return everything that can be read."""
        return (*(self.runs or ()), *(self.statuses or ()))

    @property
    def state(self) -> CiState:
        """Return what they mean together.

        A failure is one whatever else there is; a pass needs both to be readable, and one to be
        there.

        >>> good, bad = Concluded("a", "success"), Concluded("b", "failure")
        >>> Results((good,), ()).state, Results((good,), None).state, Results((), ()).state
        ('passed', 'unreadable', 'none')
        >>> Results(None, (bad,)).state, Results((good, Concluded("c", "pending")), ()).state
        ('failed', 'pending')
        """
        if any(item.is_bad for item in self.all):
            return "failed"
        if any(item.conclusion == _PENDING for item in self.all):
            return "pending"
        if self.runs is None or self.statuses is None:
            return "unreadable"
        return "passed" if self.all else "none"

    @property
    def lacking(self) -> str:
        """Return what cannot be read, and what to do; empty where all can."""
        return _MAY_NOT if self.runs is None else _NO_STATUSES if self.statuses is None else ""


class ChecksReader:
    """Reads checks of commits; a way that is refused, or away, is not tried again."""

    def __init__(self, repository: Repository, refused: set[str] | None = None) -> None:
        """Ask nothing yet; `refused` are ways that were, and is added to."""
        self._repository = repository
        self._refused = set() if refused is None else refused
        self._away: set[str] = set()

    def verdicts(self, commits: Mapping[int, str]) -> dict[int, Verdict]:
        """Return what is known of each pull request, by number; `commits` are their heads."""
        states = {number: self.results(sha).state for number, sha in commits.items() if sha}
        return {n: state if state in ("passed", "failed") else "" for n, state in states.items()}

    def run(self, pull: PullRow) -> CiRun:
        results = self.results(pull.head)
        bad = [item for item in results.all if item.is_bad]
        names = tuple(dict.fromkeys(item.name for item in bad))[:FAILED_CHECKS]
        before = self.results(pull.base).all if names and pull.base else ()
        return CiRun(
            state=results.state,
            sha=pull.head,
            failed=names,
            before=bool(names) and {item.name for item in before if item.is_bad} >= {*names},
            log=self._log(bad),
            because=results.lacking if results.state == "unreadable" else "",
        )

    def results(self, sha: str) -> Results:
        """Return what is known of a commit."""
        runs = self._listed("check_runs", sha)
        if runs is None:
            runs = self._listed("workflow_runs", sha)
        return Results(runs, self._listed("statuses", sha))

    def _log(self, bad: Iterable[Concluded]) -> str:
        ours = [concluded for concluded in bad if concluded.id and concluded.way in _LOGS]
        try:
            logs = (_LOGS[our.way](self._repository, our.id) for our in ours[:LOGS_READ])
            return next(filter(None, logs), "")
        except NightWatchError:  # it may have been deleted, or need a right: that it failed stands
            return ""

    def _listed(self, way: str, sha: str) -> tuple[Concluded, ...] | None:
        """Return what is told in one way; None where it may not, or cannot, be read."""
        if way in self._refused | self._away:
            return None
        try:
            answer = self._repository.ask(_LISTS[way](sha), spare=True)
        except Rejected:
            self._refused.add(way)
            return None
        except TryLater:
            self._away.add(way)
            return None
        listed = answer.get(way) if isinstance(answer, dict) else None
        if not isinstance(listed, list):
            return None
        rows = [row for row in listed if isinstance(row, dict)]
        if way == "workflow_runs":  # the last run of each workflow: an earlier one was repeated
            numbered = [row for row in rows if isinstance(row.get("run_number"), int)]
            numbered.sort(key=lambda row: row["run_number"])
            rows = list({str(row.get("workflow_id")): row for row in numbered}.values())
        return tuple(_concluded(row, way) for row in rows)


def _concluded(row: Mapping[str, Any], way: str) -> Concluded:
    if way == "statuses":
        return Concluded(str(row.get("context") or "status"), str(row.get("state") or _PENDING))
    done = row.get("status") == "completed"
    conclusion = str(row.get("conclusion") or _PENDING) if done else _PENDING
    number = row.get("id")
    return Concluded(
        str(row.get("name") or way), conclusion, number if isinstance(number, int) else 0, way
    )
