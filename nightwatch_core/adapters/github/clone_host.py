"""A GitHub repository as the code host: cloned once, then read as git objects."""

from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import httpx

from nightwatch_core.adapters.git.command import is_sha
from nightwatch_core.adapters.git.limits import FILE_BYTES
from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.clone import (
    Clone,
    ClonedCheckout,
    ClonedReader,
    CloneRefused,
    Origin,
)
from nightwatch_core.adapters.github.limits import READERS, REPOSITORY_KIB
from nightwatch_core.adapters.github.rows import RepositoryRow, TreeRow
from nightwatch_core.adapters.stores.single_flight import SingleFlight
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import Commit, MergedPull, Release


class _Pinned(NamedTuple):
    """A commit, and when its clone was made: made anew, it lacks what was fetched."""

    commit: Commit
    made: int


class CloneHost:
    """The code of a repository, over a partial clone in the state folder.

    Every method raises `CloneRefused` where the repository may not be, or is too large to be,
    cloned; `StopTheNight` where there is no such branch.
    """

    def __init__(
        self,
        client: GitHubClient,
        repository: str,
        folder: Path,
        base_branch: str = "",
    ) -> None:
        """Clone owner/name below `folder`, once asked; an empty branch means the default."""
        self._repository = Repository.of(client, repository)
        self._folder = folder
        self._base_branch = base_branch
        self._readers: SingleFlight[_Pinned, ClonedReader] = SingleFlight(READERS)

    def head(self, release: str = "") -> Commit:
        """Return the commit of `release` (a tag or sha), else the head of the base branch.

        What was pushed since the last call is fetched.
        """
        self._clone.fetch(self._base)
        wanted = release.strip().lower()
        commit = self._checkout.head(release)
        if is_sha(wanted) and commit.sha != wanted and self._clone.fetch_commit(wanted):
            return self._checkout.head(wanted)
        return commit

    def reader(self, commit: Commit) -> ClonedReader:
        """Read the tree at that commit, whose files are fetched the first time."""
        if not is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        pinned = _Pinned(commit, self._clone.made)
        return self._readers.get(pinned, lambda: self._reader(commit))

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
        self._clone.fetch_files(commit.sha, self._sizes(commit.sha), FILE_BYTES)
        return ClonedReader(self._clone, commit)

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
        origin = Origin(clone_address(client.address, home.full_name), client.token)
        return Clone(self._folder / f"{home.owner}__{home.name}", origin)

    @cached_property
    def _checkout(self) -> ClonedCheckout:
        return ClonedCheckout(self._clone, self._repository.full_name, self._base)

    def _sizes(self, sha: str) -> dict[str, int]:
        """Return sizes of files by sha, so that huge ones are not fetched; empty where not told."""
        try:
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
