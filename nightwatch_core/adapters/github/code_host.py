"""A GitHub repository as the code host: cloned where that is allowed, else read by the API."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import httpx

from nightwatch_core.adapters.git import checkout
from nightwatch_core.adapters.github.api_reader import ApiReader
from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.connection import SILENCE
from nightwatch_core.adapters.github.pulls import merged_pulls
from nightwatch_core.adapters.github.rows import NamedCommitRow, TagRow, TreeRow, row
from nightwatch_core.adapters.hosts.clone import (
    FETCHING_SILENCE,
    CloneHost,
    CloneRefused,
    Described,
    Origin,
)
from nightwatch_core.adapters.hosts.writes import unless_absent
from nightwatch_core.adapters.stores.code_cache import SingleFlight
from nightwatch_core.adapters.stores.traffic import sending
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.code import Commit, MergedPull, Release
from nightwatch_core.ports import CodeReader

MAINLINE_COMMITS = 1_000  # looked through for the newest of a moment
RELEASES = 10  # each costs a request for its date

# A GitHub repository as the code host, read through the API alone.


class ApiHost:
    """The code of a repository that may not be cloned: everything through the API."""

    def __init__(self, client: GitHubClient, repository: str, base_branch: str = "") -> None:
        """Ask nothing yet; no branch means the default one."""
        self._repository = Repository.of(client, repository)
        self._readers: SingleFlight[str, ApiReader] = SingleFlight(checkout.READERS)
        self._base_branch = base_branch
        self._find = cache(partial(find_commit, self._repository))

    def head(self) -> Commit:
        return self._commit(self._tip(), checkout.head_text(self._base))

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
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
        return merged_pulls(self._repository, self._base, since)

    def releases(self) -> tuple[Release, ...]:
        ask = partial(self._repository.rest.repos.list_tags, *self._repository.at)
        names = (tag.name for tag in islice(self._repository.rows(TagRow, ask, RELEASES), RELEASES))
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
            name = f"{self._base[:80]!a}"
            raise StopTheNight(f"GitHub has no branch {name}: set NIGHTWATCH_BASE_BRANCH")
        return row

    @cached_property
    def _mainline(self) -> tuple[NamedCommitRow, ...]:
        """The commits that the base branch went through, newest first, without merged branches."""
        tip, mainline = self._tip(), list[NamedCommitRow]()
        ask = partial(self._repository.rest.repos.list_commits, *self._repository.at, sha=tip.sha)
        rows = self._repository.rows(NamedCommitRow, ask)
        by_sha = {row.sha: row for row in islice(rows, MAINLINE_COMMITS)}
        commit: NamedCommitRow | None = tip
        while commit:
            mainline.append(commit)
            commit = by_sha.get(commit.parents[0]) if commit.parents else None
        return tuple(mainline)


def find_commit(repository: Repository, name: str) -> NamedCommitRow | None:
    """Return the commit that a name stands for; None where it stands for none."""
    if ".." in name or len(name) > 250 or not name.isprintable():
        return None
    ask = partial(repository.rest.repos.get_commit, *repository.at, quote(name, safe="/"))
    return unless_absent(lambda: row(NamedCommitRow, ask()), (404, 409, 422))


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


class GitHubClone(CloneHost):
    """The code of a repository of GitHub, over a partial clone in the state folder."""

    def __init__(
        self, client: GitHubClient, repository: str, folder: Path, base_branch: str = ""
    ) -> None:
        super().__init__(folder, base_branch)
        self._api = Repository.of(client, repository)

    @cached_property
    def repository(self) -> str:
        """Return owner/name."""
        return self._api.full_name

    def _describe(self) -> Described:
        row = self._api.describe()
        return Described(row.full_name, row.default_branch, row.html_url, row.size)

    def _sha_of(self, names: Sequence[str], *, branches: Sequence[str]) -> str:
        asked = (*(f"heads/{name}" for name in branches), *names)
        row = next(filter(None, (find_commit(self._api, item) for item in asked)), None)
        return row.sha if row else ""

    def _origin_of(self, described: Described) -> Origin:
        client = self._api.client
        silence = round(client.silence / SILENCE * FETCHING_SILENCE) or 1
        return Origin(clone_address(client.address, described.full_name), client.token, silence)

    def _sizes(self, sha: str) -> Mapping[str, int]:
        try:
            with sending():
                at = self._api.at
                tree = row(TreeRow, self._api.rest.git.get_tree(*at, sha, recursive="1"))
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
