"""Makes branches through GitLab's commits API: a request a commit, the first with its branch."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from nightwatch_core.adapters.git import objects
from nightwatch_core.adapters.git.branch import PathState, Refused, Step, state_at
from nightwatch_core.adapters.gitlab.client import Project
from nightwatch_core.adapters.gitlab.rows import BranchRow, CommitRow, DiffRow, EntryRow
from nightwatch_core.adapters.hosts.branches import HostBranches, Plan
from nightwatch_core.adapters.hosts.writes import Rejected, Writes


class Branches(HostBranches):
    """Our branches in one project; a draft of several commits that was cut off is gone on with."""

    def __init__(self, project: Project, writes: Writes) -> None:
        super().__init__(writes)
        self._project = project
        self._above: dict[str, tuple[str, ...]] = {}  # parents by commit

    def head(self, branch: str) -> str | None:
        row = self._project.find(BranchRow, _at(branch))
        return row.commit.sha if row else None

    def delete(self, branch: str) -> None:
        self._project.delete(_at(branch))

    def content(self, node: objects.Node) -> bytes:
        return self._project.content(f"/repository/blobs/{node.oid}/raw")

    def _root(self, commit: str) -> str | None:
        if commit not in self._above:
            row = self._project.find(CommitRow, f"/repository/commits/{commit}", stats="false")
            if row is None:
                return None
            self._above[commit] = row.parents
        return commit

    def _nodes_near(self, root: str, paths: Iterable[str]) -> dict[str, objects.Node]:
        nodes: dict[str, objects.Node] = {}
        for folder in ("", *sorted(objects.parent_folders(paths))):
            if folder and (folder not in nodes or nodes[folder].mode != objects.FOLDER):
                continue
            asked = {"ref": root, "path": folder, "pagination": "keyset"}
            for row in self._project.rows(EntryRow, "/repository/tree", **asked):
                nodes[row.path] = objects.Node(row.path, row.mode, row.id, None, row.path)
        return nodes

    def _parents(self, commit: str) -> tuple[str, ...]:
        return self._above[commit] if self._root(commit) else ()

    def _changed(self, parent: str, commit: str) -> dict[str, PathState]:
        rows = self._project.rows(DiffRow, f"/repository/commits/{commit}/diff")
        paths = {path for row in rows for path in (row.old_path, row.new_path)}
        now, nothing = self._nodes_near(commit, paths), PathState(objects.GONE, "")
        return {path: state_at(now, path) or nothing for path in paths}

    def _build(self, branch: str, plan: Plan, tip: str | None, done: int) -> tuple[str, bool]:
        """Return the branch's last commit; not new where somebody was faster."""
        start, commit = ({} if tip else {"start_sha": plan.head}), tip or plan.head
        try:
            for step in plan.steps[done:]:
                commit, start = self._commit(branch, commit, step, start), {}
        except Rejected:
            if start and (there := self.head(branch)):
                return there, False
            raise
        return commit, True

    def _push(self, branch: str, tip: str, root: str, step: Step) -> str:
        return self._commit(branch, tip, step, {})

    def _commit(self, branch: str, parent: str, step: Step, start: dict[str, str]) -> str:
        """Commit a step onto its parent, and look whether that is what was made."""
        texts, before = (
            {c.path: c.text for c in step.changes},
            self._nodes_near(parent, step.expected),
        )

        def made() -> str | None:
            tip = self.head(branch)
            return tip if tip and self._parents(tip) == (parent,) else None

        def make() -> str:
            row = self._project.make(
                CommitRow,
                "/repository/commits",
                branch=branch,
                commit_message=step.message,
                actions=[_action(path, texts[path], path in before) for path in step.expected],
                **start,
            )
            return row.sha

        new = self._writes.make(make, made)
        if self._parents(new) == (parent,) and self._changed(parent, new) == step.expected:
            return new
        if start:
            self.delete(branch)
        raise Refused(f"the commit on {branch} is another than proposed")


def _action(path: str, text: str | None, is_there: bool) -> dict[str, Any]:
    if text is None:
        return {"action": "delete", "file_path": path}
    return {"action": "update" if is_there else "create", "file_path": path, "content": text}


def _at(branch: str) -> str:
    return f"/repository/branches/{quote(branch, safe='')}"
