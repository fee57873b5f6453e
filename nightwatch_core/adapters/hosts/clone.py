"""A repository of a code host, read from a clone in the state folder."""

import base64
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from nightwatch_core.adapters.git import checkout
from nightwatch_core.adapters.git.command import FILE_BYTES, Git, is_sha, new_repository
from nightwatch_core.adapters.git.reader import GitReader
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.traffic import MANIFEST, sending, words_of
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.code import Commit

FETCHING = 900.0  # one fetch by git
FETCHING_SILENCE = 60  # in which git is sent less than 1,000 bytes a second
REPOSITORY_KIB = 5 * 1024 * 1024  # larger ones are not cloned
FILE_VERSIONS = 500  # fetched to find out who wrote a line

# A partial clone: the history at once, files commit by commit.
#
# There are two git folders. The *store* knows the host and is only fetched into. The *view*
# borrows the store's objects and knows nothing else: no remote, no credentials, nothing that git
# could ask for what is missing. Files are read through the view.

_LOST = re.compile(
    r"resolve host|timed out|connect|early EOF|RPC failed|hung up|returned error: 5\d\d"
    r"|returned error: 429|SSL|too slow",
    re.IGNORECASE,
)
_PASSED_ON = (
    "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
)  # fmt: skip
WHOLE = "nightwatch-whole"  # folder of the view: commits whose files were fetched, by name


class CloneRefused(GiveUp):
    """The host does not let this token clone."""


class NoSuchBranch(StopTheNight):
    """The host has no such ref."""


class Origin(NamedTuple):
    """Where to clone from, and what tells the token, which only ever is in git's environment."""

    address: str
    token: Callable[[], str]
    silence: int = FETCHING_SILENCE
    service: str = "GitHub"
    user: str = "x-access-token"  # whose password the token is

    def __repr__(self) -> str:
        """Without the token."""
        return f"Origin({self.address!r})"

    def environment(self, token: str, negotiation: str) -> dict[str, str]:
        """Return what makes one git command talk to the host; `noop` asks for objects by name."""
        parts = urlsplit(self.address)
        secret = self.basic(token)
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

    def basic(self, token: str) -> str:
        """Return the token as HTTP's basic sign-in spells it."""
        return base64.b64encode(f"{self.user}:{token}".encode()).decode()


class Clone:
    """The store and the view below `folder`; safe for many processes."""

    def __init__(self, folder: Path, origin: Origin) -> None:
        self._folder = folder
        self._origin = origin

    @property
    def store(self) -> Git:
        """Return the repository of refs and history."""
        return Git(self._folder / "store.git")

    @property
    def view(self) -> Git:
        """Return the repository that files are read from; it cannot fetch."""
        return Git(self._folder / "view.git")

    def fetch(self, branch: str) -> None:
        """Fetch the history of a branch, and all tags.

        Raises `CloneRefused` where the token may not clone, `StopTheNight` where there is no such
        branch, `TryLater` where the host does not answer.
        """
        with self._alone():
            self._prepare()
            spec = f"+refs/heads/{branch}:{checkout.REMOTE}{branch}"
            self._fetch("--prune", "origin", spec, f"+{checkout.TAG}*:{checkout.TAG}*")

    def has(self, sha: str) -> bool:
        if not self.view.folder.is_dir():
            return False
        return not self.view.attempt("cat-file", "-e", f"{sha}^{{commit}}").code

    def fetch_commit(self, sha: str) -> bool:
        """Fetch a commit that is on no branch that was fetched; False where there is none."""
        with self._alone():
            try:
                self._fetch("origin", f"{sha}:{checkout.REMOTE}nightwatch-releases/{sha}")
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
        asked = "".join(f"{oid}\n" for oid in sorted(set(oids))).encode()
        if not asked:
            return
        listed = self.view.run("cat-file", "--batch-check=%(objectname)", stdin=asked).decode()
        missing = [line.split()[0] for line in listed.splitlines() if line.endswith(" missing")]
        if missing:
            with self._alone():
                self._fetch("--stdin", "origin", stdin="".join(f"{oid}\n" for oid in missing))

    def _prepare(self) -> None:
        store, view = self.store.folder, self.view.folder
        borrows = view / "objects" / "info" / "alternates"  # written last
        if not borrows.exists():
            for folder in (store, view):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                new_repository(folder, "none")
            atomic_files.write(borrows, f"{(store / 'objects').resolve()}\n".encode())
        self.store.run("config", "remote.origin.url", self._origin.address)

    @sending()
    def _fetch(self, *arguments: str, stdin: str = "") -> None:
        token = self._origin.token()
        asked = "\n".join((*arguments, stdin)).encode()  # of git's own protocol: what it is told
        MANIFEST.sent(self._origin.service, "git fetch", self._origin.address, asked)
        outcome = self.store.attempt(
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"),
            *("--filter=blob:none", *arguments),
            stdin=stdin.encode(),
            timeout=FETCHING,
            environment=self._origin.environment(token, "noop" if stdin else "default"),
        )
        if not outcome.code:
            return
        complaint = outcome.complaint.replace(self._origin.basic(token), "***")
        words, name = words_of(complaint, token), self._origin.service
        if "couldn't find remote ref" in words:
            raise NoSuchBranch(f"{name} has no such branch ({words}): set NIGHTWATCH_BASE_BRANCH")
        if _LOST.search(complaint):
            raise TryLater(f"cloning was cut short, the next night goes on from there: {words}")
        raise CloneRefused(f"{name} refused to be cloned: {words}")

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


def _obtained(clone: Clone, oids: Sequence[str]) -> bool:
    """Fetch blobs that are not there; False where they are too many, or nobody answers."""
    if len(set(oids)) > FILE_VERSIONS:
        return False
    try:
        clone.fetch_blobs(oids)
    except (TryLater, GiveUp):
        return False
    return True


class Described(NamedTuple):
    """A repository, as its host describes it."""

    full_name: str  # its new one where it has moved
    default_branch: str
    html_url: str
    kib: int = 0


class _Clone(Protocol):
    """What a host tells about a repository."""

    def _describe(self) -> Described: ...

    def _sha_of(self, names: Sequence[str], *, branches: Sequence[str]) -> str: ...  # or nothing

    def _origin_of(self, described: Described) -> Origin: ...

    def _sizes(self, sha: str) -> Mapping[str, int]: ...  # of files by sha, where it tells them


class CloneHost(_Clone, checkout.Checkout):
    """The code of a repository, over a partial clone in the state folder.

    Every method raises `CloneRefused` where the repository may not be, or is too large to be,
    cloned; `StopTheNight` where there is no such branch.
    """

    def __init__(self, folder: Path, base_branch: str = "") -> None:
        """Clone below `folder`, once asked; an empty branch means the default."""
        checkout.Checkout.__init__(self, folder, base_branch)
        self._is_fetched = False

    @property
    def git(self) -> Git:
        """Return the store of branches, tags and history, which is fetched before it is read."""
        if not self._is_fetched:
            self._fetch()
        return self._clone.store

    @cached_property
    def repository(self) -> str:
        return self._described.full_name

    @cached_property
    def address(self) -> str:
        return self._described.html_url

    def head(self) -> Commit:
        """Return the head of the base branch; what was pushed since the last call is fetched."""
        self._fetch()
        return super().head()

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """Return the commit of a tag, a sha or the one that begins so; else None.

        What no branch that was fetched holds is looked up at the host, and fetched.
        """
        commit = super().commit_of(name, branches=branches)
        if commit:
            return commit
        name = name.strip()
        sha = self._sha_of(checkout.shas_in(name), branches=[name] if branches else [])
        if sha and (self._clone.has(sha) or self._clone.fetch_commit(sha)):
            return super().commit_of(sha)
        return None

    def _reader(self, commit: Commit) -> GitReader:
        if not is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        if not self._clone.has(commit.sha):  # another machine has chosen the commit
            self._fetch()
            if not self._clone.has(commit.sha) and not self._clone.fetch_commit(commit.sha):
                raise GiveUp(f"the repository does not have commit {commit.sha[:10]} any more")
        self._clone.fetch_files(commit.sha, partial(self._sizes, commit.sha), FILE_BYTES)
        return GitReader(self._clone.view, commit, partial(_obtained, self._clone))

    def base(self) -> tuple[str, str]:
        """Return name and head of the base branch: the default one where none is set."""
        self._base_branch = self._base_branch or self._described.default_branch
        return super().base()

    def _fetch(self) -> None:
        self._clone.fetch(self._base_branch or self._described.default_branch)
        self._is_fetched = True

    @cached_property
    def _described(self) -> Described:
        return self._describe()

    @cached_property
    def _clone(self) -> Clone:
        name, kib = self._described.full_name, self._described.kib
        if kib > REPOSITORY_KIB:
            raise CloneRefused(f"{name} has {kib // 1024} MiB: too large to be cloned")
        return Clone(self._folder / name.replace("/", "__"), self._origin_of(self._described))
