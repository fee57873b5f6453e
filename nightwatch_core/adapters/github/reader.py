"""Reads the source tree of one commit through GitHub's API, each file once a night.

For repositories that may not be cloned. What was read is kept as records, so that neither another
analysis nor a night that is taken up again asks for it twice.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from nightwatch_core.adapters.git.blame import LONGEST_LINE
from nightwatch_core.adapters.git.branch_changes import FOLDER
from nightwatch_core.adapters.git.command import is_sha
from nightwatch_core.adapters.git.reader import LARGEST_FILE, LARGEST_LIMIT, LONGEST_QUERY
from nightwatch_core.adapters.git.tree import EXECUTABLE, FILE, KINDS
from nightwatch_core.adapters.github.code_cache import CodeCache, Shape
from nightwatch_core.adapters.github.code_queries import TOGETHER, Questions
from nightwatch_core.adapters.github.code_tally import Tally
from nightwatch_core.adapters.github.rows import BlameRange, Place, Tree, TreeEntry, read
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Blame, CodeReads, Commit, FolderEntry, SearchHit

MOST_SEARCHED = 400  # files a search may read; it has to name a folder where there are more


class Names(NamedTuple):
    """A tree, shared by all readers of its commit."""

    nodes: Mapping[str, TreeEntry]
    paths: tuple[str, ...]
    is_whole: bool


class ApiReader:
    """A `CodeReader`; safe for many threads, one of which asks for what the others wait for."""

    def __init__(self, place: Place, commit: Commit, cache: CodeCache) -> None:
        """All readers share the `cache`; what this one reads it counts for itself.

        Raises `GiveUp` where the commit is not named by its full sha.
        """
        if not is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        self._commit = commit
        self._cache = cache
        self._records = f"code/{place.owner}__{place.name}".lower() + f"/{commit.sha}"
        self._names: Names | None = None
        self._tally = Tally()
        self._questions = Questions(place, commit.sha, self._tally.request)

    @property
    def commit(self) -> Commit:
        """The commit everything is read at."""
        return self._commit

    @property
    def code_reads(self) -> CodeReads:
        """What was read since this reader was made."""
        return self._tally.counted()

    def paths(self) -> tuple[str, ...]:
        """Every file, sorted; links and submodules are not files."""
        return self._tree.paths

    def read_file(self, path: str) -> str | None:
        """The text at `path`; None for what is not there, no file, binary, or over 2 MiB."""
        entry = self._readable(path)
        if entry is None:
            return None
        text: str | None = self._once("read", path, lambda: self._questions.text(entry.sha), _text)
        return text

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Lines that hold `query` literally, in the order of paths and lines.

        Raises `GiveUp` where more than 400 files would have to be read: name a folder.
        """
        below = _normal(path)
        inside = [
            one
            for one in self.paths()
            if (one == below or one.startswith(f"{below}/" if below else ""))
            and self._readable(one)
        ]
        if not 0 < len(query) <= LONGEST_QUERY or "\n" in query or "\0" in query:
            return ()
        if len(inside) > MOST_SEARCHED:
            raise GiveUp(f"{len(inside)} files are too many to search: name a folder")
        limit = max(1, min(limit, LARGEST_LIMIT))
        return tuple(islice(self._hits(query, inside), limit))

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        """The names in a folder, sorted."""
        folder = _normal(path)
        head = f"{folder}/" if folder else ""
        names = {
            one.removeprefix(head): entry
            for one, entry in self._tree.nodes.items()
            if one.startswith(head) and "/" not in one[len(head) :]
        }
        return tuple(
            FolderEntry(
                name=name,
                kind="folder" if entry.mode == FOLDER else KINDS.get(entry.mode, "file"),
                size=entry.size,
            )
            for name, entry in sorted(names.items())
        )

    def blame(self, path: str, line: int) -> Blame | None:
        """Who last wrote `line`; None where there is no such line of text."""
        text = self.read_file(path)
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 1 <= line <= len(lines):
            return None
        ranges = self._once("blame", path, lambda: self._questions.ranges(path), _ranges)
        found = next((r for r in ranges if r.startingLine <= line <= r.endingLine), None)
        if found is None:
            return None
        return Blame(
            sha=found.commit.oid,
            author=found.commit.author.name if found.commit.author else "",
            at=found.commit.committedDate,
            subject=found.commit.messageHeadline,
            line=line,
            text=lines[line - 1].rstrip("\r")[:LONGEST_LINE],
        )

    @property
    def _tree(self) -> Names:
        if self._names is None:
            self._names = self._once("tree", "", self._questions.tree, _names)
        if not self._names.is_whole:
            raise GiveUp("the repository is too large for GitHub's API: allow it to be cloned")
        return self._names

    def _readable(self, path: str) -> TreeEntry | None:
        entry = self._tree.nodes.get(path)
        is_file = entry is not None and entry.mode in (FILE, EXECUTABLE)
        return entry if is_file and entry and (entry.size or 0) <= LARGEST_FILE else None

    def _hits(self, query: str, paths: Sequence[str]) -> Iterator[SearchHit]:
        for start in range(0, len(paths), TOGETHER):
            some = paths[start : start + TOGETHER]
            for path, text in self._texts(some).items():
                for number, line in enumerate((text or "").split("\n"), start=1):
                    if query in line:
                        shown = line.rstrip("\r")[:LONGEST_LINE]
                        yield SearchHit(path=path, line=number, text=shown)

    def _texts(self, paths: Sequence[str]) -> dict[str, str | None]:
        """Many files by one question."""
        by_key = {self._key("read", path): path for path in paths}

        def ask(missing: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
            oids = {by_key[key]: self._tree.nodes[by_key[key]].sha for key in missing}
            for path, text in self._questions.texts(oids):
                yield self._key("read", path), text

        told = self._cache.read_all(tuple(by_key), ask, _text)
        self._tally.note(told.values(), paths)
        return {path: told[key].value for key, path in by_key.items()}

    def _once(self, operation: str, path: str, ask: Callable[[], Any], shape: Shape) -> Any:
        """What was read, by this reader or another one, in this process or another one."""
        told = self._cache.read(self._key(operation, path), ask, shape)
        self._tally.note((told,), (path,) if path else ())
        return told.value

    def _key(self, operation: str, path: str) -> str:
        digest = hashlib.sha256(path.encode(errors="replace")).hexdigest()[:24]
        return f"{self._records}/{operation}-{digest}"


def _names(told: Any) -> Names:
    tree = read(Tree, told)
    paths = sorted(entry.path for entry in tree.tree if entry.mode in (FILE, EXECUTABLE))
    nodes = {entry.path: entry for entry in tree.tree}
    return Names(nodes, tuple(paths), not tree.truncated)


def _text(told: Any) -> str | None:
    if told is None or isinstance(told, str):
        return told
    raise ValueError("a record of a file holds no text")


def _ranges(told: Any) -> tuple[BlameRange, ...]:
    rows: Iterable[Any] = told if isinstance(told, list) else ()
    return tuple(read(BlameRange, row) for row in rows)


def _normal(path: str) -> str:
    """A folder as people write it.

    >>> _normal("./app/"), _normal("."), _normal(".github")
    ('app', '', '.github')
    """
    path = path.removeprefix("./").removesuffix("/")
    return "" if path == "." else path
