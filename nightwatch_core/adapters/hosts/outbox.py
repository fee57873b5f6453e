"""Publishes issues, comments and draft pull requests on a code host, each once, whatever is lost.

Items are found by their keys in lists, which know of the last second; searches do not.
"""

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal, Protocol

from nightwatch_core.adapters.git.branch import Refused, mailed_changes
from nightwatch_core.adapters.git.objects import GONE
from nightwatch_core.adapters.hosts.branches import HostBranches
from nightwatch_core.adapters.hosts.ownership import Ours
from nightwatch_core.adapters.hosts.rows import Authored, Item
from nightwatch_core.adapters.hosts.writes import AnswerLost, Forbidden, Rejected, Writes
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater
from nightwatch_core.models import proposals
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.text.markers import LABEL, joined_body, patch_comment, read_marker

Kind = Literal["issue", "pull"]
OnItem = proposals.Comment | proposals.Reopen | proposals.Close | proposals.Answer
VERDICT_LABELS = (  # for people to pick
    (f"{LABEL}:useful", "2da44e", "The finding helped"),
    (f"{LABEL}:wrong", "cf222e", "The finding is wrong: NightWatch analyses the error again"),
)


class _Outbox(Protocol):
    """What a host answers and does; each of these is one request, or one list."""

    def _default_branch(self) -> str: ...

    def _issues(self) -> Iterable[Item]: ...  # with our label, newest first

    def _item(self, on: Kind, number: int) -> Item | None: ...

    def _comments(self, on: Kind, number: int) -> Iterable[Authored]: ...

    def _pulls_of(self, branch: str) -> Iterable[Item]: ...

    def _make_issue(self, issue: proposals.OpenIssue, labels: list[str]) -> Item: ...

    def _make_comment(self, on: Kind, number: int, body: str) -> Authored: ...

    def _make_pull(
        self, pull: proposals.DraftPull, base: str, labels: list[str]
    ) -> tuple[Item, tuple[str, ...]]: ...  # and labels that say what it is not

    def _reopen(self, number: int) -> None: ...

    def _close(self, number: int) -> None: ...  # as done

    def _make_label(self, name: str, color: str, text: str) -> None: ...  # unless it is there

    def _rewrite(self, on: Kind, number: int, body: str) -> None: ...

    def _label(self, on: Kind, number: int, labels: list[str]) -> None: ...


class HostOutbox(_Outbox):
    """An `Outbox` into one repository; looks for the key before it creates anything."""

    longest_label = 50  # characters

    def __init__(
        self,
        branches: HostBranches,
        writes: Writes,
        clock: Clock,
        ours: Ours,
        scrub: Callable[[str], str] = REMOVAL.scrub,
    ) -> None:
        """Ask nothing before `publish`; `ours` finds our items, patches go through `scrub`."""
        self._branches, self._writes = branches, writes
        self._clock, self._ours, self._scrub = clock, ours, scrub
        self._lock = threading.Lock()
        self._has_verdict_labels = False

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
            case proposals.Comment() | proposals.Reopen() | proposals.Close() | proposals.Answer():
                return self._comment(proposal)
            case proposals.PullUpdate():
                return self._update(proposal)

    def _open_issue(self, issue: proposals.OpenIssue) -> proposals.Receipt:
        if existing := self._find_issue(issue.key):
            return proposals.receipt_for(issue, "already there", existing.number, existing.html_url)
        labels = self._labels(issue.labels)
        find = partial(self._find_issue, issue.key)
        made = self._writes.make(lambda: self._make_issue(issue, labels), find)
        unlabelled = LABEL not in made.labels
        reason = self._add_labels("issue", made.number, labels) if unlabelled else ""
        reason = reason or self._make_verdict_labels()
        return proposals.receipt_for(issue, "done", made.number, made.html_url, reason)

    def _comment(self, comment: OnItem) -> proposals.Receipt:
        """Reopen first, close last: what was cut short is seen to be unfinished."""
        number = comment.number
        on: Kind = comment.on if isinstance(comment, proposals.Comment) else "issue"
        on = "pull" if isinstance(comment, proposals.Answer) else on
        item = self._our_item(on, number)
        closes = isinstance(comment, proposals.Close) and comment.closes
        if existing := self._find_comment(on, number, comment.key):
            if closes:
                self._writes.make(lambda: self._close(number))
            return proposals.receipt_for(comment, "already there", number, existing.html_url)
        if isinstance(comment, proposals.Reopen) and item.state == "closed":
            if item.state_reason == "not_planned":
                raise Refused(f"issue {number} was closed as not planned meanwhile")
            self._writes.make(lambda: self._reopen(number))
        # Enter the errors that share the issue's cause, so that each of them finds it.
        names = (comment.fingerprint, *comment.also) if comment.also else ()
        if (body := joined_body(item.body, names)) != item.body:
            self._writes.make(lambda: self._rewrite(on, number, body))
        if label := getattr(comment, "label", ""):
            self._add_labels(on, number, [label])
        made = self._say(on, number, comment.key, comment.body)
        if closes:
            self._writes.make(lambda: self._close(number))
        return proposals.receipt_for(comment, "done", number, made.html_url)

    def _update(self, update: proposals.PullUpdate) -> proposals.Receipt:
        """Push the commit first, comment last: doing the first twice finds it done."""
        number = update.number
        self._our_item("pull", number)
        made = self._branches.add(update)
        comment = self._find_comment("pull", number, update.key)
        comment = comment or self._say("pull", number, update.key, update.body)
        status: proposals.PublishStatus = "done" if made.is_new else "already there"
        receipt = proposals.receipt_for(update, status, number, comment.html_url)
        return receipt.model_copy(update={"sha": made.sha})

    def _patch(self, pull: proposals.DraftPull) -> proposals.Receipt:
        """No branch is made: the issue carries the patch as a comment."""
        number = pull.issue
        if number is None:
            raise Refused("there is no issue to attach the patch to")
        self._our_item("issue", number)
        if existing := self._find_comment("issue", number, pull.key):
            return proposals.receipt_for(pull, "already there", number, existing.html_url)
        base = pull.base or self._default_branch()
        body = patch_comment(pull.body, pull.fix, base, self._mail(pull, base))
        if not body:
            raise Refused("its patch is longer than a comment may be")
        made = self._say("issue", number, pull.key, body)
        return proposals.receipt_for(pull, "done", number, made.html_url)

    def _mail(self, pull: proposals.DraftPull, base: str) -> str:
        """Return the draft's steps as mails that `git am` applies."""
        plan = self._branches.plan(pull, base)
        paths = dict.fromkeys(path for step in plan.steps for path in step.expected)
        nodes = {path: node for path in paths if (node := plan.before.get(path))}
        content = self._branches.content
        trees = [{path: (node.mode, content(node)) for path, node in nodes.items()}]
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

    def _say(self, on: Kind, number: int, key: str, body: str) -> Authored:
        find = partial(self._find_comment, on, number, key)
        return self._writes.make(lambda: self._make_comment(on, number, body), find)

    def _add_labels(self, on: Kind, number: int, labels: list[str]) -> str:
        """Return why not where that fails: what was made stays made."""
        try:
            self._writes.make(lambda: self._label(on, number, labels))
        except NightWatchError as error:  # also a token that is refused by now
            return f"created without labels: {error}"
        return ""

    def _make_verdict_labels(self) -> str:
        """Make those that the repository lacks, once a night; return why not where that fails."""
        if not self._has_verdict_labels:
            self._has_verdict_labels = True
            try:
                for label in VERDICT_LABELS:
                    self._make_label(*label)
            except NightWatchError as error:
                return f"labels for feedback were not created: {error}"
        return ""

    def _draft_pull(self, pull: proposals.DraftPull) -> proposals.Receipt:
        labels = self._labels(pull.labels)
        if existing := self._find_pull(pull):
            missing = LABEL not in existing.labels
            reason = self._add_labels("pull", existing.number, labels) if missing else ""
            there = existing.number, existing.html_url, reason
            return proposals.receipt_for(pull, "already there", *there)
        base = pull.base or self._default_branch()
        branch = self._branches.make(pull, base)
        try:
            made, more = self._writes.make(
                lambda: self._make_pull(pull, base, labels),
                lambda: (found, ()) if (found := self._find_pull(pull)) else None,
            )
        except (Rejected, Refused) as refused:
            if branch.is_new:
                self._take_back(pull.branch, refused)
            raise
        unlabelled = more or LABEL not in made.labels
        reason = self._add_labels("pull", made.number, [*labels, *more]) if unlabelled else ""
        reason = reason or self._make_verdict_labels()
        receipt = proposals.receipt_for(pull, "done", made.number, made.html_url, reason)
        return receipt.model_copy(update={"sha": branch.sha})

    def _take_back(self, branch: str, refused: GiveUp) -> None:
        """Delete a branch without its pull request; another try makes it again."""
        try:
            self._branches.delete(branch)
        except (TryLater, GiveUp) as error:
            raise Refused(f"{refused}; branch {branch} is left behind ({error})") from None

    def _find_issue(self, key: str) -> Item | None:
        """Return the issue of that key, open or closed, also where it was made a moment ago."""
        matching = (item for item in self._issues() if _has_key(item.body, key))
        return next(filter(self._ours.is_ours, matching), None)

    def _our_item(self, on: Kind, number: int) -> Item:
        """Return an issue or pull request; raises `Refused` where it is not ours, or locked."""
        item, name = self._item(on, number), "issue" if on == "issue" else "pull request"
        if item is None:
            raise Refused(f"there is no {name} {number}")
        if not read_marker(item.body) or item.number != number or not self._ours.is_ours(item):
            raise Refused(f"{name} {number} was not made by NightWatch")
        if item.locked:
            raise Refused(f"{name} {number} is locked")
        return item

    def _find_comment(self, on: Kind, number: int, key: str) -> Authored | None:
        matching = (row for row in self._comments(on, number) if _has_key(row.body, key))
        return next(filter(self._ours.is_ours, matching), None)

    def _find_pull(self, pull: proposals.DraftPull) -> Item | None:
        """Return the pull request of our branch; raises `Refused` where it is somebody else's."""
        pulls = tuple(self._pulls_of(pull.branch))
        made = [row for row in pulls if _has_key(row.body, pull.key) and self._ours.is_ours(row)]
        if pulls and not made:
            raise Refused(
                f"branch {pull.branch} has pull request {pulls[0].number}, which "
                "NightWatch did not make"
            )
        return next(iter(made), None)

    def _labels(self, names: Iterable[str]) -> list[str]:
        """Return the names as labels of ours; a host makes those that the repository lacks."""
        ours = (name[: self.longest_label] for name in (LABEL, *names) if name.strip())
        return list(dict.fromkeys(ours))


def _has_key(body: str, key: str) -> bool:
    marker = read_marker(body)
    return marker is not None and marker.key == key
