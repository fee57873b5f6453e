"""Merged pull requests by one GraphQL query, each with the commits it brought to its base.

What a pull request brought depends on how it was merged. A merge takes its commits as they are; a
squash makes one commit of them, and theirs never reach the base; a rebase makes new ones of the
same dates and headlines, which are looked for in the history below the last.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import takewhile

from nightwatch_core.adapters.git.merged_pulls import LONGEST_TITLE, MOST_PULLS
from nightwatch_core.adapters.github.rows import Person, Place, Row, Text, read
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import MergedPull

_TOGETHER = 25  # pull requests a query: with 100 files and commits each that is 5,000 nodes
_MOST_PAGES = 20
_COMMIT = "oid authoredDate messageHeadline"
_PULLS = (
    "query($owner:String!,$name:String!,$base:String!,$cursor:String){repository(owner:$owner,"
    "name:$name){pullRequests(states:MERGED,baseRefName:$base,orderBy:{field:UPDATED_AT,"
    f"direction:DESC}},first:{_TOGETHER},after:$cursor){{pageInfo{{hasNextPage endCursor}} "
    "nodes{number title mergedAt updatedAt author{login} files(first:100){nodes{path}} "
    f"mergeCommit{{{_COMMIT} parents(first:2){{totalCount}}}} "
    f"commits(last:100){{nodes{{commit{{{_COMMIT}}}}}}}}}}}}}}}"
)
_HISTORY = f"{{... on Commit{{history(first:100){{nodes{{{_COMMIT}}}}}}}}}"


class Made(Row):
    """A commit; a rebase keeps all but its name."""

    oid: Text
    authoredDate: datetime
    messageHeadline: Text = ""

    def is_copy_of(self, other: "Made") -> bool:
        """Whether one was made of the other by a rebase, or they are the same."""
        mine, theirs = (self.authoredDate, self.messageHeadline), other
        return mine == (theirs.authoredDate, theirs.messageHeadline)


class Count(Row):
    """How many there are."""

    totalCount: int


class MergeCommit(Made):
    """The commit on the base that ended a pull request."""

    parents: Count


class Brought(Row):
    """One of a pull request's commits."""

    commit: Made


class Commits(Row):
    """The last hundred of a pull request, oldest first."""

    nodes: tuple[Brought, ...] = ()


class History(Row):
    """Commits, newest first."""

    nodes: tuple[Made, ...] = ()


class Path(Row):
    """A file of a pull request."""

    path: Text


class Files(Row):
    """The files of a pull request."""

    nodes: tuple[Path, ...] = ()


class MergedRow(Row):
    """A merged pull request as GraphQL tells it."""

    number: int
    title: Text = ""
    mergedAt: datetime
    updatedAt: datetime
    author: Person | None = None
    mergeCommit: MergeCommit | None = None
    commits: Commits | None = None
    files: Files | None = None

    @property
    def made(self) -> tuple[Made, ...]:
        """Its commits, newest first."""
        return tuple(one.commit for one in self.commits.nodes)[::-1] if self.commits else ()

    @property
    def was_merged(self) -> bool:
        """Whether its commits are on the base as they are."""
        return self.mergeCommit is not None and self.mergeCommit.parents.totalCount > 1

    @property
    def was_rebased(self) -> bool:
        """Whether there are copies of its commits on the base, and more than the last."""
        end = self.mergeCommit
        return (
            end is not None
            and end.parents.totalCount == 1
            and len(self.made) > 1
            and end.is_copy_of(self.made[0])
        )


def merged_pulls(place: Place, base: str, since: datetime) -> tuple[MergedPull, ...]:
    """Pull requests merged into branch `base` at `since` or later, newest first, at most 200.

    Each with at most a hundred of its files and of the commits it brought.
    """
    rows = [row for row in _rows(place, base, since) if row.mergedAt >= since]
    rows.sort(key=lambda row: row.mergedAt, reverse=True)
    rows = rows[:MOST_PULLS]
    rebased = _copies(place, [row for row in rows if row.was_rebased])
    return tuple(_pull(row, rebased.get(row.number, ())) for row in rows)


def _pull(row: MergedRow, copies: tuple[str, ...]) -> MergedPull:
    return MergedPull(
        number=row.number,
        title=row.title[:LONGEST_TITLE],
        sha=row.mergeCommit.oid if row.mergeCommit else "",
        author=row.author.login if row.author else "",
        merged_at=row.mergedAt,
        files=tuple(one.path for one in row.files.nodes) if row.files else (),
        commits=tuple(one.oid for one in row.made) if row.was_merged else copies,
    )


def _rows(place: Place, base: str, since: datetime) -> Iterator[MergedRow]:
    """Ordered by their last change: one merged since then cannot have changed before."""
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        where = {"owner": place.owner, "name": place.name, "base": base}
        told = place.client.graph(_PULLS, {**where, "cursor": cursor})
        pulls = (told.get("repository") or {}).get("pullRequests")
        if not isinstance(pulls, dict):
            raise GiveUp("GitHub's pull requests are not as documented: check GITHUB_API_URL")
        for node in pulls.get("nodes") or ():
            row = read(MergedRow, node)
            if row.updatedAt < since:
                return
            yield row
        page = pulls.get("pageInfo") or {}
        if not page.get("hasNextPage"):
            return
        cursor = page.get("endCursor")


def _copies(place: Place, rows: Sequence[MergedRow]) -> dict[int, tuple[str, ...]]:
    """What rebases made, by number of the pull request, newest first and without the last."""
    found = {}
    for start in range(0, len(rows), _TOGETHER):
        some = rows[start : start + _TOGETHER]
        names = {f"s{at}": one.mergeCommit.oid for at, one in enumerate(some) if one.mergeCommit}
        wanted = ",".join(f"${name}:String!" for name in names)
        fields = " ".join(f"h{name}:object(expression:${name}){_HISTORY}" for name in names)
        query = (
            f"query($owner:String!,$name:String!,{wanted})"
            f"{{repository(owner:$owner,name:$name){{{fields}}}}}"
        )
        told = place.client.graph(query, {"owner": place.owner, "name": place.name, **names})
        for at, row in enumerate(some):
            commit = (told.get("repository") or {}).get(f"hs{at}") or {}
            history = read(History, commit.get("history") or {}).nodes
            pairs = zip(history, row.made, strict=False)
            same = takewhile(lambda pair: pair[0].is_copy_of(pair[1]), pairs)
            found[row.number] = tuple(copy.oid for copy, _ in same)[1:]
    return found
