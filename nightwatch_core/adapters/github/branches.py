"""Makes branches through GitHub's git data API.

The branch appears last: whatever fails before leaves nothing that anyone can see.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from githubkit.response import Response

from nightwatch_core.adapters.git import objects
from nightwatch_core.adapters.git.branch import PathState, Refused, Step
from nightwatch_core.adapters.github.client import Repository, ref_of
from nightwatch_core.adapters.github.rows import CommitRow, ShaRow, TreeRow, row
from nightwatch_core.adapters.hosts.branches import HostBranches, Plan
from nightwatch_core.adapters.hosts.writes import Rejected, Writes, unless_absent


class Trees:
    """Folders by the sha of their tree, each asked for once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._listed: dict[str, dict[str, objects.Node]] = {}

    def list(self, sha: str) -> dict[str, objects.Node]:
        """Return what is in the folder; raises `Rejected` where GitHub does not tell all of it."""
        if sha not in self._listed:
            tree = row(TreeRow, self._repository.rest.git.get_tree(*self._repository.at, sha))
            if tree.truncated:
                raise Rejected("a folder of the repository is too large for GitHub's API")
            self._listed[sha] = tree.nodes
        return self._listed[sha]

    def list_near(self, root: str, paths: Iterable[str]) -> dict[str, objects.Node]:
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
            both = (old, new)
            old_tree, new_tree = (n.oid if n and n.mode == objects.FOLDER else "" for n in both)
            if old_tree or new_tree:
                states |= self.differences(old_tree, new_tree, f"{path}/")
            if new and not new_tree:
                states[path] = PathState(new.mode, new.oid)
            elif old and not old_tree:
                states[path] = PathState(objects.GONE, "")
        return states


class Branches(HostBranches):
    """Our branches in one repository."""

    def __init__(self, repository: Repository, writes: Writes) -> None:
        super().__init__(writes)
        self._repository, self._at = repository, repository.at
        self._git = repository.rest.git
        self._trees = Trees(repository)
        self._commits: dict[str, CommitRow] = {}

    def head(self, branch: str) -> str | None:
        ref = self._repository.find_ref(branch)
        return ref.sha if ref else None

    def delete(self, branch: str) -> None:
        self._git.delete_ref(*self._at, ref_of(branch))

    def _build(self, branch: str, plan: Plan, tip: str | None, done: int) -> tuple[str, bool]:
        """Return the commit that the new branch stands at; not new where somebody was faster."""
        commit, root = plan.head, plan.root
        for step in plan.steps:
            commit, root = self._commit_step(step, commit, root)

        def create() -> str:
            self._git.create_ref(*self._at, ref=f"refs/heads/{branch}", sha=commit)
            return commit

        tip = self._writes.make(create, lambda: self.head(branch))
        return tip, tip == commit

    def _push(self, branch: str, tip: str, root: str, step: Step) -> str:
        new, _ = self._commit_step(step, tip, root)

        def move() -> str:
            # Refused where somebody has moved the branch meanwhile.
            self._git.update_ref(*self._at, ref_of(branch), sha=new, force=False)
            return new

        return self._writes.make(move, lambda: new if self.head(branch) == new else None)

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
        make_tree = partial(self._git.create_tree, *self._at, tree=changes, base_tree=root)
        tree = self._make_object(make_tree)
        if self._trees.differences(root, tree) != step.expected:
            raise Refused("the commit would change other files than proposed")
        make_commit = partial(self._git.create_commit, *self._at, message=step.message, tree=tree)
        return self._make_object(partial(make_commit, parents=[parent])), tree

    def _make_object(self, make: Callable[[], Response[Any, Any]]) -> str:
        """Make a tree or commit: it is named by its content, so twice does no harm."""
        return self._writes.make(lambda: row(ShaRow, make())).sha

    def _root(self, commit: str) -> str | None:
        if commit not in self._commits:
            ask = partial(self._git.get_commit, *self._at, commit)
            found = unless_absent(lambda: row(CommitRow, ask()), (404, 422))
            if found is None:
                return None
            self._commits[commit] = found
        return self._commits[commit].tree

    def _parents(self, commit: str) -> tuple[str, ...]:
        return self._commits[commit].parents if self._root(commit) else ()

    def _changed(self, parent: str, commit: str) -> dict[str, PathState]:
        return self._trees.differences(self._root(parent) or "", self._root(commit) or "")

    def _nodes_near(self, root: str, paths: Iterable[str]) -> dict[str, objects.Node]:
        return self._trees.list_near(root, paths)

    def content(self, node: objects.Node) -> bytes:
        return self._repository.read_blob(node.oid)
