"""Words for what became of our issues, pull requests and fixes, and how right analyses proved."""

from datetime import date, datetime
from typing import Literal

from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.value import Value

OutcomeKind = Literal[
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

MERGED: tuple[OutcomeKind, ...] = ("merged", "edited before merge")
TURNED_DOWN: tuple[OutcomeKind, ...] = (
    "closed unmerged",
    "no effect",
)  # not proposed again as it is
FAILED: tuple[OutcomeKind, ...] = (*TURNED_DOWN, "regressed")  # another fix, or the same undone one


class OccurrenceCount(Value):
    """How often an error was seen in a stretch of time that was looked at."""

    occurrences: int = 0
    hours: float = 0.0
    traffic: int | None = None  # the application's transactions in that time; None: not known
    nights: int = 0


class OutcomeEvent(Value):
    """One thing that happened to an item of ours, or to its error, as a night noticed it."""

    kind: OutcomeKind
    number: int | None = None  # of the issue or pull request
    on: date
    night: str = ""
    words: tuple[str, ...] = ()  # what reviewers said
    because: str = ""  # the figures behind a verdict
    answered: bool = False  # a fresh analysis has taken it into account


class FixWatch(Value):
    """A merged fix whose effect on its error is measured from night to night."""

    number: int  # of the pull request
    merged_at: datetime
    deployed_at: datetime | None = None  # None: not yet in production, as far as we can tell
    before: OccurrenceCount = OccurrenceCount()
    after: OccurrenceCount = OccurrenceCount()
    until: datetime | None = None  # how far the time after is counted
    verdict: Literal["", "verified", "no effect", "regressed"] = ""


class PublishedItem(Value):
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
    has_cause: bool = True  # False: it said that none is known, so that it cannot prove right
    outcome: str = ""  # the last `OutcomeKind`; empty: nothing yet


class OutcomeUpdate(Value):
    """What tonight brought for one lesson: what happened to its items, and to its error."""

    fingerprint: str
    file: str = ""
    title: str = ""
    fates: tuple[OutcomeEvent, ...] = ()  # new ones
    watch: FixWatch | None = None
    outcome: str = ""  # of the lesson from now on
    stale: str | None = None  # why it no longer fits the code; empty: it does; None: as before


class JudgedAnalysis(Value):
    """What became of one analysis we published: its issue and pull request are one."""

    fingerprint: str
    said: Confidence | None = None  # None: not recorded
    right: float | None = None  # 0 wrong, 1 right, between: in part; None: undecided
    kind: OutcomeKind | None = None  # what decided it, or happened last; None: nothing yet
    merged: bool = False
    told: int = 0  # earlier lessons the analyst was told
    iterations: int = 0
    tokens: int = 0  # new ones
    cost: float | None = None
    model: str = ""


class SuccessRate(Value):
    """How many of the decided ones proved right; `low` to `high` is a 90 % interval."""

    times: int = 0
    decided: int = 0
    right: float = 0.0  # a half for what was right in part
    share: float | None = None  # None: none decided, as for the interval
    low: float | None = None
    high: float | None = None


class ConfidenceTier(Value):
    """What became of analyses that said one confidence."""

    said: Confidence
    nominal: float  # the probability that the word stands for
    found: SuccessRate = SuccessRate()
    merged: int = 0  # whatever came after
    verified: int = 0
    rejected: int = 0  # closed unmerged, not planned, no effect, regressed


class AnalysisGroup(Value):
    """Analyses of one sort, what they took on average and how right they were."""

    name: str
    found: SuccessRate = SuccessRate()
    measured: int = 0  # thereof, with recorded iterations and tokens; averages are over these
    iterations: float | None = None
    tokens: float | None = None
    cost: float | None = None  # USD, over those whose price is known


class DraftRate(Value):
    """What became of our draft pull requests: of those that anything is known of, the good share.

    Good is a merged one, or an open one whose checks passed; known besides are those that were
    closed unmerged, and open ones whose checks failed.
    """

    drafts: int = 0
    merged: int = 0
    rejected: int = 0  # closed unmerged
    passed: int = 0  # whose checks passed, whatever else became of them
    failed: int = 0  # whose checks failed, likewise
    known: int = 0
    good: int = 0

    @property
    def share(self) -> float | None:
        """From 0 to 1; None where nothing is known."""
        return self.good / self.known if self.known else None


class Scoreboard(Value):
    """How right the analyses of this installation proved, by what they said and knew."""

    found: SuccessRate = SuccessRate()
    tiers: tuple[ConfidenceTier, ...] = ()  # high, medium, low
    brier: float | None = None  # of the nominal probabilities; None: nothing decided
    brier_calibrated: float | None = None  # of our own, each learned without the one it is for
    informed: AnalysisGroup = AnalysisGroup(name="with prior knowledge")
    uninformed: AnalysisGroup = AnalysisGroup(name="without prior knowledge")
    models: tuple[AnalysisGroup, ...] = ()  # the most used first
    drafts: DraftRate | None = None  # None: the tracker was not read
