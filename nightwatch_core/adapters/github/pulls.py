"""Lists of pull requests by GraphQL: those that were merged, and everybody's on some files.

What a pull request brought depends on how it was merged. A merge takes its commits as they are; a
squash or rebase makes new ones, of which only the last is known.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Annotated, Any

from pydantic import AfterValidator, AliasPath, Field

from nightwatch_core.adapters.git.command import PULLS, TITLE_CHARACTERS
from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.rows import NODES, OIDS, ChangedFileRow, read
from nightwatch_core.adapters.hosts import tracker
from nightwatch_core.adapters.hosts.rows import Item, Row, Text
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import ChangedFile, MergedPull, OtherPull
from nightwatch_core.text.markers import CORRECTION, count_of_steps
from nightwatch_core.text.plain_text import graphql_texts

MERGED_PAGES = 20  # of 25 pull requests
OTHER_PAGES = 8
OTHER_PULLS = 20  # whose changes are read, a request each; open ones first

_QUERIES = graphql_texts("nightwatch_core.adapters.github")


class ListedPullRow(Item):
    """A pull request in a list; each query asks for some of these fields."""

    state: Annotated[Text, AfterValidator(str.lower)] = ""
    html_url: Text = Field("", validation_alias="url")
    branch: Text = Field("", validation_alias="headRefName")
    updated_at: datetime = Field(validation_alias="updatedAt")
    merged_at: datetime | None = Field(None, validation_alias="mergedAt")
    author: Text = Field("", validation_alias=AliasPath("author", "login"))
    files: Annotated[tuple[Text, ...], NODES] = ()
    merged_as: Text = Field("", validation_alias=AliasPath("mergeCommit", "oid"))
    parents: int = Field(0, validation_alias=AliasPath("mergeCommit", "parents", "totalCount"))
    commits: Annotated[tuple[Text, ...], OIDS, NODES] = ()


def _listed(
    repository: Repository, query: str, pages: int, since: datetime, **variables: tuple[str, Any]
) -> Iterator[ListedPullRow]:
    """Yield what changed `since` then; a pull request merged since then has changed since."""
    cursor: str | None = None
    for _ in range(pages):
        answer = repository.query(query, cursor=("String", cursor), **variables)
        pulls = answer.get("pullRequests")
        if not isinstance(pulls, dict):
            raise GiveUp("GitHub's pull requests are not as documented: check GITHUB_API_URL")
        for node in pulls.get("nodes") or ():
            row = read(ListedPullRow, node)
            if row.updated_at < since:
                return
            yield row
        page = pulls.get("pageInfo") or {}
        if not page.get("hasNextPage"):
            return
        cursor = page.get("endCursor")


def merged_pulls(repository: Repository, base: str, since: datetime) -> tuple[MergedPull, ...]:
    """Return at most 200 pull requests merged into `base` at `since` or later, newest first.

    Each with at most a hundred of its files, and of the commits that a merge brought.
    """
    listed = _listed(repository, _QUERIES["merged"], MERGED_PAGES, since, base=("String!", base))
    pulls = [
        MergedPull(
            number=row.number,
            title=row.title[:TITLE_CHARACTERS],
            sha=row.merged_as,
            author=row.author,
            merged_at=row.merged_at,
            files=row.files,
            commits=row.commits[::-1] if row.parents > 1 else (),
        )
        for row in listed
        if row.merged_at and row.merged_at >= since
    ]
    return tuple(sorted(pulls, key=lambda pull: pull.merged_at, reverse=True)[:PULLS])


# Whether a draft of ours was edited before it was merged.
#
# A draft is opened as soon as its branch is made, so the branch ends at our commit then, and GitHub
# notes every push since that replaced commits. Without such a push our commit is still there, and
# the draft was edited if another commit changes something, too. After one, the commit before the
# first such push is ours, and is compared with what was merged. Names and dates of authors do not
# help: the token may be a person's, and amending keeps both.


class ParentRow(Row):
    """A commit, and the name of its tree."""

    oid: Text
    tree: Text = Field("", validation_alias=AliasPath("tree", "oid"))


class PushedRow(ParentRow):
    """A commit of a pull request's branch."""

    parents: Annotated[tuple[ParentRow, ...], NODES]
    message: Text = ""

    @property
    def changes_something(self) -> bool:
        return len(self.parents) == 1 and self.parents[0].tree != self.tree


class ReplacedRow(PushedRow):
    """A commit that a push replaced, and how much it changed."""

    additions: int
    deletions: int


class EditsRow(Row):
    """A merged pull request: its first commits, oldest first, and what stood before a push.

    None where GitHub no longer has what the push replaced.
    """

    additions: int
    deletions: int
    commits: Annotated[tuple[PushedRow, ...], NODES]
    replaced: Annotated[tuple[ReplacedRow | None, ...], NODES] = Field(alias="timelineItems")

    @property
    def was_edited(self) -> bool:
        """Tell whether it was edited; False where that cannot be told."""
        changing = [
            commit
            for commit in self.commits
            if commit.changes_something and commit.message.strip() != CORRECTION
        ]
        if len(changing) != 1:
            of_steps = {count_of_steps(commit.message) for commit in changing}
            return len(changing) > 1 and of_steps != {len(changing)}
        ours, last = next(iter(self.replaced), None), changing[0]
        if ours is None:
            return False
        if [parent.oid for parent in ours.parents] == [parent.oid for parent in last.parents]:
            return ours.tree != last.tree
        # A rebase: another change shows in its size alone.
        return (ours.additions, ours.deletions) != (self.additions, self.deletions)


def edited_pulls(repository: Repository, numbers: Sequence[int]) -> frozenset[int]:
    """Return those of the merged pull requests that were edited, by one query.

    None of them where GitHub refuses to say; raises `TryLater` and `StopTheNight`.
    """
    if not numbers:
        return frozenset()
    try:
        answers = repository.query_each(_QUERIES["edits"], "Int!", {n: n for n in numbers})
        return frozenset(
            number
            for number, answer in answers.items()
            if answer and read(EditsRow, answer).was_edited
        )
    except GiveUp:  # the items are worth more than this about them
        return frozenset()


# Everybody's pull requests that change some files, with their changes of these: at most 8 lists and
# 20 requests for changes a night.


def other_pulls(
    repository: Repository, paths: frozenset[str], since: datetime
) -> tuple[OtherPull, ...]:
    """Return those that changed `since` then, newest first, with their changes to `paths`."""
    listed = _listed(repository, _QUERIES["others"], OTHER_PAGES, since)

    def files(pull: ListedPullRow) -> Iterator[ChangedFile]:
        ask = partial(repository.rest.pulls.list_files, *repository.at, pull.number)
        rows = repository.rows(ChangedFileRow, ask)
        below = (row for row in islice(rows, 100) if {row.path, row.old_path} & paths)
        return (row.change for row in below)

    return tracker.other_pulls((row for row in listed if {*row.files} & paths), files, OTHER_PULLS)
