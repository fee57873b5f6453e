"""Publishes issues, comments and draft pull requests on GitHub, each once, whatever is lost."""

import hashlib
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar
from urllib.parse import quote

from nightwatch_core.adapters.git.branch import (
    Base,
    Made,
    PathState,
    Refused,
    Step,
    check_not_moved,
    mailed_changes,
    plain_message,
    wanted_changes,
    wanted_steps,
    why_unsafe,
)
from nightwatch_core.adapters.git.command import is_sha
from nightwatch_core.adapters.git.objects import EXECUTABLE, GONE, Node
from nightwatch_core.adapters.github import permissions
from nightwatch_core.adapters.github.api_reader import Trees
from nightwatch_core.adapters.github.client import GitHubClient, Repository, RepositoryCall
from nightwatch_core.adapters.github.code_host import (
    find_comment,
    find_issue,
    find_pull,
    has_key,
    our_issue,
)
from nightwatch_core.adapters.github.connection import (
    LONGEST_WAIT,
    SERVICE,
    AnswerLost,
    Forbidden,
    Rejected,
    Unavailable,
)
from nightwatch_core.adapters.github.ownership import Ours
from nightwatch_core.adapters.github.rows import (
    CommentRow,
    CommitRow,
    IssueRow,
    MessageRow,
    PullRow,
    RefRow,
    read,
)
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.traffic import METER
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater
from nightwatch_core.models.proposals import (
    Comment,
    DraftPull,
    OpenIssue,
    OwnItem,
    Proposal,
    PublishStatus,
    PullUpdate,
    Receipt,
    Reopen,
    receipt_for,
)
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.publish.issue_text import LABEL, patch_comment
from nightwatch_core.publish.markers import joined_body, read_marker, read_patch_marker

WRITE_SPACING = 1.0  # between two writes, as GitHub asks
SETTLING = 5.0  # until a write whose answer was lost shows, or never will
LOOKS = 3  # for a lost write: who cannot tell whether it was made must not make it again
WRITES_AN_HOUR = 200  # GitHub allows 500 that create content
LABEL_CHARACTERS = 50
HISTORY_READ = 500  # commits of the base in which applied patches are looked for

# Writes to GitHub: spaced, bounded, and looked for where their answer is lost.

T = TypeVar("T")


class Writes:
    """Writes to GitHub: one after the other, not too many, and none twice where it was lost."""

    def __init__(self, clock: Clock, pause: Callable[[float], None]) -> None:
        """Make nothing yet; `pause` waits that many seconds."""
        self._clock = clock
        self._pause = pause
        self._times: deque[float] = deque()

    def make(self, make: Callable[[], T], find: Callable[[], T | None] = lambda: None) -> T:
        """Return what `make` makes; where its answer is lost, `find` looks before it is made again.

        Raises `AnswerLost` where nobody can tell whether it was made.
        """
        for last in (False, True):
            self._take_turn()
            try:
                return make()
            except AnswerLost as lost:
                if (there := self._look(find, lost)) is not None:
                    return there
                if last:
                    raise
            except Unavailable as refused:  # not done for sure, so it may be asked again
                if last or refused.wait > LONGEST_WAIT:
                    raise
                METER.wait(SERVICE, refused.wait)
                self._pause(refused.wait)
        raise AssertionError("unreachable")

    def _look(self, find: Callable[[], T | None], lost: AnswerLost) -> T | None:
        for left in range(LOOKS - 1, -1, -1):
            self._pause(SETTLING)
            try:
                return find()
            except TryLater as error:
                if not left:
                    raise AnswerLost(f"{lost}; and looking failed: {error}") from None
        raise AssertionError("unreachable")

    def _take_turn(self) -> None:
        now = self._clock.monotonic()
        while self._times and now - self._times[0] >= 3600:
            self._times.popleft()
        if len(self._times) >= WRITES_AN_HOUR:
            raise Rejected(
                f"{WRITES_AN_HOUR} writes within an hour are enough: the rest has to wait"
            )
        if self._times and (wait := self._times[-1] + WRITE_SPACING - now) > 0:
            self._pause(wait)
        self._times.append(self._clock.monotonic())


# Makes a branch out of a draft pull request, through GitHub's git data API: a commit a step.
#
# The branch appears last: whatever fails before leaves nothing that anyone can see. No existing
# branch is moved, but one of ours forward, from the very commit where we left it.

_OURS = re.compile(r"nightwatch/[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_BASE = re.compile(r"(?!.*\.\.)[^\s/\x00-\x1f\x7f~^:?*\[\\][^\s\x00-\x1f\x7f~^:?*\[\\]{0,199}")


class Plan(NamedTuple):
    """The head of the base and its tree, what stands at the paths, and what shall, by commits."""

    head: str
    root: str
    before: Base
    steps: tuple[Step, ...]


class TreeChange(TypedDict, total=False):
    """One change, as trees are made."""

    path: str
    mode: Literal["100644", "100755", "040000", "160000", "120000"]
    type: Literal["blob", "tree", "commit"]
    content: str
    sha: str | None


class Branches:
    """Our branches in one repository."""

    def __init__(self, repository: Repository, writes: Writes) -> None:
        self._repository = repository
        self._writes = writes
        self._trees = Trees(repository)

    def make(self, pull: DraftPull, base: str) -> Made:
        """Make the pull request's branch on the head of branch `base`.

        Raises `Refused` with the reason, in words for the report.
        """
        if not _OURS.fullmatch(pull.branch):
            raise Refused(f"{pull.branch[:80]!a} cannot be the name of a branch of ours")
        plan = self.plan(pull, base)
        if tip := self.head(pull.branch):
            return self._made_before(pull.branch, tip, plan.steps)
        return self._make(pull, plan)

    def add(self, update: PullUpdate) -> Made:
        """Put a commit on our branch, where it stands at our commit; raises `Refused` elsewhere."""
        tip = self.head(update.branch) if _OURS.fullmatch(update.branch) else None
        if tip is None:
            raise Refused(f"there is no branch {update.branch[:80]!a} of ours")
        root = self._commit(update.head).tree
        paths = tuple(change.path for change in update.changes if not why_unsafe(change.path))
        wanted = wanted_changes(
            *(update.changes, self._trees.list_around(root, paths)),
            *(lambda node: self._repository.read_blob(node.oid), blob_name),
        )
        step = Step(plain_message(update.commit_message), update.changes, wanted)
        if tip != update.head:
            commit = self._commit(tip)
            is_done = commit.parents == (update.head,)
            if is_done and self._trees.differences(root, commit.tree) == wanted:
                return Made(tip, is_new=False)
            raise Refused(f"somebody has pushed to {update.branch} since: it is left alone")
        new, _ = self._commit_step(step, update.head, root)
        self._writes.make(
            lambda: self._move(update.branch, new),
            lambda: new if self.head(update.branch) == new else None,
        )
        return Made(new, is_new=True)

    def _move(self, branch: str, commit: str) -> str:
        """Move a branch forward; GitHub refuses where somebody has moved it meanwhile."""
        ref = f"heads/{quote(branch, safe='/')}"
        self._repository.ask(
            lambda rest, at: rest.git.update_ref(*at, ref, sha=commit, force=False)
        )
        return commit

    def plan(self, pull: DraftPull, base: str) -> Plan:
        """Find out what the draft would change on branch `base`; raises `Refused` as `make`."""
        if not _BASE.fullmatch(base) or (head := self.head(base)) is None:
            raise Refused(f"there is no base branch {base[:80]!a}")
        root = self._commit(head).tree
        paths = tuple(change.path for change in pull.changes if not why_unsafe(change.path))
        before = self._trees.list_around(root, paths)
        if pull.commit != head:
            self._check_not_moved(pull, before, paths)
        steps = wanted_steps(
            pull, before, lambda node: self._repository.read_blob(node.oid), blob_name
        )
        return Plan(head, root, before, steps)

    def head(self, branch: str) -> str | None:
        """Return the commit that a branch stands at; None where there is no such branch."""
        ref = f"heads/{quote(branch, safe='/')}"
        try:
            row = self._repository.read(RefRow, lambda rest, at: rest.git.get_ref(*at, ref))
        except Rejected as error:
            if error.status == 404:
                return None
            raise
        return row.sha

    def delete(self, branch: str) -> None:
        """Delete a branch that this run has made."""
        ref = f"heads/{quote(branch, safe='/')}"
        self._repository.ask(lambda rest, at: rest.git.delete_ref(*at, ref))

    def _make(self, pull: DraftPull, plan: Plan) -> Made:
        commit, root = plan.head, plan.root
        for step in plan.steps:
            commit, root = self._commit_step(step, commit, root)
        tip = self._create_ref(pull.branch, commit)
        if tip == commit:
            return Made(commit, is_new=True)
        return self._made_before(pull.branch, tip, plan.steps)

    def _commit_step(self, step: Step, parent: str, root: str) -> tuple[str, str]:
        texts = {change.path: change.text for change in step.changes}
        changes = [_change(path, state, texts[path]) for path, state in step.wanted.items()]
        tree = self._post(
            "tree", lambda rest, at: rest.git.create_tree(*at, tree=changes, base_tree=root)
        )
        if self._trees.differences(root, tree) != step.wanted:
            raise Refused("the commit would change other files than proposed")
        commit = self._post(
            "commit",
            lambda rest, at: rest.git.create_commit(
                *at, message=step.message, tree=tree, parents=[parent]
            ),
        )
        return commit, tree

    def _create_ref(self, branch: str, commit: str) -> str:
        """Return where the branch stands; somebody else may have made it meanwhile."""
        ref = f"refs/heads/{branch}"

        def create() -> str:
            self._repository.ask(lambda rest, at: rest.git.create_ref(*at, ref=ref, sha=commit))
            return commit

        try:
            return self._writes.make(create, lambda: self.head(branch))
        except Rejected as error:
            if error.status != 422 or (there := self.head(branch)) is None:
                raise
            return there

    def _made_before(self, branch: str, tip: str, steps: tuple[Step, ...]) -> Made:
        commit = self._commit(tip)
        for step in reversed(steps):
            parent = self._commit(commit.parents[0]) if len(commit.parents) == 1 else None
            if not parent or self._trees.differences(parent.tree, commit.tree) != step.wanted:
                raise Refused(f"branch {branch} exists with other content: delete or rename it")
            commit = parent
        return Made(tip, is_new=False)

    def _post(self, what: str, call: RepositoryCall) -> str:
        """Make an object: it is named by its content and nobody sees it, so twice does no harm."""
        made: Any = self._writes.make(lambda: self._repository.ask(call))
        sha = str(made.get("sha")) if isinstance(made, dict) else ""
        if not is_sha(sha):
            raise Refused(f"GitHub made no {what}")
        return sha

    def _commit(self, sha: str) -> CommitRow:
        return self._repository.read(CommitRow, lambda rest, at: rest.git.get_commit(*at, sha))

    def _check_not_moved(self, pull: DraftPull, now: Base, paths: tuple[str, ...]) -> None:
        """The edits were made on `pull.commit`: on another text they may mean something else."""
        missing = Refused(f"commit {pull.commit[:80]!a} is not in the repository")
        if not is_sha(pull.commit):
            raise missing
        try:
            root = self._commit(pull.commit).tree
        except Rejected as error:
            if error.status in (404, 422):
                raise missing from None
            raise
        check_not_moved(pull.changes, self._trees.list_around(root, paths), now)


def _change(path: str, state: PathState, text: str | None) -> TreeChange:
    if text is None:
        return {"path": path, "mode": "100644", "type": "blob", "sha": None}
    mode: Literal["100644", "100755"] = "100755" if state.mode == EXECUTABLE else "100644"
    return {"path": path, "mode": mode, "type": "blob", "content": text}


def blob_name(content: bytes, beside: Node | None) -> str:
    """Return the name git will give the content, in a repository of that file's kind of names.

    >>> blob_name(b"", None)
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    kind = hashlib.sha256 if beside and len(beside.oid) == 64 else hashlib.sha1
    return kind(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()


NO_DRAFTS = "nightwatch-draft"  # the label that says so where GitHub has no drafts


def label_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names as labels of ours; GitHub makes those that the repository lacks."""
    ours = (LABEL, *names)
    return tuple(dict.fromkeys(name[:LABEL_CHARACTERS] for name in ours if name.strip()))


# Drafts without a branch: their patch is a comment on the issue, and people apply it.
#
# Whether they did is read off the base's history: the message of the commit holds the patch's key.


class PatchDesk(NamedTuple):
    """Where patches too long for a comment are kept, and what nobody may be shown."""

    folder: Path | None = None
    scrub: Callable[[str], str] = REMOVAL.scrub


def patch_text(
    repository: Repository, branches: Branches, desk: PatchDesk, pull: DraftPull, at: datetime
) -> str:
    """Return the comment that carries the patch; raises `Refused` with the reason for none."""
    base = pull.base or repository.describe().default_branch
    plan = branches.plan(pull, base)
    paths = dict.fromkeys(path for step in plan.steps for path in step.wanted)
    nodes = {path: node for path in paths if (node := plan.before.get(path))}
    trees = [{path: (node.mode, repository.read_blob(node.oid)) for path, node in nodes.items()}]
    for step in plan.steps:
        files = trees[-1]
        texts = {change.path: (change.text or "").encode() for change in step.changes}
        gone = {path for path, state in step.wanted.items() if state.mode == GONE}
        new = {path: (state.mode, texts[path]) for path, state in step.wanted.items()}
        after = {path: item for path, item in {**files, **new}.items() if path not in gone}
        trees.append(after)
    mail = mailed_changes(trees, [step.message for step in plan.steps], at, desk.scrub)
    body = patch_comment(pull.body, pull.fix, base, mail)
    return body or patch_comment(pull.body, pull.fix, base, "", _kept(desk, pull, mail))


def _kept(desk: PatchDesk, pull: DraftPull, mail: str) -> str:
    if desk.folder is None:
        raise Refused("the patch is too long for a comment, and there is nowhere to keep it")
    path = desk.folder / f"{pull.key[:12]}.patch"
    atomic_files.write(path, mail.encode("utf-8", "surrogateescape"))
    return "/".join(path.parts[-4:])


def patch_item(issue: IssueRow, comments: Iterable[CommentRow]) -> OwnItem | None:
    """Return the newest patch that the issue carries, as a draft that has the issue's number.

    It is open until it is applied, or the issue is closed as not planned.
    """
    patches = [comment for comment in comments if read_patch_marker(comment.body)]
    if not patches:
        return None
    comment, mark = patches[-1], read_marker(patches[-1].body)
    own, known = read_marker(issue.body), read_patch_marker(patches[-1].body)
    assert mark is not None
    assert own is not None
    assert known is not None
    turned_down = issue.state != "open" and issue.state_reason in ("not_planned", "duplicate")
    return OwnItem(
        kind="pull",
        number=issue.number,
        fingerprint=mark.fingerprint,
        also=tuple(dict.fromkeys((*mark.also, own.fingerprint, *own.also))),
        key=mark.key,
        title=issue.title,
        state="closed" if turned_down else "open",
        url=comment.html_url,
        night=mark.night,
        closed_at=issue.closed_at if turned_down else None,
        as_patch=True,
        fix=known[0],
        branch=known[1],
    )


def with_applied(
    repository: Repository, patches: tuple[OwnItem, ...], since: Mapping[str, datetime]
) -> tuple[OwnItem, ...]:
    """Return the patches, those merged whose key is in the base's history; `since` is by key."""
    applied: dict[str, datetime] = {}
    for base in {patch.branch for patch in patches}:
        keys = {patch.key for patch in patches if patch.branch == base}
        first = min(since[key] for key in keys)
        for row in _history(repository, base, first):
            applied |= {key: row.at for key in keys if key in row.message}
    return tuple(
        patch.model_copy(
            update={"branch": "", **({"state": "merged", "merged_at": at} if at else {})}
        )
        for patch in patches
        for at in (applied.get(patch.key),)
    )


def _history(repository: Repository, base: str, since: datetime) -> tuple[MessageRow, ...]:
    try:
        rows = repository.rows(
            lambda rest, at: rest.repos.list_commits(*at, sha=base, since=since, per_page=100)
        )
        return tuple(read(MessageRow, row) for row in islice(rows, HISTORY_READ))
    except Rejected as error:
        if error.status in (404, 409):
            return ()
        raise


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
        labels = label_names(issue.labels)
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
        reason = self._add_labels(made.number, labels) if unlabelled else ""
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
            self._add_labels(number, (label,))
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

    def _add_labels(self, number: int, labels: tuple[str, ...]) -> str:
        """Return why not where that fails: what was made stays made."""
        ask = self._repository.ask
        try:
            self._writes.make(
                lambda: ask(lambda rest, at: rest.issues.add_labels(*at, number, labels=[*labels]))
            )
        except NightWatchError as error:  # also a token that is refused by now
            return f"made, but without its labels: {error}"
        return ""

    def _draft_pull(self, pull: DraftPull) -> Receipt:
        if there := find_pull(self._repository, self._ours, pull):
            missing = LABEL not in there.labels
            labels = label_names(pull.labels)
            reason = self._add_labels(there.number, labels) if missing else ""
            return receipt_for(pull, "already there", there.number, there.html_url, reason)
        base = pull.base or self._repository.describe().default_branch
        branch = self._branches.make(pull, base)
        try:
            made, more = self._open_pull(pull, base)
        except (Rejected, Refused) as refused:
            self._take_back(pull.branch, branch, refused)
            raise
        reason = self._add_labels(made.number, label_names((*pull.labels, *more)))
        receipt = receipt_for(pull, "done", made.number, made.html_url, reason)
        return receipt.model_copy(update={"sha": branch.sha})

    def _open_pull(self, pull: DraftPull, base: str) -> tuple[PullRow, tuple[str, ...]]:
        try:
            return self._create_pull(pull, base, draft=True), ()
        except Rejected as refused:
            if "raft pull requests are not supported" in refused.reason:
                made = self._create_pull(pull, base, draft=False)
                return made, (NO_DRAFTS,)
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
