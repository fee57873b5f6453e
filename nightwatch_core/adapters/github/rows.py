"""The few fields of GitHub's answers that we read."""

import re
from datetime import datetime
from typing import Annotated, Any

from githubkit.response import Response
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    AwareDatetime,
    BeforeValidator,
    Field,
    model_validator,
)

from nightwatch_core.adapters.git.history import hunks
from nightwatch_core.adapters.git.objects import Node
from nightwatch_core.adapters.github.connection import SAFE, SERVICE
from nightwatch_core.adapters.hosts import rows
from nightwatch_core.adapters.hosts.rows import Comment, Item, R, Row, Sha, Text
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.code import ChangedFile

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}")


def _nodes(value: object) -> object:
    nodes = value.get("nodes", ()) if isinstance(value, dict) else value or ()
    if not isinstance(nodes, list | tuple):
        return nodes
    return [
        next(iter(node.values())) if isinstance(node, dict) and len(node) == 1 else node
        for node in nodes
    ]


def _each(key: str) -> BeforeValidator:
    def pick(rows: object) -> object:
        if not isinstance(rows, list):
            return rows
        return [row.get(key) if isinstance(row, dict) else row for row in rows]

    return BeforeValidator(pick)


NODES = BeforeValidator(_nodes)
NAMES, OIDS, SHAS = _each("name"), _each("oid"), _each("sha")
_MERGED_AT = AliasPath("pull_request", "merged_at")
_AUTHOR = AliasPath("user", "login")
_CLOSED_BY = AliasPath("closed_by", "login")
_SAID_AT = AliasChoices("submitted_at", "created_at")
_VERDICTS = {"APPROVED": "approved", "CHANGES_REQUESTED": "changes requested"}
_TEAM = ("OWNER", "MEMBER", "COLLABORATOR")


class IssueRow(Item):
    """An issue, or a pull request as the list of issues has it."""

    body: Text  # without it our key would not be found
    is_pull: Annotated[bool, BeforeValidator(bool)] = Field(False, validation_alias="pull_request")
    labels: Annotated[tuple[Text, ...], NAMES] = ()
    comments: int = 0
    merged_at: datetime | None = Field(None, validation_alias=_MERGED_AT)
    author: Text = Field("", validation_alias=_AUTHOR)
    closed_by: Text = Field("", validation_alias=_CLOSED_BY)


class CommentRow(Comment):
    """A comment or a review."""

    author: Text = Field("", validation_alias=_AUTHOR)
    at: AwareDatetime | None = Field(None, validation_alias=_SAID_AT)
    verdict: Annotated[str, BeforeValidator(lambda state: _VERDICTS.get(state, ""))] = Field(
        "", validation_alias="state"
    )

    @model_validator(mode="before")
    @classmethod
    def _look_at_author(cls, row: Any) -> Any:
        """Strangers may comment, too, and programs."""
        if not isinstance(row, dict):
            return row
        is_person = (row.get("user") or {}).get("type", "") not in ("", "Bot")
        return {**row, "is_of_the_team": is_person and row.get("author_association") in _TEAM}


class RepositoryRow(Row):
    """A repository."""

    full_name: Text
    default_branch: Text
    html_url: Text = ""
    size: int = 0  # KiB
    archived: bool = False
    disabled: bool = False
    private: bool = False
    has_issues: bool = True
    has_pull_requests: bool = True
    may_push: bool | None = Field(None, validation_alias=AliasPath("permissions", "push"))


class PullRow(Item):
    """A pull request as the list of pull requests has it."""

    body: Text
    branch: Text = Field(validation_alias=AliasPath("head", "ref"))
    head: Text = Field("", validation_alias=AliasPath("head", "sha"))
    base: Text = Field("", validation_alias=AliasPath("base", "sha"))
    labels: Annotated[tuple[Text, ...], NAMES] = ()
    author: Text = Field("", validation_alias=_AUTHOR)


class AccountRow(Row):
    """The account that is signed in."""

    login: Text


class RefRow(Row):
    """Where a branch stands."""

    sha: Sha = Field(validation_alias=AliasPath("object", "sha"))


class ShaRow(Row):
    """An object of git, by its name."""

    sha: Sha


class CommitRow(Row):
    """A commit of the git data API."""

    tree: Sha = Field(validation_alias=AliasPath("tree", "sha"))
    parents: Annotated[tuple[Text, ...], SHAS] = ()


class NamedCommitRow(Row):
    """A commit by any of its names."""

    sha: Text
    html_url: Text = ""
    at: datetime = Field(validation_alias=AliasPath("commit", "committer", "date"))
    message: Text = Field("", validation_alias=AliasPath("commit", "message"))
    parents: Annotated[tuple[Text, ...], SHAS] = ()


class TagRow(Row):
    """A tag."""

    name: Text


class TreeEntryRow(Row):
    """One name in a folder."""

    path: Text
    mode: Text
    sha: Text
    size: int | None = None


class TreeRow(Row):
    """A folder."""

    sha: Text
    tree: tuple[TreeEntryRow, ...] = ()
    truncated: bool = False

    @property
    def nodes(self) -> dict[str, Node]:
        nodes = (Node(row.path, row.mode, row.sha, row.size, row.path) for row in self.tree)
        return {node.path: node for node in nodes}


class ChangedFileRow(Row):
    """A change of a file; without patch if it is large or binary."""

    path: Text = Field(validation_alias="filename")
    old_path: Text = Field("", validation_alias="previous_filename")
    added: int = Field(0, validation_alias="additions")
    removed: int = Field(0, validation_alias="deletions")
    diff: Annotated[Text, AfterValidator(hunks)] = Field("", validation_alias="patch")

    @property
    def change(self) -> ChangedFile:
        return ChangedFile(**self.model_dump())


class BlobRow(Row):
    """A file's content in base64."""

    content: Text


class BlobTextRow(Row):
    """A file as GraphQL tells it."""

    oid: Text = ""
    text: str | None = None
    isBinary: bool | None = None
    isTruncated: bool = False


def row(kind: type[R], response: Response[Any, Any]) -> R:
    """Return a response as that kind; raises as `read`, and `AnswerUnread` for that to a write."""
    is_read = response.raw_request.method in SAFE
    return (rows.read if is_read else rows.made)(kind, response.json(), SERVICE)


def read(kind: type[R], answer: Any) -> R:
    """Return the answer as that kind; raises `GiveUp` where it is not as documented."""
    return rows.read(kind, answer, SERVICE)


def owner_and_name(repository: str) -> tuple[str, str]:
    """Return the two parts of a repository's name; raises `StopTheNight` where it has not two."""
    if not _REPOSITORY.fullmatch(repository) or repository.endswith(("/.", "/..", ".git")):
        raise StopTheNight(f"{repository[:80]!a} is no repository: set GITHUB_REPO to owner/name")
    owner, _, name = repository.partition("/")
    return owner, name
