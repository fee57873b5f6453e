"""Publishes issues, comments and draft pull requests on GitHub, each once, whatever is lost."""

import threading
import time
from collections.abc import Callable
from typing import Literal

from nightwatch_core.adapters.git.branch_changes import Refused
from nightwatch_core.adapters.github import permissions as github_permissions
from nightwatch_core.adapters.github.branch import Branches, Made
from nightwatch_core.adapters.github.client import GitHubClient
from nightwatch_core.adapters.github.errors import Forbidden, Lost, Rejected
from nightwatch_core.adapters.github.labels import NO_DRAFTS, Labels
from nightwatch_core.adapters.github.lookup import Finder, has_key
from nightwatch_core.adapters.github.pacing import Pacing
from nightwatch_core.adapters.github.rows import Issue, Pull, Saying, place, read
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.proposal import Comment, DraftPull, OpenIssue, Proposal, Receipt, Reopen
from nightwatch_core.ports import Clock
from nightwatch_core.publish.issue_text import LABEL

Status = Literal["done", "already there", "refused", "unknown"]


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
    ) -> None:
        """`repository` is owner/name; nothing is asked before the first `publish`.

        `pulls` is whether `probe` asks for what pull requests need, too.
        """
        self._pulls = pulls
        self._place = place(client, repository)
        self._pacing = Pacing(clock, pause)
        self._branches = Branches(self._place, self._pacing)
        self._finder = Finder(self._place)
        self._labels = Labels(self._place, self._pacing)
        self._lock = threading.Lock()

    def publish(self, proposal: Proposal) -> Receipt:
        """Publish once per key, whoever asked first.

        A refusal says why; `unknown` says that the answer was lost and looking failed, too. Raises
        `TryLater` where nothing was done, `StopTheNight` where the token is not accepted.
        """
        try:
            with self._lock:
                return self._published(proposal)
        except (Refused, Rejected) as refused:
            receipt = _receipt(proposal, "refused", reason=str(refused))
            return receipt.model_copy(update={"barred": isinstance(refused, Forbidden)})
        except Lost as lost:
            return _receipt(proposal, "unknown", reason=str(lost))

    def probe(self) -> str:
        """Say what can be written, without writing; raises `GiveUp` that names what is missing."""
        return github_permissions.probe(self._place, pulls=self._pulls)

    def _published(self, proposal: Proposal) -> Receipt:
        if not has_key(proposal.body, proposal.key):
            raise Refused("the body does not begin with the marker that names its key")
        match proposal:
            case OpenIssue():
                return self._open_issue(proposal)
            case DraftPull():
                return self._draft_pull(proposal)
            case Comment():
                return self._comment(proposal)
            case Reopen():
                return self._reopen(proposal)

    def _open_issue(self, issue: OpenIssue) -> Receipt:
        if there := self._finder.keyed(issue.key):
            return _receipt(issue, "already there", there.number, there.html_url)
        labels = self._labels.ensured((LABEL, *issue.labels))
        at, client = self._place.at, self._place.client

        def create() -> Issue:
            return read(
                Issue,
                client.ask(
                    lambda rest: rest.issues.create(
                        *at, title=issue.title, body=issue.body, labels=[*labels]
                    )
                ),
            )

        made = self._pacing.made(create, lambda: self._finder.keyed(issue.key))
        unlabelled = LABEL not in {label.name for label in made.labels}
        reason = self._labels.added(made.number, labels) if unlabelled else ""
        return _receipt(issue, "done", made.number, made.html_url, reason)

    def _comment(self, comment: Comment) -> Receipt:
        self._finder.our_issue(comment.number)
        if there := self._finder.said(comment.number, comment.key):
            return _receipt(comment, "already there", comment.number, there.html_url)
        return self._say(comment)

    def _reopen(self, reopen: Reopen) -> Receipt:
        """The issue first, the comment last: doing the first twice does no harm."""
        issue = self._finder.our_issue(reopen.number)
        if there := self._finder.said(reopen.number, reopen.key):
            return _receipt(reopen, "already there", reopen.number, there.html_url)
        if issue.state_reason == "not_planned" and issue.state == "closed":
            raise Refused(f"issue {reopen.number} was closed as not planned meanwhile")
        at, client = self._place.at, self._place.client

        def open_again() -> bool:
            client.ask(
                lambda rest: rest.issues.update(
                    *at, reopen.number, state="open", state_reason="reopened"
                )
            )
            return True

        if issue.state == "closed":
            self._pacing.made(open_again, lambda: None)
        return self._say(reopen)

    def _draft_pull(self, pull: DraftPull) -> Receipt:
        if there := self._finder.pull_of(pull):
            missing = LABEL not in {label.name for label in there.labels}
            labels = self._labels.ensured((LABEL, *pull.labels)) if missing else ()
            reason = self._labels.added(there.number, labels) if missing else ""
            return _receipt(pull, "already there", there.number, there.html_url, reason)
        base = pull.base or self._place.described().default_branch
        labels = self._labels.ensured((LABEL, *pull.labels))
        branch = self._branches.make(pull, base)
        try:
            made, more = self._pull_made(pull, base)
        except (Rejected, Refused) as refused:
            self._take_back(pull.branch, branch, refused)
            raise
        reason = self._labels.added(made.number, (*labels, *more))
        return _receipt(pull, "done", made.number, made.html_url, reason)

    def _pull_made(self, pull: DraftPull, base: str) -> tuple[Pull, tuple[str, ...]]:
        """The pull request, and labels it needs besides its own."""
        try:
            return self._pull_created(pull, base, draft=True), ()
        except Rejected as refused:
            if "raft pull requests are not supported" in refused.said:
                return self._pull_created(pull, base, draft=False), self._labels.ensured(
                    (NO_DRAFTS,)
                )
            if "already exists" in refused.said and (there := self._finder.pull_of(pull)):
                return there, ()
            raise

    def _pull_created(self, pull: DraftPull, base: str, *, draft: bool) -> Pull:
        at, client = self._place.at, self._place.client

        def create() -> Pull:
            return read(
                Pull,
                client.ask(
                    lambda rest: rest.pulls.create(
                        *at,
                        title=pull.title,
                        body=pull.body,
                        head=pull.branch,
                        base=base,
                        draft=draft,
                        maintainer_can_modify=False,
                    )
                ),
            )

        return self._pacing.made(create, lambda: self._finder.pull_of(pull))

    def _take_back(self, name: str, branch: Made, refused: GiveUp) -> None:
        """A branch without its pull request helps nobody; another try makes it again."""
        if not branch.is_new:
            return
        try:
            self._branches.delete(name)
        except (TryLater, GiveUp) as error:
            raise Refused(f"{refused}; branch {name} is left behind ({error})") from None

    def _say(self, comment: Comment | Reopen) -> Receipt:
        at, client = self._place.at, self._place.client

        def create() -> Saying:
            return read(
                Saying,
                client.ask(
                    lambda rest: rest.issues.create_comment(*at, comment.number, body=comment.body)
                ),
            )

        said = self._pacing.made(create, lambda: self._finder.said(comment.number, comment.key))
        return _receipt(comment, "done", comment.number, said.html_url)


def _receipt(
    proposal: Proposal, status: Status, number: int | None = None, url: str = "", reason: str = ""
) -> Receipt:
    return Receipt(
        key=proposal.key,
        kind=proposal.kind,
        fingerprint=proposal.fingerprint,
        status=status,
        title=getattr(proposal, "title", ""),
        number=number,
        url=url,
        reason=reason,
    )
