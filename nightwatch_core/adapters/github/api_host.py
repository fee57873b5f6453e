"""A GitHub repository as the code host, read through the API alone."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from urllib.parse import quote

from nightwatch_core.adapters.git.commit_names import (
    commit_text,
    head_text,
    newest_text,
    nothing_so_old,
    shas_in,
    spellings,
    tag_text,
)
from nightwatch_core.adapters.github.api_reader import ApiReader
from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.limits import MOMENT_COMMITS, RELEASES
from nightwatch_core.adapters.github.merged_pulls import merged_pulls
from nightwatch_core.adapters.github.rows import NamedCommitRow
from nightwatch_core.adapters.stores.code_cache import CodeCache
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.code import Commit, MergedPull, Release
from nightwatch_core.ports import Records


class ApiHost:
    """The code of a repository that may not be cloned: everything through the API."""

    def __init__(
        self, client: GitHubClient, repository: str, records: Records, base_branch: str = ""
    ) -> None:
        """Keep what was read in `records`, for all readers; no branch means the default one."""
        self._repository = Repository.of(client, repository)
        self._cache = CodeCache(records)
        self._base_branch = base_branch
        self._known_tip: NamedCommitRow | None = None
        self._named: dict[str, NamedCommitRow | None] = {}
        self._since: dict[datetime, Mapping[str, NamedCommitRow]] = {}

    def head(self) -> Commit:
        """Return the head of the base branch."""
        branch = self._base
        return self._commit(self._tip(branch), branch, head_text(branch))

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """Return the commit of a tag, a sha or the one that begins so; else None."""
        branch, wanted = self._base, name.strip()
        for version in spellings(wanted) if wanted else ():
            if row := self._find(f"tags/{version}"):
                return self._commit(row, branch, tag_text(version))
        if branches and wanted and (row := self._find(f"heads/{wanted}")):
            return self._commit(row, branch, head_text(wanted))
        for digits in shas_in(wanted):
            if row := self._find(digits):
                return self._commit(row, branch, commit_text(row.sha))
        return None

    def commit_at(self, moment: datetime) -> Commit:
        """Return the newest commit that the base branch had at that moment."""
        branch = self._base
        tip = self._known_tip or self._tip(branch)
        row = next((one for one in self._mainline(tip, moment) if one.at <= moment), None)
        if row is None:
            return self._commit(tip, branch, f"{head_text(branch)}; {nothing_so_old(moment)}")
        return self._commit(row, branch, newest_text(branch, moment))

    def reader(self, commit: Commit) -> ApiReader:
        """Read the tree at that commit."""
        return ApiReader(self._repository, commit, self._cache)

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Return pull requests merged into the base branch, newest first, at most 200."""
        return merged_pulls(self._repository, self._base, since)

    def releases(self) -> tuple[Release, ...]:
        """Return ten tags, newest first."""
        rows = self._repository.ask(lambda rest, at: rest.repos.list_tags(*at, per_page=RELEASES))
        names = [str(row.get("name")) for row in rows] if isinstance(rows, list) else []
        commits = ((name, self._find(f"tags/{name}")) for name in names)
        releases = (Release(version=name, sha=row.sha, at=row.at) for name, row in commits if row)
        return tuple(sorted(releases, key=lambda release: release.at, reverse=True))

    @cached_property
    def _base(self) -> str:
        return self._base_branch or self._repository.describe().default_branch

    def _commit(self, row: NamedCommitRow, branch: str, because: str) -> Commit:
        return Commit(
            repository=self._repository.full_name,
            sha=row.sha,
            branch=branch,
            at=row.at,
            address=row.html_url.partition("/commit/")[0],
            because=because,
        )

    def _tip(self, branch: str) -> NamedCommitRow:
        row = find_commit(self._repository, f"heads/{branch}")
        if row is None:
            raise StopTheNight(f"GitHub has no branch {branch[:80]!a}: set NIGHTWATCH_BASE_BRANCH")
        self._known_tip = row
        return row

    def _mainline(self, tip: NamedCommitRow, moment: datetime) -> Iterator[NamedCommitRow]:
        """The branch's commits by first parents, newest first; those since `moment` in one list."""
        row: NamedCommitRow | None = tip
        for _ in range(MOMENT_COMMITS):
            if row is None:
                return
            yield row
            above, newer = (row.parents or ("",))[0], self._newer(tip, moment)
            is_whole = bool(above) and len(newer) < MOMENT_COMMITS
            row = newer.get(above) or (self._find(above) if is_whole else None)

    def _newer(self, tip: NamedCommitRow, moment: datetime) -> Mapping[str, NamedCommitRow]:
        """Commits since the day of that moment by sha, the newest 1,000; merged ones as well."""
        day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        known = next((rows for since, rows in self._since.items() if since <= day), None)
        if known is None:
            rows = self._repository.read_all(
                NamedCommitRow,
                lambda rest, at: rest.repos.list_commits(*at, sha=tip.sha, since=day, per_page=100),
            )
            known = self._since[day] = {row.sha: row for row in islice(rows, MOMENT_COMMITS)}
        return known

    def _find(self, name: str) -> NamedCommitRow | None:
        if name not in self._named:
            self._named[name] = find_commit(self._repository, name)
        return self._named[name]


def find_commit(repository: Repository, name: str) -> NamedCommitRow | None:
    """Return the commit that a name stands for; None where it stands for none."""
    if ".." in name or len(name) > 250 or not name.isprintable():
        return None
    ref = quote(name, safe="/")
    try:
        return repository.read(NamedCommitRow, lambda rest, at: rest.repos.get_commit(*at, ref))
    except Rejected as error:
        if error.status in (404, 409, 422):
            return None
        raise
