"""Makes branches through GitHub's git data API: a commit a step.

The branch appears last: whatever fails before leaves nothing that anyone can see. No existing
branch is moved, but one of ours forward, from the very commit where we left it.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from nightwatch_core.adapters.git import objects
from nightwatch_core.adapters.git.branch import (
    Base,
    Made,
    PathState,
    Refused,
    Step,
    check_not_moved,
    expected_changes,
    expected_steps,
    plain_message,
    why_unsafe,
)
from nightwatch_core.adapters.git.command import is_sha
from nightwatch_core.adapters.github import connection
from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.rows import CommitRow, RefRow, ShaRow, TreeRow
from nightwatch_core.adapters.stores.traffic import METER
from nightwatch_core.errors import TryLater
from nightwatch_core.models.proposals import DraftPull, PullUpdate
from nightwatch_core.ports import Clock

WRITE_SPACING = 1.0  # between two writes, as GitHub asks
SETTLING = 5.0  # until a write whose answer was lost shows, or never will
LOOKS = 3  # for a lost write: who cannot tell whether it was made must not make it again

_OURS = re.compile(r"nightwatch/[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_BASE = re.compile(r"(?!.*\.\.)[^\s/\x00-\x1f\x7f~^:?*\[\\][^\s\x00-\x1f\x7f~^:?*\[\\]{0,199}")
T = TypeVar("T")


class Writes:
    """Writes to GitHub: one after the other, not too many, and none twice where it was lost."""

    def __init__(self, clock: Clock, pause: Callable[[float], None]) -> None:
        """Make nothing yet; `pause` waits that many seconds."""
        self._clock = clock
        self._pause = pause
        self._next = 0.0  # when the next write may be made

    def make(self, make: Callable[[], T], find: Callable[[], T | None] = lambda: None) -> T:
        """Return what `make` makes; where its answer is lost, `find` looks before it is made again.

        Raises `AnswerLost` where nobody can tell whether it was made.
        """
        for last in (False, True):
            self._pause(max(0.0, self._next - self._clock.monotonic()))
            self._next = self._clock.monotonic() + WRITE_SPACING
            try:
                return make()
            except connection.AnswerLost as lost:
                if (found := self._look(find, lost)) is not None:
                    return found
                if last:
                    raise
            except connection.Unavailable as refused:  # not done for sure, so it may be asked again
                if last or refused.wait > connection.LONGEST_WAIT:
                    raise
                METER.wait(connection.SERVICE, refused.wait)
                self._pause(refused.wait)
        raise AssertionError("unreachable")

    def _look(self, find: Callable[[], T | None], lost: connection.AnswerLost) -> T | None:
        trouble: TryLater = lost
        for _ in range(LOOKS):
            self._pause(SETTLING)
            try:
                return find()
            except TryLater as error:
                trouble = error
        raise connection.AnswerLost(f"{lost}; and looking failed: {trouble}")


# Folders of a repository, and what differs between two.


class Trees:
    """Folders by the sha of their tree, each asked for once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._listed: dict[str, dict[str, objects.Node]] = {}

    def list(self, sha: str) -> dict[str, objects.Node]:
        """Return what is in the folder; raises `Rejected` where GitHub does not tell all of it."""
        if sha not in self._listed:
            tree = self._repository.read(TreeRow, f"git/trees/{sha}")
            if tree.truncated:
                raise connection.Rejected(
                    "a folder of the repository is too large for GitHub's API"
                )
            self._listed[sha] = tree.nodes
        return self._listed[sha]

    def list_around(self, root: str, paths: Iterable[str]) -> dict[str, objects.Node]:
        """Return everything in the folders that the paths go through, by path."""
        nodes = dict(self.list(root))
        for folder in sorted(objects.parent_folders(paths), key=lambda path: path.count("/")):
            entry = nodes.get(folder)
            if entry and entry.mode == objects.FOLDER:
                below = self.list(entry.oid)
                nodes |= {f"{folder}/{name}": node for name, node in below.items()}
        return nodes

    def differences(self, before: str, after: str, above: str = "") -> dict[str, PathState]:
        """Return the paths at which two trees differ, and what is there after."""
        states: dict[str, PathState] = {}
        was, now = (self.list(sha) if sha else {} for sha in (before, after))
        for name in sorted({*was, *now}):
            old, new = was.get(name), now.get(name)
            if old == new:
                continue
            path = f"{above}{name}"
            old_tree, new_tree = (
                n.oid if n and n.mode == objects.FOLDER else "" for n in (old, new)
            )
            if old_tree or new_tree:
                states |= self.differences(old_tree, new_tree, f"{path}/")
            if new and not new_tree:
                states[path] = PathState(new.mode, new.oid)
            elif old and not old_tree:
                states[path] = PathState(objects.GONE, "")
        return states


class Plan(NamedTuple):
    """The head of the base and its tree, what stands at the paths, and what shall, by commits."""

    head: str
    root: str
    before: Base
    steps: tuple[Step, ...]


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
        tip = self.head(pull.branch)
        if tip is None:
            commit, root = plan.head, plan.root
            for step in plan.steps:
                commit, root = self._commit_step(step, commit, root)
            tip = self._create(pull.branch, commit)
            if tip == commit:
                return Made(commit, is_new=True)
        below = self._commit(tip)
        for step in reversed(plan.steps):
            parent = self._commit(below.parents[0]) if len(below.parents) == 1 else None
            if not parent or self._trees.differences(parent.tree, below.tree) != step.expected:
                raise Refused(
                    f"branch {pull.branch} exists with other content: delete or rename it"
                )
            below = parent
        return Made(tip, is_new=False)

    def add(self, update: PullUpdate) -> Made:
        """Put a commit on our branch, where it stands at our commit; raises `Refused` elsewhere."""
        tip = self.head(update.branch) if _OURS.fullmatch(update.branch) else None
        if tip is None:
            raise Refused(f"there is no branch {update.branch[:80]!a} of ours")
        root = self._commit(update.head).tree
        paths = tuple(change.path for change in update.changes if not why_unsafe(change.path))
        expected = expected_changes(
            update.changes, self._trees.list_around(root, paths), self._content, blob_name
        )
        step = Step(plain_message(update.commit_message), update.changes, expected)
        if tip != update.head:
            commit = self._commit(tip)
            is_done = commit.parents == (update.head,)
            if is_done and self._trees.differences(root, commit.tree) == expected:
                return Made(tip, is_new=False)
            raise Refused(
                f"somebody pushed to {update.branch} since: NightWatch leaves it unchanged"
            )
        new, _ = self._commit_step(step, update.head, root)

        def move() -> str:
            # Refused where somebody has moved the branch meanwhile.
            self._repository.send("PATCH", f"git/refs/{_ref(update.branch)}", sha=new, force=False)
            return new

        self._writes.make(move, lambda: new if self.head(update.branch) == new else None)
        return Made(new, is_new=True)

    def plan(self, pull: DraftPull, base: str) -> Plan:
        """Find out what the draft would change on branch `base`; raises `Refused` as `make`."""
        if not _BASE.fullmatch(base) or (head := self.head(base)) is None:
            raise Refused(f"there is no base branch {base[:80]!a}")
        root = self._commit(head).tree
        paths = tuple(change.path for change in pull.changes if not why_unsafe(change.path))
        before = self._trees.list_around(root, paths)
        if pull.commit != head:  # on another text the edits may mean something else
            row = is_sha(pull.commit) and self._repository.find(
                CommitRow, f"git/commits/{pull.commit}", (404, 422)
            )
            if not row:
                raise Refused(f"commit {pull.commit[:80]!a} is not in the repository")
            check_not_moved(pull.changes, self._trees.list_around(row.tree, paths), before)
        return Plan(head, root, before, expected_steps(pull, before, self._content, blob_name))

    def head(self, branch: str) -> str | None:
        """Return the commit that a branch stands at; None where there is no such branch."""
        row = self._repository.find(RefRow, f"git/ref/{_ref(branch)}")
        return row.sha if row else None

    def delete(self, branch: str) -> None:
        """Delete a branch that this run has made."""
        self._repository.send("DELETE", f"git/refs/{_ref(branch)}")

    def _commit_step(self, step: Step, parent: str, root: str) -> tuple[str, str]:
        texts = {change.path: change.text for change in step.changes}
        changes: list[Any] = [
            {
                "path": path,
                "mode": objects.EXECUTABLE if state.mode == objects.EXECUTABLE else objects.FILE,
                "type": "blob",
                **({"sha": None} if texts[path] is None else {"content": texts[path]}),
            }
            for path, state in step.expected.items()
        ]
        tree = self._make_object("git/trees", tree=changes, base_tree=root)
        if self._trees.differences(root, tree) != step.expected:
            raise Refused("the commit would change other files than proposed")
        commit = self._make_object("git/commits", message=step.message, tree=tree, parents=[parent])
        return commit, tree

    def _create(self, branch: str, commit: str) -> str:
        """Return the commit that the new branch stands at: `commit`, unless somebody was faster."""

        def create() -> str:
            self._repository.send("POST", "git/refs", ref=f"refs/heads/{branch}", sha=commit)
            return commit

        return self._writes.make(create, lambda: self.head(branch))

    def _make_object(self, below: str, **body: Any) -> str:
        """Make a tree or commit: it is named by its content, so twice does no harm."""
        return self._writes.make(lambda: self._repository.make(ShaRow, below, **body)).sha

    def _commit(self, sha: str) -> CommitRow:
        return self._repository.read(CommitRow, f"git/commits/{sha}")

    def _content(self, node: objects.Node) -> bytes:
        return self._repository.read_blob(node.oid)


def _ref(branch: str) -> str:
    return f"heads/{quote(branch, safe='/')}"


def blob_name(content: bytes, _: objects.Node | None) -> str:
    """Return the name that git will give the content."""
    blob = b"blob %d\0%s" % (len(content), content)
    return hashlib.sha1(blob, usedforsecurity=False).hexdigest()
