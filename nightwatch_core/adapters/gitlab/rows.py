"""The few fields of GitLab's answers that we read."""

from typing import Annotated, Any

from pydantic import AliasPath, AwareDatetime, BeforeValidator, Field, model_validator

from nightwatch_core.adapters.hosts.rows import Comment, Item, Row, Sha, Text

NOT_PLANNED = frozenset({"wontfix", "won't fix", "not planned", "invalid", "duplicate"})
"""Labels, their scope left out, that say of a closed issue what GitLab has no word for."""
_AUTHOR = AliasPath("author", "username")
_Flag = Annotated[bool, BeforeValidator(bool)]


class ItemRow(Item):
    """An issue, or a merge request where there is a source branch."""

    number: int = Field(validation_alias="iid")
    body: Text = Field(validation_alias="description")  # without it our key would not be found
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


class RightRow(Row):
    """A right in a project, of its own or through a group."""

    access_level: int = 0


class ProjectRow(Row):
    """A project; the role of the token's owner is 0 without one."""

    full_name: Text = Field(validation_alias="path_with_namespace")
    html_url: Text = Field("", validation_alias="web_url")
    default_branch: Text = ""
    visibility: Text = ""
    archived: _Flag = False
    issues: Text = Field("", validation_alias="issues_access_level")
    merge_requests: Text = Field("", validation_alias="merge_requests_access_level")
    permissions: dict[str, RightRow | None] = {}

    @property
    def role(self) -> int:
        return max((right.access_level for right in self.permissions.values() if right), default=0)


class TokenRow(Row):
    """A token."""

    scopes: tuple[Text, ...] = ("api",)


class PipelineRow(Row):
    """A pipeline."""

    id: int
    sha: Text = ""
    status: Text = ""


class MergeRow(ItemRow):
    """A merge request, asked for alone."""

    pipeline: PipelineRow | None = Field(None, validation_alias="head_pipeline")
    base: Text = Field("", validation_alias=AliasPath("diff_refs", "base_sha"))


class LabelRow(Row):
    """A label."""

    name: Text


class JobRow(Row):
    """A job of a pipeline."""

    id: int
    name: Text
    may_fail: _Flag = Field(False, validation_alias="allow_failure")


class MemberRow(Row):
    """A member of the project."""

    name: Text = Field(validation_alias="username")
    role: int = Field(validation_alias="access_level")


class CommitRow(Row):
    """A commit."""

    sha: Sha = Field(validation_alias="id")
    parents: tuple[Sha, ...] = Field((), validation_alias="parent_ids")
    message: Text = ""
    at: AwareDatetime | None = Field(None, validation_alias="committed_date")


class BranchRow(Row):
    """A branch."""

    commit: CommitRow


class EntryRow(Row):
    """One name in a folder."""

    path: Text
    mode: Text
    id: Sha


class DiffRow(Row):
    """A change of a file."""

    old_path: Text
    new_path: Text
    diff: Text = ""


class NoteRow(Comment):
    """A comment; `system` is what GitLab itself wrote."""

    id: int
    body: Text
    author: Text = Field("", validation_alias=_AUTHOR)
    at: AwareDatetime | None = Field(None, validation_alias="created_at")
    system: bool = False
