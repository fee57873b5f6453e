"""A project of GitLab as the code host: a clone in the state folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from nightwatch_core.adapters.gitlab.client import SERVICE, SILENCE, Project
from nightwatch_core.adapters.gitlab.rows import BranchRow, CommitRow, ProjectRow
from nightwatch_core.adapters.hosts.clone import FETCHING_SILENCE, CloneHost, Described, Origin


class GitLabHost(CloneHost):
    """A `CodeHost` over a partial clone; the token needs the scope read_repository."""

    def __init__(self, project: Project, folder: Path, base_branch: str = "") -> None:
        super().__init__(folder, base_branch)
        self._project = project

    def _describe(self) -> Described:
        row = self._project.read(ProjectRow)
        address = f"{row.html_url}/-"  # below which GitLab has what others have below the name
        return Described(row.full_name, row.default_branch or "main", address)

    def _sha_of(self, names: Sequence[str], *, branches: Sequence[str]) -> str:
        for name in branches:
            path = f"/repository/branches/{quote(name, safe='')}"
            if branch := self._project.find(BranchRow, path):
                return branch.commit.sha
        for name in names:
            if commit := self._project.find(CommitRow, f"/repository/commits/{name}"):
                return commit.sha
        return ""

    def _origin_of(self, described: Described) -> Origin:
        project = self._project
        address = f"{project.place.server}/{described.full_name}.git"
        silence = round(project.silence / SILENCE * FETCHING_SILENCE) or 1
        return Origin(address, lambda: project.token, silence, SERVICE, "oauth2")

    def _sizes(self, sha: str) -> Mapping[str, int]:
        return {}
