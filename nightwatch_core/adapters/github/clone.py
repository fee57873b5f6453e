"""A partial clone of a GitHub repository: its history at once, its files commit by commit.

There are two git folders. The *store* knows GitHub and is only fetched into. The *view* borrows the
store's objects and knows nothing else: no remote, no credentials, nothing that git could ask for
what is missing. Files are read through the view.
"""

import base64
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from nightwatch_core.adapters.git.checkout import REMOTE, TAG, Checkout
from nightwatch_core.adapters.git.command import Git, new_repository
from nightwatch_core.adapters.git.limits import WRITTEN_BYTES
from nightwatch_core.adapters.github.errors import printable
from nightwatch_core.adapters.github.limits import FETCHING, FETCHING_SILENCE
from nightwatch_core.adapters.stores import atomic_files, manifest
from nightwatch_core.adapters.stores.traffic import sending
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater

_LOST = re.compile(
    r"resolve host|timed out|connect|early EOF|RPC failed|hung up|returned error: 5\d\d"
    r"|returned error: 429|SSL|too slow",
    re.IGNORECASE,
)
_TOO_LARGE = re.compile(r"index-pack|File too large|write error|signal 25")
_PASSED_ON = (
    "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
)  # fmt: skip
WHOLE = "nightwatch-whole"  # folder of the view: commits whose files were fetched, by name


class CloneRefused(GiveUp):
    """GitHub does not let this token clone."""


class NoSuchBranch(StopTheNight):
    """GitHub has no such ref."""


class Origin(NamedTuple):
    """Where to clone from, and what tells the token, which only ever is in git's environment."""

    address: str
    token: Callable[[], str]
    silence: int = FETCHING_SILENCE

    def __repr__(self) -> str:
        """Without the token."""
        return f"Origin({self.address!r})"

    def environment(self, token: str, negotiation: str) -> dict[str, str]:
        """Return what makes one git command talk to GitHub; `noop` asks for objects by name."""
        parts = urlsplit(self.address)
        secret = _basic(token)
        settings = (
            (
                f"http.{parts.scheme}://{parts.netloc}/.extraHeader",
                f"Authorization: Basic {secret}",
            ),
            ("http.followRedirects", "false"),
            ("http.lowSpeedLimit", "1000"),
            ("http.lowSpeedTime", str(self.silence)),
            ("fetch.negotiationAlgorithm", negotiation),
            ("credential.helper", ""),
        )
        given = {"GIT_CONFIG_COUNT": str(len(settings)), "GIT_ALLOW_PROTOCOL": parts.scheme}
        for number, (key, value) in enumerate(settings):
            given |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        passed = _PASSED_ON if parts.scheme == "https" else ()  # else a proxy would read along
        return given | {name: os.environ[name] for name in passed if name in os.environ}


def _basic(token: str) -> str:
    return base64.b64encode(f"x-access-token:{token}".encode()).decode()


def _without_secrets(text: str, token: str) -> str:
    """Git's words, without the token in any of its forms."""
    return printable(text.replace(token, "***").replace(_basic(token), "***"))


class Clone:
    """The store and the view below `folder`; safe for many processes."""

    def __init__(self, folder: Path, origin: Origin) -> None:
        """Do nothing before the first `fetch`."""
        self._folder = folder
        self._origin = origin

    @property
    def store(self) -> Git:
        """Refs and history."""
        return Git(self._folder / "store.git")

    @property
    def view(self) -> Git:
        """Objects, and no way to get more of them."""
        return Git(self._folder / "view.git")

    @property
    def made(self) -> int:
        """When the view was made, in nanoseconds since 1970; 0 where there is none."""
        try:
            return self._borrows.stat().st_mtime_ns
        except OSError:
            return 0

    def fetch(self, branch: str) -> None:
        """Fetch the history of a branch, and all tags.

        Raises `CloneRefused` where the token may not clone, `StopTheNight` where there is no such
        branch, `TryLater` where GitHub does not answer.
        """
        with self._alone():
            self._prepare()
            spec = f"+refs/heads/{branch}:{REMOTE}{branch}"
            self._fetch("--prune", "origin", spec, f"+{TAG}*:{TAG}*")

    def has(self, sha: str) -> bool:
        """Tell whether the commit was fetched."""
        if not self.view.folder.is_dir():
            return False
        return not self.view.attempt("cat-file", "-e", f"{sha}^{{commit}}").code

    def fetch_commit(self, sha: str) -> bool:
        """Fetch a commit that is on no branch that was fetched; False where there is none."""
        with self._alone():
            try:
                self._fetch("origin", f"{sha}:{REMOTE}nightwatch-releases/{sha}")
            except (NoSuchBranch, CloneRefused):
                return False
        return True

    def fetch_files(self, sha: str, sizes: Callable[[], Mapping[str, int]], limit: int) -> None:
        """Fetch every file of a commit, once, except those whose `sizes` are over `limit` bytes."""
        is_whole = self.view.folder / WHOLE / sha
        if is_whole.exists():
            return
        larger = sizes()
        listing = self.view.run("ls-tree", "-r", "-z", "--end-of-options", sha).split(b"\0")
        about = (entry.partition(b"\t")[0].decode().split() for entry in listing if entry)
        oids = {oid for mode, kind, oid in about if kind == "blob" and mode != "120000"}
        self.fetch_blobs(oid for oid in oids if larger.get(oid, 0) <= limit)
        with suppress(OSError):
            atomic_files.write(is_whole, b"")

    def fetch_blobs(self, oids: Iterable[str]) -> None:
        """Fetch those that are not there."""
        asked = "".join(f"{oid}\n" for oid in sorted(set(oids))).encode()
        if not asked:
            return
        listed = self.view.run("cat-file", "--batch-check=%(objectname)", stdin=asked).decode()
        missing = [line.split()[0] for line in listed.splitlines() if line.endswith(" missing")]
        if missing:
            with self._alone():
                self._fetch("--stdin", "origin", stdin="".join(f"{oid}\n" for oid in missing))

    @property
    def _borrows(self) -> Path:
        """Where git reads whose objects the view borrows; written last when it is made."""
        return self.view.folder / "objects" / "info" / "alternates"

    def _prepare(self) -> None:
        store, view = self.store.folder, self.view.folder
        if not self._borrows.exists():
            for folder in (store, view):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                new_repository(folder, "none")
            borrowed = f"{(store / 'objects').resolve()}\n".encode()
            atomic_files.write(self._borrows, borrowed)
        self.store.run("config", "remote.origin.url", self._origin.address)

    def _fetch(self, *arguments: str, stdin: str = "") -> None:
        with sending(files=stdin.count("\n")):
            self._ask(arguments, stdin)

    def _ask(self, arguments: Sequence[str], stdin: str) -> None:
        token = self._origin.token()
        asked = "\n".join((*arguments, stdin)).encode()  # of git's own protocol: what it is told
        manifest.PROCESS.sent("GitHub", "git fetch", self._origin.address, asked)
        outcome = self.store.attempt(
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"),
            *("--filter=blob:none", *arguments),
            stdin=stdin.encode(),
            timeout=FETCHING,
            environment=self._origin.environment(token, "noop" if stdin else "default"),
        )
        if not outcome.code:
            return
        words = _without_secrets(outcome.complaint, token)
        if "couldn't find remote ref" in words:
            raise NoSuchBranch(f"GitHub has no such branch ({words}): set NIGHTWATCH_BASE_BRANCH")
        if _LOST.search(words):
            raise TryLater(f"cloning was cut short, the next night goes on from there: {words}")
        if _TOO_LARGE.search(words):
            size = WRITTEN_BYTES // 1024**3
            raise CloneRefused(f"what GitHub sent is larger than {size} GiB: {words}")
        raise CloneRefused(f"GitHub refused to be cloned: {words}")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / "lock", timeout=FETCHING):
                yield
        except Timeout as error:
            raise TryLater(f"another process keeps fetching into {self._folder}") from error
        except OSError as error:
            raise StopTheNight(f"{self._folder} cannot be written: {error}") from error


class ClonedCheckout(Checkout):
    """Branches, tags and history of the store."""

    def __init__(self, clone: Clone, repository: str, base_branch: str, address: str = "") -> None:
        """Take a clone that has been fetched; `repository` is owner/name, `address` its page."""
        super().__init__(clone.store.folder, base_branch)
        self._clone = clone
        self._repository = repository
        self._address = address

    @cached_property
    def git(self) -> Git:
        """The store, which `Checkout` would refuse for being partial."""
        return self._clone.store

    @cached_property
    def repository(self) -> str:
        """owner/name."""
        return self._repository

    @cached_property
    def address(self) -> str:
        """Where people read it, at GitHub or on a server of one's own."""
        return self._address
