"""Our issues and pull requests on GitHub: found by their keys, and as people have left them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from nightwatch_core.adapters.github.checks import ChecksReader
from nightwatch_core.adapters.github.client import GitHubClient, Repository, account, ref_of
from nightwatch_core.adapters.github.pulls import edited_pulls, other_pulls
from nightwatch_core.adapters.github.rows import (
    CommentRow,
    IssueRow,
    NamedCommitRow,
    PullRow,
    RefRow,
    row,
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
        self._rest, self._at = self._repository.rest, self._repository.at
        self._checks = ChecksReader(self._repository)

    def ci(self, numbers: tuple[int, ...]) -> tuple[CiRun, ...]:
        pulls = (self._rest.pulls.get(*self._at, number) for number in numbers)
        return tuple(self._checks.run(row(PullRow, pull)) for pull in pulls)

    def pulls_changing(self, paths: tuple[str, ...], since: datetime) -> tuple[OtherPull, ...]:
        return other_pulls(self._repository, frozenset(paths), since)

    def _lacking(self) -> str:
        ref = ref_of(self._repository.describe().default_branch)
        tip = row(RefRow, self._rest.git.get_ref(*self._at, ref))
        return self._checks.results(tip.sha).lacking

    def _rows(self) -> Iterable[IssueRow]:
        """Yield them in the order of making, in which none changes its page."""
        ask = partial(self._rest.issues.list_for_repo, *self._at, labels=LABEL, state="all")
        return self._repository.rows(IssueRow, partial(ask, sort="created", direction="asc"))

    def _with_branches(self, rows: tuple[Item, ...]) -> tuple[Item, ...]:
        """The list of issues does not tell the branches of pull requests."""
        if not any(row.is_pull for row in rows):
            return rows
        ask = partial(self._rest.pulls.list, *self._at, state="all", sort="updated")
        listed = self._repository.rows(PullRow, partial(ask, direction="desc"))
        pulls = {pull.number: pull for pull in islice(listed, LATEST_PULLS)}
        return tuple(
            row.model_copy(update={"branch": pull.branch, "head": pull.head})
            if (pull := pulls.get(row.number))
            else row
            for row in rows
        )

    def _comments(self, row: Item) -> Iterable[CommentRow]:
        pulls = self._rest.pulls
        lists: list[Any] = [self._rest.issues.list_comments] if getattr(row, "comments", 0) else []
        lists += [pulls.list_reviews, pulls.list_review_comments] if row.is_pull else []
        asked = (partial(ask, *self._at, row.number) for ask in lists)
        rows = (comment for ask in asked for comment in self._repository.rows(CommentRow, ask))
        return unless_absent(lambda: tuple(rows), (404, 410)) or ()  # moved, or deleted

    def _edited(self, merged: Sequence[int]) -> frozenset[int]:
        return edited_pulls(self._repository, merged)

    def _ci_states(self, heads: Mapping[int, str]) -> Mapping[int, CiState]:
        return {number: self._checks.results(sha).state for number, sha in heads.items() if sha}

    def _applied_at(self, key: str, base: str, since: datetime) -> datetime | None:
        """Return when a commit came to the base whose message holds the patch's key."""
        ask = partial(self._rest.repos.list_commits, *self._at, sha=base, since=since)
        rows = self._repository.rows(NamedCommitRow, ask)
        applied = (row.at for row in islice(rows, HISTORY_READ) if key in row.message)
        return unless_absent(lambda: next(applied, None), (404, 409))
