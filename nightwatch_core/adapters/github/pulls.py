"""Merged pull requests by GraphQL: what each brought to its base, and whether a draft was edited.

What a pull request brought depends on how it was merged. A merge takes its commits as they are; a
squash makes one commit of them, and theirs never reach the base; a rebase makes new ones of the
same dates and headlines, which are looked for in the history below the last.

A draft is opened as soon as its branch is made, so the branch ends at our commit then, and GitHub
notes every push since that replaced commits. Without such a push our commit is still there, and the
draft was edited where another one changes something, too. After one, what stood there before the
first of them is ours, and is compared with what was merged. Names and dates of authors are not
asked: the token may be a person's, and amending keeps both.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AliasPath, Field

from nightwatch_core.adapters.git.command import PULLS, TITLE_CHARACTERS
from nightwatch_core.adapters.git.history import hunks
from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.connection import COMMENT_CHARACTERS
from nightwatch_core.adapters.github.rows import NODES, Row, Text, read
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import ChangedFile, MergedPull, OtherPull
from nightwatch_core.text.markers import CORRECTION, steps_told
from nightwatch_core.text.plain_text import graphql_texts

QUERY_PAGES = 20  # of merged pull requests
QUERY_PULLS = 25  # of one query: with 100 files and commits each that is 5,000 nodes
OTHER_PAGES = 8  # of pull requests of everybody's, 25 each
OTHER_PULLS = 20  # whose changes are read, a request each; open ones first

_QUERIES = graphql_texts("nightwatch_core.adapters.github")


class HistoryCommitRow(Row):
    """A commit; a rebase keeps all but its name."""

    oid: Text
    authoredDate: datetime
    messageHeadline: Text = ""

    def is_copy_of(self, other: "HistoryCommitRow") -> bool:
        """Tell whether one was made of the other by a rebase, or they are the same."""
        own = (self.authoredDate, self.messageHeadline)
        return own == (other.authoredDate, other.messageHeadline)


class HistoryRow(Row):
    """Commits, newest first."""

    history: Annotated[tuple[HistoryCommitRow, ...], NODES] = ()


class MergeCommitRow(HistoryCommitRow):
    """The commit on the base that ended a pull request."""

    parents: int = Field(validation_alias=AliasPath("parents", "totalCount"))


class ListedPullRow(Row):
    """A pull request in a list of GraphQL."""

    number: int
    title: Text = ""
    updatedAt: datetime
    author: Text = Field("", validation_alias=AliasPath("author", "login"))
    files: Annotated[tuple[Text, ...], NODES] = ()


P = TypeVar("P", bound=ListedPullRow)


class MergedPullRow(ListedPullRow):
    """A merged pull request with the last hundred of its commits."""

    mergedAt: datetime
    mergeCommit: MergeCommitRow | None = None
    commits: Annotated[tuple[HistoryCommitRow, ...], NODES] = ()

    @property
    def newest_first(self) -> tuple[HistoryCommitRow, ...]:
        """Return its commits, newest first."""
        return self.commits[::-1]

    @property
    def was_merged(self) -> bool:
        """Tell whether its commits are on the base as they are."""
        return self.mergeCommit is not None and self.mergeCommit.parents > 1

    @property
    def was_rebased(self) -> bool:
        """Tell whether there are copies of its commits on the base, and more than the last."""
        end = self.mergeCommit
        return (
            end is not None
            and end.parents == 1
            and len(self.commits) > 1
            and end.is_copy_of(self.commits[-1])
        )


def merged_pulls(repository: Repository, base: str, since: datetime) -> tuple[MergedPull, ...]:
    """Return at most 200 pull requests merged into `base` at `since` or later, newest first.

    Each with at most a hundred of its files and of the commits it brought.
    """
    base_branch = ("String!", base)
    listed = _listed(
        repository, MergedPullRow, _QUERIES["merged"], QUERY_PAGES, since, base=base_branch
    )
    rows = [row for row in listed if row.mergedAt >= since]
    rows.sort(key=lambda row: row.mergedAt, reverse=True)
    rows = rows[:PULLS]
    copies = _copies(repository, [row for row in rows if row.was_rebased])
    return tuple(_pull(row, copies.get(row.number, ())) for row in rows)


def _pull(row: MergedPullRow, copies: tuple[str, ...]) -> MergedPull:
    return MergedPull(
        number=row.number,
        title=row.title[:TITLE_CHARACTERS],
        sha=row.mergeCommit.oid if row.mergeCommit else "",
        author=row.author,
        merged_at=row.mergedAt,
        files=row.files,
        commits=tuple(item.oid for item in row.newest_first) if row.was_merged else copies,
    )


def _listed(
    repository: Repository,
    kind: type[P],
    query: str,
    pages: int,
    since: datetime,
    **variables: tuple[str, Any],
) -> Iterator[P]:
    """Ordered by their last change: one merged since then cannot have changed before."""
    cursor: str | None = None
    for _ in range(pages):
        answer = repository.query(query, cursor=("String", cursor), **variables)
        pulls = answer.get("pullRequests")
        if not isinstance(pulls, dict):
            raise GiveUp("GitHub's pull requests are not as documented: check GITHUB_API_URL")
        for node in pulls.get("nodes") or ():
            row = read(kind, node)
            if row.updatedAt < since:
                return
            yield row
        page = pulls.get("pageInfo") or {}
        if not page.get("hasNextPage"):
            return
        cursor = page.get("endCursor")


def _copies(repository: Repository, rows: Sequence[MergedPullRow]) -> dict[int, tuple[str, ...]]:
    """Return what rebases made, by number of the pull request, newest first without the last."""
    copies = {}
    for start in range(0, len(rows), QUERY_PULLS):
        batch = {row.number: row for row in rows[start : start + QUERY_PULLS]}
        ends = {number: row.mergeCommit.oid for number, row in batch.items() if row.mergeCommit}
        for number, answer in repository.query_each(_QUERIES["history"], "String!", ends).items():
            history = read(HistoryRow, answer or {}).history
            pairs = zip(history, batch[number].newest_first, strict=False)
            same = takewhile(lambda pair: pair[0].is_copy_of(pair[1]), pairs)
            copies[number] = tuple(copy.oid for copy, _ in same)[1:]
    return copies


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
        """Tell whether it changes files and is no merge."""
        return len(self.parents) == 1 and self.parents[0].tree != self.tree


class ReplacedRow(PushedRow):
    """A commit that a push replaced, and how much it changed."""

    additions: int
    deletions: int
    changedFilesIfAvailable: int | None = None


class EditsRow(Row):
    """A merged pull request: its first commits, oldest first, and what stood before a push.

    None where GitHub no longer has what the push replaced.
    """

    additions: int
    deletions: int
    changedFiles: int
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
            of_steps = {steps_told(commit.message) for commit in changing}
            return len(changing) > 1 and of_steps != {len(changing)}
        ours = next(iter(self.replaced), None)
        return ours is not None and self._differs(ours, changing[0])

    def _differs(self, ours: ReplacedRow, last: PushedRow) -> bool:
        """On the same parent another tree is another change; a rebase shows in its size alone."""
        if [parent.oid for parent in ours.parents] == [parent.oid for parent in last.parents]:
            return ours.tree != last.tree
        files = ours.changedFilesIfAvailable
        size = (self.additions, self.deletions, self.changedFiles)
        return (
            ours.additions,
            ours.deletions,
            self.changedFiles if files is None else files,
        ) != size


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


# Everybody's pull requests that change some files, with what they do to them.
#
# One list by GraphQL, 25 a request and 200 at most, says which files each changes, of the first
# hundred; the changes of those that matter, twenty at most, are asked for one by one, and what was
# said of closed ones by one more query. That is 29 requests a night, and none where nothing is
# fixed.

_BODY = 20_000  # characters
_HEARD = ("OWNER", "MEMBER", "COLLABORATOR")
_STATES: dict[str, Literal["open", "closed", "merged"]] = {
    "OPEN": "open",
    "CLOSED": "closed",
    "MERGED": "merged",
}


class OtherPullRow(ListedPullRow):
    """A pull request of anybody, in any state."""

    body: Text = ""
    state: Text
    url: Text = ""
    mergedAt: datetime | None = None
    headRefName: Text = ""
    sha: Text = Field("", validation_alias=AliasPath("mergeCommit", "oid"))


class PatchRow(Row):
    """A pull request's change of a file; without patch if it is binary or too long for GitHub."""

    filename: Text
    previous_filename: Text = ""
    patch: Text = ""
    additions: int = 0
    deletions: int = 0


class WordRow(Row):
    """A comment or a review."""

    body: Text = ""
    createdAt: datetime
    authorAssociation: Text = ""
    kind: Text = Field("", validation_alias=AliasPath("author", "__typename"))


class SaidRow(Row):
    """A comment or review of a pull request."""

    comments: Annotated[tuple[WordRow, ...], NODES] = ()
    reviews: Annotated[tuple[WordRow, ...], NODES] = ()


def other_pulls(
    repository: Repository, paths: frozenset[str], since: datetime
) -> tuple[OtherPull, ...]:
    """Return those that changed `since` then, newest first, with their changes to `paths`."""
    listed = _listed(repository, OtherPullRow, _QUERIES["others"], OTHER_PAGES, since)
    rows = [row for row in listed if row.state in _STATES and paths.intersection(row.files)]
    rows.sort(key=lambda row: row.state != "OPEN")  # among each the newest stay first
    rows = sorted(rows[:OTHER_PULLS], key=lambda row: row.updatedAt, reverse=True)
    said = _said(repository, [row.number for row in rows if row.state == "CLOSED"])
    return tuple(
        _other_pull(row, _files(repository, row.number, paths), said.get(row.number, ()))
        for row in rows
    )


def _files(repository: Repository, number: int, paths: frozenset[str]) -> tuple[ChangedFile, ...]:
    answer: Any = repository.ask(lambda rest, at: rest.pulls.list_files(*at, number, per_page=100))
    rows = [read(PatchRow, row) for row in (answer if isinstance(answer, list) else ())]
    return tuple(
        ChangedFile(
            path=row.filename,
            old_path=row.previous_filename,
            added=row.additions,
            removed=row.deletions,
            diff=hunks(row.patch),
        )
        for row in rows
        if not paths.isdisjoint((row.filename, row.previous_filename))
    )


def _said(repository: Repository, numbers: Sequence[int]) -> dict[int, tuple[str, ...]]:
    if not numbers:
        return {}
    try:
        answers = repository.query_each(_QUERIES["comments"], "Int!", {n: n for n in numbers})
        return {n: _words(read(SaidRow, answer)) for n, answer in answers.items() if answer}
    except GiveUp:  # that it was turned down is known without
        return {}


def _words(row: SaidRow) -> tuple[str, ...]:
    rows: Iterable[WordRow] = sorted((*row.comments, *row.reviews), key=lambda item: item.createdAt)
    return tuple(
        row.body.strip()[:COMMENT_CHARACTERS]
        for row in rows
        if row.authorAssociation in _HEARD and row.kind == "User" and row.body.strip()
    )


def _other_pull(
    row: OtherPullRow, files: tuple[ChangedFile, ...], words: tuple[str, ...]
) -> OtherPull:
    return OtherPull(
        number=row.number,
        title=row.title[:TITLE_CHARACTERS],
        body=row.body[:_BODY],
        author=row.author,
        branch=row.headRefName,
        url=row.url,
        state=_STATES[row.state],
        at=row.updatedAt,
        merged_at=row.mergedAt,
        sha=row.sha,
        files=files,
        words=words,
    )
