"""Makes a branch with one commit out of a draft pull request, through GitHub's git data API.

The branch appears last: whatever fails before leaves nothing that anyone can see, and no existing
branch is moved.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypedDict
from urllib.parse import quote

from nightwatch_core.adapters.git.branch_changes import (
    Base,
    Made,
    PathState,
    Refused,
    check_not_moved,
    commit_message,
    wanted_changes,
    why_unsafe,
)
from nightwatch_core.adapters.git.command import is_sha
from nightwatch_core.adapters.git.objects import (
    EXECUTABLE,
    FILE,
    FOLDER,
    GONE,
    Node,
    parent_folders,
)
from nightwatch_core.adapters.github.client import Repository, RepositoryCall, Writes
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.limits import CHANGED_PATHS
from nightwatch_core.adapters.github.rows import CommitRow, RefRow, TreeRow
from nightwatch_core.models.proposal import DraftPull

_OURS = re.compile(r"nightwatch/[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_BASE = re.compile(r"(?!.*\.\.)[^\s/\x00-\x1f\x7f~^:?*\[\\][^\s\x00-\x1f\x7f~^:?*\[\\]{0,199}")
Wanted = Mapping[str, PathState]


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
        if not _BASE.fullmatch(base) or (head := self.head(base)) is None:
            raise Refused(f"there is no base branch {base[:80]!a}")
        root = self._commit(head).tree
        paths = tuple(change.path for change in pull.changes if not why_unsafe(change.path))
        before = self._trees.list_around(root, paths)
        if pull.commit != head:
            self._check_not_moved(pull, before, paths)
        wanted = wanted_changes(
            pull.changes, before, lambda node: self._repository.read_blob(node.oid), blob_name
        )
        if tip := self.head(pull.branch):
            return self._made_before(pull.branch, tip, wanted)
        return self._make(pull, head, root, wanted)

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

    def _make(self, pull: DraftPull, head: str, root: str, wanted: Wanted) -> Made:
        texts = {change.path: change.text for change in pull.changes}
        changes = [_change(path, state, texts[path]) for path, state in wanted.items()]
        tree = self._post(
            "tree", lambda rest, at: rest.git.create_tree(*at, tree=changes, base_tree=root)
        )
        if self._trees.differences(root, tree) != wanted:
            raise Refused("the commit would change other files than proposed")
        message = commit_message(pull)
        commit = self._post(
            "commit",
            lambda rest, at: rest.git.create_commit(
                *at, message=message, tree=tree, parents=[head]
            ),
        )
        tip = self._create_ref(pull.branch, commit)
        if tip == commit:
            return Made(commit, is_new=True)
        return self._made_before(pull.branch, tip, wanted)

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

    def _made_before(self, branch: str, tip: str, wanted: Wanted) -> Made:
        """The branch is ours where its one commit makes exactly the wanted changes."""
        commit = self._commit(tip)
        if len(commit.parents) == 1:
            parent = self._commit(commit.parents[0])
            if self._trees.differences(parent.tree, commit.tree) == wanted:
                return Made(tip, is_new=False)
        raise Refused(f"branch {branch} exists with other content: delete or rename it")

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


class Trees:
    """Folders by the sha of their tree, each asked for once."""

    def __init__(self, repository: Repository) -> None:
        """Ask nothing before the first listing."""
        self._repository = repository
        self._listed: dict[str, dict[str, Node]] = {}

    def list(self, sha: str) -> dict[str, Node]:
        """Return what is in the folder; raises `Rejected` where GitHub does not tell all of it."""
        if sha not in self._listed:
            tree = self._repository.read(TreeRow, lambda rest, at: rest.git.get_tree(*at, sha))
            if tree.truncated:
                raise Rejected("a folder of the repository is too large for GitHub's API")
            self._listed[sha] = tree.nodes
        return self._listed[sha]

    def list_around(self, root: str, paths: Iterable[str]) -> dict[str, Node]:
        """Return everything in the folders that the paths go through, by path."""
        nodes = dict(self.list(root))
        for folder in sorted(parent_folders(paths), key=lambda path: path.count("/")):
            entry = nodes.get(folder)
            if entry and entry.mode == FOLDER:
                below = self.list(entry.oid)
                nodes |= {f"{folder}/{name}": node for name, node in below.items()}
        return nodes

    def differences(self, before: str, after: str) -> dict[str, PathState]:
        """Return paths at which two trees differ, and what stands there after.

        A file whose mode differs has the mode "was → is" and fits nothing.
        """
        states: dict[str, PathState] = {}
        for path, state in self._differences(before, after, ""):
            states[path] = state
            if len(states) > CHANGED_PATHS:
                raise Rejected(f"more than {CHANGED_PATHS} files differ")
        return states

    def _differences(self, before: str, after: str, above: str) -> Iterator[tuple[str, PathState]]:
        was, now = (self.list(sha) if sha else {} for sha in (before, after))
        for name in sorted({*was, *now}):
            old, new = was.get(name), now.get(name)
            if old == new:
                continue
            path = f"{above}{name}"
            old_tree, new_tree = (n.oid if n and n.mode == FOLDER else "" for n in (old, new))
            if old_tree or new_tree:
                yield from self._differences(old_tree, new_tree, f"{path}/")
            was_file = old if old and not old_tree else None
            now_file = new if new and not new_tree else None
            if was_file or now_file:
                yield path, _state(was_file, now_file)


def _state(old: Node | None, new: Node | None) -> PathState:
    if new is None:
        return PathState(GONE, "")
    is_plain = new.mode == FILE if old is None else old.mode == new.mode
    mode = new.mode if is_plain else f"{old.mode if old else GONE} → {new.mode}"
    return PathState(mode, new.oid)


def blob_name(content: bytes, beside: Node | None) -> str:
    """Return the name git will give the content, in a repository of that file's kind of names.

    >>> blob_name(b"", None)
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    kind = hashlib.sha256 if beside and len(beside.oid) == 64 else hashlib.sha1
    return kind(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()
