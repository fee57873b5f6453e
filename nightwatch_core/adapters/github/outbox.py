"""Publishes issues, comments and draft pull requests on GitHub, each once, whatever is lost."""

import threading
import time
from collections.abc import Callable

from nightwatch_core.adapters.git.branch_changes import Made, Refused
from nightwatch_core.adapters.github import permissions
from nightwatch_core.adapters.github.branch import Branches
from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.errors import AnswerLost, Forbidden, Rejected
from nightwatch_core.adapters.github.finding import (
    find_comment,
    find_issue,
    find_pull,
    has_key,
    our_issue,
)
from nightwatch_core.adapters.github.labels import NO_DRAFTS, Labels
from nightwatch_core.adapters.github.ownership import Ours
from nightwatch_core.adapters.github.patches import PatchDesk, patch_text
from nightwatch_core.adapters.github.rows import CommentRow, IssueRow, PullRow
from nightwatch_core.adapters.github.writes import Writes
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.proposal import (
    Comment,
    DraftPull,
    OpenIssue,
    Proposal,
    PublishStatus,
    PullUpdate,
    Receipt,
    Reopen,
    receipt_for,
)
from nightwatch_core.ports import Clock
from nightwatch_core.publish.issue_text import LABEL
from nightwatch_core.publish.markers import joined_body


class GitHubOutbox:
    """An `Outbox` into one repository; looks for the key before it creates anything."""

    def __init__(
        self,
        client: GitHubClient,
        repository: str,
        clock: Clock,
        pause: Callable[[float], None] = time.sleep,
        *,
        pulls: bool = True,
        ours: Ours | None = None,
        patches: PatchDesk | None = None,
    ) -> None:
        """Ask nothing before the first `publish`; `repository` is owner/name.

        `pulls` is whether `probe` asks for what pull requests need, too; `ours` tells our items.
        """
        self._ours = ours or Ours(client)
        self._patches = patches or PatchDesk()
        self._clock = clock
        self._pulls = pulls
        self._repository = Repository.of(client, repository)
        self._writes = Writes(clock, pause)
        self._branches = Branches(self._repository, self._writes)
        self._labels = Labels(self._repository, self._writes)
        self._lock = threading.Lock()

    def publish(self, proposal: Proposal) -> Receipt:
        """Publish once per key, whoever asked first.

        A refusal says why; `unknown` says that the answer was lost and looking failed, too. Raises
        `TryLater` where nothing was done, `StopTheNight` where the token is not accepted.
        """
        try:
            with self._lock:
                return self._publish(proposal)
        except (Refused, Rejected) as refused:
            receipt = receipt_for(proposal, "refused", reason=str(refused))
            return receipt.model_copy(update={"barred": isinstance(refused, Forbidden)})
        except AnswerLost as lost:
            return receipt_for(proposal, "unknown", reason=str(lost))

    def probe(self) -> str:
        """Say what can be written, without writing; raises `GiveUp` that names what is missing."""
        return permissions.probe(self._repository, pulls=self._pulls)

    def _publish(self, proposal: Proposal) -> Receipt:
        if not has_key(proposal.body, proposal.key):
            raise Refused("the body does not begin with the marker that names its key")
        match proposal:
            case OpenIssue():
                return self._open_issue(proposal)
            case DraftPull(as_patch=True):
                return self._patch(proposal)
            case DraftPull():
                return self._draft_pull(proposal)
            case Comment() | Reopen():
                return self._comment(proposal)
            case PullUpdate():
                return self._update(proposal)

    def _open_issue(self, issue: OpenIssue) -> Receipt:
        if there := find_issue(self._repository, self._ours, issue.key):
            return receipt_for(issue, "already there", there.number, there.html_url)
        labels = self._labels.ensure((LABEL, *issue.labels))
        made = self._writes.make(
            lambda: self._repository.read(
                IssueRow,
                lambda rest, at: rest.issues.create(
                    *at, title=issue.title, body=issue.body, labels=[*labels]
                ),
            ),
            lambda: find_issue(self._repository, self._ours, issue.key),
        )
        unlabelled = LABEL not in made.labels
        reason = self._labels.add(made.number, labels) if unlabelled else ""
        return receipt_for(issue, "done", made.number, made.html_url, reason)

    def _comment(self, comment: Comment | Reopen) -> Receipt:
        """Reopen first, comment last: doing the first twice does no harm."""
        repository, number = self._repository, comment.number
        issue = our_issue(repository, self._ours, number)
        if there := find_comment(repository, self._ours, number, comment.key):
            return receipt_for(comment, "already there", number, there.html_url)
        if isinstance(comment, Reopen) and issue.state == "closed":
            self._reopen(issue)
        self._join(issue, comment)
        if label := getattr(comment, "label", ""):
            self._labels.add(number, self._labels.ensure((label,)))
        made = self._say(number, comment.key, comment.body)
        return receipt_for(comment, "done", number, made.html_url)

    def _update(self, update: PullUpdate) -> Receipt:
        """The commit first, the word last: doing the first twice finds it done."""
        repository, number = self._repository, update.number
        our_issue(repository, self._ours, number)
        made = self._branches.add(update)
        there = find_comment(repository, self._ours, number, update.key)
        said = there or self._say(number, update.key, update.body)
        status: PublishStatus = "done" if made.is_new else "already there"
        receipt = receipt_for(update, status, number, said.html_url)
        return receipt.model_copy(update={"sha": made.sha})

    def _patch(self, pull: DraftPull) -> Receipt:
        """No branch is made: the issue carries the patch as a comment."""
        repository, number = self._repository, pull.issue
        if number is None:
            raise Refused("there is no issue to carry its patch")
        our_issue(repository, self._ours, number)
        if there := find_comment(repository, self._ours, number, pull.key):
            return receipt_for(pull, "already there", number, there.html_url)
        body = patch_text(repository, self._branches, self._patches, pull, self._clock.now())
        made = self._say(number, pull.key, body)
        return receipt_for(pull, "done", number, made.html_url)

    def _say(self, number: int, key: str, body: str) -> CommentRow:
        repository = self._repository
        return self._writes.make(
            lambda: repository.read(
                CommentRow, lambda rest, at: rest.issues.create_comment(*at, number, body=body)
            ),
            lambda: find_comment(repository, self._ours, number, key),
        )

    def _join(self, issue: IssueRow, comment: Comment | Reopen) -> None:
        """Enter the errors that share the issue's cause, so that each of them finds it."""
        names = (comment.fingerprint, *comment.also) if comment.also else ()
        body = joined_body(issue.body, names)
        ask, number = self._repository.ask, issue.number
        if body == issue.body:
            return
        self._writes.make(lambda: ask(lambda rest, at: rest.issues.update(*at, number, body=body)))

    def _reopen(self, issue: IssueRow) -> None:
        if issue.state_reason == "not_planned":
            raise Refused(f"issue {issue.number} was closed as not planned meanwhile")
        self._writes.make(
            lambda: self._repository.ask(
                lambda rest, at: rest.issues.update(
                    *at, issue.number, state="open", state_reason="reopened"
                )
            )
        )

    def _draft_pull(self, pull: DraftPull) -> Receipt:
        if there := find_pull(self._repository, self._ours, pull):
            missing = LABEL not in there.labels
            labels = self._labels.ensure((LABEL, *pull.labels)) if missing else ()
            reason = self._labels.add(there.number, labels) if missing else ""
            return receipt_for(pull, "already there", there.number, there.html_url, reason)
        base = pull.base or self._repository.describe().default_branch
        labels = self._labels.ensure((LABEL, *pull.labels))
        branch = self._branches.make(pull, base)
        try:
            made, more = self._open_pull(pull, base)
        except (Rejected, Refused) as refused:
            self._take_back(pull.branch, branch, refused)
            raise
        reason = self._labels.add(made.number, (*labels, *more))
        receipt = receipt_for(pull, "done", made.number, made.html_url, reason)
        return receipt.model_copy(update={"sha": branch.sha})

    def _open_pull(self, pull: DraftPull, base: str) -> tuple[PullRow, tuple[str, ...]]:
        """Return the pull request, and labels it needs besides its own."""
        try:
            return self._create_pull(pull, base, draft=True), ()
        except Rejected as refused:
            if "raft pull requests are not supported" in refused.reason:
                made = self._create_pull(pull, base, draft=False)
                return made, self._labels.ensure((NO_DRAFTS,))
            if "already exists" in refused.reason and (
                there := find_pull(self._repository, self._ours, pull)
            ):
                return there, ()
            raise

    def _create_pull(self, pull: DraftPull, base: str, *, draft: bool) -> PullRow:
        return self._writes.make(
            lambda: self._repository.read(
                PullRow,
                lambda rest, at: rest.pulls.create(
                    *at,
                    title=pull.title,
                    body=pull.body,
                    head=pull.branch,
                    base=base,
                    draft=draft,
                    maintainer_can_modify=False,
                ),
            ),
            lambda: find_pull(self._repository, self._ours, pull),
        )

    def _take_back(self, name: str, branch: Made, refused: GiveUp) -> None:
        """A branch without its pull request helps nobody; another try makes it again."""
        if not branch.is_new:
            return
        try:
            self._branches.delete(name)
        except (TryLater, GiveUp) as error:
            raise Refused(f"{refused}; branch {name} is left behind ({error})") from None
