"""Run git on one repository: no shell, no hooks, no network, no prompts, no working tree.

The checkout may come from a stranger: its configuration and attributes must not start programs or
hide a change. So objects are read and made from an empty repository of our own that borrows them.
"""

import os
import re
import resource
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple

from pydantic import BaseModel

from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.text.plain_text import data_table

# Settings and environment of git.


class _Table(BaseModel):
    settings: tuple[str, ...]
    of_its_folder: frozenset[str]
    environment: dict[str, str]


_TABLE = data_table("nightwatch_core.adapters.git", "command.toml", _Table)
SETTINGS, OF_ITS_FOLDER = _TABLE.settings, _TABLE.of_its_folder
ENVIRONMENT = _TABLE.environment
_lock = threading.Lock()
_views: dict[str, tempfile.TemporaryDirectory[str]] = {}  # by form; removed when Python ends


def plain_view(form: str) -> Path:
    """Return a git folder without configuration and refs, for objects named by sha1 or sha256."""
    with _lock:
        kept = _views.get(form)
        if kept is None or not (Path(kept.name) / "HEAD").is_file():  # folders below /tmp age
            kept = _views[form] = _made(form)
        return Path(kept.name)


def _made(form: str) -> tempfile.TemporaryDirectory[str]:
    made = tempfile.TemporaryDirectory(prefix="nightwatch-git-", ignore_cleanup_errors=True)
    folder = Path(made.name)
    for part in ("objects", "refs"):
        (folder / part).mkdir()
    extension = "" if form == "sha1" else "[extensions]\n\tobjectFormat = sha256\n"
    version = 1 if extension else 0
    (folder / "config").write_text(f"[core]\n\trepositoryFormatVersion = {version}\n{extension}")
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    return made


# Limits.

GIT_SECONDS = 60.0  # for one command, where nothing else is said
QUICK_SECONDS = 20.0  # for a search or a blame
OUTPUT_BYTES = 64 * 1024 * 1024  # of one command
COMPLAINT_BYTES = 2_000
WRITTEN_BYTES = 8 * 1024**3  # of each file that git writes, a pack that is fetched above all
FILE_BYTES = 2 * 1024 * 1024  # larger files are data, not source
LINE_CHARACTERS = 300  # of a line that is shown
TITLE_CHARACTERS = 300  # of a pull request
NAME_CHARACTERS = 100  # of an author
QUERY_CHARACTERS = 1_000
PATH_CHARACTERS = 1_000
HITS = 5_000  # of one search
CHANGED_FILES = 100  # of one draft
PULLS = 200
BLAMED_LINES = 400  # by one question
LOGGED_COMMITS = 100  # by one question
SHOWN_FILES = 50  # of a commit, with their changes
DIFF_CHARACTERS = 40_000  # of one file's changes

_CHUNK = 65_536  # bytes read at once
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LAST_SECOND = 253_402_300_799  # of the year 9999


class Outcome(NamedTuple):
    """Result of a git command; `cut` if it was stopped because there was enough output."""

    code: int
    output: bytes
    complaint: str
    cut: bool = False


class Objects(NamedTuple):
    """A folder of objects, and how they are named: sha1 or sha256."""

    folder: Path
    form: str


class Git(NamedTuple):
    """Git commands on one repository; with `objects` its configuration is ignored."""

    folder: Path
    objects: Objects | None = None

    def attempt(
        self,
        *arguments: str,
        stdin: bytes = b"",
        timeout: float = GIT_SECONDS,
        limit: int = OUTPUT_BYTES,
        lines: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run a command; stop it after `limit` bytes or `lines` lines of output.

        Raises `TryLater` after `timeout` seconds, `StopTheNight` where git cannot be started.
        """
        place = self.place(arguments[0])
        more = {**place, **(environment or {})}
        return _run(Path(place["GIT_DIR"]), arguments, more, stdin, timeout, limit, lines)

    def run(self, *arguments: str, stdin: bytes = b"", timeout: float = GIT_SECONDS) -> bytes:
        """Return the output of a command that has to succeed; raises `GiveUp` with git's words."""
        outcome = self.attempt(*arguments, stdin=stdin, timeout=timeout)
        if outcome.cut:
            raise GiveUp(f"git {arguments[0]} printed more than {OUTPUT_BYTES} bytes")
        if outcome.code:
            raise GiveUp(f"git {arguments[0]} failed in {self.folder}: {outcome.complaint}")
        return outcome.output

    def line(self, *arguments: str, stdin: bytes = b"") -> str:
        """Return the only line that a command prints."""
        return self.run(*arguments, stdin=stdin).decode(errors="replace").strip()

    def place(self, command: str) -> dict[str, str]:
        """Return the environment that names the repository for a command, and no working tree."""
        if self.objects is None or command in OF_ITS_FOLDER:
            return {"GIT_DIR": str(self.folder), "GIT_WORK_TREE": str(self.folder)}
        view = str(plain_view(self.objects.form))
        borrowed = str(self.objects.folder)
        return {"GIT_DIR": view, "GIT_WORK_TREE": view, "GIT_OBJECT_DIRECTORY": borrowed}


def _run(
    folder: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    stdin: bytes = b"",
    timeout: float = GIT_SECONDS,
    limit: int = OUTPUT_BYTES,
    lines: int | None = None,
) -> Outcome:
    expired = threading.Event()
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        given.write(stdin)
        given.seek(0)
        with start(folder, arguments, given, complaints, environment) as process:

            def expire() -> None:
                expired.set()
                process.kill()

            timer = threading.Timer(timeout, expire)
            timer.start()
            try:
                assert process.stdout is not None
                output, cut = _drain(process.stdout, limit, lines)
                if cut:
                    process.kill()
                code = process.wait()
            finally:
                timer.cancel()
                process.kill()
        if expired.is_set() and not cut:
            raise TryLater(f"git {arguments[0]} took more than {timeout:.0f} s")
        complaints.seek(0)
        complaint = complaints.read(COMPLAINT_BYTES).decode(errors="replace").strip()
    return Outcome(code, output, complaint, cut)


def _drain(stream: IO[bytes], limit: int, lines: int | None) -> tuple[bytes, bool]:
    output = bytearray()
    seen = 0
    while chunk := os.read(stream.fileno(), _CHUNK):
        output += chunk
        seen += chunk.count(b"\n") if lines is not None else 0
        if len(output) > limit or (lines is not None and seen > lines):
            return bytes(output[:limit]), True
    return bytes(output), False


def start(
    folder: Path,
    arguments: Sequence[str],
    stdin: IO[bytes] | int,
    complaints: IO[bytes] | int,
    environment: Mapping[str, str],
    largest: int = WRITTEN_BYTES,
) -> subprocess.Popen[bytes]:
    """Start git in `folder`, where it writes no file of more than `largest` bytes.

    Raises `StopTheNight` where there is no git, or no such folder.
    """
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    try:
        process = subprocess.Popen(
            ["git", "--no-pager", *settings, *arguments],
            cwd=folder,
            env={**kept, **ENVIRONMENT, **environment},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=complaints,
        )
        # keep whatever answers a fetch from filling the disk; only Linux can do it from
        # outside
        with suppress(OSError, AttributeError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest, largest))
        return process
    except OSError as error:
        if not folder.is_dir():
            raise StopTheNight(f"{folder} is gone: set `repo` to a git checkout") from error
        if isinstance(error, FileNotFoundError):
            raise StopTheNight("git was not found: install git 2.39 or later") from error
        raise StopTheNight(f"git cannot be started: {error}") from error


def open_repository(folder: Path) -> Git:
    """Open the repository that `folder` is in: a checkout, a worktree or a bare one.

    Raises `StopTheNight`, with what to do, where there is none or its history is not whole.
    """
    if not folder.is_dir():
        raise StopTheNight(f"{folder} is no folder: set `repo` to a git checkout")
    outcome = _run(folder, ("rev-parse", "--absolute-git-dir", "--is-shallow-repository"), {})
    if outcome.code:
        raise StopTheNight(
            f"{folder} is not in a git repository that can be read ({outcome.complaint}): set "
            "`repo` to a git checkout, or run `git init` and commit there"
        )
    place, shallow = os.fsdecode(outcome.output).removesuffix("\n").rsplit("\n", 1)
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
    objects = (git.folder / git.line("rev-parse", "--git-path", "objects")).resolve()
    return Git(git.folder, Objects(objects, git.line("rev-parse", "--show-object-format")))


def new_repository(folder: Path, branch: str) -> Git:
    """Make a bare repository in the existing folder; raises `GiveUp` where git cannot make it."""
    asked = ("init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}")
    made = _run(folder, asked, {})
    if made.code:
        raise GiveUp(f"git init failed in {folder}: {made.complaint}")
    return Git(folder.resolve())


def is_sha(text: str) -> bool:
    """Tell whether `text` is a full object name, so that git takes it for nothing else."""
    return bool(_SHA.fullmatch(text))


def read_time(seconds: str) -> datetime:
    """Read a time as git prints it; what no calendar holds becomes its nearest end."""
    digits = seconds.strip()
    number = int(digits) if digits.isdecimal() and len(digits) < 20 else 0
    return datetime.fromtimestamp(min(number, _LAST_SECOND), UTC)
