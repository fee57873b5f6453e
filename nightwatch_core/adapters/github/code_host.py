"""A GitHub repository as the code host: cloned where that is allowed, else read by the API."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar
from urllib.parse import quote

from nightwatch_core.adapters.git.checkout import spellings
from nightwatch_core.adapters.github.api_reader import ApiReader
from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.clone import CloneRefused
from nightwatch_core.adapters.github.clone_host import CloneHost
from nightwatch_core.adapters.github.code_cache import CodeCache
from nightwatch_core.adapters.github.errors import Rejected, printable
from nightwatch_core.adapters.github.limits import RELEASES
from nightwatch_core.adapters.github.merged_pulls import merged_pulls
from nightwatch_core.adapters.github.rows import NamedCommitRow
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.code import Commit, MergedPull, Release
from nightwatch_core.ports import CodeReader, Records

T = TypeVar("T")


class GitHubHost:
    """A `CodeHost`; once cloning was refused it asks the API only."""

    def __init__(self, api: "ApiHost", clone: CloneHost | None = None) -> None:
        """Read a clone; without `clone`, cloning is switched off."""
        self._api = api
        self._clone = clone
        self._why = "" if clone else "cloning is switched off"

    def head(self, release: str = "") -> Commit:
        """Return the commit of `release` (a tag or sha), else the head of the base branch."""
        return self._read(lambda host: host.head(release))

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


class ApiHost:
    """The code of a repository that may not be cloned: everything through the API."""

    def __init__(
        self, client: GitHubClient, repository: str, records: Records, base_branch: str = ""
    ) -> None:
        """Keep what was read in `records`, for all readers; no branch means the default one."""
        self._repository = Repository.of(client, repository)
        self._cache = CodeCache(records)
        self._base_branch = base_branch

    def head(self, release: str = "") -> Commit:
        """Return the commit of `release` (a tag or sha), else the head of the base branch."""
        branch, wanted = self._base(), release.strip()
        for name in spellings(wanted) if wanted else ():
            if row := self._find(f"tags/{name}"):
                return self._commit(row, branch, f"release {printable(name)} (tag)")
        is_hex = 7 <= len(wanted) <= 64 and set(wanted.lower()) <= set("0123456789abcdef")
        if is_hex and (row := self._find(wanted.lower())):
            return self._commit(row, branch, f"release {row.sha[:10]} (commit)")
        row = self._find(f"heads/{branch}")
        if row is None:
            raise StopTheNight(f"GitHub has no branch {branch[:80]!a}: set NIGHTWATCH_BASE_BRANCH")
        missing = f"; release {printable(wanted)} is no tag or commit here" if wanted else ""
        return self._commit(row, branch, f"head of {branch}{missing}")

    def reader(self, commit: Commit) -> ApiReader:
        """Read the tree at that commit."""
        return ApiReader(self._repository, commit, self._cache)

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Return pull requests merged into the base branch, newest first, at most 200."""
        return merged_pulls(self._repository, self._base(), since)

    def releases(self) -> tuple[Release, ...]:
        """Return ten tags, newest first."""
        rows = self._repository.ask(lambda rest, at: rest.repos.list_tags(*at, per_page=RELEASES))
        names = [str(row.get("name")) for row in rows] if isinstance(rows, list) else []
        commits = ((name, self._find(f"tags/{name}")) for name in names)
        releases = (Release(version=name, sha=row.sha, at=row.at) for name, row in commits if row)
        return tuple(sorted(releases, key=lambda release: release.at, reverse=True))

    def _base(self) -> str:
        return self._base_branch or self._repository.describe().default_branch

    def _commit(self, row: NamedCommitRow, branch: str, because: str) -> Commit:
        return Commit(
            repository=self._repository.full_name,
            sha=row.sha,
            branch=branch,
            at=row.at,
            because=because,
        )

    def _find(self, name: str) -> NamedCommitRow | None:
        """Return the commit that a name stands for; None where it stands for none."""
        if ".." in name or len(name) > 250 or not name.isprintable():
            return None
        ref = quote(name, safe="/")
        try:
            return self._repository.read(
                NamedCommitRow, lambda rest, at: rest.repos.get_commit(*at, ref)
            )
        except Rejected as error:
            if error.status in (404, 409, 422):
                return None
            raise
