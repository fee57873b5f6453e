"""Reads the source tree of one commit out of git's objects, never out of the working tree."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path

from nightwatch_core.adapters.git.command import Git, is_sha, read_time
from nightwatch_core.adapters.git.limits import (
    EXCLUDED_FILES,
    HITS,
    LINE_CHARACTERS,
    QUERY_CHARACTERS,
    QUICK_SECONDS,
    SEARCH_BYTES,
)
from nightwatch_core.adapters.git.objects import (
    BlobReader,
    CommitTree,
    decode_text,
    plain_folder,
    read_tree,
)
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import Blame, Commit, FolderEntry, SearchHit


class GitReader:
    """A `CodeReader` over a repository, pinned to one commit; safe for many threads."""

    def __init__(self, git: Git, commit: Commit) -> None:
        """Raise `GiveUp` where the commit is not named by its full sha."""
        if not is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        self._git = git
        self._commit = commit
        self._blobs = BlobReader(git)

    @property
    def commit(self) -> Commit:
        """The commit everything is read at."""
        return self._commit

    def paths(self) -> tuple[str, ...]:
        """Return every file, sorted; links and submodules are not files."""
        return self._tree.paths

    def read_file(self, path: str) -> str | None:
        """Read the text at `path`; None for what is not there, no file, binary, or over 2 MiB.

        Bytes that are not UTF-8 become replacement characters.
        """
        node = self._tree.source(path)
        return decode_text(self._blobs.read(node.oid)) if node else None

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Find lines of text files that hold `query` literally, in the order of paths and lines.

        Raises `GiveUp` where it takes too long.
        """
        folder = plain_folder(path)
        if not self._tree.has(folder) or not _is_one_line(query):
            return ()
        limit = max(1, min(limit, HITS))
        try:
            outcome = self._git.attempt(
                *("grep", "-F", "-n", "-I", "-z", "--no-color", "--full-name", "--no-textconv"),
                *("--no-recurse-submodules", "-e", query, self._commit.sha, "--"),
                *self._below(folder),
                timeout=QUICK_SECONDS,
                limit=SEARCH_BYTES,
                lines=limit,
            )
        except TryLater as error:
            raise GiveUp(f"the search took over {QUICK_SECONDS:.0f} s: name a folder") from error
        if outcome.code > 1 and not outcome.cut:
            raise GiveUp(f"git grep failed: {outcome.complaint}")
        hits = (hit for hit in _hits(outcome.output) if self._tree.source(hit.path))
        return tuple(islice(hits, limit))

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        """Return the names in a folder, sorted."""
        return self._tree.entries(path)

    def blame(self, path: str, line: int) -> Blame | None:
        """Find who last wrote `line`, counted from 1; None where there is no such line of text.

        None, too, where that cannot be found out in 20 s.
        """
        text = self.read_file(path)
        if text is None or not 1 <= line <= text.count("\n") + (not text.endswith("\n")):
            return None
        raw = self._tree.nodes[path].raw
        asked = ("blame", "--porcelain", "-L", f"{line},{line}", self._commit.sha, "--", raw)
        try:
            with _without_configuration(self._git) as (plain, objects):
                outcome = plain.attempt(*asked, timeout=QUICK_SECONDS, environment=objects)
        except TryLater:
            return None
        return None if outcome.code else _blame(outcome.output.decode(errors="replace"), line)

    @cached_property
    def _tree(self) -> CommitTree:
        return CommitTree(read_tree(self._git, self._commit.sha))

    @cached_property
    def _excluded(self) -> tuple[str, ...]:
        nodes = self._tree.nodes.values()
        large = [node for node in nodes if node.kind == "file" and not node.is_source]
        large.sort(key=lambda node: (-(node.size or 0), node.path))
        return tuple(f":(exclude,literal){node.raw}" for node in large[:EXCLUDED_FILES])

    def _below(self, path: str) -> tuple[str, ...]:
        raw = self._tree.nodes[path].raw if path in self._tree.nodes else path
        return (f":(literal){raw}" if raw else ".", *self._excluded)


def _is_one_line(query: str) -> bool:
    """Git takes a query of several lines for several queries, and no halves of characters."""
    is_plain = not any(c in "\n\r\0" or "\ud800" <= c <= "\udfff" for c in query)
    return 0 < len(query) <= QUERY_CHARACTERS and is_plain


def _hits(output: bytes) -> Iterator[SearchHit]:
    """Take apart `sha:path NUL line NUL text newline`; a record that was cut is left out."""
    start = 0
    while (first := output.find(b"\0", start)) >= 0:
        second = output.find(b"\0", first + 1)
        end = output.find(b"\n", second + 1)
        if second < 0 or end < 0:
            return
        path = output[start:first].partition(b":")[2].decode(errors="replace")
        text = output[second + 1 : min(end, second + 1 + 4 * LINE_CHARACTERS)]
        yield SearchHit(
            path=path,
            line=int(output[first + 1 : second]),
            text=text.decode(errors="replace").rstrip("\r")[:LINE_CHARACTERS],
        )
        start = end + 1


@contextmanager
def _without_configuration(git: Git) -> Iterator[tuple[Git, dict[str, str]]]:
    """Give the same objects to a repository that has no configuration.

    `blame.ignoreRevsFile` names a file of the working tree, cannot be taken back by an option, and
    makes blame fail where the file is missing.
    """
    objects = (git.folder / git.line("rev-parse", "--git-path", "objects")).resolve()
    form = git.line("rev-parse", "--show-object-format")
    version = "" if form == "sha1" else f"[extensions]\n\tobjectFormat = {form}\n"
    with tempfile.TemporaryDirectory(prefix="nightwatch-git-") as name:
        folder = Path(name)
        for part in ("objects", "refs"):
            (folder / part).mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n")
        (folder / "config").write_text(
            f"[core]\n\trepositoryFormatVersion = {1 if version else 0}\n{version}"
        )
        yield Git(folder), {"GIT_OBJECT_DIRECTORY": str(objects)}


def _blame(porcelain: str, line: int) -> Blame | None:
    head, tab, text = porcelain.partition("\n\t")
    sha, *fields = head.split("\n")
    values = dict(field.partition(" ")[::2] for field in fields)
    if not tab or "author-time" not in values:
        return None
    return Blame(
        sha=sha.split(" ", 1)[0],
        author=values.get("author", ""),
        at=read_time(values["author-time"]),
        subject=values.get("summary", ""),
        line=line,
        text=text.split("\n", 1)[0].rstrip("\r")[:LINE_CHARACTERS],
    )
