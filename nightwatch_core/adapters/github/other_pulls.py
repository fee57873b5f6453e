"""Everybody's pull requests that change some files, with what they do to them.

One list by GraphQL, 25 a request and 200 at most, says which files each changes, of the first
hundred; the changes of those that matter, twenty at most, are asked for one by one, and what was
said of closed ones by one more query. That is 29 requests a night, and none where nothing is fixed.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AliasPath, Field

from nightwatch_core.adapters.git.diffs import hunks
from nightwatch_core.adapters.git.limits import TITLE_CHARACTERS
from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.limits import (
    COMMENT_CHARACTERS,
    OTHER_PAGES,
    OTHER_PULLS,
    OTHER_WORDS,
    QUERY_PULLS,
)
from nightwatch_core.adapters.github.rows import NODES, Row, Text, read
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import ChangedFile
from nightwatch_core.models.pulls import OtherPull

_BODY = 20_000  # characters
_HEARD = ("OWNER", "MEMBER", "COLLABORATOR")
_STATES: dict[str, Literal["open", "closed", "merged"]] = {
    **{"OPEN": "open", "CLOSED": "closed", "MERGED": "merged"}
}
_PULLS = (
    "pullRequests(states:[OPEN,CLOSED,MERGED],orderBy:{field:UPDATED_AT,direction:DESC},"
    f"first:{QUERY_PULLS},after:$cursor){{pageInfo{{hasNextPage endCursor}} "
    "nodes{number title body state url updatedAt mergedAt headRefName author{login} "
    "mergeCommit{oid} files(first:100){nodes{path}}}}"
)
_WORD = "body createdAt authorAssociation author{__typename}"
_SAID = (
    f"pullRequest(number:$v){{comments(last:{OTHER_WORDS}){{nodes{{{_WORD}}}}} "
    f"reviews(last:{OTHER_WORDS}){{nodes{{{_WORD}}}}}}}"
)


class OtherPullRow(Row):
    """A pull request as GraphQL lists it."""

    number: int
    title: Text = ""
    body: Text = ""
    state: Text
    url: Text = ""
    updatedAt: datetime
    mergedAt: datetime | None = None
    headRefName: Text = ""
    author: Text = Field("", validation_alias=AliasPath("author", "login"))
    sha: Text = Field("", validation_alias=AliasPath("mergeCommit", "oid"))
    files: Annotated[tuple[Text, ...], NODES] = ()


class PatchRow(Row):
    """What a pull request does to a file; no patch where it is binary or too long for GitHub."""

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
    """What was said of a pull request."""

    comments: Annotated[tuple[WordRow, ...], NODES] = ()
    reviews: Annotated[tuple[WordRow, ...], NODES] = ()


def other_pulls(
    repository: Repository, paths: frozenset[str], since: datetime
) -> tuple[OtherPull, ...]:
    """Return those that changed `since` then, newest first, with their changes to `paths`."""
    rows = [row for row in _rows(repository, since) if paths.intersection(row.files)]
    rows.sort(key=lambda row: row.state != "OPEN")  # among each the newest stay first
    rows = sorted(rows[:OTHER_PULLS], key=lambda row: row.updatedAt, reverse=True)
    said = _said(repository, [row.number for row in rows if row.state == "CLOSED"])
    return tuple(
        _pull(row, _files(repository, row.number, paths), said.get(row.number, ())) for row in rows
    )


def _rows(repository: Repository, since: datetime) -> Iterator[OtherPullRow]:
    cursor: str | None = None
    for _ in range(OTHER_PAGES):
        answer = repository.query(_PULLS, cursor=("String", cursor))
        pulls = answer.get("pullRequests")
        if not isinstance(pulls, dict):
            raise GiveUp("GitHub's pull requests are not as documented: check GITHUB_API_URL")
        for node in pulls.get("nodes") or ():
            row = read(OtherPullRow, node)
            if row.updatedAt < since:
                return
            if row.state in _STATES:
                yield row
        page = pulls.get("pageInfo") or {}
        if not page.get("hasNextPage"):
            return
        cursor = page.get("endCursor")


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
    """Return what people of the repository said of each, oldest first; empty where not told."""
    if not numbers:
        return {}
    try:
        answers = repository.query_each(_SAID, "Int!", {n: n for n in numbers})
        return {n: _words(read(SaidRow, answer)) for n, answer in answers.items() if answer}
    except GiveUp:  # that it was turned down is known without
        return {}


def _words(row: SaidRow) -> tuple[str, ...]:
    rows: Iterable[WordRow] = sorted((*row.comments, *row.reviews), key=lambda one: one.createdAt)
    return tuple(
        one.body.strip()[:COMMENT_CHARACTERS]
        for one in rows
        if one.authorAssociation in _HEARD and one.kind == "User" and one.body.strip()
    )


def _pull(row: OtherPullRow, files: tuple[ChangedFile, ...], words: tuple[str, ...]) -> OtherPull:
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
