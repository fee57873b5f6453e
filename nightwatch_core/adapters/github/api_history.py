"""What was committed up to one commit, as GitHub's API tells it; nothing later is told."""

import re
from collections.abc import Callable
from datetime import datetime
from itertools import islice
from typing import Annotated, Any

from githubkit.utils import UNSET
from pydantic import AliasPath, Field

from nightwatch_core.adapters.git.limits import (
    DIFF_CHARACTERS,
    LINE_CHARACTERS,
    LOGGED_COMMITS,
    NAME_CHARACTERS,
    PATH_CHARACTERS,
    SHOWN_FILES,
    TITLE_CHARACTERS,
)
from nightwatch_core.adapters.git.merged_pulls import number_in
from nightwatch_core.adapters.github.client import Repository, RepositoryCall
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.rows import SHAS, NamedCommitRow, Row, Text, TreeRow, read
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Blame, ChangedFile, CommitDiff, LoggedCommit

Once = Callable[[str, str, Callable[[], Any], Callable[[Any], Any]], Any]

_SHORTENED = re.compile(r"[0-9a-f]{7,64}")
_UNKNOWN = (404, 409, 422)


class BlameRangeRow(Row):
    """Lines that one commit wrote, as GraphQL tells it."""

    startingLine: int
    endingLine: int
    sha: Text = Field(validation_alias=AliasPath("commit", "oid"))
    author: Text = Field("", validation_alias=AliasPath("commit", "author", "name"))
    at: datetime = Field(validation_alias=AliasPath("commit", "committedDate"))
    subject: Text = Field("", validation_alias=AliasPath("commit", "messageHeadline"))

    def blame(self, line: int, text: str) -> Blame:
        """Return who wrote `line`, which is one of the range."""
        return Blame(
            sha=self.sha,
            author=self.author[:NAME_CHARACTERS],
            at=self.at,
            subject=self.subject[:TITLE_CHARACTERS],
            line=line,
            text=text,
            pull=number_in(self.subject),
        )


class LoggedCommitRow(NamedCommitRow):
    """A commit as a list tells it."""

    author: Text = Field("", validation_alias=AliasPath("commit", "author", "name"))
    message: Text = Field("", validation_alias=AliasPath("commit", "message"))
    parents: Annotated[tuple[Text, ...], SHAS] = ()


class ChangedFileRow(Row):
    """What a commit did to one file; no patch where it is large, or no text."""

    path: Text = Field(validation_alias="filename")
    old_path: Text = Field("", validation_alias="previous_filename")
    added: int = Field(0, validation_alias="additions")
    removed: int = Field(0, validation_alias="deletions")
    patch: Text = ""


class CommitDiffRow(LoggedCommitRow):
    """A commit with its first 300 files."""

    files: tuple[ChangedFileRow, ...] = ()


class ComparedRow(Row):
    """How the second of two commits stands to the first."""

    status: Text  # ahead | behind | diverged | identical
    files: tuple[ChangedFileRow, ...] = ()


class MergedAsRow(Row):
    """What a pull request was merged by."""

    merged: bool = False
    sha: Text = Field("", validation_alias="merge_commit_sha")


class ApiHistory:
    """The commits that `sha` holds; `once` keeps what was read, `count` is told each request."""

    def __init__(
        self, repository: Repository, sha: str, once: Once, count: Callable[[], None]
    ) -> None:
        """Ask nothing yet."""
        self._repository = repository
        self._sha = sha
        self._once = once
        self._count = count

    def show(self, name: str, path: str = "") -> CommitDiff | None:
        """Return what a commit changed, of at most 50 files; None where it is not known."""
        row = self._commit(name)
        if row is None:
            return None
        files = _below(row.files, path)
        message = row.message.partition("\n")[2].strip()
        return CommitDiff(commit=_logged(row), message=message, files=files, changed=len(row.files))

    def log(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return commits, newest first; raises `GiveUp` where they are to be searched for text."""
        if text:
            raise GiveUp(
                "past texts cannot be searched through GitHub's API: ask for a file's commits and "
                "show those that may have changed it"
            )
        if len(path) > PATH_CHARACTERS or not path.isprintable():
            return ()
        most = max(1, min(limit, LOGGED_COMMITS))
        rows = self._once("log", f"{most} {path}", lambda: self._ask_log(path, most), _log)
        return tuple(_logged(row) for row in rows if len(row.parents) < 2)[:most]

    def compare(self, old: str, new: str, path: str = "") -> tuple[ChangedFile, ...]:
        """Return what differs, as GitHub compares; raises `GiveUp` where a commit is not known."""
        both = "...".join(row.sha for name in (old, new) if (row := self._commit(name)))
        if "..." not in both:
            raise GiveUp("only commits of this history can be compared")

        def ask() -> Any:
            return self._get(lambda rest, at: rest.repos.compare_commits(*at, both))

        return _below(self._once("compared", both, ask, _compared).files, path)

    def paths_changed(self, old: str, new: str) -> tuple[str, ...]:
        """Return paths that differ, sorted; raises `GiveUp` where a commit is not known."""
        commits = [self._commit(name) for name in (old, new)]
        nodes = [self._nodes(row.sha) for row in commits if row]
        if len(nodes) < 2:
            raise GiveUp("only commits of this history can be compared")
        before, after = nodes
        return tuple(sorted(p for p in before | after if before.get(p) != after.get(p)))

    def _commit(self, name: str) -> CommitDiffRow | None:
        name = name.strip().lower()
        if not re.fullmatch(r"#\d{1,9}", name) and not _SHORTENED.fullmatch(name):
            return None
        row: CommitDiffRow | None = self._once("commit", name, lambda: self._ask(name), _diff)
        return row

    def _nodes(self, sha: str) -> dict[str, str]:
        def ask() -> Any:
            return self._get(lambda rest, at: rest.git.get_tree(*at, sha, recursive="1"))

        nodes: dict[str, str] = self._once("nodes", sha, ask, _nodes)
        return nodes

    def _ask(self, name: str) -> Any:
        """Return the commit, or None where it is not there or not in this history."""
        try:
            if name.startswith("#"):
                name = self._merged_as(int(name[1:]))
            answer = self._get(lambda rest, at: rest.repos.get_commit(*at, name)) if name else None
            found = read(CommitDiffRow, answer).sha if answer else ""
            return answer if found and self._holds(found) else None
        except Rejected as error:
            if error.status in _UNKNOWN:
                return None
            raise

    def _merged_as(self, number: int) -> str:
        row = read(MergedAsRow, self._get(lambda rest, at: rest.pulls.get(*at, number)))
        return row.sha if row.merged else ""

    def _holds(self, sha: str) -> bool:
        both = f"{sha}...{self._sha}"
        answer = self._get(  # all files stand on the first page, which is not wanted here
            lambda rest, at: rest.repos.compare_commits(*at, both, page=2, per_page=1)
        )
        return read(ComparedRow, answer).status in ("ahead", "identical")

    def _ask_log(self, path: str, most: int) -> Any:
        place, asked = path or UNSET, min(LOGGED_COMMITS, 2 * most)  # every second may be a merge
        return self._get(
            lambda rest, at: rest.repos.list_commits(*at, sha=self._sha, path=place, per_page=asked)
        )

    def _get(self, call: RepositoryCall) -> Any:
        self._count()
        return self._repository.ask(call)


def _logged(row: LoggedCommitRow) -> LoggedCommit:
    subject = row.message.partition("\n")[0]
    return LoggedCommit(
        sha=row.sha,
        author=row.author[:NAME_CHARACTERS],
        at=row.at,
        subject=subject[:TITLE_CHARACTERS],
        pull=number_in(subject),
    )


def _below(rows: tuple[ChangedFileRow, ...], path: str) -> tuple[ChangedFile, ...]:
    folder = path.removeprefix("./").removesuffix("/")
    below = (
        one for one in rows if not folder or one.path == folder or one.path.startswith(f"{folder}/")
    )
    return tuple(_changed_file(one) for one in islice(below, SHOWN_FILES))


def _changed_file(row: ChangedFileRow) -> ChangedFile:
    lines = (line.rstrip("\r")[:LINE_CHARACTERS] for line in row.patch.split("\n"))
    return ChangedFile(
        path=row.path,
        old_path=row.old_path,
        added=row.added,
        removed=row.removed,
        diff="\n".join(lines)[:DIFF_CHARACTERS],
    )


def _diff(answer: Any) -> CommitDiffRow | None:
    return None if answer is None else read(CommitDiffRow, answer)


def _compared(answer: Any) -> ComparedRow:
    return read(ComparedRow, answer)


def _log(answer: Any) -> tuple[LoggedCommitRow, ...]:
    return tuple(read(LoggedCommitRow, row) for row in answer if isinstance(row, dict))


def _nodes(answer: Any) -> dict[str, str]:
    tree = read(TreeRow, answer)
    if tree.truncated:
        raise GiveUp("the repository is too large for GitHub's API: allow it to be cloned")
    return {path: node.oid for path, node in tree.nodes.items() if node.kind != "folder"}
