"""Makes a branch out of a draft pull request, through GitHub's git data API: a commit a step.

The branch appears last: whatever fails before leaves nothing that anyone can see. No existing
branch is moved, but one of ours forward, from the very commit where we left it.
"""

import hashlib
import re
from typing import Any, Literal, NamedTuple, TypedDict
from urllib.parse import quote

from nightwatch_core.adapters.git.branch_changes import (
    Base,
    Made,
    PathState,
    Refused,
    Step,
    check_not_moved,
    plain_message,
    wanted_changes,
    wanted_steps,
    why_unsafe,
)
from nightwatch_core.adapters.git.command import is_sha
from nightwatch_core.adapters.git.objects import EXECUTABLE, Node
from nightwatch_core.adapters.github.client import Repository, RepositoryCall
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.rows import CommitRow, RefRow
from nightwatch_core.adapters.github.trees import Trees
from nightwatch_core.adapters.github.writes import Writes
from nightwatch_core.models.proposal import DraftPull, PullUpdate

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
        """Ask nothing yet."""
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
        """Return a new commit on `parent`, whose tree is `root`, and its tree."""
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
        """The branch is ours where each of its commits makes exactly the changes of its step."""
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
