"""Reads the source tree of one commit through GitHub's API, each file once a night.

For repositories that may not be cloned. What was read is kept as records, so that neither another
analysis nor a night that is taken up again asks for it twice.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Any

from githubkit.utils import UNSET
from pydantic import AliasPath, Field

from nightwatch_core.adapters.git.branch import PathState
from nightwatch_core.adapters.git.command import (
    BLAMED_LINES,
    DIFF_CHARACTERS,
    HITS,
    LINE_CHARACTERS,
    LOGGED_COMMITS,
    NAME_CHARACTERS,
    PATH_CHARACTERS,
    QUERY_CHARACTERS,
    SHOWN_FILES,
    TITLE_CHARACTERS,
    is_sha,
)
from nightwatch_core.adapters.git.history import number_in
from nightwatch_core.adapters.git.objects import (
    FILE,
    FOLDER,
    GONE,
    CommitTree,
    Node,
    decode_text,
    parent_folders,
    plain_folder,
)
from nightwatch_core.adapters.github.client import Repository, RepositoryCall
from nightwatch_core.adapters.github.connection import Rejected
from nightwatch_core.adapters.github.rows import (
    SHAS,
    BlobTextRow,
    NamedCommitRow,
    Row,
    Text,
    TreeRow,
    read,
)
from nightwatch_core.adapters.stores.code_cache import CodeCache, ReadCounter, Shape
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import (
    Blame,
    ChangedFile,
    CodeReads,
    Commit,
    CommitDiff,
    FolderEntry,
    LoggedCommit,
    SearchHit,
)
from nightwatch_core.text.plain_text import graphql_texts

QUERY_FILES = 40  # of one query

SEARCHED_FILES = 400  # where there are more, a search has to name a folder
CHANGED_PATHS = 1_000  # between two trees

# What was committed up to one commit, as GitHub's API tells it; nothing later is told.

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
    """A commit's change of one file; without patch if it is large or binary."""

    path: Text = Field(validation_alias="filename")
    old_path: Text = Field("", validation_alias="previous_filename")
    added: int = Field(0, validation_alias="additions")
    removed: int = Field(0, validation_alias="deletions")
    patch: Text = ""


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


class ApiHistory:
    """The commits that `sha` holds; `once` keeps what was read, `count` is told each request."""

    def __init__(
        self, repository: Repository, sha: str, once: Once, count: Callable[[], None]
    ) -> None:
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
        row for row in rows if not folder or row.path == folder or row.path.startswith(f"{folder}/")
    )
    return tuple(_changed_file(path) for path in islice(below, SHOWN_FILES))


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


_QUERIES = graphql_texts("nightwatch_core.adapters.github")


class ApiReader:
    """A `CodeReader`; safe for many threads, one of which asks for what the others wait for."""

    def __init__(self, repository: Repository, commit: Commit, cache: CodeCache) -> None:
        """Share the `cache` with all readers; what this one reads it counts for itself.

        Raises `GiveUp` where the commit is not named by its full sha.
        """
        if not is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        self._repository = repository
        self._commit = commit
        self._cache = cache
        self._records = f"code/{repository.owner}__{repository.name}".lower() + f"/{commit.sha}"
        self._counter = ReadCounter()
        self._known_tree: CommitTree | None = None
        count = self._counter.add_request
        self._history = ApiHistory(repository, commit.sha, self._kept, count)

    @property
    def commit(self) -> Commit:
        return self._commit

    @property
    def code_reads(self) -> CodeReads:
        """Return the reads since this reader was made."""
        return self._counter.counts()

    def paths(self) -> tuple[str, ...]:
        """Return every file, sorted; links and submodules are not files."""
        return self._tree.paths

    def read_file(self, path: str) -> str | None:
        """Read the text at `path`; None for what is not there, no file, binary, or over 2 MiB."""
        node = self._tree.source(path)
        if node is None:
            return None
        text: str | None = self._once("read", path, lambda: self._ask_text(node.oid), _text)
        return text

    def read_files(self, paths: Iterable[str]) -> dict[str, str | None]:
        inside = tuple(filter(self._tree.source, wanted := dict.fromkeys(paths)))
        parts = (inside[n : n + QUERY_FILES] for n in range(0, len(inside), QUERY_FILES))
        return wanted | {path: text for part in parts for path, text in self._texts(part).items()}

    def remember_files(self, texts: Mapping[str, str | None]) -> None:
        for path, text in texts.items():
            read = self._cache.remember(self._key("read", path), text, _text)
            self._counter.add_reads((read,) if read.source == "disk" else (), (path,))

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Find lines that hold `query` literally, in the order of paths and lines.

        Raises `GiveUp` where more than 400 files would have to be read: name a folder.
        """
        tree, folder = self._tree, plain_folder(path)
        inside = [
            path
            for path in tree.paths
            if (not folder or path == folder or path.startswith(f"{folder}/")) and tree.source(path)
        ]
        if not 0 < len(query) <= QUERY_CHARACTERS or "\n" in query or "\0" in query:
            return ()
        if len(inside) > SEARCHED_FILES:
            raise GiveUp(f"{len(inside)} files are too many to search: name a folder")
        return tuple(islice(self._hits(query, inside), max(1, min(limit, HITS))))

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        return self._tree.entries(path)

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        """Find who last wrote the lines, counted from 1, at most 400; empty where it is no text.

        GitHub looks through renames, not through reformatting.
        """
        text = self.read_file(path)
        lines = text.removesuffix("\n").split("\n") if text else []
        last = min(len(lines), start if end is None else end, start + BLAMED_LINES - 1)
        if not 1 <= start <= last:
            return ()
        ranges = self._once("blame", path, lambda: self._ask_ranges(path), _ranges)
        return tuple(
            row.blame(number, lines[number - 1].rstrip("\r")[:LINE_CHARACTERS])
            for number in range(start, last + 1)
            for row in ranges
            if row.startingLine <= number <= row.endingLine
        )

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        """Return what a commit of this history changed; None where it is none of it."""
        return self._history.show(sha, path)

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return commits, newest first, at most 100; raises `GiveUp` where `text` is given."""
        return self._history.log(path, text, limit)

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        """Return what differs since both had the same, of at most 50 of the first 300 files.

        Raises `GiveUp` as `paths_changed` does.
        """
        return self._history.compare(old_sha, new_sha, path)

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        """Return paths that differ; raises `GiveUp` where a commit is none of this history."""
        return self._history.paths_changed(old_sha, new_sha)

    @property
    def _tree(self) -> CommitTree:
        if self._known_tree is None:
            self._known_tree = self._once("tree", "", self._ask_tree, _tree)
        return self._known_tree

    def _hits(self, query: str, paths: Sequence[str]) -> Iterator[SearchHit]:
        for start in range(0, len(paths), QUERY_FILES):
            for path, text in self._texts(paths[start : start + QUERY_FILES]).items():
                for number, line in enumerate((text or "").split("\n"), start=1):
                    if query in line:
                        shown = line.rstrip("\r")[:LINE_CHARACTERS]
                        yield SearchHit(path=path, line=number, text=shown)

    def _texts(self, paths: Sequence[str]) -> dict[str, str | None]:
        by_key = {self._key("read", path): path for path in paths}

        def ask(missing: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
            oids = {by_key[key]: self._tree.nodes[by_key[key]].oid for key in missing}
            for path, text in self._ask_texts(oids):
                yield self._key("read", path), text

        reads = self._cache.read_all(tuple(by_key), ask, _text)
        self._counter.add_reads(reads.values(), paths)
        return {path: reads[key].value for key, path in by_key.items()}

    def _once(self, operation: str, path: str, ask: Callable[[], Any], shape: Shape) -> Any:
        result = self._cache.read(self._key(operation, path), ask, shape)
        self._counter.add_reads((result,), (path,) if path else ())
        return result.value

    def _kept(self, operation: str, name: str, ask: Callable[[], Any], shape: Shape) -> Any:
        result = self._cache.read(self._key(operation, name), ask, shape)
        self._counter.add_reads((result,), ())
        return result.value

    def _key(self, operation: str, path: str) -> str:
        digest = hashlib.sha256(path.encode(errors="replace")).hexdigest()[:24]
        return f"{self._records}/{operation}-{digest}"

    def _ask_tree(self) -> Any:
        self._counter.add_request()
        sha = self._commit.sha
        tree = self._repository.read(
            TreeRow, lambda rest, at: rest.git.get_tree(*at, sha, recursive="1")
        )
        return tree.model_dump(mode="json")

    def _ask_text(self, oid: str) -> str | None:
        self._counter.add_request()
        return decode_text(self._repository.read_blob(oid))

    def _ask_texts(self, oids: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
        expressions = {path: f"{self._commit.sha}:{path}" for path in oids}
        answers: dict[str, Any] = {}
        if len(oids) > 1:
            self._counter.add_request()
            answers = self._repository.query_each(_QUERIES["blob"], "String!", expressions)
        blobs = {path: read(BlobTextRow, answer or {}) for path, answer in answers.items()}
        for path, oid in oids.items():
            blob = blobs.get(path, BlobTextRow())
            is_whole = blob.oid == oid and not blob.isTruncated
            if is_whole and (blob.isBinary or blob.text is not None):
                yield path, None if blob.isBinary else blob.text
            else:
                yield path, self._ask_text(oid)

    def _ask_ranges(self, path: str) -> list[Any]:
        self._counter.add_request()
        sha = ("String!", self._commit.sha)
        answer = self._repository.query(_QUERIES["blame"], sha=sha, path=("String!", path))
        ranges = ((answer.get("object") or {}).get("blame") or {}).get("ranges")
        return ranges if isinstance(ranges, list) else []


def _tree(answer: Any) -> CommitTree:
    tree = read(TreeRow, answer)
    if tree.truncated:
        raise GiveUp("the repository is too large for GitHub's API: allow it to be cloned")
    return CommitTree(tree.nodes)


def _text(answer: Any) -> str | None:
    if answer is None or isinstance(answer, str):
        return answer
    raise ValueError("a record of a file holds no text")


def _ranges(answer: Any) -> tuple[BlameRangeRow, ...]:
    rows: Iterable[Any] = answer if isinstance(answer, list) else ()
    return tuple(read(BlameRangeRow, row) for row in rows)


# Folders of a repository on GitHub, and what differs between two.


class Trees:
    """Folders by the sha of their tree, each asked for once."""

    def __init__(self, repository: Repository) -> None:
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
