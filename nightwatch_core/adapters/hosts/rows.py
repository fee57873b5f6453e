"""The few fields that we read of issues, pull requests and comments; hosts say where they stand."""

from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from nightwatch_core.adapters.hosts.writes import AnswerUnread
from nightwatch_core.errors import GiveUp


def _text(value: object) -> str:
    """People's text: none is empty, and halves of characters are replaced."""
    return "" if value is None else str(value).encode(errors="replace").decode()


Text = Annotated[str, BeforeValidator(_text)]
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}(?:[0-9a-f]{24})?$")]


class Row(BaseModel):
    """A part of an answer; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Authored(Row):
    """An issue, a pull request or a comment."""

    author: Text = ""
    body: Text = ""
    html_url: Text = ""  # where people read it


class Comment(Authored):
    """A comment or a review."""

    at: AwareDatetime | None = None
    is_of_the_team: bool = False  # a person's; programs' and strangers' are not
    verdict: str = ""  # of a review


class Item(Authored):
    """An issue or a pull request."""

    number: int  # among those of its kind
    is_pull: bool = False
    title: Text = ""
    state: Text = ""  # open or closed
    state_reason: Text = ""  # completed, not_planned, duplicate
    labels: tuple[Text, ...] = ()
    locked: bool = False
    closed_at: datetime | None = None
    closed_by: Text = ""  # empty: the host does not say
    merged_at: datetime | None = None
    updated_at: datetime | None = None
    branch: Text = ""
    head: Text = ""  # the commit that the branch stands at
    merged_as: Text = ""  # the commit on the base that ended it


R = TypeVar("R", bound=Row)


def made(kind: type[R], answer: Any, service: str) -> R:
    """Return the answer to a write as that kind; raises `AnswerUnread` for one in no known form."""
    try:
        return read(kind, answer, service)
    except GiveUp as odd:
        raise AnswerUnread(
            f"{odd}. It may have been done anyway: the next night checks before it tries again"
        ) from None


def read(kind: type[R], answer: Any, service: str) -> R:
    """Return the answer as that kind; raises `GiveUp` where it is not as documented."""
    try:
        return kind.model_validate(answer)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False)[0]["loc"])
        name = kind.__name__.removesuffix("Row").lower()
        raise GiveUp(f"{service}'s {name} is not as documented: {where}") from None
