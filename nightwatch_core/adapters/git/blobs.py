"""File contents by object name, through one `git cat-file --batch` that is kept running."""

import os
import select
import subprocess
import threading
import time
import weakref

from nightwatch_core.adapters.git.command import Git, is_sha, launched
from nightwatch_core.errors import GiveUp, TryLater

_PATIENCE = 30.0  # seconds for one file


class Blobs:
    """Reads blobs; many threads may ask, one is answered at a time."""

    def __init__(self, git: Git) -> None:
        """Nothing is started before the first `read`."""
        self._git = git
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def read(self, oid: str) -> bytes:
        """The content of blob `oid`.

        Raises `GiveUp` where the repository lacks it, `TryLater` where git does not answer.
        """
        if not is_sha(oid):
            raise GiveUp(f"{oid[:80]!a} is not an object name")
        with self._lock:
            for last in (False, True):  # a process that died in between is started anew, once
                process = self._running()
                try:
                    return _answer(process, oid)
                except (OSError, EOFError) as error:
                    _end(process)
                    if last:
                        raise TryLater(f"git cat-file stopped answering: {error}") from error
        raise AssertionError("unreachable")

    def _running(self) -> subprocess.Popen[bytes]:
        process = self._process
        # A forked child shares the pipes of its parent: it must have a process of its own.
        if process is None or process.poll() is not None or self._owner != os.getpid():
            place = {"GIT_DIR": str(self._git.folder), "GIT_WORK_TREE": str(self._git.folder)}
            process = launched(
                self._git.folder,
                ("cat-file", "--batch"),
                subprocess.PIPE,
                subprocess.DEVNULL,
                place,
            )
            self._process, self._owner = process, os.getpid()
            weakref.finalize(self, _end, process)
        return process


def _answer(process: subprocess.Popen[bytes], oid: str) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{oid}\n".encode())
    process.stdin.flush()
    pipe, deadline = process.stdout.fileno(), time.monotonic() + _PATIENCE
    answer = b""
    while b"\n" not in answer:
        answer += _some(pipe, deadline)
    header, _, content = answer.partition(b"\n")
    fields = header.split()
    if fields[1:] == [b"missing"]:
        raise GiveUp(f"the repository lacks object {oid}: run `git fsck`, or clone it anew")
    if len(fields) != 3 or not fields[2].isdigit():
        raise EOFError(f"unexpected answer {header[:80]!r}")
    parts, missing = [content], int(fields[2]) + 1 - len(content)  # a newline ends the content
    while missing > 0:
        parts.append(_some(pipe, deadline))
        missing -= len(parts[-1])
    return b"".join(parts)[:-1]


def _some(pipe: int, deadline: float) -> bytes:
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError(f"nothing came for {_PATIENCE:.0f} s")
    if not (chunk := os.read(pipe, 1024 * 1024)):
        raise EOFError("it ended")
    return chunk


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:  # what was still to be written to a dead process
                continue
