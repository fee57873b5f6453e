"""The few fields of GitHub's answers that we read."""

import re
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import (
    AliasChoices,
    AliasPath,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from nightwatch_core.adapters.git.objects import Node
from nightwatch_core.errors import GiveUp, StopTheNight

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}")


def _text(value: object) -> str:
    """People's text: none is empty, and halves of characters are replaced."""
    return "" if value is None else str(value).encode(errors="replace").decode()


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


Text = Annotated[str, BeforeValidator(_text)]
NODES = BeforeValidator(_nodes)
NAMES, SHAS = _each("name"), _each("sha")
_MERGED_AT = AliasPath("pull_request", "merged_at")
_AUTHOR = AliasPath("user", "login")
_SAID_AT = AliasChoices("submitted_at", "created_at")


class Row(BaseModel):
    """A part of an answer; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class IssueRow(Row):
    """An issue, or a pull request where `pull_request` is there."""

    number: int
    title: Text = ""
    body: Text = ""
    state: Text
    state_reason: Text = ""
    html_url: Text = ""
    labels: Annotated[tuple[Text, ...], NAMES] = ()
    comments: int = 0
    closed_at: datetime | None = None
    merged_at: datetime | None = Field(None, validation_alias=_MERGED_AT)
    updated_at: datetime
    pull_request: object = None
    locked: bool = False
    author: Text = Field("", validation_alias=_AUTHOR)


class CommentRow(Row):
    """A comment or a review; `by` is Bot for programs, and empty for nobody."""

    body: Text = ""
    html_url: Text = ""
    by: Text = Field("", validation_alias=AliasPath("user", "type"))
    author: Text = Field("", validation_alias=_AUTHOR)
    state: Text = ""
    author_association: Text = ""
    at: AwareDatetime | None = Field(None, validation_alias=_SAID_AT)


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


class PullRow(Row):
    """A pull request."""

    number: int
    html_url: Text = ""
    body: Text = ""
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

    sha: Text = Field(validation_alias=AliasPath("object", "sha"))


class ShaRow(Row):
    """An object of git, by its name."""

    sha: Text


class CommitRow(Row):
    """A commit of the git data API."""

    tree: Text = Field(validation_alias=AliasPath("tree", "sha"))
    parents: Annotated[tuple[Text, ...], SHAS] = ()


class NamedCommitRow(Row):
    """A commit by any of its names."""

    sha: Text
    html_url: Text = ""
    at: datetime = Field(validation_alias=AliasPath("commit", "committer", "date"))
    message: Text = Field("", validation_alias=AliasPath("commit", "message"))
    parents: Annotated[tuple[Text, ...], SHAS] = ()


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
        """Return its names by path."""
        return {
            row.path: Node(row.path, row.mode, row.sha, row.size, row.path) for row in self.tree
        }


class BlobRow(Row):
    """A file's content in base64."""

    content: Text


class BlobTextRow(Row):
    """A file as GraphQL tells it."""

    oid: Text = ""
    text: str | None = None
    isBinary: bool | None = None
    isTruncated: bool = False


R = TypeVar("R", bound=Row)


def read(kind: type[R], answer: Any) -> R:
    """Return the answer as that kind; raises `GiveUp` where it is not as documented."""
    try:
        return kind.model_validate(answer)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False)[0]["loc"])
        name = kind.__name__.removesuffix("Row").lower()
        raise GiveUp(f"GitHub's {name} is not as documented: {where}") from None


def owner_and_name(repository: str) -> tuple[str, str]:
    """Return the two parts of a repository's name; raises `StopTheNight` where it has not two."""
    if not _REPOSITORY.fullmatch(repository) or repository.endswith(("/.", "/..", ".git")):
        raise StopTheNight(f"{repository[:80]!a} is no repository: set GITHUB_REPO to owner/name")
    owner, _, name = repository.partition("/")
    return owner, name
