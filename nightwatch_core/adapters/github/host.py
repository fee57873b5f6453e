"""A GitHub repository as the code host: cloned where that is allowed, else read by the API."""

from datetime import datetime

from nightwatch_core.adapters.github.api_code import GitHubApiCode
from nightwatch_core.adapters.github.clone import CloneRefused
from nightwatch_core.adapters.github.cloned_code import GitHubCode
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit, MergedPull, Release
from nightwatch_core.ports import CodeReader


class GitHubHost:
    """A `CodeHost`; once cloning was refused it asks the API only."""

    def __init__(self, api: GitHubApiCode, cloned: GitHubCode | None = None) -> None:
        """Without `cloned`, cloning is switched off."""
        self._api = api
        self._cloned = cloned
        self._why = "" if cloned else "cloning is switched off"

    def head(self, release: str = "") -> Commit:
        """The commit of `release` (a tag or a commit sha), else the head of the base branch."""
        if cloned := self._cloned:
            try:
                return cloned.head(release)
            except CloneRefused as refused:
                self._give_up(refused)
        return self._api.head(release)

    def reader(self, commit: Commit) -> CodeReader:
        """The tree at that commit."""
        if cloned := self._cloned:
            try:
                return cloned.reader(commit)
            except CloneRefused as refused:
                self._give_up(refused)
        return self._api.reader(commit)

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Pull requests merged into the base branch; read off the history where GitHub refuses."""
        try:
            return self._api.pulls_merged_since(since)
        except GiveUp:
            if self._cloned is None:
                raise
            return self._cloned.pulls_merged_since(since)

    def releases(self) -> tuple[Release, ...]:
        """Releases, newest first."""
        return self._cloned.releases() if self._cloned else self._api.releases()

    def probe(self) -> str:
        """Say which commit of which repository is read, and how."""
        commit = self.head()
        files = len(self.reader(commit).paths())
        how = "from a clone" if self._cloned else f"through the API: {self._why}"
        told = f"{commit.repository} at {commit.sha[:10]} ({commit.because})"
        return f"{told}, {files} files, read {how}"

    def _give_up(self, refused: CloneRefused) -> None:
        self._cloned, self._why = None, str(refused)
