"""What continuous integration says on the GitHub stand-in: check runs, Actions, commit statuses."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Checks(NamedTuple):
    """Of one commit: conclusions of runs ("queued" is not over), and states of commit statuses."""

    runs: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    log: str = ""  # of every job that failed


def check_runs(held: Mapping[str, Checks], sha: str) -> dict[str, Any]:
    rows = [_run(at, each) for at, each in enumerate(held.get(sha, Checks()).runs)]
    return {"total_count": len(rows), "check_runs": rows}


def workflow_runs(held: Mapping[str, Checks], sha: str) -> dict[str, Any]:
    """Every workflow was run once before, and failed."""
    runs = held.get(sha, Checks()).runs
    rows = [_run(at, each) | {"workflow_id": at, "run_number": 2} for at, each in enumerate(runs)]
    old = [row | {"run_number": 1, "status": "completed", "conclusion": "failure"} for row in rows]
    return {"total_count": 2 * len(rows), "workflow_runs": [*rows, *old]}


def jobs(held: Mapping[str, Checks], run: int) -> dict[str, Any]:
    """A workflow has two jobs, of which the second ends as the run does."""
    ends = [ends for one in held.values() for at, ends in enumerate(one.runs) if at == run]
    rows = [_run(100 + run, "success"), _run(run, ends[-1])] if ends else []
    return {"total_count": len(rows), "jobs": rows}


def log(held: Mapping[str, Checks], job: int) -> str:
    there = (one.log for one in held.values() if len(one.runs) > job and one.log)
    return next(there, "")


def combined_status(held: Mapping[str, Checks], sha: str) -> dict[str, Any]:
    """Without any status the whole says pending for ever, as GitHub does."""
    states = held.get(sha, Checks()).statuses
    rows = [{"state": state, "context": f"ci/{state}"} for state in states]
    return {"state": "pending", "sha": sha, "total_count": len(rows), "statuses": rows}


def _run(id: int, conclusion: str) -> dict[str, Any]:
    done = conclusion != "queued"
    status = {"status": "completed", "conclusion": conclusion}
    return {"id": id, "name": f"run {id}", **(status if done else {"status": "queued"})}
