"""Reads the source tree of one commit through GitHub's API, for repositories that are not cloned.

A reader keeps in memory what several of its answers need; the code cache in front of it keeps the
answers themselves.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from githubkit.response import Response
from githubkit.utils import UNSET
from pydantic import AliasPath, Field

from nightwatch_core.adapters.git import command
from nightwatch_core.adapters.git.history import number_in
from nightwatch_core.adapters.git.objects import CommitTree, decode_text, plain_folder
from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.rows import (
    BlobTextRow,
    ChangedFileRow,
    NamedCommitRow,
    TreeRow,
    read,
    row,
)
from nightwatch_core.adapters.hosts.rows import R, Row, Text
from nightwatch_core.adapters.hosts.writes import unless_absent
from nightwatch_core.adapters.stores.code_cache import SingleFlight
from nightwatch_core.adapters.stores.traffic import sending
from nightwatch_core.errors import GiveUp
from nightwatch_core.models import code
from nightwatch_core.text.plain_text import graphql_texts

QUERY_FILES = 40  # of one query
SEARCHED_FILES = 400  # where there are more, a search has to name a folder
TEXT_CHARACTERS = 16_000_000  # of files that a reader keeps in memory
ANSWERS = 200  # trees, commits and authors of lines that it keeps

_COMMIT_NAME = re.compile(r"#\d{1,9}|[0-9a-f]{7,64}")
_QUERIES = graphql_texts("nightwatch_core.adapters.github")


class BlameRangeRow(Row):
    """Lines that one commit wrote, as GraphQL tells it."""

    startingLine: int
    endingLine: int
    sha: Text = Field(validation_alias=AliasPath("commit", "oid"))
    author: Text = Field("", validation_alias=AliasPath("commit", "author", "name"))
    at: datetime = Field(validation_alias=AliasPath("commit", "committedDate"))
    subject: Text = Field("", validation_alias=AliasPath("commit", "messageHeadline"))

    def blame(self, line: int, text: str) -> code.Blame:
        return code.Blame(**_logged(self, self.subject).model_dump(), line=line, text=text)


class LoggedCommitRow(NamedCommitRow):
    """A commit as a list tells it."""

    author: Text = Field("", validation_alias=AliasPath("commit", "author", "name"))

    @property
    def logged(self) -> code.LoggedCommit:
        return _logged(self, self.message.partition("\n")[0])


def _logged(row: BlameRangeRow | LoggedCommitRow, subject: str) -> code.LoggedCommit:
    return code.LoggedCommit(
        sha=row.sha,
        author=row.author[: command.NAME_CHARACTERS],
        at=row.at,
        subject=subject[: command.TITLE_CHARACTERS],
        pull=number_in(subject),
    )


class CommitDiffRow(LoggedCommitRow):
    """A commit with its first 300 files."""

    files: tuple[ChangedFileRow, ...] = ()


class ComparedRow(Row):
    """Relation of the second of two commits to the first."""

    status: Text  # ahead | behind | diverged | identical
    files: tuple[ChangedFileRow, ...] = ()


class MergedAsRow(Row):
    """The commit that merged a pull request."""

    merged: bool = False
    sha: Text = Field("", validation_alias="merge_commit_sha")


class ApiReader:
    """A `CodeReader`; safe for many threads, one of which asks for what the others wait for."""

    def __init__(self, repository: Repository, commit: code.Commit) -> None:
        """Ask nothing yet; raises `GiveUp` where the commit is not named by its full sha."""
        if not command.is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        self._repository, self._at = repository, repository.at
        self._repos = repository.rest.repos
        self._commit = commit
        self._answers: SingleFlight[tuple[str, str], Any] = SingleFlight(ANSWERS)
        self._texts: SingleFlight[str, str | None] = SingleFlight(
            TEXT_CHARACTERS, lambda text: len(text or "") + 1
        )

    @property
    def commit(self) -> code.Commit:
        return self._commit

    def paths(self) -> tuple[str, ...]:
        return self._tree.paths

    def read_file(self, path: str) -> str | None:
        """Read the text at `path`; None for what is not there, no file, binary, or over 2 MiB."""
        node = self._tree.source(path)
        return self._texts.get(node.oid, lambda: self._blob(node.oid)) if node else None

    def list_directory(self, path: str = "") -> tuple[code.FolderEntry, ...]:
        return self._tree.entries(path)

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[code.SearchHit, ...]:
        """Find lines that hold `query` literally, in the order of paths and lines.

        Raises `GiveUp` where more than 400 files would have to be read: name a folder.
        """
        tree = self._tree
        inside = [item for item in tree.paths if _is_below(item, path) and tree.source(item)]
        if not 0 < len(query) <= command.QUERY_CHARACTERS or "\n" in query or "\0" in query:
            return ()
        if len(inside) > SEARCHED_FILES:
            raise GiveUp(f"{len(inside)} files are too many to search: name a folder")
        return tuple(islice(self._hits(query, inside), max(1, min(limit, command.HITS))))

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[code.Blame, ...]:
        """Find who last wrote the lines, counted from 1, at most 400; empty where it is no text.

        GitHub looks through renames, not through reformatting.
        """
        text = self.read_file(path)
        lines = text.removesuffix("\n").split("\n") if text else []
        last = min(len(lines), start if end is None else end, start + command.BLAMED_LINES - 1)
        if not 1 <= start <= last:
            return ()
        ranges = self._answers.get(("blame", path), lambda: self._blamed(path))
        return tuple(
            row.blame(number, lines[number - 1].rstrip("\r")[: command.LINE_CHARACTERS])
            for number in range(start, last + 1)
            for row in ranges
            if row.startingLine <= number <= row.endingLine
        )

    def show_commit(self, sha: str, path: str = "") -> code.CommitDiff | None:
        """Return what a commit of this history changed; None where it is none of it."""
        row = self._known(sha)
        if row is None:
            return None
        message, files = row.message.partition("\n")[2].strip(), _below(row.files, path)
        return code.CommitDiff(
            commit=row.logged, message=message, files=files, changed=len(row.files)
        )

    def history(
        self, path: str = "", text: str = "", limit: int = 20
    ) -> tuple[code.LoggedCommit, ...]:
        """Return commits, newest first, at most 100; raises `GiveUp` where `text` is given."""
        if text:
            raise GiveUp(
                "past texts cannot be searched through GitHub's API: ask for a file's commits and "
                "show those that may have changed it"
            )
        if len(path) > command.PATH_CHARACTERS or not path.isprintable():
            return ()
        most = max(1, min(limit, command.LOGGED_COMMITS))
        asked = min(command.LOGGED_COMMITS, 2 * most)  # every second may be a merge
        sha, below = self._commit.sha, path or UNSET
        ask = partial(self._repos.list_commits, *self._at, sha=sha, path=below)
        listed = self._repository.rows(LoggedCommitRow, ask, asked)
        with sending():
            commits = tuple(islice(listed, asked))
        return tuple(commit.logged for commit in commits if len(commit.parents) < 2)[:most]

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[code.ChangedFile, ...]:
        """Return what differs since both had the same, of at most 50 of the first 300 files.

        Raises `GiveUp` where a commit is none of this history.
        """
        return _below(self._compared(old_sha, new_sha), path)

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        """Return paths of the first 300 files that differ; raises `GiveUp` as `compare`."""
        files = self._compared(old_sha, new_sha)
        paths = {path for file in files for path in (file.path, file.old_path) if path}
        return tuple(sorted(paths))

    def _compared(self, old_sha: str, new_sha: str) -> tuple[ChangedFileRow, ...]:
        commits = [self._known(name) for name in (old_sha, new_sha)]
        if not all(commits):
            raise GiveUp("only commits of this history can be compared")
        both = "...".join(commit.sha for commit in commits if commit)
        return self._read(ComparedRow, self._repos.compare_commits, both).files

    @property
    def _tree(self) -> CommitTree:
        def ask() -> CommitTree:
            sha = self._commit.sha
            tree = self._read(TreeRow, self._repository.rest.git.get_tree, sha, recursive="1")
            if tree.truncated:
                raise GiveUp("the repository is too large for GitHub's API: allow it to be cloned")
            return CommitTree(tree.nodes)

        tree: CommitTree = self._answers.get(("tree", ""), ask)
        return tree

    def _hits(self, query: str, paths: Sequence[str]) -> Iterator[code.SearchHit]:
        nodes = self._tree.nodes
        for start in range(0, len(paths), QUERY_FILES):
            part = {path: nodes[path].oid for path in paths[start : start + QUERY_FILES]}
            paths_of = {oid: path for path, oid in part.items()}
            texts = self._texts.kept(paths_of)
            for oid, text in self._blobs(paths_of, [oid for oid in paths_of if oid not in texts]):
                texts[oid] = text
                self._texts.put(oid, text)
            for path, oid in part.items():
                for number, line in enumerate((texts[oid] or "").split("\n"), start=1):
                    if query in line:
                        shown = line.rstrip("\r")[: command.LINE_CHARACTERS]
                        yield code.SearchHit(path=path, line=number, text=shown)

    def _blobs(
        self, paths: Mapping[str, str], oids: Sequence[str]
    ) -> Iterator[tuple[str, str | None]]:
        """Ask for many files at once, and again for each that GraphQL does not show whole."""
        names = {oid: f"{self._commit.sha}:{paths[oid]}" for oid in oids}
        if not names:
            return
        with sending():
            answers = self._repository.query_each(_QUERIES["blob"], "String!", names)
        for oid in oids:
            blob = read(BlobTextRow, answers[oid] or {})
            is_whole = blob.oid == oid and not blob.isTruncated
            if is_whole and (blob.isBinary or blob.text is not None):
                yield oid, None if blob.isBinary else blob.text
            else:
                yield oid, self._blob(oid)

    def _blob(self, oid: str) -> str | None:
        with sending():
            return decode_text(self._repository.read_blob(oid))

    def _blamed(self, path: str) -> tuple[BlameRangeRow, ...]:
        sha = ("String!", self._commit.sha)
        with sending():
            answer = self._repository.query(_QUERIES["blame"], sha=sha, path=("String!", path))
        ranges = ((answer.get("object") or {}).get("blame") or {}).get("ranges")
        rows: Iterable[Any] = ranges if isinstance(ranges, list) else ()
        return tuple(read(BlameRangeRow, row) for row in rows)

    def _known(self, name: str) -> CommitDiffRow | None:
        """Return the commit; None where it is not there or not in this history."""
        name = name.strip().lower()
        if not _COMMIT_NAME.fullmatch(name):
            return None
        found = partial(unless_absent, partial(self._found, name), (404, 409, 422))
        row: CommitDiffRow | None = self._answers.get(("commit", name), found)
        return row

    def _found(self, name: str) -> CommitDiffRow | None:
        if name.startswith("#"):
            merge = self._read(MergedAsRow, self._repository.rest.pulls.get, int(name[1:]))
            name = merge.sha if merge.merged else ""
        if not name:
            return None
        found = self._read(CommitDiffRow, self._repos.get_commit, name)
        # The files stand on the first page, which is not needed here.
        both = f"{found.sha}...{self._commit.sha}"
        relation = self._read(ComparedRow, self._repos.compare_commits, both, page=2, per_page=1)
        return found if relation.status in ("ahead", "identical") else None

    def _read(
        self, kind: type[R], ask: Callable[..., Response[Any, Any]], *names: Any, **query: Any
    ) -> R:
        with sending():
            return row(kind, ask(*self._at, *names, **query))


def _is_below(path: str, folder: str) -> bool:
    folder = plain_folder(folder)
    return not folder or path == folder or path.startswith(f"{folder}/")


def _below(rows: Iterable[ChangedFileRow], folder: str) -> tuple[code.ChangedFile, ...]:
    below = (row for row in rows if _is_below(row.path, folder))
    return tuple(row.change for row in islice(below, command.SHOWN_FILES))
