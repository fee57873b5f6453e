"""Words for what became of our issues and pull requests, and of the errors they were about."""

from datetime import date, datetime
from typing import Literal

from nightwatch_core.models.value import Value

FateKind = Literal[
    # of the pull request
    "merged",
    "edited before merge",
    "closed unmerged",
    # of the issue
    "closed",
    "not planned",
    "reopened",
    # of the error, once a merged fix is in production
    "verified",
    "no effect",
    "regressed",
]

MERGED: tuple[FateKind, ...] = ("merged", "edited before merge")
TURNED_DOWN: tuple[FateKind, ...] = ("closed unmerged", "no effect")  # not proposed again as it is
FAILED: tuple[FateKind, ...] = (*TURNED_DOWN, "regressed")  # another fix, or the same undone one


class Count(Value):
    """How often an error was seen in a stretch of time that was looked at."""

    occurrences: int = 0
    hours: float = 0.0
    traffic: int | None = None  # the application's transactions in that time; None: not known
    nights: int = 0


class Fate(Value):
    """One thing that happened to an item of ours, or to its error, as a night noticed it."""

    kind: FateKind
    number: int | None = None  # of the issue or pull request
    on: date
    night: str = ""
    words: tuple[str, ...] = ()  # what reviewers said
    because: str = ""  # the figures behind a verdict
    answered: bool = False  # a fresh analysis has taken it into account


class Watch(Value):
    """A merged fix whose effect on its error is measured from night to night."""

    number: int  # of the pull request
    merged_at: datetime
    deployed_at: datetime | None = None  # None: not yet in production, as far as we can tell
    before: Count = Count()
    after: Count = Count()
    until: datetime | None = None  # how far the time after is counted
    verdict: Literal["", "verified", "no effect", "regressed"] = ""


class Proposed(Value):
    """An issue or pull request of ours, and what its analysis had said and cost."""

    kind: Literal["issue", "pull"]
    number: int
    on: date
    night: str = ""
    confidence: str = ""  # what was said: high, medium, low
    fix: str = ""  # digest of the edits; empty for none
    told: int = 0  # earlier lessons the analyst was told
    iterations: int = 0
    tokens: int = 0  # new ones
    cost: float | None = None
    model: str = ""
    outcome: str = ""  # the last `FateKind`; empty: nothing yet


class Followed(Value):
    """What tonight brought for one lesson: what happened to its items, and to its error."""

    fingerprint: str
    file: str = ""
    title: str = ""
    fates: tuple[Fate, ...] = ()  # new ones
    watch: Watch | None = None
    outcome: str = ""  # of the lesson from now on
    stale: str | None = None  # why it no longer fits the code; empty: it does; None: as before
