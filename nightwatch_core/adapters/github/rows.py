"""The few fields of GitHub's answers that we read, and the repository we read them from."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import (
    AliasChoices,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from nightwatch_core.adapters.github.client import GitHubClient
from nightwatch_core.adapters.github.http import owner_and_name
from nightwatch_core.errors import GiveUp


def _text(value: object) -> str:
    """People's text: none is empty, and halves of characters are replaced."""
    return "" if value is None else str(value).encode(errors="replace").decode()


Text = Annotated[str, BeforeValidator(_text)]


class Row(BaseModel):
    """A part of an answer; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Person(Row):
    """Who did something; Bot for programs."""

    login: Text = ""
    type: Text = ""


class Label(Row):
    """A label."""

    name: Text = ""


class Merge(Row):
    """What the list of issues says of a pull request."""

    merged_at: datetime | None = None


class Issue(Row):
    """An issue, or a pull request where `pull_request` is there."""

    number: int
    title: Text = ""
    body: Text = ""
    state: Text
    state_reason: Text = ""
    html_url: Text = ""
    labels: tuple[Label, ...] = ()
    comments: int = 0
    closed_at: datetime | None = None
    updated_at: datetime
    pull_request: Merge | None = None
    repository_url: Text = ""
    locked: bool = False


class Saying(Row):
    """A comment or a review."""

    body: Text = ""
    html_url: Text = ""
    user: Person | None = None
    state: Text = ""
    author_association: Text = ""
    at: AwareDatetime | None = Field(
        None, validation_alias=AliasChoices("submitted_at", "created_at")
    )


class Roles(Row):
    """What the token's owner may do in a repository."""

    push: bool = False


class Repository(Row):
    """A repository."""

    full_name: Text
    default_branch: Text
    size: int = 0  # KiB
    archived: bool = False
    disabled: bool = False
    private: bool = False
    has_issues: bool = True
    has_pull_requests: bool = True
    permissions: Roles | None = None

    @property
    def is_public(self) -> bool:
        """Whether everybody may read it."""
        return not self.private


class HeadRepository(Row):
    """Where a pull request's branch is."""

    full_name: Text = ""


class Head(Row):
    """A pull request's branch."""

    ref: Text
    sha: Text
    repo: HeadRepository | None = None


class Pull(Row):
    """A pull request."""

    number: int
    html_url: Text = ""
    body: Text = ""
    state: Text
    head: Head
    labels: tuple[Label, ...] = ()


class Named(Row):
    """An object that is named by its sha."""

    sha: Text


class Ref(Row):
    """Where a branch stands."""

    object: Named


class CommitRow(Row):
    """A commit of the git data API."""

    sha: Text
    tree: Named
    parents: tuple[Named, ...] = ()


class TreeEntry(Row):
    """One name in a folder."""

    path: Text
    mode: Text
    sha: Text
    size: int | None = None


class Tree(Row):
    """A folder."""

    sha: Text
    tree: tuple[TreeEntry, ...] = ()
    truncated: bool = False


class BlobRow(Row):
    """A file's content in base64."""

    content: Text
    encoding: Text


class BlobText(Row):
    """A file as GraphQL tells it."""

    oid: Text = ""
    text: str | None = None
    isBinary: bool | None = None
    isTruncated: bool = False


class Author(Row):
    """Who wrote a commit."""

    name: Text = ""


class BlameCommit(Row):
    """A commit as GraphQL's blame tells it."""

    oid: Text
    messageHeadline: Text = ""
    committedDate: datetime
    author: Author | None = None


class BlameRange(Row):
    """Lines that one commit wrote."""

    startingLine: int
    endingLine: int
    commit: BlameCommit


R = TypeVar("R", bound=Row)


def read(kind: type[R], answer: Any) -> R:
    """The answer as that kind; raises `GiveUp` where GitHub does not answer as documented."""
    try:
        return kind.model_validate(answer)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False)[0]["loc"])
        raise GiveUp(f"GitHub's {kind.__name__.lower()} is not as documented: {where}") from None


class Place(NamedTuple):
    """A repository, and the client that asks about it."""

    client: GitHubClient
    owner: str
    name: str

    @property
    def at(self) -> tuple[str, str]:
        """Owner and name, as githubkit wants them."""
        return self.owner, self.name

    @property
    def full_name(self) -> str:
        """owner/name."""
        return f"{self.owner}/{self.name}"

    def described(self) -> Repository:
        """What GitHub says of the repository."""
        return read(Repository, self.client.ask(lambda rest: rest.repos.get(*self.at)))


def place(client: GitHubClient, repository: str) -> Place:
    """The repository called owner/name; raises `StopTheNight` where that is no such name."""
    return Place(client, *owner_and_name(repository))
