"""Words for what we would like to publish, and what became of it."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from nightwatch_core.models.value import Value


class FileChange(Value):
    """The text a file shall have; None deletes it. Modes are kept, new files are plain."""

    path: str
    text: str | None


class OpenIssue(Value):
    """A new issue."""

    kind: Literal["issue"] = "issue"
    key: str  # names the effect for ever: publishing it twice is one issue
    fingerprint: str
    also: tuple[str, ...] = ()  # names of other errors with the same cause; so in all below
    title: str
    body: str
    labels: tuple[str, ...] = ()
    fix: str = ""  # digest of the fix it holds


class Comment(Value):
    """A comment on an issue or draft of ours, only where something changed."""

    kind: Literal["comment"] = "comment"
    key: str
    fingerprint: str
    also: tuple[str, ...] = ()
    number: int
    on: Literal["issue", "pull"] = "issue"
    body: str
    fix: str = ""  # digest of the draft's edits, where it is on one
    label: str = ""  # that goes onto it as well


class Reopen(Value):
    """A closed issue of ours whose error came back."""

    kind: Literal["reopen"] = "reopen"
    key: str
    fingerprint: str
    also: tuple[str, ...] = ()
    number: int
    body: str


class DraftCommit(Value):
    """One commit of several: its message, and the files that it leaves otherwise."""

    message: str
    changes: tuple[FileChange, ...]


class DraftPull(Value):
    """One atomic commit on a deterministic branch, or several, and a draft pull request for it.

    As a patch it has no branch: the text goes onto the issue.
    """

    kind: Literal["pull"] = "pull"
    key: str
    fingerprint: str
    also: tuple[str, ...] = ()
    branch: str
    base: str
    title: str
    body: str
    commit_message: str
    changes: tuple[FileChange, ...]
    commit: str  # the edits were made on this commit's files
    commits: tuple[DraftCommit, ...] = ()  # in order, adding up to `changes`; empty: one commit
    labels: tuple[str, ...] = ()
    fix: str = ""  # digest of its edits
    as_patch: bool = False
    issue: int | None = None  # that carries the patch; None in a dry run, and on this machine


class PullUpdate(Value):
    """One more commit on the branch of a draft of ours, and a comment that says what it is."""

    kind: Literal["update"] = "update"
    key: str
    fingerprint: str
    also: tuple[str, ...] = ()
    number: int
    branch: str
    head: str  # our commit that the branch stands at; where it stands elsewhere, nothing is done
    body: str
    commit_message: str
    changes: tuple[FileChange, ...]  # against that commit's files
    commit: str  # of the base that the draft was made on
    fix: str = ""  # digest of all edits of the draft by then


Proposal = Annotated[
    OpenIssue | Comment | Reopen | DraftPull | PullUpdate, Field(discriminator="kind")
]


SkipCause = Literal[
    "limit", "choice", "settled", "nothing new", "weak", "unknown", "refused", "no fix", "worth", ""
]  # "unknown": no cause is known; "worth": a review costs more than it is likely to bring


class Skip(Value):
    """Something that was not proposed, and why."""

    fingerprint: str
    title: str
    kind: str  # issue | comment | pull
    reason: str  # for people
    cause: SkipCause = ""  # for control flow; empty where it was kept before there were causes

    @model_validator(mode="before")
    @classmethod
    def _read_record(cls, value: Any) -> Any:
        """Give a cause to records of earlier versions, which have a text alone."""
        limited = isinstance(value, dict) and str(value.get("reason", "")).startswith("limit of")
        return {"cause": "limit"} | value if limited else value


class PublishPlan(Value):
    """What act will publish, in order, and what it will not."""

    proposals: tuple[Proposal, ...] = ()
    skips: tuple[Skip, ...] = ()


PublishStatus = Literal["done", "already there", "refused", "unknown", "held back"]


class Receipt(Value):
    """What became of a proposal."""

    key: str
    kind: str
    fingerprint: str
    also: tuple[str, ...] = ()  # other errors that it counts for
    status: PublishStatus
    title: str = ""
    number: int | None = None
    url: str = ""  # an address or a path
    reason: str = ""
    fix: str = ""  # digest of the fix it proposes
    on: Literal["issue", "pull"] = "issue"  # what was commented on
    barred: bool = False  # refused for want of a right, which somebody has to give
    sha: str = ""  # that a draft's branch stands at; empty: not known

    @property
    def names(self) -> frozenset[str]:
        """Every error it counts for."""
        return frozenset((self.fingerprint, *self.also))


def receipt_for(
    proposal: Proposal,
    status: PublishStatus,
    number: int | None = None,
    url: str = "",
    reason: str = "",
) -> Receipt:
    """Say what became of a proposal."""
    return Receipt(
        key=proposal.key,
        kind=proposal.kind,
        fingerprint=proposal.fingerprint,
        also=proposal.also,
        status=status,
        title=getattr(proposal, "title", ""),
        number=number,
        url=url,
        reason=reason,
        fix=getattr(proposal, "fix", ""),
        on=getattr(proposal, "on", "issue"),
    )


class Marker(Value):
    """What the hidden first line of our items says."""

    fingerprint: str
    also: tuple[str, ...] = ()
    key: str
    night: str


class OwnItem(Value):
    """An issue or pull request of ours, as the tracker holds it now."""

    kind: Literal["issue", "pull"]
    number: int
    fingerprint: str
    also: tuple[str, ...] = ()  # other errors it lists: what becomes of it counts for all
    key: str = ""
    title: str = ""
    state: Literal["open", "closed", "merged"] = "open"
    state_reason: str = ""  # completed | not_planned | reopened
    url: str = ""
    branch: str = ""
    labels: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # what reviewers said
    night: str = ""  # the night that made it
    closed_at: datetime | None = None
    merged_at: datetime | None = None  # of a pull request; None where not known
    edited: bool = False  # a merged pull request held more, or else, than we had proposed
    checks: Literal["passed", "failed", ""] = ""  # of a pull request's head; empty: not known
    as_patch: bool = False  # a draft without a branch; a service's has its issue's number
    fix: str = ""  # digest of a patch's edits

    @property
    def names(self) -> frozenset[str]:
        """Every error it is about.

        >>> sorted(OwnItem(kind="issue", number=1, fingerprint="v1:a", also=("v1:b",)).names)
        ['v1:a', 'v1:b']
        """
        return frozenset(filter(None, (self.fingerprint, *self.also)))
