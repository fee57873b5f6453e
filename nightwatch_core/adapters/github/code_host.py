"""A GitHub repository as the code host: cloned where that is allowed, else read by the API."""

import base64
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

import httpx
from filelock import FileLock, Timeout

from nightwatch_core.adapters.git import checkout
from nightwatch_core.adapters.git.command import FILE_BYTES, Git, is_sha, new_repository
from nightwatch_core.adapters.git.reader import GitReader
from nightwatch_core.adapters.github.api_reader import ApiReader
from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.connection import SILENCE, printable
from nightwatch_core.adapters.github.pulls import merged_pulls
from nightwatch_core.adapters.github.rows import NamedCommitRow, RepositoryRow, TreeRow
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.code_cache import SingleFlight
from nightwatch_core.adapters.stores.traffic import MANIFEST, sending
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.code import Commit, MergedPull, Release
from nightwatch_core.ports import CodeReader

FETCHING = 900.0  # one fetch by git
FETCHING_SILENCE = 60  # in which git is sent less than 1,000 bytes a second
REPOSITORY_KIB = 5 * 1024 * 1024  # as GitHub counts it; larger ones are not cloned
READERS = 4  # commits whose readers are kept
FILE_VERSIONS = 500  # fetched to find out who wrote a line
MAINLINE_COMMITS = 1_000  # looked through for the newest of a moment
RELEASES = 10  # each costs a request for its date

# A GitHub repository as the code host, read through the API alone.


class ApiHost:
    """The code of a repository that may not be cloned: everything through the API."""

    def __init__(self, client: GitHubClient, repository: str, base_branch: str = "") -> None:
        """Ask nothing yet; no branch means the default one."""
        self._repository = Repository.of(client, repository)
        self._readers: SingleFlight[str, ApiReader] = SingleFlight(READERS)
        self._base_branch = base_branch
        self._named: dict[str, NamedCommitRow | None] = {}

    def head(self) -> Commit:
        return self._commit(self._tip(), checkout.head_text(self._base))

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """Return the commit of a tag, a sha or the one that begins so; else None."""
        revision = name.strip()
        for version in checkout.spellings(revision) if revision else ():
            if row := self._find(f"tags/{version}"):
                return self._commit(row, checkout.tag_text(version))
        if branches and revision and (row := self._find(f"heads/{revision}")):
            return self._commit(row, checkout.head_text(revision))
        for digits in checkout.shas_in(revision):
            if row := self._find(digits):
                return self._commit(row, checkout.commit_text(row.sha))
        return None

    def commit_at(self, moment: datetime) -> Commit:
        """Return the newest commit of the moment on the mainline, among the last 1,000 commits."""
        row = next((row for row in self._mainline if row.at <= moment), None)
        if row is None:
            text = f"{checkout.head_text(self._base)}; {checkout.nothing_so_old(moment)}"
            return self._commit(self._mainline[0], text)
        return self._commit(row, checkout.newest_text(self._base, moment))

    def reader(self, commit: Commit) -> ApiReader:
        return self._readers.get(commit.sha, lambda: ApiReader(self._repository, commit))

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Return pull requests merged into the base branch, newest first, at most 200."""
        return merged_pulls(self._repository, self._base, since)

    def releases(self) -> tuple[Release, ...]:
        rows = self._repository.ask("tags", per_page=RELEASES)
        names = [str(row.get("name")) for row in rows] if isinstance(rows, list) else []
        commits = ((name, self._find(f"tags/{name}")) for name in names)
        releases = (Release(version=name, sha=row.sha, at=row.at) for name, row in commits if row)
        return tuple(sorted(releases, key=lambda release: release.at, reverse=True))

    @cached_property
    def _base(self) -> str:
        return self._base_branch or self._repository.describe().default_branch

    def _commit(self, row: NamedCommitRow, because: str) -> Commit:
        return Commit(
            repository=self._repository.full_name,
            sha=row.sha,
            branch=self._base,
            at=row.at,
            address=row.html_url.partition("/commit/")[0],
            because=because,
        )

    def _tip(self) -> NamedCommitRow:
        row = find_commit(self._repository, f"heads/{self._base}")
        if row is None:
            raise StopTheNight(
                f"GitHub has no branch {self._base[:80]!a}: set NIGHTWATCH_BASE_BRANCH"
            )
        return row

    @cached_property
    def _mainline(self) -> tuple[NamedCommitRow, ...]:
        """The commits that the base branch went through, newest first, without merged branches."""
        row: NamedCommitRow | None = self._tip()
        assert row is not None
        sha, mainline = row.sha, list[NamedCommitRow]()
        rows = self._repository.read_all(NamedCommitRow, "commits", sha=sha)
        by_sha = {row.sha: row for row in islice(rows, MAINLINE_COMMITS)}
        while row:
            mainline.append(row)
            row = by_sha.get(row.parents[0]) if row.parents else None
        return tuple(mainline)

    def _find(self, name: str) -> NamedCommitRow | None:
        if name not in self._named:
            self._named[name] = find_commit(self._repository, name)
        return self._named[name]


def find_commit(repository: Repository, name: str) -> NamedCommitRow | None:
    """Return the commit that a name stands for; None where it stands for none."""
    if ".." in name or len(name) > 250 or not name.isprintable():
        return None
    ref = quote(name, safe="/")
    return repository.find(NamedCommitRow, f"commits/{ref}", (404, 409, 422))


# A partial clone of a GitHub repository: its history at once, its files commit by commit.
#
# There are two git folders. The *store* knows GitHub and is only fetched into. The *view*
# borrows the
# store's objects and knows nothing else: no remote, no credentials, nothing that git could ask for
# what is missing. Files are read through the view.

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
        branch, `TryLater` where GitHub does not answer.
        """
        with self._alone():
            self._prepare()
            spec = f"+refs/heads/{branch}:{checkout.REMOTE}{branch}"
            self._fetch("--prune", "origin", spec, f"+{checkout.TAG}*:{checkout.TAG}*")

    def has(self, sha: str) -> bool:
        """Tell whether the commit was fetched."""
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
        """Fetch those that are not there."""
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

    def _fetch(self, *arguments: str, stdin: str = "") -> None:
        with sending():
            self._ask(arguments, stdin)

    def _ask(self, arguments: Sequence[str], stdin: str) -> None:
        token = self._origin.token()
        asked = "\n".join((*arguments, stdin)).encode()  # of git's own protocol: what it is told
        MANIFEST.sent("GitHub", "git fetch", self._origin.address, asked)
        outcome = self.store.attempt(
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"),
            *("--filter=blob:none", *arguments),
            stdin=stdin.encode(),
            timeout=FETCHING,
            environment=self._origin.environment(token, "noop" if stdin else "default"),
        )
        if not outcome.code:
            return
        words = printable(outcome.complaint.replace(token, "***").replace(_basic(token), "***"))
        if "couldn't find remote ref" in words:
            raise NoSuchBranch(f"GitHub has no such branch ({words}): set NIGHTWATCH_BASE_BRANCH")
        if _LOST.search(words):
            raise TryLater(f"cloning was cut short, the next night goes on from there: {words}")
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


def _obtained(clone: Clone, oids: Sequence[str]) -> bool:
    """Fetch blobs that are not there; False where they are too many, or GitHub does not answer."""
    if len(set(oids)) > FILE_VERSIONS:
        return False
    try:
        clone.fetch_blobs(oids)
    except (TryLater, GiveUp):
        return False
    return True


T = TypeVar("T")


class GitHubHost:
    """A `CodeHost`; once cloning was refused it asks the API only."""

    def __init__(self, api: ApiHost, clone: "CloneHost | None" = None) -> None:
        """Read a clone; without `clone`, cloning is switched off."""
        self._api = api
        self._clone = clone
        self._why = "" if clone else "cloning is switched off"

    def head(self) -> Commit:
        return self._read(lambda host: host.head())

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """Return the commit of a tag, a sha or the one that begins so; else None."""
        return self._read(lambda host: host.commit_of(name, branches=branches))

    def commit_at(self, moment: datetime) -> Commit:
        return self._read(lambda host: host.commit_at(moment))

    def reader(self, commit: Commit) -> CodeReader:
        return self._read(lambda host: host.reader(commit))

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        try:
            return self._api.pulls_merged_since(since)
        except GiveUp:  # the token may read contents only
            if self._clone is None:
                raise
            return self._clone.pulls_merged_since(since)

    def releases(self) -> tuple[Release, ...]:
        return self._clone.releases() if self._clone else self._api.releases()

    def probe(self) -> str:
        commit = self.head()
        files = len(self.reader(commit).paths())
        how = "from a clone" if self._clone else f"through the API: {self._why}"
        name = f"{commit.repository} at {commit.sha[:10]} ({commit.because})"
        return f"{name}, {files} files, read {how}"

    def _read(self, read: Callable[["CloneHost | ApiHost"], T]) -> T:
        if self._clone:
            try:
                return read(self._clone)
            except CloneRefused as refused:
                self._clone, self._why = None, str(refused)
        return read(self._api)


class CloneHost(checkout.Checkout):
    """The code of a repository, over a partial clone in the state folder.

    Every method raises `CloneRefused` where the repository may not be, or is too large to be,
    cloned; `StopTheNight` where there is no such branch.
    """

    def __init__(
        self, client: GitHubClient, repository: str, folder: Path, base_branch: str = ""
    ) -> None:
        """Clone owner/name below `folder`, once asked; an empty branch means the default."""
        super().__init__(folder, base_branch)
        self._api = Repository.of(client, repository)
        self._is_fetched = False
        self._readers: SingleFlight[str, GitReader] = SingleFlight(READERS)

    @property
    def git(self) -> Git:
        """Return the store of branches, tags and history, which is fetched before it is read."""
        if not self._is_fetched:
            self._fetch()
        return self._clone.store

    @cached_property
    def repository(self) -> str:
        """Return owner/name."""
        return self._api.full_name

    @cached_property
    def address(self) -> str:
        """Return its web address at GitHub or an Enterprise server."""
        return self._described.html_url

    def head(self) -> Commit:
        """Return the head of the base branch; what was pushed since the last call is fetched."""
        self._fetch()
        return super().head()

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """Return the commit of a tag, a sha or the one that begins so; else None.

        What no branch that was fetched holds is looked up at GitHub, and fetched.
        """
        commit = super().commit_of(name, branches=branches)
        if commit:
            return commit
        name = name.strip()
        asked = (*([f"heads/{name}"] if branches else []), *checkout.shas_in(name))
        row = next(filter(None, (find_commit(self._api, item) for item in asked)), None)
        if row and (self._clone.has(row.sha) or self._clone.fetch_commit(row.sha)):
            return super().commit_of(row.sha)
        return None

    def reader(self, commit: Commit) -> GitReader:
        if not is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        return self._readers.get(commit.sha, lambda: self._reader(commit))

    def _reader(self, commit: Commit) -> GitReader:
        if not self._clone.has(commit.sha):  # another machine has chosen the commit
            self._fetch()
            if not self._clone.has(commit.sha) and not self._clone.fetch_commit(commit.sha):
                raise GiveUp(f"GitHub does not have commit {commit.sha[:10]} any more")
        self._clone.fetch_files(commit.sha, partial(self._sizes, commit.sha), FILE_BYTES)
        return GitReader(self._clone.view, commit, partial(_obtained, self._clone))

    def base(self) -> tuple[str, str]:
        """Return name and head of the base branch: GitHub's default one where none is set."""
        self._base_branch = self._base_branch or self._described.default_branch
        return super().base()

    def _fetch(self) -> None:
        self._clone.fetch(self._base_branch or self._described.default_branch)
        self._is_fetched = True

    @cached_property
    def _described(self) -> RepositoryRow:
        return self._api.describe()

    @cached_property
    def _clone(self) -> Clone:
        described = self._described
        if described.size > REPOSITORY_KIB:
            raise CloneRefused(
                f"{described.full_name} has {described.size // 1024} MiB: too large to be cloned"
            )
        client = self._api.client
        home = Repository.of(client, described.full_name)  # its new name where it has moved
        silence = round(client.silence / SILENCE * FETCHING_SILENCE) or 1
        origin = Origin(clone_address(client.address, home.full_name), client.token, silence)
        return Clone(self._folder / f"{home.owner}__{home.name}", origin)

    def _sizes(self, sha: str) -> dict[str, int]:
        """Return sizes of files by sha, so that huge ones are not fetched; empty where not told."""
        try:
            with sending():
                tree = self._api.read(TreeRow, f"git/trees/{sha}", recursive="1")
        except (TryLater, GiveUp):
            return {}
        return {entry.sha: entry.size for entry in tree.tree if entry.size is not None}


def clone_address(api: str, full_name: str) -> str:
    """Return where git finds the repository of an API.

    >>> clone_address("https://api.github.com", "acme/shop")
    'https://github.com/acme/shop.git'
    >>> clone_address("https://ghe.example/api/v3", "acme/shop")
    'https://ghe.example/acme/shop.git'
    """
    url = httpx.URL(api)
    port = f":{url.port}" if url.port else ""
    return f"{url.scheme}://{url.host.removeprefix('api.')}{port}/{full_name}.git"
