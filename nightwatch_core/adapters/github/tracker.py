"""Our issues and pull requests on GitHub: found by their keys, and as people have left them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from urllib.parse import quote

from nightwatch_core.adapters.github.checks import ChecksReader
from nightwatch_core.adapters.github.client import GitHubClient, Repository, account
from nightwatch_core.adapters.github.pulls import edited_pulls, other_pulls
from nightwatch_core.adapters.github.rows import (
    CommentRow,
    IssueRow,
    NamedCommitRow,
    PullRow,
    RefRow,
)
from nightwatch_core.adapters.hosts.ownership import Ours
from nightwatch_core.adapters.hosts.rows import Item
from nightwatch_core.adapters.hosts.tracker import HISTORY_READ, HostTracker
from nightwatch_core.adapters.hosts.writes import unless_absent
from nightwatch_core.models.code import CiRun, CiState, OtherPull
from nightwatch_core.text.markers import LABEL

LATEST_PULLS = 100  # whose branches are known


class GitHubTracker(HostTracker):
    """A `Tracker` of one repository; each draft's checks cost two requests."""

    def __init__(self, client: GitHubClient, repository: str, ours: Ours | None = None) -> None:
        super().__init__(repository, ours or Ours(partial(account, client)))
        self._repository = Repository.of(client, repository)
        self._checks = ChecksReader(self._repository)

    def ci(self, numbers: tuple[int, ...]) -> tuple[CiRun, ...]:
        pulls = (self._repository.read(PullRow, f"pulls/{number}") for number in numbers)
        return tuple(map(self._checks.run, pulls))

    def pulls_changing(self, paths: tuple[str, ...], since: datetime) -> tuple[OtherPull, ...]:
        return other_pulls(self._repository, frozenset(paths), since)

    def _lacking(self) -> str:
        ref = f"git/ref/heads/{quote(self._repository.describe().default_branch, safe='/')}"
        return self._checks.results(self._repository.read(RefRow, ref).sha).lacking

    def _rows(self) -> Iterable[IssueRow]:
        """Yield them in the order of making, in which none changes its page."""
        return self._repository.read_all(
            IssueRow, "issues", labels=LABEL, state="all", sort="created", direction="asc"
        )

    def _with_branches(self, rows: tuple[Item, ...]) -> tuple[Item, ...]:
        """The list of issues does not tell the branches of pull requests."""
        if not any(row.is_pull for row in rows):
            return rows
        listed = self._repository.read_all(
            PullRow, "pulls", state="all", sort="updated", direction="desc"
        )
        pulls = {pull.number: pull for pull in islice(listed, LATEST_PULLS)}
        return tuple(
            row.model_copy(update={"branch": pull.branch, "head": pull.head})
            if (pull := pulls.get(row.number))
            else row
            for row in rows
        )

    def _comments(self, row: Item) -> Iterable[CommentRow]:
        lists = [f"issues/{row.number}/comments"] if getattr(row, "comments", 0) else []
        if row.is_pull:
            lists += [f"pulls/{row.number}/reviews", f"pulls/{row.number}/comments"]
        rows = (row for path in lists for row in self._repository.read_all(CommentRow, path))
        return unless_absent(lambda: tuple(rows), (404, 410)) or ()  # moved, or deleted

    def _edited(self, merged: Sequence[int]) -> frozenset[int]:
        return edited_pulls(self._repository, merged)

    def _ci_states(self, heads: Mapping[int, str]) -> Mapping[int, CiState]:
        return {number: self._checks.results(sha).state for number, sha in heads.items() if sha}

    def _applied_at(self, key: str, base: str, since: datetime) -> datetime | None:
        """Return when a commit came to the base whose message holds the patch's key."""
        rows = self._repository.read_all(
            NamedCommitRow, "commits", sha=base, since=since.isoformat()
        )
        applied = (row.at for row in islice(rows, HISTORY_READ) if key in row.message)
        return unless_absent(lambda: next(applied, None), (404, 409))
