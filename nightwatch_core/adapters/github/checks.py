"""Reads CI results of our drafts, where the token may read them.

There are three sources, each with a permission of its own. Check runs include those of Actions, but
fine-grained tokens cannot read them: for those tokens the runs of Actions count. Other services set
commit statuses. What may not be read is unknown, and is never taken for a pass.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import httpx
from githubkit.response import Response

from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.connection import CONNECTING, SERVICE, SILENCE
from nightwatch_core.adapters.github.rows import PullRow
from nightwatch_core.adapters.hosts.writes import Rejected
from nightwatch_core.adapters.stores import traffic
from nightwatch_core.errors import NightWatchError, TryLater
from nightwatch_core.models.code import CiRun, CiState

FAILED_CHECKS, LOGS_READ = 10, 3  # of one commit: named; whose logs are tried until one is there
LOG_CHARACTERS = 12_000  # of the end of a failed job's log

_LOG_BOUNDS = traffic.Bounds(SERVICE, 64 * 1024 * 1024, seconds=60.0)
_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


def log_of_run(repository: Repository, run: int) -> str:
    """Return the end of the first failed job's log; empty where none failed, or none is there."""
    actions = repository.rest.actions
    listed = actions.list_jobs_for_workflow_run(*repository.at, run, per_page=100).json()
    jobs = listed.get("jobs") if isinstance(listed, dict) else None
    rows = [row for row in jobs or () if isinstance(row, dict)]
    failed = (row["id"] for row in rows if row.get("conclusion") == "failure" and "id" in row)
    job = next(failed, None)
    return log_of_job(repository, job) if isinstance(job, int) else ""


def log_of_job(repository: Repository, job: int) -> str:
    """Return the last lines of a job's log, without times and colours; empty where there is none.

    GitHub answers with the address of a store elsewhere, which is asked without the token. The text
    is untrusted.
    """
    path = f"/repos/{repository.full_name}/actions/jobs/{job}/logs"
    address = repository.client.location_of(path)
    if not address:
        return ""
    timeout = httpx.Timeout(SILENCE, connect=CONNECTING)
    with traffic.http_client(_LOG_BOUNDS, address, timeout) as client:
        try:
            answer = client.get(address)
        except (httpx.HTTPError, httpx.InvalidURL):
            return ""
    if answer.status_code != httpx.codes.OK:
        return ""
    end = answer.content[-4 * LOG_CHARACTERS :].decode(errors="replace")
    return _COLOUR.sub("", _STAMP.sub("", end)).strip()[-LOG_CHARACTERS:]


_GOOD = ("success", "neutral", "skipped")
_PENDING = "pending"
_MAY_NOT = "check runs cannot be read: grant the token read access to Actions (an App: Checks)"
_NO_STATUSES = "commit statuses cannot be read: grant the token read access to Commit statuses"
_LOGS = {"check_runs": log_of_job, "workflow_runs": log_of_run}


class Concluded(NamedTuple):
    """A check, run or status, and how it ended."""

    name: str
    conclusion: str
    id: int = 0
    source: str = ""

    @property
    def is_bad(self) -> bool:
        return self.conclusion not in (*_GOOD, _PENDING)


class Results(NamedTuple):
    """The runs and statuses of a commit; None for those that cannot be read."""

    runs: tuple[Concluded, ...] | None
    statuses: tuple[Concluded, ...] | None

    @property
    def all(self) -> tuple[Concluded, ...]:
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
    """Reads checks of commits; a source that is refused is not tried again."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._refused: set[str] = set()

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
        runs = self._listed("check_runs", sha)
        if runs is None:
            runs = self._listed("workflow_runs", sha)
        return Results(runs, self._listed("statuses", sha))

    def _log(self, bad: Iterable[Concluded]) -> str:
        ours = [concluded for concluded in bad if concluded.id and concluded.source in _LOGS]
        try:
            logs = (_LOGS[our.source](self._repository, our.id) for our in ours[:LOGS_READ])
            return next(filter(None, logs), "")
        except NightWatchError:  # it may have been deleted, or need a right: that it failed stands
            return ""

    def _listed(self, source: str, sha: str) -> tuple[Concluded, ...] | None:
        """Return the results of one source; None where they may not, or cannot, be read."""
        if source in self._refused:
            return None
        try:
            answer: Any = self._asked(source, sha).json()
        except Rejected:
            self._refused.add(source)
            return None
        except TryLater:
            return None
        listed = answer.get(source) if isinstance(answer, dict) else None
        if not isinstance(listed, list):
            return None
        rows = [row for row in listed if isinstance(row, dict)]
        if source == "workflow_runs":  # the last run of each workflow: an earlier one was repeated
            numbered = [row for row in rows if isinstance(row.get("run_number"), int)]
            numbered.sort(key=lambda row: row["run_number"])
            rows = list({str(row.get("workflow_id")): row for row in numbered}.values())
        return tuple(_concluded(row, source) for row in rows)

    def _asked(self, source: str, sha: str) -> Response[Any, Any]:
        rest, at = self._repository.rest, self._repository.at
        if source == "check_runs":
            return rest.checks.list_for_ref(*at, sha, filter_="latest", per_page=100)
        if source == "workflow_runs":
            return rest.actions.list_workflow_runs_for_repo(*at, head_sha=sha, per_page=100)
        return rest.repos.get_combined_status_for_ref(*at, sha, per_page=100)


def _concluded(row: Mapping[str, Any], source: str) -> Concluded:
    if source == "statuses":
        return Concluded(str(row.get("context") or "status"), str(row.get("state") or _PENDING))
    done = row.get("status") == "completed"
    conclusion = str(row.get("conclusion") or _PENDING) if done else _PENDING
    id = row["id"] if isinstance(row.get("id"), int) else 0
    return Concluded(str(row.get("name") or source), conclusion, id, source)
