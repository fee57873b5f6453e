"""Words for what we believe about a case."""

from typing import Literal

from nightwatch_core.models import answer
from nightwatch_core.models.code import ChangedFile, Overlap, PullSign, Suspect
from nightwatch_core.models.errors import Case
from nightwatch_core.models.proposals import GateResult
from nightwatch_core.models.value import Value

FELL_BACK = "answered by the rules model"  # tag of an answer whose model could not be reached


class Ending(Value):
    """The end of an analysis, and its reason."""

    kind: Literal[
        # with a verdict
        "answered",
        "wrapped up",
        "reused",
        # without one
        "refused",
        "context exceeded",
        "unreachable",
        "invalid",
        "budget gone",
        "failed",
    ] = "answered"
    detail: str = ""  # which bound, which lesson, which category of refusal


class RefusedEdit(Value):
    """An edit that is not proposed; its text is not kept."""

    path: str
    reason: str
    is_slip: bool = False  # another attempt may put it right: it is not the file that is refused


class Quarantined(Value):
    """A part of an analysis that repeats an instruction from outside, and is not published."""

    part: Literal["tool call", "next step", "learning", "question", "tag", "description"]
    order: str  # untrusted text: escape it


class BaseBranchStatus(Value):
    """Status of the failing lines on the base branch, which fixes aim at."""

    kind: Literal["live", "drifted", "changed"]
    pull: int = 0  # of the change that awaits its deploy; 0: a commit without pull request
    sign: PullSign = "#"  # before that number
    sha: str = ""  # likewise
    detail: str = ""  # for people


Way = Literal["fresh", "going on"]  # a new conversation; the first one, continued


class SecondLook(Value):
    """Result of a second look at a case with a weak verdict."""

    reason: str  # why it was made
    skipped: str = ""  # why it was not made all the same
    way: Way | None = None  # None: it was not made
    way_because: str = ""
    kept: Literal["first", "second"] = "first"
    because: str = ""  # why that one was kept
    usage: answer.Usage = answer.Usage()  # of the second, within the analysis's own


class Lead(Value):
    """A cheaper model's analysis that came first."""

    model: str
    doubt: str = ""  # why another model looked again; empty: it stands
    cost: float | None = 0.0  # USD, within the analysis's own


class TrackRecord(Value):
    """The share of findings of the same confidence that proved right in this installation."""

    stated_confidence: answer.Confidence
    right: float  # half right counts half
    decided: int


class Analysis(Value):
    """The verdict on one case, with its because."""

    case: Case
    title: str
    root_cause: str
    confidence: answer.Confidence
    evidence: tuple[answer.Evidence, ...] = ()
    fix: tuple[answer.Edit, ...] = ()  # empty: no fix is proposed
    changes: tuple[ChangedFile, ...] = ()  # what it does to the files of the commit
    hypotheses: tuple[answer.Hypothesis, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    suspect_commit: str = ""
    next_steps: tuple[str, ...] = ()
    learnings: tuple[answer.Learning, ...] = ()
    tags: tuple[str, ...] = ()
    related_to: tuple[str, ...] = ()
    because: tuple[str, ...] = ()  # why this confidence and score
    score: float = 0.0  # computed by our code, 0 to 1
    ending: Ending = Ending()
    passes: int = 1
    second_look: SecondLook | None = None  # None: none was needed
    lead: Lead | None = None  # None: only one model was asked
    iterations: int = 0  # of all passes
    tool_calls: int = 0  # of all passes
    missed_calls: int = 0  # thereof, for a file or folder that does not exist
    read: tuple[str, ...] = ()  # files the model has seen
    prior_fingerprints: tuple[str, ...] = ()  # of the lessons that the analyst was given
    known_as: tuple[str, ...] = ()  # names of its error's lesson: those of earlier nights, too
    unsettled_nights: int = 0  # before tonight on which its lesson did not settle it, in a row
    fix_alone: bool = False  # its cause was known, only the fix was asked for
    rejected: tuple[str, ...] = ()  # digests of fixes that were turned down, or did not help
    failed_pulls: tuple[int, ...] = ()  # our pull requests that did not settle it, whatever came
    chance: float | None = None  # how often as sure a finding proved right here; None: too few yet
    stated_confidence: answer.Confidence | None = None  # the analyst's, where ours differs
    another_cause: bool = False  # than the one that its lesson had proved
    settled: tuple[int, ...] = ()  # issues we reopened for it, and people closed again
    waiting: str = ""  # why a known error that goes on is no news: its fix is not deployed yet …
    news: str = ""  # why a known error was looked at again
    known_since: str = ""  # of a finding that is reused: since when, for people
    track_record: TrackRecord | None = None  # None: too few are decided yet
    usage: answer.Usage = answer.Usage()
    model: str = ""
    by_fallback: bool = False  # the rules answered for a model that was away
    commit: str = ""
    doubt: str = ""  # why the confidence is lower than the answer said
    fix_confidence: answer.Confidence | None = None  # in what should happen instead
    question: str = ""  # to the team, where what should happen is a choice of theirs
    refused: tuple[RefusedEdit, ...] = ()  # edits that the answer held and that are not proposed
    base_branch_status: BaseBranchStatus | None = None  # None: it is the commit that failed
    overlaps: tuple[Overlap, ...] = ()  # other pull requests that its fix meets
    misfit: str = ""  # why the record does not fit the commit; then no place or change is named
    quarantined: tuple[Quarantined, ...] = ()  # the edits among them are `refused`
    gate: GateResult | None = None  # what was run of its fix; None: nothing, or not yet
    snippet: str = ""  # code that raised production's error when the analyst ran it
    handover: answer.Handover | None = None  # what is known where no cause is; None: it has a cause
    failing: answer.Handover | None = None  # of a cause: the failing line, and who wrote it last

    @property
    def fingerprint(self) -> str:
        """Return the case's name."""
        return self.case.fingerprint

    @property
    def has_fix(self) -> bool:
        """Tell whether edits are proposed."""
        return bool(self.fix)

    @property
    def has_cause(self) -> bool:
        """Tell whether it says why; else it is one line of the report and nothing is made of it."""
        return self.handover is None


class Failure(Value):
    """An analysis that did not come about: a line in the report, never a silent gap."""

    case: Case
    reason: str
    usage: answer.Usage = answer.Usage()
    ending: Ending = Ending(kind="failed")
