"""A GitHub repository as the code host: cloned where that is allowed, else read by the API."""

from collections.abc import Callable
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import httpx

from nightwatch_core.adapters.git.command import is_sha
from nightwatch_core.adapters.git.commit_names import shas_in
from nightwatch_core.adapters.git.limits import FILE_BYTES
from nightwatch_core.adapters.github.api_host import ApiHost, find_commit
from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.clone import (
    Clone,
    ClonedCheckout,
    CloneRefused,
    Origin,
)
from nightwatch_core.adapters.github.cloned_reader import ClonedReader
from nightwatch_core.adapters.github.limits import (
    FETCHING_SILENCE,
    READERS,
    REPOSITORY_KIB,
    SILENCE,
)
from nightwatch_core.adapters.github.rows import RepositoryRow, TreeRow
from nightwatch_core.adapters.stores.single_flight import SingleFlight
from nightwatch_core.adapters.stores.traffic import sending
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import Commit, MergedPull, Release
from nightwatch_core.ports import CodeReader

T = TypeVar("T")


class GitHubHost:
    """A `CodeHost`; once cloning was refused it asks the API only."""

    def __init__(self, api: ApiHost, clone: "CloneHost | None" = None) -> None:
        """Read a clone; without `clone`, cloning is switched off."""
        self._api = api
        self._clone = clone
        self._why = "" if clone else "cloning is switched off"

    def head(self) -> Commit:
        """Return the head of the base branch."""
        return self._read(lambda host: host.head())

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """Return the commit of a tag, a sha or the one that begins so; else None."""
        return self._read(lambda host: host.commit_of(name, branches=branches))

    def commit_at(self, moment: datetime) -> Commit:
        """Return the newest commit that the base branch had at that moment."""
        return self._read(lambda host: host.commit_at(moment))

    def reader(self, commit: Commit) -> CodeReader:
        """Read the tree at that commit."""
        return self._read(lambda host: host.reader(commit))

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Return pull requests merged into the base branch, from the history where refused."""
        try:
            return self._api.pulls_merged_since(since)
        except GiveUp:
            if self._clone is None:
                raise
            return self._clone.pulls_merged_since(since)

    def releases(self) -> tuple[Release, ...]:
        """Return releases, newest first."""
        return self._clone.releases() if self._clone else self._api.releases()

    def probe(self) -> str:
        """Say which commit of which repository is read, and how."""
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


class CloneHost:
    """The code of a repository, over a partial clone in the state folder.

    Every method raises `CloneRefused` where the repository may not be, or is too large to be,
    cloned; `StopTheNight` where there is no such branch.
    """

    def __init__(
        self, client: GitHubClient, repository: str, folder: Path, base_branch: str = ""
    ) -> None:
        """Clone owner/name below `folder`, once asked; an empty branch means the default."""
        self._repository = Repository.of(client, repository)
        self._folder = folder
        self._base_branch = base_branch
        self._is_fetched = False
        # By commit and by when its clone was made: made anew, it lacks what was fetched.
        self._readers: SingleFlight[tuple[str, int], ClonedReader] = SingleFlight(READERS)

    def head(self) -> Commit:
        """Return the head of the base branch; what was pushed since the last call is fetched."""
        self._fetch()
        return self._checkout.head()

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """Return the commit of a tag, a sha or the one that begins so; else None.

        What no branch that was fetched holds is looked up at GitHub, and fetched.
        """
        self._fetched()
        commit = self._checkout.commit_of(name, branches=branches)
        if commit or not (sha := self._elsewhere(name.strip(), branches)):
            return commit
        known = self._clone.has(sha) or self._clone.fetch_commit(sha)
        return self._checkout.commit_of(sha) if known else None

    def commit_at(self, moment: datetime) -> Commit:
        """Return the newest commit that the base branch had at that moment."""
        self._fetched()
        return self._checkout.commit_at(moment)

    def reader(self, commit: Commit) -> ClonedReader:
        """Read the tree at that commit, whose files are fetched the first time."""
        if not is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        return self._readers.get((commit.sha, self._clone.made), lambda: self._reader(commit))

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Return pull requests merged into the base branch, newest first, at most 200."""
        return self._checkout.pulls_merged_since(since)

    def releases(self) -> tuple[Release, ...]:
        """Return tags of commits, newest first, at most 100."""
        return self._checkout.releases()

    def _reader(self, commit: Commit) -> ClonedReader:
        if not self._clone.has(commit.sha):  # another machine has chosen the commit
            self._clone.fetch(self._base)
            if not self._clone.has(commit.sha) and not self._clone.fetch_commit(commit.sha):
                raise GiveUp(f"GitHub does not have commit {commit.sha[:10]} any more")
        self._clone.fetch_files(commit.sha, partial(self._sizes, commit.sha), FILE_BYTES)
        return ClonedReader(self._clone, commit)

    def _fetch(self) -> None:
        self._clone.fetch(self._base)
        self._is_fetched = True

    def _fetched(self) -> None:
        """What a night pins its cases to is fetched once, however many there are."""
        if not self._is_fetched:
            self._fetch()

    def _elsewhere(self, name: str, branches: bool) -> str:
        """The sha of a commit that GitHub knows and the clone does not; empty where none is."""
        asked = (*([f"heads/{name}"] if branches else []), *shas_in(name))
        rows = (find_commit(self._repository, one) for one in asked)
        return next((row.sha for row in rows if row), "")

    @cached_property
    def _described(self) -> RepositoryRow:
        return self._repository.describe()

    @property
    def _base(self) -> str:
        return self._base_branch or self._described.default_branch

    @cached_property
    def _clone(self) -> Clone:
        described = self._described
        if described.size > REPOSITORY_KIB:
            raise CloneRefused(
                f"{described.full_name} has {described.size // 1024} MiB: too large to be cloned"
            )
        client = self._repository.client
        home = Repository.of(client, described.full_name)  # its new name where it has moved
        silence = round(client.silence / SILENCE * FETCHING_SILENCE) or 1
        origin = Origin(clone_address(client.address, home.full_name), client.token, silence)
        return Clone(self._folder / f"{home.owner}__{home.name}", origin)

    @cached_property
    def _checkout(self) -> ClonedCheckout:
        name, address = self._repository.full_name, self._described.html_url
        return ClonedCheckout(self._clone, name, self._base, address)

    def _sizes(self, sha: str) -> dict[str, int]:
        """Return sizes of files by sha, so that huge ones are not fetched; empty where not told."""
        try:
            with sending():
                tree = self._repository.read(
                    TreeRow, lambda rest, at: rest.git.get_tree(*at, sha, recursive="1")
                )
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
