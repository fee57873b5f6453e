"""Publishes issues, comments and draft pull requests on GitHub, each once, whatever is lost."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from nightwatch_core.adapters.git.branch import Refused, mailed_changes
from nightwatch_core.adapters.git.objects import GONE
from nightwatch_core.adapters.github import permissions
from nightwatch_core.adapters.github.branches import Branches, Writes
from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.connection import AnswerLost, Forbidden, Rejected
from nightwatch_core.adapters.github.ownership import Ours
from nightwatch_core.adapters.github.rows import CommentRow, IssueRow, PullRow
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater
from nightwatch_core.models import proposals
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.text.markers import LABEL, joined_body, patch_comment, read_marker

LABEL_CHARACTERS = 50
NO_DRAFTS = "nightwatch-draft"  # the label that says so where GitHub has no drafts


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
        scrub: Callable[[str], str] = REMOVAL.scrub,
    ) -> None:
        """Ask nothing before the first `publish`; `repository` is owner/name.

        `pulls` is whether `probe` asks for what pull requests need, too; `ours` tells our items.
        Patches go through `scrub`.
        """
        self._ours = ours or Ours(client)
        self._scrub = scrub
        self._clock = clock
        self._pulls = pulls
        self._repository = Repository.of(client, repository)
        self._writes = Writes(clock, pause)
        self._branches = Branches(self._repository, self._writes)
        self._lock = threading.Lock()

    def publish(self, proposal: proposals.Proposal) -> proposals.Receipt:
        """Publish once per key, whoever asked first.

        A refusal says why; `unknown` says that the answer was lost and looking failed, too. Raises
        `TryLater` where nothing was done, `StopTheNight` where the token is not accepted.
        """
        try:
            with self._lock:
                return self._publish(proposal)
        except (Refused, Rejected) as refused:
            receipt = proposals.receipt_for(proposal, "refused", reason=str(refused))
            return receipt.model_copy(update={"barred": isinstance(refused, Forbidden)})
        except AnswerLost as lost:
            return proposals.receipt_for(proposal, "unknown", reason=str(lost))

    def probe(self) -> str:
        """Say what can be written, without writing; raises `GiveUp` that names what is missing."""
        return permissions.probe(self._repository, pulls=self._pulls)

    def _publish(self, proposal: proposals.Proposal) -> proposals.Receipt:
        if not _has_key(proposal.body, proposal.key):
            raise Refused("the body does not begin with the marker that names its key")
        match proposal:
            case proposals.OpenIssue():
                return self._open_issue(proposal)
            case proposals.DraftPull(as_patch=True):
                return self._patch(proposal)
            case proposals.DraftPull():
                return self._draft_pull(proposal)
            case proposals.Comment() | proposals.Reopen():
                return self._comment(proposal)
            case proposals.PullUpdate():
                return self._update(proposal)

    def _open_issue(self, issue: proposals.OpenIssue) -> proposals.Receipt:
        if existing := self._find_issue(issue.key):
            return proposals.receipt_for(issue, "already there", existing.number, existing.html_url)
        labels = _labels(issue.labels)
        made = self._writes.make(
            lambda: self._repository.make(
                IssueRow, "issues", title=issue.title, body=issue.body, labels=labels
            ),
            lambda: self._find_issue(issue.key),
        )
        unlabelled = LABEL not in made.labels
        reason = self._add_labels(made.number, labels) if unlabelled else ""
        return proposals.receipt_for(issue, "done", made.number, made.html_url, reason)

    def _comment(self, comment: proposals.Comment | proposals.Reopen) -> proposals.Receipt:
        """Reopen first, comment last: doing the first twice does no harm."""
        number = comment.number
        issue = self._our_issue(number)
        if existing := self._find_comment(number, comment.key):
            return proposals.receipt_for(comment, "already there", number, existing.html_url)
        if isinstance(comment, proposals.Reopen) and issue.state == "closed":
            if issue.state_reason == "not_planned":
                raise Refused(f"issue {number} was closed as not planned meanwhile")
            self._write("PATCH", f"issues/{number}", state="open", state_reason="reopened")
        # Enter the errors that share the issue's cause, so that each of them finds it.
        names = (comment.fingerprint, *comment.also) if comment.also else ()
        if (body := joined_body(issue.body, names)) != issue.body:
            self._write("PATCH", f"issues/{number}", body=body)
        if label := getattr(comment, "label", ""):
            self._add_labels(number, [label])
        made = self._say(number, comment.key, comment.body)
        return proposals.receipt_for(comment, "done", number, made.html_url)

    def _update(self, update: proposals.PullUpdate) -> proposals.Receipt:
        """Push the commit first, comment last: doing the first twice finds it done."""
        number = update.number
        self._our_issue(number)
        made = self._branches.add(update)
        comment = self._find_comment(number, update.key)
        comment = comment or self._say(number, update.key, update.body)
        status: proposals.PublishStatus = "done" if made.is_new else "already there"
        receipt = proposals.receipt_for(update, status, number, comment.html_url)
        return receipt.model_copy(update={"sha": made.sha})

    def _patch(self, pull: proposals.DraftPull) -> proposals.Receipt:
        """No branch is made: the issue carries the patch as a comment."""
        number = pull.issue
        if number is None:
            raise Refused("there is no issue to attach the patch to")
        self._our_issue(number)
        if existing := self._find_comment(number, pull.key):
            return proposals.receipt_for(pull, "already there", number, existing.html_url)
        base = pull.base or self._repository.describe().default_branch
        body = patch_comment(pull.body, pull.fix, base, self._mail(pull, base))
        if not body:
            raise Refused("its patch is longer than a comment may be")
        made = self._say(number, pull.key, body)
        return proposals.receipt_for(pull, "done", number, made.html_url)

    def _mail(self, pull: proposals.DraftPull, base: str) -> str:
        """Return the draft's steps as mails that `git am` applies."""
        plan = self._branches.plan(pull, base)
        paths = dict.fromkeys(path for step in plan.steps for path in step.expected)
        nodes = {path: node for path in paths if (node := plan.before.get(path))}
        read_blob = self._repository.read_blob
        trees = [{path: (node.mode, read_blob(node.oid)) for path, node in nodes.items()}]
        for step in plan.steps:
            tree = dict(trees[-1])
            texts = {change.path: (change.text or "").encode() for change in step.changes}
            for path, state in step.expected.items():
                tree.pop(path, None)
                if state.mode != GONE:
                    tree[path] = (state.mode, texts[path])
            trees.append(tree)
        messages = [step.message for step in plan.steps]
        return mailed_changes(trees, messages, self._clock.now(), self._scrub)

    def _say(self, number: int, key: str, body: str) -> CommentRow:
        path = f"issues/{number}/comments"
        return self._writes.make(
            lambda: self._repository.make(CommentRow, path, body=body),
            lambda: self._find_comment(number, key),
        )

    def _add_labels(self, number: int, labels: list[str]) -> str:
        """Return why not where that fails: what was made stays made."""
        try:
            self._write("POST", f"issues/{number}/labels", labels=labels)
        except NightWatchError as error:  # also a token that is refused by now
            return f"created without labels: {error}"
        return ""

    def _write(self, method: str, below: str, **body: Any) -> None:
        """Make a change that does no harm when it is made twice."""
        self._writes.make(lambda: self._repository.send(method, below, **body))

    def _draft_pull(self, pull: proposals.DraftPull) -> proposals.Receipt:
        if existing := self._find_pull(pull):
            missing = LABEL not in existing.labels
            labels = _labels(pull.labels)
            reason = self._add_labels(existing.number, labels) if missing else ""
            return proposals.receipt_for(
                pull, "already there", existing.number, existing.html_url, reason
            )
        base = pull.base or self._repository.describe().default_branch
        branch = self._branches.make(pull, base)
        names = pull.labels
        try:
            try:
                made = self._create_pull(pull, base, draft=True)
            except Rejected as refused:
                if "raft pull requests are not supported" not in refused.reason:
                    raise
                made = self._create_pull(pull, base, draft=False)
                names = (*names, NO_DRAFTS)
        except (Rejected, Refused) as refused:
            if branch.is_new:
                self._take_back(pull.branch, refused)
            raise
        reason = self._add_labels(made.number, _labels(names))
        receipt = proposals.receipt_for(pull, "done", made.number, made.html_url, reason)
        return receipt.model_copy(update={"sha": branch.sha})

    def _create_pull(self, pull: proposals.DraftPull, base: str, *, draft: bool) -> PullRow:
        return self._writes.make(
            lambda: self._repository.make(
                PullRow,
                "pulls",
                title=pull.title,
                body=pull.body,
                head=pull.branch,
                base=base,
                draft=draft,
                maintainer_can_modify=False,
            ),
            lambda: self._find_pull(pull),
        )

    def _take_back(self, branch: str, refused: GiveUp) -> None:
        """Delete a branch without its pull request; another try makes it again."""
        try:
            self._branches.delete(branch)
        except (TryLater, GiveUp) as error:
            raise Refused(f"{refused}; branch {branch} is left behind ({error})") from None

    # Items are found by their keys in lists, which know of the last second; the search does not.

    def _find_issue(self, key: str) -> IssueRow | None:
        """Return the issue of that key, open or closed, also where it was made a moment ago."""
        issues = self._repository.read_all(
            IssueRow, "issues", labels=LABEL, state="all", sort="created", direction="desc"
        )
        matching = (item for item in issues if not item.pull_request and _has_key(item.body, key))
        return next(filter(self._ours.is_ours, matching), None)

    def _our_issue(self, number: int) -> IssueRow:
        """Return an issue or pull request; raises `Refused` where it is not ours, or locked."""
        issue = self._repository.find(IssueRow, f"issues/{number}", (404, 410))
        if issue is None:
            raise Refused(f"there is no issue {number}")
        if not read_marker(issue.body) or issue.number != number or not self._ours.is_ours(issue):
            raise Refused(f"issue {number} was not made by NightWatch")
        if issue.locked:
            raise Refused(f"issue {number} is locked")
        return issue

    def _find_comment(self, number: int, key: str) -> CommentRow | None:
        comments = self._repository.read_all(CommentRow, f"issues/{number}/comments")
        matching = (comment for comment in comments if _has_key(comment.body, key))
        return next(filter(self._ours.is_ours, matching), None)

    def _find_pull(self, pull: proposals.DraftPull) -> PullRow | None:
        """Return the pull request of our branch; raises `Refused` where it is somebody else's."""
        head = f"{self._repository.owner}:{pull.branch}"
        rows = self._repository.read_all(PullRow, "pulls", head=head, state="all")
        pulls = [row for row in rows if row.branch == pull.branch]
        made = [row for row in pulls if _has_key(row.body, pull.key) and self._ours.is_ours(row)]
        if pulls and not made:
            raise Refused(
                f"branch {pull.branch} has pull request {pulls[0].number}, which "
                "NightWatch did not make"
            )
        return next(iter(made), None)


def _has_key(body: str, key: str) -> bool:
    marker = read_marker(body)
    return marker is not None and marker.key == key


def _labels(names: Iterable[str]) -> list[str]:
    """Return the names as labels of ours; GitHub makes those that the repository lacks."""
    ours = (LABEL, *names)
    return list(dict.fromkeys(name[:LABEL_CHARACTERS] for name in ours if name.strip()))
