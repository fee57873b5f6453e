"""Real git repositories for tests, each kind made once and copied."""

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

NIGHT = 1_764_000_000  # seconds; commits are an hour apart from here on
CLEAN = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
}


class Change(NamedTuple):
    """A commit: texts by path (None deletes), modes other than 100644, and a merged commit."""

    message: str
    files: Mapping[str, str | bytes | None]
    modes: Mapping[str, str] = {}
    merges: int | None = None  # index of the commit that is merged
    after: int | None = None  # index of the first parent; None: the commit before
    author: str = "Ann"


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run git as a person would, in the folder, and return what it says."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=stdin, env=CLEAN, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode(errors="replace").strip()


def repository(folder: Path, *changes: Change, bare: bool = False, more: bytes = b"") -> Path:
    """A repository whose branch main ends at the last change; `more` goes to fast-import as is."""
    stream = b"".join(_commit(index, change) for index, change in enumerate(changes))
    shutil.copytree(_made(stream + more, bare), folder, symlinks=True)
    return folder


@cache
def _made(stream: bytes, bare: bool) -> Path:
    """The repository of a stream, to be copied: most tests want one that another has had."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    init = ("init", "--quiet", "--initial-branch=main", "--template=")
    git(folder, *init, *(("--bare",) if bare else ()))
    (folder / ("hooks" if bare else ".git/hooks")).mkdir()
    git(folder, "fast-import", "--quiet", stdin=stream)
    if not bare:
        git(folder, "reset", "--quiet", "--hard")
    return folder


def tag(name: str, commit: int, at: int | None = None) -> bytes:
    """A light tag for fast-import; an annotated one where `at` is given."""
    if at is None:
        return f"reset refs/tags/{name}\nfrom :{commit + 1}\n\n".encode()
    return f"tag {name}\nfrom :{commit + 1}\ntagger Ann <a@b.c> {at} +0000\ndata 1\nx\n".encode()


def _commit(index: int, change: Change) -> bytes:
    parent = index if change.after is None else change.after + 1
    who = f"{change.author} <a@b.c> {NIGHT + 3600 * index} +0000"
    message = change.message.encode()
    parts = [
        f"commit refs/heads/main\nmark :{index + 1}\nauthor {who}\ncommitter {who}\n".encode(),
        b"data %d\n%s\n" % (len(message), message),
        f"from :{parent}\n".encode() if parent else b"",
        f"merge :{change.merges + 1}\n".encode() if change.merges is not None else b"",
    ]
    for path, text in change.files.items():
        parts.append(_entry(_quoted(path), text, change.modes.get(path, "100644")))
    return b"".join(parts) + b"\n"


def _entry(path: bytes, text: str | bytes | None, mode: str) -> bytes:
    if text is None:
        return b"D %s\n" % path
    if mode == "160000":
        return b"M 160000 %s %s\n" % (str(text).encode(), path)
    content = text.encode() if isinstance(text, str) else text
    return b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), path, len(content), content)


def _quoted(path: str) -> bytes:
    raw = os.fsencode(path)
    return b'"%s"' % b"".join(
        bytes([byte]) if 32 <= byte < 127 and byte not in b'"\\' else b"\\%03o" % byte
        for byte in raw
    )
