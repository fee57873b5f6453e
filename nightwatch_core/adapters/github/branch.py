"""Makes a branch with one commit out of a draft pull request, through GitHub's git data API.

The branch appears last: whatever fails before leaves nothing that anyone can see, and no existing
branch is moved.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, TypedDict
from urllib.parse import quote

from nightwatch_core.adapters.git.branch_changes import (
    Base,
    Refused,
    Stand,
    check_not_moved,
    commit_message,
    wanted_changes,
)
from nightwatch_core.adapters.git.command import is_sha
from nightwatch_core.adapters.git.tree import EXECUTABLE, why_unsafe
from nightwatch_core.adapters.github.blobs import content, oid
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.pacing import Pacing
from nightwatch_core.adapters.github.rows import CommitRow, Place, Ref, read
from nightwatch_core.adapters.github.trees import Trees
from nightwatch_core.models.proposal import DraftPull

_OURS = re.compile(r"nightwatch/[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_BASE = re.compile(r"(?!.*\.\.)[^\s/\x00-\x1f\x7f~^:?*\[\\][^\s\x00-\x1f\x7f~^:?*\[\\]{0,199}")


class Entry(TypedDict, total=False):
    """One change, as trees are made."""

    path: str
    mode: Literal["100644", "100755", "040000", "160000", "120000"]
    type: Literal["blob", "tree", "commit"]
    content: str
    sha: str | None


class Made(NamedTuple):
    """The branch's commit; `is_new` is False where an earlier try had made it."""

    sha: str
    is_new: bool


class Branches:
    """Our branches in one repository."""

    def __init__(self, place: Place, pacing: Pacing) -> None:
        """Every write goes through `pacing`."""
        self._place = place
        self._pacing = pacing

    def make(self, pull: DraftPull, base: str) -> Made:
        """Make the pull request's branch on the head of branch `base`.

        Raises `Refused` with the reason, in words for the report.
        """
        if not _OURS.fullmatch(pull.branch):
            raise Refused(f"{pull.branch[:80]!a} cannot be the name of a branch of ours")
        if not _BASE.fullmatch(base) or (head := self.head(base)) is None:
            raise Refused(f"there is no base branch {base[:80]!a}")
        trees = Trees(self._place)
        root = self._commit(head).tree.sha
        paths = tuple(change.path for change in pull.changes if not why_unsafe(change.path))
        before = trees.around(root, paths)
        self._check_not_moved(pull, head, before, trees, paths)
        wanted = wanted_changes(pull.changes, before, partial(content, self._place), oid)
        if tip := self.head(pull.branch):
            return self._made_before(pull.branch, tip, wanted, trees)
        return self._made(pull, head, root, wanted, trees)

    def head(self, branch: str) -> str | None:
        """The commit that a branch stands at; None where there is no such branch."""
        at, name = self._place.at, quote(branch, safe="/")
        try:
            answer = self._place.client.ask(lambda rest: rest.git.get_ref(*at, f"heads/{name}"))
        except Rejected as error:
            if error.status == 404:
                return None
            raise
        return read(Ref, answer).object.sha

    def delete(self, branch: str) -> None:
        """Delete a branch that this run has made."""
        at, name = self._place.at, quote(branch, safe="/")
        self._place.client.ask(lambda rest: rest.git.delete_ref(*at, f"heads/{name}"))

    def _made(
        self, pull: DraftPull, head: str, root: str, wanted: Mapping[str, Stand], trees: Trees
    ) -> Made:
        texts = {change.path: change.text for change in pull.changes}
        entries = [_entry(path, stand, texts[path]) for path, stand in wanted.items()]
        new = self._post("trees", tree=entries, base_tree=root)
        if trees.differences(root, new) != wanted:
            raise Refused("the commit would change other files than proposed")
        commit = self._post("commits", message=commit_message(pull), tree=new, parents=[head])
        at, client = self._place.at, self._place.client
        ref = f"refs/heads/{pull.branch}"

        def create() -> str:
            client.ask(lambda rest: rest.git.create_ref(*at, ref=ref, sha=commit))
            return commit

        try:
            tip = self._pacing.made(create, lambda: self.head(pull.branch))
        except Rejected as error:
            if error.status != 422 or (there := self.head(pull.branch)) is None:
                raise
            tip = there
        return self._checked(pull.branch, tip, commit, wanted, trees)

    def _checked(
        self, branch: str, tip: str, commit: str, wanted: Mapping[str, Stand], trees: Trees
    ) -> Made:
        if tip == commit:
            return Made(commit, is_new=True)
        return self._made_before(branch, tip, wanted, trees)

    def _made_before(
        self, branch: str, tip: str, wanted: Mapping[str, Stand], trees: Trees
    ) -> Made:
        """The branch is ours where its one commit makes exactly the wanted changes."""
        commit = self._commit(tip)
        if len(commit.parents) == 1:
            parent = self._commit(commit.parents[0].sha)
            if trees.differences(parent.tree.sha, commit.tree.sha) == wanted:
                return Made(tip, is_new=False)
        raise Refused(f"branch {branch} exists with other content: delete or rename it")

    def _post(self, what: Literal["trees", "commits"], **body: Any) -> str:
        """Make an object: it is named by its content and nobody sees it, so twice does no harm."""
        at, client = self._place.at, self._place.client

        def create() -> str:
            made = client.ask(
                lambda rest: (
                    rest.git.create_tree(*at, **body)
                    if what == "trees"
                    else rest.git.create_commit(*at, **body)
                )
            )
            return str(made.get("sha")) if isinstance(made, dict) else ""

        sha = self._pacing.made(create, lambda: None)
        if not is_sha(sha):
            raise Refused(f"GitHub made no {what[:-1]}")
        return sha

    def _commit(self, sha: str) -> CommitRow:
        at = self._place.at
        return read(CommitRow, self._place.client.ask(lambda rest: rest.git.get_commit(*at, sha)))

    def _check_not_moved(
        self, pull: DraftPull, head: str, now: Base, trees: Trees, paths: tuple[str, ...]
    ) -> None:
        """The edits were made on `pull.commit`: on another text they may mean something else."""
        if pull.commit == head:
            return
        missing = Refused(f"commit {pull.commit[:80]!a} is not in the repository")
        if not is_sha(pull.commit):
            raise missing
        try:
            root = self._commit(pull.commit).tree.sha
        except Rejected as error:
            if error.status in (404, 422):
                raise missing from None
            raise
        check_not_moved(pull.changes, trees.around(root, paths), now)


def _entry(path: str, stand: Stand, text: str | None) -> Entry:
    if text is None:
        return {"path": path, "mode": "100644", "type": "blob", "sha": None}
    mode: Literal["100644", "100755"] = "100755" if stand.mode == EXECUTABLE else "100644"
    return {"path": path, "mode": mode, "type": "blob", "content": text}
