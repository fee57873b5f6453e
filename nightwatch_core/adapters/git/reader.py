"""Reads the source tree of one commit out of git's objects, never out of the working tree."""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from nightwatch_core.adapters.git.blame import LONGEST_LINE, blame
from nightwatch_core.adapters.git.blobs import Blobs
from nightwatch_core.adapters.git.command import Git, is_sha
from nightwatch_core.adapters.git.tree import Node, folders, tree
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import Blame, Commit, FolderEntry, SearchHit

LARGEST_FILE = 2 * 1024 * 1024  # bytes; larger files are data, not source
LARGEST_LIMIT = 500  # hits
LONGEST_QUERY = 1_000  # characters
_SNIFFED = 8_000  # bytes git looks at to tell text from binary
_SEARCH_SECONDS = 20.0
_SEARCH_BYTES = 32 * 1024 * 1024
_MOST_EXCLUDED = 100


class GitReader:
    """A `CodeReader` over a repository, pinned to one commit; safe for many threads."""

    def __init__(self, git: Git, commit: Commit) -> None:
        """Raises `GiveUp` where the commit is not named by its full sha."""
        if not is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        self._git = git
        self._commit = commit
        self._blobs = Blobs(git)

    @property
    def commit(self) -> Commit:
        """The commit everything is read at."""
        return self._commit

    def paths(self) -> tuple[str, ...]:
        """Every file, sorted; links and submodules are not files."""
        return self._paths

    def read_file(self, path: str) -> str | None:
        """The text at `path`; None for what is not there, no file, binary, or over 2 MiB.

        Bytes that are not UTF-8 become replacement characters.
        """
        node = self._nodes.get(path)
        if node is None or not _is_small_file(node):
            return None
        content = self._blobs.read(node.oid)
        return None if b"\0" in content[:_SNIFFED] else content.decode(errors="replace")

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Lines of text files that hold `query` literally, in the order of paths and lines.

        Raises `GiveUp` where it takes too long.
        """
        folder = _normal(path)
        if not self._is_there(folder) or not _is_one_line(query):
            return ()
        limit = max(1, min(limit, LARGEST_LIMIT))
        try:
            outcome = self._git.attempt(
                *("grep", "-F", "-n", "-I", "-z", "--no-color", "--full-name", "--no-textconv"),
                *("--no-recurse-submodules", "-e", query, self._commit.sha, "--"),
                *self._below(folder),
                timeout=_SEARCH_SECONDS,
                limit=_SEARCH_BYTES,
                lines=limit,
            )
        except TryLater as error:
            raise GiveUp(f"the search took over {_SEARCH_SECONDS:.0f} s: name a folder") from error
        if outcome.code > 1 and not outcome.cut:
            raise GiveUp(f"git grep failed: {outcome.complaint}")
        hits = (hit for hit in _hits(outcome.output) if self._is_text(hit.path))
        return tuple(hit for hit, _ in zip(hits, range(limit), strict=False))

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        """The names in a folder, sorted."""
        found = self._entries.get(_normal(path), {})
        return tuple(found[name] for name in sorted(found))

    def blame(self, path: str, line: int) -> Blame | None:
        """Who last wrote `line`, counted from 1; None where there is no such line of text."""
        text = self.read_file(path)
        if text is None or not 1 <= line <= text.count("\n") + (not text.endswith("\n")):
            return None
        return blame(self._git, self._commit.sha, self._nodes[path].raw, line)

    @cached_property
    def _nodes(self) -> dict[str, Node]:
        return tree(self._git, self._commit.sha)

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        return tuple(sorted(path for path, node in self._nodes.items() if node.kind == "file"))

    @cached_property
    def _entries(self) -> dict[str, dict[str, FolderEntry]]:
        entries: dict[str, dict[str, FolderEntry]] = {}
        for path, node in self._nodes.items():
            folder, name = _split(path)
            entries.setdefault(folder, {})[name] = FolderEntry(
                name=name, kind=node.kind, size=node.size
            )
        for path in folders(self._nodes):
            folder, name = _split(path)
            entries.setdefault(folder, {})[name] = FolderEntry(name=name, kind="folder")
        return entries

    @cached_property
    def _excluded(self) -> tuple[str, ...]:
        large = [n for n in self._nodes.values() if n.kind == "file" and not _is_small_file(n)]
        large.sort(key=lambda node: (-(node.size or 0), node.path))
        return tuple(f":(exclude,literal){node.raw}" for node in large[:_MOST_EXCLUDED])

    def _is_there(self, path: str) -> bool:
        return not path or path in self._nodes or path in self._entries

    def _is_text(self, path: str) -> bool:
        node = self._nodes.get(path)
        return node is not None and _is_small_file(node)

    def _below(self, path: str) -> tuple[str, ...]:
        raw = self._nodes[path].raw if path in self._nodes else path
        return (f":(literal){raw}" if raw else ".", *self._excluded)


def _is_small_file(node: Node) -> bool:
    return node.kind == "file" and node.size is not None and node.size <= LARGEST_FILE


def _is_one_line(query: str) -> bool:
    """Git takes a query of several lines for several queries."""
    is_plain = not any(character in query for character in "\n\r\0")
    return 0 < len(query) <= LONGEST_QUERY and is_plain and _is_encodable(query)


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _normal(path: str) -> str:
    """A folder as people write it.

    >>> _normal("./app/models/"), _normal("."), _normal("/etc")
    ('app/models', '', '/etc')
    """
    path = path.removeprefix("./").removesuffix("/")
    return "" if path == "." else path


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


class _Record(NamedTuple):
    name: bytes
    line: bytes
    text: bytes


def _records(output: bytes) -> Iterator[_Record]:
    """Take apart `sha:path NUL line NUL text newline`; a record that was cut is left out."""
    start = 0
    while (first := output.find(b"\0", start)) >= 0:
        second = output.find(b"\0", first + 1)
        end = output.find(b"\n", second + 1)
        if second < 0 or end < 0:
            return
        yield _Record(output[start:first], output[first + 1 : second], output[second + 1 : end])
        start = end + 1


def _hits(output: bytes) -> Iterator[SearchHit]:
    for record in _records(output):
        path = record.name.partition(b":")[2].decode(errors="replace")
        text = record.text[: 4 * LONGEST_LINE].decode(errors="replace").rstrip("\r")
        yield SearchHit(path=path, line=int(record.line), text=text[:LONGEST_LINE])
