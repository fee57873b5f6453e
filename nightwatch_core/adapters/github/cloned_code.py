"""A GitHub repository as the code host: cloned once, then read as git objects."""

from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import httpx

from nightwatch_core.adapters.git.command import is_sha
from nightwatch_core.adapters.git.reader import LARGEST_FILE
from nightwatch_core.adapters.github.client import GitHubClient
from nightwatch_core.adapters.github.clone import (
    Clone,
    ClonedCheckout,
    ClonedReader,
    CloneRefused,
    Origin,
)
from nightwatch_core.adapters.github.rows import Repository, Tree, place, read
from nightwatch_core.adapters.stores.single_flight import Latest
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import Commit, MergedPull, Release

LARGEST_REPOSITORY = 5 * 1024 * 1024  # KiB, as GitHub counts it
MOST_READERS = 4  # commits whose readers are kept


class _Pinned(NamedTuple):
    """A commit, and when its clone was made: made anew, it lacks what was fetched."""

    commit: Commit
    made: int


class GitHubCode:
    """A `CodeHost` over a partial clone in the state folder.

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
        """`repository` is owner/name, `folder` keeps clones; an empty branch means the default."""
        self._place = place(client, repository)
        self._folder = folder
        self._base_branch = base_branch
        self._readers = Latest(self._reader, MOST_READERS)

    def head(self, release: str = "") -> Commit:
        """The commit of `release` (a tag or a commit sha), else the head of the base branch.

        What was pushed since the last call is fetched.
        """
        self._clone.fetch(self._base)
        wanted = release.strip().lower()
        found = self._checkout.head(release)
        if is_sha(wanted) and found.sha != wanted and self._clone.fetch_commit(wanted):
            return self._checkout.head(wanted)
        return found

    def reader(self, commit: Commit) -> ClonedReader:
        """The tree at that commit, whose files are fetched the first time that it is asked for."""
        if not is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        return self._readers.get(_Pinned(commit, self._clone.made))

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Pull requests merged into the base branch, newest first, at most 200."""
        return self._checkout.pulls_merged_since(since)

    def releases(self) -> tuple[Release, ...]:
        """Tags of commits, newest first, at most 100."""
        return self._checkout.releases()

    def probe(self) -> str:
        """Say which commit of which repository is read, and how many files it has."""
        commit = self.head()
        files = len(self.reader(commit).paths())
        return f"{commit.repository} at {commit.sha[:10]} ({commit.because}), {files} files"

    def _reader(self, pinned: _Pinned) -> ClonedReader:
        commit = pinned.commit
        if not self._clone.has(commit.sha):  # another machine has chosen the commit
            self._clone.fetch(self._base)
            if not self._clone.has(commit.sha) and not self._clone.fetch_commit(commit.sha):
                raise GiveUp(f"GitHub does not have commit {commit.sha[:10]} any more")
        self._clone.fetch_files(commit.sha, self._sizes(commit.sha), LARGEST_FILE)
        return ClonedReader(self._clone, commit)

    @cached_property
    def _described(self) -> Repository:
        return self._place.described()

    @property
    def _base(self) -> str:
        return self._base_branch or self._described.default_branch

    @cached_property
    def _clone(self) -> Clone:
        described = self._described
        if described.size > LARGEST_REPOSITORY:
            raise CloneRefused(
                f"{described.full_name} has {described.size // 1024} MiB: too large to be cloned"
            )
        home = place(self._place.client, described.full_name)  # its new name where it has moved
        address = clone_address(home.client.address, home.full_name)
        origin = Origin(address, home.client.token)
        return Clone(self._folder / f"{home.owner}__{home.name}", origin)

    @cached_property
    def _checkout(self) -> ClonedCheckout:
        return ClonedCheckout(self._clone, self._place.full_name, self._base)

    def _sizes(self, sha: str) -> dict[str, int]:
        """Sizes of the tree's files, so that huge ones are not fetched; empty where not told."""
        place = self._place
        try:
            answer = place.client.ask(lambda rest: rest.git.get_tree(*place.at, sha, recursive="1"))
            entries = read(Tree, answer).tree
        except (TryLater, GiveUp):
            return {}
        return {entry.sha: entry.size for entry in entries if entry.size is not None}


def clone_address(api: str, full_name: str) -> str:
    """Where git finds the repository of an API.

    >>> clone_address("https://api.github.com", "acme/shop")
    'https://github.com/acme/shop.git'
    >>> clone_address("https://ghe.example/api/v3", "acme/shop")
    'https://ghe.example/acme/shop.git'
    """
    url = httpx.URL(api)
    port = f":{url.port}" if url.port else ""
    return f"{url.scheme}://{url.host.removeprefix('api.')}{port}/{full_name}.git"
