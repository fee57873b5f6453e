"""Git's objects: the tree of one commit, and file contents by object name."""

import os
import re
import select
import subprocess
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nightwatch_core.adapters.git.command import FILE_BYTES, Git, is_sha, start
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import FolderEntry

BLOB_SECONDS = 30.0  # for one file's content
SNIFFED_BYTES = 8_000  # looked at to tell text from binary; git does the same

FILE, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"
FOLDER, GONE = "040000", "000000"
_KINDS = {LINK: "link", SUBMODULE: "submodule", FOLDER: "folder"}
_MISLEADING = re.compile(r"[\x00-\x1f\x7f-\x9f]|(?:^|/)(?:\.{0,2}|\.git)(?:/|\Z)", re.IGNORECASE)


class Node(NamedTuple):
    """One name in a commit; `raw` is its path as the system spells it, which may not be UTF-8."""

    path: str
    mode: str
    oid: str
    size: int | None  # bytes
    raw: str

    @property
    def kind(self) -> str:
        """Return file, link, submodule or folder."""
        return _KINDS.get(self.mode, "file")

    @property
    def is_source(self) -> bool:
        """Tell whether it is a file of at most 2 MiB; what was not fetched has no size."""
        return self.kind == "file" and self.size is not None and self.size <= FILE_BYTES


class CommitTree:
    """The names in the tree of one commit."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        """Take nodes by path; those of folders are told by their files."""
        self.nodes = {path: node for path, node in nodes.items() if node.mode != FOLDER}
        self.paths = tuple(sorted(p for p, node in self.nodes.items() if node.kind == "file"))
        self._folders: dict[str, dict[str, FolderEntry]] = {}
        for path, node in self.nodes.items():
            self._add(path, node.kind, node.size)
        for path in parent_folders(self.nodes):
            self._add(path, "folder")

    def _add(self, path: str, kind: str, size: int | None = None) -> None:
        folder, _, name = path.rpartition("/")
        entry = FolderEntry(name=name, kind=kind, size=size)
        self._folders.setdefault(folder, {})[name] = entry

    def source(self, path: str) -> Node | None:
        """Return the file at `path`; None where there is none, or it is too large."""
        node = self.nodes.get(path)
        return node if node and node.is_source else None

    def entries(self, folder: str) -> tuple[FolderEntry, ...]:
        """Return the names in a folder, sorted; none where it is no folder."""
        entries = self._folders.get(plain_folder(folder), {})
        return tuple(entries[name] for name in sorted(entries))

    def has(self, path: str) -> bool:
        """Tell whether there is such a file or folder; the root is always there."""
        return not path or path in self.nodes or path in self._folders


def read_tree(git: Git, sha: str) -> dict[str, Node]:
    """Read the tree of commit `sha`, by path; raises `GiveUp` where there is no such commit.

    Names that lead out of the tree or hold control characters are left out.
    """
    listing = git.run("ls-tree", "-r", "-l", "-z", "--full-tree", "--end-of-options", sha)
    nodes: dict[str, Node] = {}
    for record in listing.split(b"\0"):
        if not record:
            continue
        about, name = record.split(b"\t", 1)
        mode, _, oid, size = about.decode().split()
        path = name.decode(errors="replace")
        node = Node(path, mode, oid, int(size) if size.isdigit() else None, os.fsdecode(name))
        if not _MISLEADING.search(path):
            nodes.setdefault(path, node)
    return nodes


def parent_folders(paths: Iterable[str]) -> set[str]:
    """Return every folder above the paths."""
    folders: set[str] = set()
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in folders:
            folders.add(path)
    return folders


def plain_folder(path: str) -> str:
    """Return a folder as trees spell it.

    >>> plain_folder("./app/models/"), plain_folder("."), plain_folder("/etc")
    ('app/models', '', '/etc')
    """
    path = path.removeprefix("./").removesuffix("/")
    return "" if path == "." else path


def decode_text(content: bytes) -> str | None:
    """Return a file's text, bytes that are not UTF-8 replaced; None where it is binary."""
    return None if b"\0" in content[:SNIFFED_BYTES] else content.decode(errors="replace")


class BlobReader:
    """Reads blobs through one `git cat-file --batch` that is kept running; safe for threads."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def read(self, oid: str) -> bytes:
        """Read a blob; raises `GiveUp` where it is missing, `TryLater` if git does not answer."""
        if not is_sha(oid):
            raise GiveUp(f"{oid[:80]!a} is not an object name")
        with self._lock:
            process = self._running()
            try:
                return _answer(process, oid)
            except (OSError, EOFError) as error:
                _end(process)
                raise TryLater(f"git cat-file stopped answering: {error}") from error

    def _running(self) -> subprocess.Popen[bytes]:
        process = self._process
        # A forked child shares the pipes of its parent: it must have a process of its own.
        if process is None or process.poll() is not None or self._owner != os.getpid():
            place, quiet = self._git.place("cat-file"), subprocess.DEVNULL
            folder, asked = Path(place["GIT_DIR"]), ("cat-file", "--batch")
            process = start(folder, asked, subprocess.PIPE, quiet, place)
            self._process, self._owner = process, os.getpid()
            weakref.finalize(self, _end, process)
        return process


def _answer(process: subprocess.Popen[bytes], oid: str) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{oid}\n".encode())
    process.stdin.flush()
    pipe, deadline = process.stdout.fileno(), time.monotonic() + BLOB_SECONDS
    answer = b""
    while b"\n" not in answer:
        answer += _read_chunk(pipe, deadline)
    header, _, content = answer.partition(b"\n")
    fields = header.split()
    if fields[1:] == [b"missing"]:
        raise GiveUp(f"the repository lacks object {oid}: run `git fsck`, or clone it anew")
    if len(fields) != 3 or not fields[2].isdigit():
        raise EOFError(f"unexpected answer {header[:80]!r}")
    parts, missing = [content], int(fields[2]) + 1 - len(content)  # a newline ends the content
    while missing > 0:
        parts.append(_read_chunk(pipe, deadline))
        missing -= len(parts[-1])
    return b"".join(parts)[:-1]


def _read_chunk(pipe: int, deadline: float) -> bytes:
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError(f"nothing came for {BLOB_SECONDS:.0f} s")
    if not (chunk := os.read(pipe, 1024 * 1024)):
        raise EOFError("it ended")
    return chunk


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # what was still to be written to a dead process
                stream.close()
