"""What continuous integration says of our drafts, where the sign-in may read it.

It may be told in three ways, each with a permission of its own. Check runs hold what Actions did,
too, but fine-grained tokens cannot read them: for those the runs of Actions count. Commit statuses
are told by other services. What may not be read is not known, and is never taken for a pass.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from nightwatch_core.adapters.github.client import Repository, RepositoryCall
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.errors import TryLater

Verdict = Literal["passed", "failed", ""]  # empty: not known, or not yet
Conclusions = tuple[str, ...]  # of one commit: good, bad or "pending" ones
_GOOD = ("success", "neutral", "skipped")
_PENDING = "pending"


class ChecksReader:
    """Reads checks of commits; a way that is refused, or away, is not tried again."""

    def __init__(self, repository: Repository) -> None:
        """Ask nothing yet."""
        self._repository = repository
        self._closed: set[str] = set()

    def verdicts(self, commits: Mapping[int, str]) -> dict[int, Verdict]:
        """Return what is known of each pull request, by number; `commits` are their heads."""
        return {number: self._verdict(sha) for number, sha in commits.items() if sha}

    def _verdict(self, sha: str) -> Verdict:
        runs = self._check_runs(sha)
        return verdict(self._workflow_runs(sha) if runs is None else runs, self._statuses(sha))

    def _check_runs(self, sha: str) -> Conclusions | None:
        rows = self._listed(
            "check_runs",
            lambda rest, at: rest.checks.list_for_ref(*at, sha, filter_="latest", per_page=100),
        )
        return None if rows is None else tuple(map(_concluded, rows))

    def _workflow_runs(self, sha: str) -> Conclusions | None:
        rows = self._listed(
            "workflow_runs",
            lambda rest, at: rest.actions.list_workflow_runs_for_repo(
                *at, head_sha=sha, per_page=100
            ),
        )
        return None if rows is None else tuple(map(_concluded, _newest(rows)))

    def _statuses(self, sha: str) -> Conclusions | None:
        rows = self._listed(
            "statuses", lambda rest, at: rest.repos.get_combined_status_for_ref(*at, sha)
        )
        return None if rows is None else tuple(str(row.get("state") or _PENDING) for row in rows)

    def _listed(self, name: str, call: RepositoryCall) -> list[dict[str, Any]] | None:
        """Return the rows below `name`; None where they may not, or cannot, be read."""
        if name in self._closed:
            return None
        try:
            answer = self._repository.ask_spare(call)
        except (Rejected, TryLater):
            self._closed.add(name)
            return None
        rows = answer.get(name) if isinstance(answer, dict) else None
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else None


def verdict(runs: Conclusions | None, statuses: Conclusions | None) -> Verdict:
    """Say what conclusions of both sorts mean together; None is one that cannot be read.

    A failure is one whatever else there is; a pass needs both to be readable, and one to be there.

    >>> verdict(("success", "skipped"), ()), verdict(("success",), None), verdict((), ())
    ('passed', '', '')
    >>> verdict(None, ("failure",)), verdict(("success", "pending"), ())
    ('failed', '')
    """
    known = (*(runs or ()), *(statuses or ()))
    if any(one not in (*_GOOD, _PENDING) for one in known):
        return "failed"
    whole = runs is not None and statuses is not None
    return "passed" if whole and known and _PENDING not in known else ""


def _concluded(row: Mapping[str, Any]) -> str:
    done = row.get("status") == "completed"
    return str(row.get("conclusion") or _PENDING) if done else _PENDING


def _newest(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Return the last run of each workflow: an earlier one was repeated."""
    last: dict[object, dict[str, Any]] = {}
    numbered = [row for row in rows if isinstance(row.get("run_number"), int)]
    for row in sorted(numbered, key=lambda row: row["run_number"]):
        last[str(row.get("workflow_id"))] = row
    yield from last.values()
