"""Publishes issues, comments and draft pull requests on GitHub, each once, whatever is lost."""

import time
from collections.abc import Callable, Iterable
from functools import partial
from urllib.parse import quote

from nightwatch_core.adapters.github import permissions
from nightwatch_core.adapters.github.branches import Branches
from nightwatch_core.adapters.github.client import GitHubClient, Repository, account
from nightwatch_core.adapters.github.connection import SERVICE
from nightwatch_core.adapters.github.rows import CommentRow, IssueRow, PullRow, row
from nightwatch_core.adapters.hosts.outbox import HostOutbox, Kind
from nightwatch_core.adapters.hosts.ownership import Ours
from nightwatch_core.adapters.hosts.writes import Rejected, Writes, unless_absent
from nightwatch_core.models import proposals
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.text.markers import LABEL

NO_DRAFTS = "nightwatch-draft"  # the label that says so where GitHub has no drafts


class GitHubOutbox(HostOutbox):
    """An `Outbox` into one repository; issues and pull requests share their numbers."""

    def __init__(
        self,
        client: GitHubClient,
        repository: str,
        clock: Clock,
        pause: Callable[[float], None] = time.sleep,
        *,
        pulls: bool = True,
        ours: Ours | None = None,
        scrub: Callable[[str], str] = REMOVAL.scrub,
    ) -> None:
        """Ask nothing before the first `publish`; `repository` is owner/name.

        `pulls` is whether `probe` asks for what pull requests need, too; `ours` tells our items.
        """
        self._pulls = pulls
        self._repository = Repository.of(client, repository)
        self._rest, self._at = self._repository.rest, self._repository.at
        writes = Writes(SERVICE, clock, pause)
        branches = Branches(self._repository, writes)
        super().__init__(branches, writes, clock, ours or Ours(partial(account, client)), scrub)

    def probe(self) -> str:
        """Say what can be written, without writing; raises `GiveUp` that names what is missing."""
        return permissions.probe(self._repository, pulls=self._pulls)

    def _default_branch(self) -> str:
        return self._repository.describe().default_branch

    def _issues(self) -> Iterable[IssueRow]:
        ask = partial(self._rest.issues.list_for_repo, *self._at, labels=LABEL, state="all")
        rows = self._repository.rows(IssueRow, partial(ask, sort="created", direction="desc"))
        return (item for item in rows if not item.is_pull)

    def _item(self, on: Kind, number: int) -> IssueRow | None:
        ask = partial(self._rest.issues.get, *self._at, number)
        return unless_absent(lambda: row(IssueRow, ask()), (404, 410))

    def _comments(self, on: Kind, number: int) -> Iterable[CommentRow]:
        ask = partial(self._rest.issues.list_comments, *self._at, number)
        return self._repository.rows(CommentRow, ask)

    def _pulls_of(self, branch: str) -> Iterable[PullRow]:
        head = f"{self._repository.owner}:{branch}"
        ask = partial(self._rest.pulls.list, *self._at, head=head, state="all")
        return (pull for pull in self._repository.rows(PullRow, ask) if pull.branch == branch)

    def _make_issue(self, issue: proposals.OpenIssue, labels: list[str]) -> IssueRow:
        create = partial(self._rest.issues.create, *self._at, labels=[*labels])
        return row(IssueRow, create(title=issue.title, body=issue.body))

    def _make_comment(self, on: Kind, number: int, body: str) -> CommentRow:
        return row(CommentRow, self._rest.issues.create_comment(*self._at, number, body=body))

    def _make_pull(
        self, pull: proposals.DraftPull, base: str, labels: list[str]
    ) -> tuple[PullRow, tuple[str, ...]]:
        try:
            return self._create_pull(pull, base, draft=True), ()
        except Rejected as refused:
            if "raft pull requests are not supported" not in refused.reason:
                raise
        return self._create_pull(pull, base, draft=False), (NO_DRAFTS,)

    def _create_pull(self, pull: proposals.DraftPull, base: str, *, draft: bool) -> PullRow:
        made = self._rest.pulls.create(
            *self._at,
            title=pull.title,
            body=pull.body,
            head=pull.branch,
            base=base,
            draft=draft,
            maintainer_can_modify=False,
        )
        return row(PullRow, made)

    def _reopen(self, number: int) -> None:
        self._rest.issues.update(*self._at, number, state="open", state_reason="reopened")

    def _close(self, number: int) -> None:
        self._rest.issues.update(*self._at, number, state="closed", state_reason="completed")

    def _make_label(self, name: str, color: str, text: str) -> None:
        issues, at = self._rest.issues, self._at
        find = partial(unless_absent, partial(issues.get_label, *at, quote(name)))
        if find() is None:
            create = partial(issues.create_label, *at, name=name, color=color, description=text)
            self._writes.make(create, find)

    def _rewrite(self, on: Kind, number: int, body: str) -> None:
        self._rest.issues.update(*self._at, number, body=body)

    def _label(self, on: Kind, number: int, labels: list[str]) -> None:
        self._rest.issues.add_labels(*self._at, number, labels=labels)
