"""A GitHub repository as the code host without a clone: everything through the API."""

from datetime import datetime
from urllib.parse import quote

from nightwatch_core.adapters.git.checkout import SPELLINGS
from nightwatch_core.adapters.github.client import GitHubClient
from nightwatch_core.adapters.github.code_cache import CodeCache
from nightwatch_core.adapters.github.errors import Rejected, plain
from nightwatch_core.adapters.github.pulls import merged_pulls
from nightwatch_core.adapters.github.reader import ApiReader
from nightwatch_core.adapters.github.rows import Row, Text, place, read
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.code import Commit, MergedPull, Release
from nightwatch_core.ports import Records

MOST_RELEASES = 10  # each costs a question for its date


class CommitDate(Row):
    """When a commit was made."""

    date: datetime


class CommitAbout(Row):
    """What a commit says of itself."""

    committer: CommitDate


class FoundCommit(Row):
    """A commit by any of its names."""

    sha: Text
    commit: CommitAbout


class GitHubApiCode:
    """A `CodeHost` for repositories that may not be cloned."""

    def __init__(
        self, client: GitHubClient, repository: str, records: Records, base_branch: str = ""
    ) -> None:
        """`records` keep what was read, for all readers; no branch means the default one."""
        self._place = place(client, repository)
        self._cache = CodeCache(records)
        self._base_branch = base_branch

    def head(self, release: str = "") -> Commit:
        """The commit of `release` (a tag or a commit sha), else the head of the base branch."""
        branch, wanted = self._base(), release.strip()
        for spelling in SPELLINGS if wanted else ():
            if found := self._found(f"tags/{spelling(wanted)}"):
                return self._commit(found, branch, f"release {plain(spelling(wanted))} (tag)")
        is_hex = 7 <= len(wanted) <= 64 and set(wanted.lower()) <= set("0123456789abcdef")
        if is_hex and (found := self._found(wanted.lower())):
            return self._commit(found, branch, f"release {found.sha[:10]} (commit)")
        found = self._found(f"heads/{branch}")
        if found is None:
            raise StopTheNight(f"GitHub has no branch {branch[:80]!a}: set NIGHTWATCH_BASE_BRANCH")
        unknown = f"; release {plain(wanted)} is no tag or commit here" if wanted else ""
        return self._commit(found, branch, f"head of {branch}{unknown}")

    def reader(self, commit: Commit) -> ApiReader:
        """The tree at that commit."""
        return ApiReader(self._place, commit, self._cache)

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Pull requests merged into the base branch, newest first, at most 200."""
        return merged_pulls(self._place, self._base(), since)

    def releases(self) -> tuple[Release, ...]:
        """Ten tags, newest first."""
        rows = self._place.client.ask(
            lambda rest: rest.repos.list_tags(*self._place.at, per_page=MOST_RELEASES)
        )
        names = [str(row.get("name")) for row in rows] if isinstance(rows, list) else []
        found = ((name, self._found(f"tags/{name}")) for name in names)
        told = (
            Release(version=name, sha=one.sha, at=one.commit.committer.date)
            for name, one in found
            if one
        )
        return tuple(sorted(told, key=lambda release: release.at, reverse=True))

    def probe(self) -> str:
        """Say which commit of which repository is read, and how many files it has."""
        commit = self.head()
        files = len(self.reader(commit).paths())
        return f"{commit.repository} at {commit.sha[:10]} ({commit.because}), {files} files"

    def _base(self) -> str:
        return self._base_branch or self._place.described().default_branch

    def _commit(self, found: FoundCommit, branch: str, because: str) -> Commit:
        return Commit(
            repository=self._place.full_name,
            sha=found.sha,
            branch=branch,
            at=found.commit.committer.date,
            because=because,
        )

    def _found(self, name: str) -> FoundCommit | None:
        """The commit that a name stands for; None where it stands for none."""
        if ".." in name or len(name) > 250 or not name.isprintable():
            return None
        at, ref = self._place.at, quote(name, safe="/")
        try:
            answer = self._place.client.ask(lambda rest: rest.repos.get_commit(*at, ref))
        except Rejected as error:
            if error.status in (404, 409, 422):
                return None
            raise
        return read(FoundCommit, answer)
