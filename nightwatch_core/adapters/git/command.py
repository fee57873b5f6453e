"""Runs git on one repository: no shell, no hooks, no network, no prompts, no working tree.

The checkout may come from a stranger: its configuration and attributes must not make git start
programs, and what a person has changed but not committed must not be seen. So git is run inside the
git folder, with that folder as its working tree and with a clean environment.
"""

import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from nightwatch_core.errors import GiveUp, StopTheNight, TryLater

TIMEOUT = 60.0  # seconds
OUTPUT_LIMIT = 64 * 1024 * 1024  # bytes
_COMPLAINT_LIMIT = 2_000
_CHUNK = 65_536
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=false",
    "core.attributesFile=/dev/null",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "protocol.ext.allow=never",
    "safe.directory=*",
    "submodule.recurse=false",
    "log.showSignature=false",
    "log.mailmap=false",
    "grep.column=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "gc.auto=0",
    "maintenance.auto=false",
)
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # none: nothing here ever talks to another machine
    "GIT_PAGER": "cat",
}


class Outcome(NamedTuple):
    """How one git command ended; `cut` where it was stopped because there was enough output."""

    code: int
    output: bytes
    complaint: str
    cut: bool = False


class Git(NamedTuple):
    """Git commands on the repository whose git folder is `folder`."""

    folder: Path

    def attempt(
        self,
        *arguments: str,
        stdin: bytes = b"",
        timeout: float = TIMEOUT,
        limit: int = OUTPUT_LIMIT,
        lines: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run a command; stop it after `limit` bytes or `lines` lines of output.

        Raises `TryLater` after `timeout` seconds, `StopTheNight` where git cannot be started.
        """
        enough = _Enough(limit, lines)
        with started(self.folder, arguments, stdin, environment or {}) as (process, complaints):
            expired = threading.Event()

            def expire() -> None:
                expired.set()
                process.kill()

            timer = threading.Timer(timeout, expire)
            timer.start()
            try:
                assert process.stdout is not None
                output, cut = enough.drained(process.stdout)
                if cut:
                    process.kill()
                code = process.wait()
            finally:
                timer.cancel()
            if expired.is_set() and not cut:
                raise TryLater(f"git {arguments[0]} took more than {timeout:.0f} s")
            complaints.seek(0)
            complaint = complaints.read(_COMPLAINT_LIMIT).decode(errors="replace").strip()
        return Outcome(code, output, complaint, cut)

    def run(self, *arguments: str, stdin: bytes = b"", timeout: float = TIMEOUT) -> bytes:
        """The output of a command that has to succeed; raises `GiveUp` with git's complaint."""
        outcome = self.attempt(*arguments, stdin=stdin, timeout=timeout)
        if outcome.cut:
            raise GiveUp(f"git {arguments[0]} printed more than {OUTPUT_LIMIT} bytes")
        if outcome.code:
            raise GiveUp(f"git {arguments[0]} failed in {self.folder}: {outcome.complaint}")
        return outcome.output

    def line(self, *arguments: str, stdin: bytes = b"") -> str:
        """The only line that a command prints."""
        return self.run(*arguments, stdin=stdin).decode(errors="replace").strip()


class _Enough(NamedTuple):
    limit: int
    lines: int | None

    def drained(self, stream: IO[bytes]) -> tuple[bytes, bool]:
        """What the stream says, and whether there was more than enough of it."""
        output = bytearray()
        seen = 0
        while chunk := os.read(stream.fileno(), _CHUNK):
            output += chunk
            seen += chunk.count(b"\n") if self.lines is not None else 0
            if len(output) > self.limit or (self.lines is not None and seen > self.lines):
                return bytes(output[: self.limit]), True
        return bytes(output), False


@contextmanager
def started(
    folder: Path, arguments: Sequence[str], stdin: bytes | None, more: Mapping[str, str]
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """A running git command, and the file that it writes its complaints to."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        given.write(stdin or b"")
        given.seek(0)
        place = {"GIT_DIR": str(folder), "GIT_WORK_TREE": str(folder)}
        with launched(folder, arguments, given, complaints, {**place, **more}) as process:
            try:
                yield process, complaints
            finally:
                process.kill()


def launched(
    folder: Path,
    arguments: Sequence[str],
    stdin: IO[bytes] | int,
    complaints: IO[bytes] | int,
    more: Mapping[str, str],
) -> subprocess.Popen[bytes]:
    """Start git in `folder`; raises `StopTheNight` where there is no git, or no such folder."""
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    try:
        return subprocess.Popen(
            ["git", "--no-pager", *settings, *arguments],
            cwd=folder,
            env={**kept, **ENVIRONMENT, **more},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=complaints,
        )
    except OSError as error:
        if not folder.is_dir():
            raise StopTheNight(f"{folder} is gone: set `repo` to a git checkout") from error
        if isinstance(error, FileNotFoundError):
            raise StopTheNight("git was not found: install git 2.39 or later") from error
        raise StopTheNight(f"git cannot be started: {error}") from error


def open_repository(folder: Path) -> Git:
    """The repository that `folder` is in: a checkout, a folder of one, a worktree, or a bare one.

    Raises `StopTheNight`, with what to do, where there is none or its history is not whole.
    """
    if not folder.is_dir():
        raise StopTheNight(f"{folder} is no folder: set `repo` to a git checkout")
    code, output, complaint, _ = _discovering(
        folder, "rev-parse", "--absolute-git-dir", "--is-shallow-repository"
    )
    if code:
        raise StopTheNight(
            f"{folder} is not in a git repository that can be read ({complaint}): set `repo` to a "
            "git checkout, or run `git init` and commit there"
        )
    place, shallow = os.fsdecode(output).removesuffix("\n").rsplit("\n", 1)
    git = Git(Path(place))
    if shallow == "true":
        raise StopTheNight(
            f"{folder} is a shallow clone, so blame and merged pull requests would be wrong: "
            "run `git fetch --unshallow` there"
        )
    if git.attempt("config", "--get-regexp", r"^remote\..*\.promisor$").output.strip():
        raise StopTheNight(
            f"{folder} is a partial clone, so files may be missing: clone it without --filter"
        )
    return git


def new_repository(folder: Path, branch: str) -> Git:
    """An empty bare repository in the existing folder; raises `GiveUp` where git cannot make it."""
    asked = ("init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}")
    made = _discovering(folder, *asked)
    if made.code:
        raise GiveUp(f"git init failed in {folder}: {made.complaint}")
    return Git(folder.resolve())


def _discovering(folder: Path, *arguments: str) -> Outcome:
    """Run a command that finds out, or decides, where the git folder is."""
    with tempfile.TemporaryFile() as complaints:
        with launched(folder, arguments, subprocess.DEVNULL, complaints, {}) as process:
            try:
                output = process.communicate(timeout=TIMEOUT)[0]
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise TryLater(f"git {arguments[0]} took more than {TIMEOUT:.0f} s") from error
        complaints.seek(0)
        complaint = complaints.read(_COMPLAINT_LIMIT).decode(errors="replace").strip()
    return Outcome(process.returncode, output, complaint)


def is_sha(text: str) -> bool:
    """Whether `text` is a full object name, so that git cannot take it for anything else.

    >>> is_sha("a" * 40), is_sha("main"), is_sha("--output=x")
    (True, False, False)
    """
    return bool(_SHA.fullmatch(text))
