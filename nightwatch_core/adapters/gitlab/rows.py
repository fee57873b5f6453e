"""The few fields of GitLab's answers that we read."""

from typing import Annotated, Any

from pydantic import AliasPath, AwareDatetime, BeforeValidator, Field, model_validator

from nightwatch_core.adapters.hosts.rows import Comment, Item, Text

NOT_PLANNED = frozenset({"wontfix", "won't fix", "not planned", "invalid", "duplicate"})
"""Labels, their scope left out, that say of a closed issue what GitLab has no word for."""
_AUTHOR = AliasPath("author", "username")
_Flag = Annotated[bool, BeforeValidator(bool)]


class ItemRow(Item):
    """An issue, or a merge request where there is a source branch."""

    number: int = Field(validation_alias="iid")
    body: Text = Field("", validation_alias="description")
    html_url: Text = Field("", validation_alias="web_url")
    author: Text = Field("", validation_alias=_AUTHOR)
    closed_by: Text = Field("", validation_alias=AliasPath("closed_by", "username"))
    locked: _Flag = Field(False, validation_alias="discussion_locked")
    is_pull: _Flag = Field(False, validation_alias="source_branch")
    branch: Text = Field("", validation_alias="source_branch")
    head: Text = Field("", validation_alias="sha")

    @model_validator(mode="before")
    @classmethod
    def _in_our_words(cls, row: Any) -> Any:
        if not isinstance(row, dict) or not isinstance(row.get("labels", []), list):
            return row
        state = "open" if row.get("state") in ("opened", "locked") else "closed"
        labels = {str(label).rpartition("::")[2].casefold() for label in row.get("labels", [])}
        is_copy = (row.get("_links") or {}).get("closed_as_duplicate_of")
        reason = "not_planned" if is_copy or labels & NOT_PLANNED else "completed"
        return {**row, "state": state, "state_reason": reason if state == "closed" else ""}


class NoteRow(Comment):
    """A comment; `system` is what GitLab itself wrote."""

    id: int
    author: Text = Field("", validation_alias=_AUTHOR)
    at: AwareDatetime | None = Field(None, validation_alias="created_at")
    system: bool = False
