"""Reads the source tree of one commit out of git's objects, never out of the working tree."""

import os
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path

from nightwatch_core.adapters.git import command, objects
from nightwatch_core.adapters.git.history import IGNORED_FILE, History, Obtain, PullNumber, blamed
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models import code

SEARCH_BYTES = 32 * 1024 * 1024  # of one search's output
EXCLUDED_FILES = 100  # too large to be searched, the largest first

# Laying out a commit: never by `git checkout`, where a hostile configuration starts programs.

_LINK_BYTES = 4_096


def lay_out(git: command.Git, sha: str, folder: Path, most_bytes: int, most_files: int) -> int:
    """Write every file and link of a commit below an empty folder; returns how many are missing.

    Raises `GiveUp` where the tree is too large.
    """
    nodes = [node for node in objects.read_tree(git, sha).values() if node.kind in ("file", "link")]
    size = sum(node.size or 0 for node in nodes)
    if len(nodes) > most_files or size > most_bytes:
        raise GiveUp(f"the tree has {len(nodes)} files of {size // 1024**2} MiB: too large")
    for name in sorted(objects.parent_folders(node.raw for node in nodes)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name).chmod(0o755)
    blobs, missing = objects.BlobReader(git), 0
    files = [node for node in nodes if node.kind == "file"]
    for node in (*files, *(node for node in nodes if node.kind == "link")):  # links come last
        missing += not _write(blobs, node, folder / node.raw)
    return missing


def _write(blobs: objects.BlobReader, node: objects.Node, path: Path) -> bool:
    try:
        content = blobs.read(node.oid)
        if node.kind == "link":
            path.symlink_to(os.fsdecode(content[:_LINK_BYTES]))
            return True
        with path.open("xb") as file:
            file.write(content)
        path.chmod(0o755 if node.mode == objects.EXECUTABLE else 0o644)
    except (GiveUp, OSError, ValueError):
        return False
    return True


class GitReader:
    """A `CodeReader` over a repository, pinned to one commit; safe for many threads."""

    def __init__(self, git: command.Git, commit: code.Commit, obtain: Obtain | None = None) -> None:
        """Take a repository that has all blobs, or a way to `obtain` them; raises `GiveUp`."""
        if not command.is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        self._git = git
        self._commit = commit
        self._blobs = objects.BlobReader(git)
        self._history = History(git, commit.sha, obtain)

    @property
    def commit(self) -> code.Commit:
        return self._commit

    def paths(self) -> tuple[str, ...]:
        """Return every file, sorted; links and submodules are not files."""
        return self._tree.paths

    def read_file(self, path: str) -> str | None:
        """Read the text at `path`; None for what is not there, no file, binary, or over 2 MiB."""
        node = self._tree.source(path)
        return objects.decode_text(self._blobs.read(node.oid)) if node else None

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[code.SearchHit, ...]:
        """Find lines that hold `query`, by path and line; raises `GiveUp` if it takes too long."""
        folder = objects.plain_folder(path)
        is_plain = not any(c in "\n\r\0" or "\ud800" <= c <= "\udfff" for c in query)
        is_searchable = is_plain and 0 < len(query) <= command.QUERY_CHARACTERS
        if not self._tree.has(folder) or not is_searchable:
            return ()
        limit = max(1, min(limit, command.HITS))
        try:
            raw = self._tree.nodes[folder].raw if folder in self._tree.nodes else folder
            below = (f":(literal){raw}" if raw else ".", *self._excluded)
            outcome = self._git.attempt(
                *("grep", "-F", "-n", "-I", "-z", "--no-color", "--full-name", "--no-textconv"),
                *("--no-recurse-submodules", "-e", query, self._commit.sha, "--"),
                *below,
                timeout=command.QUICK_SECONDS,
                limit=SEARCH_BYTES,
                lines=limit,
            )
        except TryLater as error:
            raise GiveUp(
                f"the search took over {command.QUICK_SECONDS:.0f} s: name a folder"
            ) from error
        if outcome.code > 1 and not outcome.cut:
            raise GiveUp(f"git grep failed: {outcome.complaint}")
        hits = (hit for hit in _hits(outcome.output) if self._tree.source(hit.path))
        return tuple(islice(hits, limit))

    def lay_out(self, folder: str, most_bytes: int, most_files: int) -> int:
        """Write every file below an empty folder; raises `GiveUp` where they are too many."""
        return lay_out(self._git, self._commit.sha, Path(folder), most_bytes, most_files)

    def list_directory(self, path: str = "") -> tuple[code.FolderEntry, ...]:
        return self._tree.entries(path)

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[code.Blame, ...]:
        """Find who last wrote the lines, counted from 1, at most 400; empty if that is unknown."""
        text = self.read_file(path)
        count = len(text.removesuffix("\n").split("\n")) if text else 0
        last = min(count, start if end is None else end, start + command.BLAMED_LINES - 1)
        if not 1 <= start <= last or not self._history.obtain_past(path):
            return ()
        raw = self._tree.nodes[path].raw
        ignored = self.read_file(IGNORED_FILE) or ""
        rows = blamed(self._git, self._commit.sha, raw, (start, last), ignored)
        pulls = ((row, self._history.pulls.get(row.sha, PullNumber())) for row in rows)
        return tuple(
            row.model_copy(update={"pull": pull.number, "sign": pull.sign}) for row, pull in pulls
        )

    def show_commit(self, sha: str, path: str = "") -> code.CommitDiff | None:
        """Return a commit's changes: at most 50 files, 40,000 characters of each; else None."""
        return self._history.show(sha, path)

    def history(
        self, path: str = "", text: str = "", limit: int = 20
    ) -> tuple[code.LoggedCommit, ...]:
        """Return at most 100 commits, newest first; raises `GiveUp` where `text` takes too long."""
        path = objects.plain_folder(path)
        return self._history.log(path, text, limit, follow=path in self._tree.nodes)

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[code.ChangedFile, ...]:
        """Return what differs, of at most 50 files; raises `GiveUp` as `paths_changed` does."""
        return self._history.compare(old_sha, new_sha, path)

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        """Return paths that differ; raises `GiveUp` where a commit is none of this history."""
        return self._history.paths_changed(old_sha, new_sha)

    @cached_property
    def _tree(self) -> objects.CommitTree:
        return objects.CommitTree(objects.read_tree(self._git, self._commit.sha))

    @cached_property
    def _excluded(self) -> tuple[str, ...]:
        nodes = self._tree.nodes.values()
        large = [node for node in nodes if node.kind == "file" and not node.is_source]
        large.sort(key=lambda node: (-(node.size or 0), node.path))
        return tuple(f":(exclude,literal){node.raw}" for node in large[:EXCLUDED_FILES])


def _hits(output: bytes) -> Iterator[code.SearchHit]:
    start = 0
    while (first := output.find(b"\0", start)) >= 0:
        second = output.find(b"\0", first + 1)
        end = output.find(b"\n", second + 1)
        if second < 0 or end < 0:
            return
        path = output[start:first].partition(b":")[2].decode(errors="replace")
        text = output[second + 1 : min(end, second + 1 + 4 * command.LINE_CHARACTERS)]
        yield code.SearchHit(
            path=path,
            line=int(output[first + 1 : second]),
            text=text.decode(errors="replace").rstrip("\r")[: command.LINE_CHARACTERS],
        )
        start = end + 1
