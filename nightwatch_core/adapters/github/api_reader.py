"""Reads the source tree of one commit through GitHub's API, each file once a night.

For repositories that may not be cloned. What was read is kept as records, so that neither another
analysis nor a night that is taken up again asks for it twice.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from nightwatch_core.adapters.git.command import is_sha
from nightwatch_core.adapters.git.limits import (
    BLAMED_LINES,
    HITS,
    LINE_CHARACTERS,
    QUERY_CHARACTERS,
)
from nightwatch_core.adapters.git.objects import CommitTree, decode_text, plain_folder
from nightwatch_core.adapters.github.api_history import ApiHistory, BlameRangeRow
from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.limits import QUERY_FILES, SEARCHED_FILES
from nightwatch_core.adapters.github.rows import BlobTextRow, TreeRow, read
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

_BLOB = "object(expression:$v){... on Blob{oid text isBinary isTruncated}}"
_BLAME = (
    "object(expression:$sha){... on Commit{blame(path:$path){ranges{startingLine "
    "endingLine commit{oid messageHeadline committedDate author{name}}}}}}"
)


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
        """The commit everything is read at."""
        return self._commit

    @property
    def code_reads(self) -> CodeReads:
        """What was read since this reader was made."""
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
        """Read many texts, 40 by one request."""
        inside = tuple(filter(self._tree.source, wanted := dict.fromkeys(paths)))
        parts = (inside[n : n + QUERY_FILES] for n in range(0, len(inside), QUERY_FILES))
        return wanted | {path: text for part in parts for path, text in self._texts(part).items()}

    def remember_files(self, texts: Mapping[str, str | None]) -> None:
        """Take texts of this commit that were read and kept before."""
        for path, text in texts.items():
            read = self._cache.remember(self._key("read", path), text, _text)
            self._counter.add_reads((read,) if read.source == "disk" else (), (path,))

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Find lines that hold `query` literally, in the order of paths and lines.

        Raises `GiveUp` where more than 400 files would have to be read: name a folder.
        """
        tree, folder = self._tree, plain_folder(path)
        inside = [
            one
            for one in tree.paths
            if (not folder or one == folder or one.startswith(f"{folder}/")) and tree.source(one)
        ]
        if not 0 < len(query) <= QUERY_CHARACTERS or "\n" in query or "\0" in query:
            return ()
        if len(inside) > SEARCHED_FILES:
            raise GiveUp(f"{len(inside)} files are too many to search: name a folder")
        return tuple(islice(self._hits(query, inside), max(1, min(limit, HITS))))

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        """Return the names in a folder, sorted."""
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
        """Read many files by one request."""
        by_key = {self._key("read", path): path for path in paths}

        def ask(missing: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
            oids = {by_key[key]: self._tree.nodes[by_key[key]].oid for key in missing}
            for path, text in self._ask_texts(oids):
                yield self._key("read", path), text

        reads = self._cache.read_all(tuple(by_key), ask, _text)
        self._counter.add_reads(reads.values(), paths)
        return {path: reads[key].value for key, path in by_key.items()}

    def _once(self, operation: str, path: str, ask: Callable[[], Any], shape: Shape) -> Any:
        """Return what was read, by this reader or another one, in this process or another one."""
        result = self._cache.read(self._key(operation, path), ask, shape)
        self._counter.add_reads((result,), (path,) if path else ())
        return result.value

    def _kept(self, operation: str, name: str, ask: Callable[[], Any], shape: Shape) -> Any:
        """The same for what is no file."""
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
        """Yield the texts of at most 40 files, given by path; one by one what is not told whole."""
        expressions = {path: f"{self._commit.sha}:{path}" for path in oids}
        answers: dict[str, Any] = {}
        if len(oids) > 1:
            self._counter.add_request()
            answers = self._repository.query_each(_BLOB, "String!", expressions)
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
        answer = self._repository.query(_BLAME, sha=sha, path=("String!", path))
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
