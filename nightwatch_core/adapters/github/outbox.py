"""Publishes issues, comments and draft pull requests on GitHub, each once, whatever is lost."""

import time
from collections.abc import Callable, Iterable
from functools import partial
from urllib.parse import quote

from nightwatch_core.adapters.github import permissions
from nightwatch_core.adapters.github.branches import Branches
from nightwatch_core.adapters.github.client import GitHubClient, Repository, account
from nightwatch_core.adapters.github.connection import SERVICE
from nightwatch_core.adapters.github.rows import CommentRow, IssueRow, PullRow
from nightwatch_core.adapters.hosts.outbox import HostOutbox, Kind
from nightwatch_core.adapters.hosts.ownership import Ours
from nightwatch_core.adapters.hosts.rows import Row
from nightwatch_core.adapters.hosts.writes import Rejected, Writes
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
        writes = Writes(SERVICE, clock, pause)
        branches = Branches(self._repository, writes)
        super().__init__(branches, writes, clock, ours or Ours(partial(account, client)), scrub)

    def probe(self) -> str:
        """Say what can be written, without writing; raises `GiveUp` that names what is missing."""
        return permissions.probe(self._repository, pulls=self._pulls)

    def _default_branch(self) -> str:
        return self._repository.describe().default_branch

    def _issues(self) -> Iterable[IssueRow]:
        rows = self._repository.read_all(
            IssueRow, "issues", labels=LABEL, state="all", sort="created", direction="desc"
        )
        return (row for row in rows if not row.is_pull)

    def _item(self, on: Kind, number: int) -> IssueRow | None:
        return self._repository.find(IssueRow, f"issues/{number}", (404, 410))

    def _comments(self, on: Kind, number: int) -> Iterable[CommentRow]:
        return self._repository.read_all(CommentRow, f"issues/{number}/comments")

    def _pulls_of(self, branch: str) -> Iterable[PullRow]:
        head = f"{self._repository.owner}:{branch}"
        rows = self._repository.read_all(PullRow, "pulls", head=head, state="all")
        return (row for row in rows if row.branch == branch)

    def _make_issue(self, issue: proposals.OpenIssue, labels: list[str]) -> IssueRow:
        return self._repository.make(
            IssueRow, "issues", title=issue.title, body=issue.body, labels=labels
        )

    def _make_comment(self, on: Kind, number: int, body: str) -> CommentRow:
        return self._repository.make(CommentRow, f"issues/{number}/comments", body=body)

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
        return self._repository.make(
            PullRow,
            "pulls",
            title=pull.title,
            body=pull.body,
            head=pull.branch,
            base=base,
            draft=draft,
            maintainer_can_modify=False,
        )

    def _reopen(self, number: int) -> None:
        self._repository.send("PATCH", f"issues/{number}", state="open", state_reason="reopened")

    def _close(self, number: int) -> None:
        self._repository.send("PATCH", f"issues/{number}", state="closed", state_reason="completed")

    def _make_label(self, name: str, color: str, text: str) -> None:
        if self._repository.find(Row, f"labels/{quote(name)}") is None:
            words = {"name": name, "color": color, "description": text}
            self._writes.make(lambda: self._repository.send("POST", "labels", **words))

    def _rewrite(self, on: Kind, number: int, body: str) -> None:
        self._repository.send("PATCH", f"issues/{number}", body=body)

    def _label(self, on: Kind, number: int, labels: list[str]) -> None:
        self._repository.send("POST", f"issues/{number}/labels", labels=labels)
