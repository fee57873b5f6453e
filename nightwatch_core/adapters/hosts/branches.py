"""Makes branches on a code host, a commit a step.

No existing branch is moved, but one of ours forward, from the very commit where we left it.
"""

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol

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
from nightwatch_core.adapters.hosts.writes import Writes
from nightwatch_core.models.proposals import DraftPull, PullUpdate

_OURS = re.compile(r"nightwatch/[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_BASE = re.compile(r"(?!.*\.\.)[^\s/\x00-\x1f\x7f~^:?*\[\\][^\s\x00-\x1f\x7f~^:?*\[\\]{0,199}")


class Plan(NamedTuple):
    """The head of the base and its tree, what stands at the paths, and what shall, by commits."""

    head: str
    root: str
    before: Base
    steps: tuple[Step, ...]


class _Branches(Protocol):
    """Requests about branches and commits that each host has to answer."""

    def head(self, branch: str) -> str | None: ...  # its commit; None: no such branch

    def delete(self, branch: str) -> None: ...  # one that this run has made

    def content(self, node: objects.Node) -> bytes: ...

    def _root(self, commit: str) -> str | None: ...  # names its tree; None: no such commit

    def _nodes_near(self, root: str, paths: Iterable[str]) -> dict[str, objects.Node]: ...

    def _parents(self, commit: str) -> tuple[str, ...]: ...

    def _changed(self, parent: str, commit: str) -> dict[str, PathState]: ...

    def _build(self, branch: str, plan: Plan, tip: str | None, done: int) -> tuple[str, bool]: ...

    def _push(self, branch: str, tip: str, root: str, step: Step) -> str: ...


class HostBranches(_Branches):
    """Our branches in one repository; a host says how commits are read and made."""

    def __init__(self, writes: Writes) -> None:
        self._writes = writes

    def make(self, pull: DraftPull, base: str) -> Made:
        """Make the pull request's branch on branch `base`; raises `Refused` with the reason."""
        if not _OURS.fullmatch(pull.branch):
            raise Refused(f"{pull.branch[:80]!a} cannot be the name of a branch of ours")
        plan = self.plan(pull, base)
        tip = self.head(pull.branch)
        done = self._steps_below(tip, plan.steps) if tip else 0
        if tip is None or 0 < done < len(plan.steps):
            tip, is_new = self._build(pull.branch, plan, tip, done)
            if is_new:
                return Made(tip, is_new=True)
            done = self._steps_below(tip, plan.steps)
        if done < len(plan.steps):
            raise Refused(f"branch {pull.branch} exists with other content: delete or rename it")
        return Made(tip, is_new=False)

    def add(self, update: PullUpdate) -> Made:
        """Put a commit on our branch, where it stands at our commit; raises `Refused` elsewhere."""
        tip = self.head(update.branch) if _OURS.fullmatch(update.branch) else None
        root = self._root(update.head) if tip else None
        if tip is None or root is None:
            raise Refused(f"there is no branch {update.branch[:80]!a} of ours")
        paths = tuple(change.path for change in update.changes if not why_unsafe(change.path))
        before = self._nodes_near(root, paths)
        expected = expected_changes(update.changes, before, self.content, blob_name)
        step = Step(plain_message(update.commit_message), update.changes, expected)
        if tip == update.head:
            return Made(self._push(update.branch, tip, root, step), is_new=True)
        if self._parents(tip) == (update.head,) and self._changed(update.head, tip) == expected:
            return Made(tip, is_new=False)
        raise Refused(f"somebody pushed to {update.branch} since: NightWatch leaves it unchanged")

    def plan(self, pull: DraftPull, base: str) -> Plan:
        """Find out what the draft would change on branch `base`; raises `Refused` as `make`."""
        head = self.head(base) if _BASE.fullmatch(base) else None
        root = self._root(head) if head else None
        if head is None or root is None:
            raise Refused(f"there is no base branch {base[:80]!a}")
        paths = tuple(change.path for change in pull.changes if not why_unsafe(change.path))
        before = self._nodes_near(root, paths)
        if pull.commit != head:  # on another text the edits may mean something else
            then = self._root(pull.commit) if is_sha(pull.commit) else None
            if then is None:
                raise Refused(f"commit {pull.commit[:80]!a} is not in the repository")
            check_not_moved(pull.changes, self._nodes_near(then, paths), before)
        return Plan(head, root, before, expected_steps(pull, before, self.content, blob_name))

    def _steps_below(self, tip: str, steps: tuple[Step, ...]) -> int:
        """Return how many of the first steps end at the tip."""
        for count in range(len(steps), 0, -1):
            below = tip
            for step in reversed(steps[:count]):
                parents = self._parents(below)
                if len(parents) != 1 or self._changed(parents[0], below) != step.expected:
                    break
                below = parents[0]
            else:
                return count
        return 0


def blob_name(content: bytes, _: objects.Node | None) -> str:
    """Return the name that git will give the content."""
    blob = b"blob %d\0%s" % (len(content), content)
    return hashlib.sha1(blob, usedforsecurity=False).hexdigest()
