"""Words for work under way between two steps of the night."""

from datetime import datetime

from nightwatch_core.models import knowledge
from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.answer import Allowance, Experience, Forecast, Usage
from nightwatch_core.models.batch import FirstSight, ItemResult
from nightwatch_core.models.code import Commit, DraftCi, MergedPull, Overlap, Release
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.errors import Case, ErrorGroup, Selection, Trace
from nightwatch_core.models.proposals import DraftPull, GateResult, OwnItem, Receipt, Skip
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.value import Value


class Traced(Value):
    """A group and its traces, newest first, frames mapped to the repository."""

    group: ErrorGroup
    traces: tuple[Trace, ...] = ()
    commit: Commit | None = None  # the code that failed, which the frames are placed in
    trouble: str = ""  # why its traces could not be read


class KnownErrors(Value):
    """Errors that had a lesson when the night began."""

    names: tuple[str, ...] = ()


class CodeTonight(Value):
    """The commit that runs in production, and what was merged and released lately.

    A case is read at its own commit, `Case.commit`; fixes are made on `base`.
    """

    commit: Commit
    base: Commit | None = None  # head of the branch that fixes aim at; None: `commit`
    pulls: tuple[MergedPull, ...] = ()
    releases: tuple[Release, ...] = ()
    deployed: tuple[Release, ...] = ()  # those that ran from their moment on
    trouble: str = ""  # what could not be read of it, though the commit could


class UnexplainedCase(Value):
    """A case no lesson covers, with the traces of its groups and what resembles it."""

    case: Case
    traces: tuple[Trace, ...] = ()
    priors: tuple[knowledge.PriorAnalysis, ...] = ()
    learnings: tuple[knowledge.FoundLearning, ...] = ()
    patterns: tuple[knowledge.Pattern, ...] = ()


class FollowUpInput(Value):
    """Input for following up earlier proposals, besides tonight's selection."""

    own: tuple[OwnItem, ...] | None = None  # None: could not be read, or is not wanted
    whole: bool = False  # the selection holds every error of the window
    traffic: int | None = None  # the application's transactions in the window; None: not known


class PastOutcomes(Value):
    """Outcomes of earlier proposals, and the scoreboard from them."""

    followed: tuple[knowledge.OutcomeUpdate, ...] = ()
    board: knowledge.Scoreboard | None = None
    merged: tuple[OwnItem, ...] | None = None  # our merged pull requests; None: could not be read
    known: Experience = Experience()
    fixes: tuple[knowledge.MergedFix, ...] = ()
    rejections: tuple[knowledge.Rejection, ...] = ()


class RecallResult(Value):
    """Cases split into those a lesson still explains and those to analyse."""

    known: tuple[Analysis, ...] = ()
    unknown: tuple[UnexplainedCase, ...] = ()
    complaints: tuple[str, ...] = ()
    past: PastOutcomes = PastOutcomes()


class UpdatedLessons(Value):
    """All lessons as they are after a night, and those that could not be written."""

    lessons: tuple[knowledge.Lesson, ...] = ()
    troubles: tuple[str, ...] = ()


class Assignment(Value):
    """Everything one analysis needs; its allowance was dealt before anything ran."""

    case: Case
    traces: tuple[Trace, ...] = ()
    research: ResearchContext = ResearchContext()
    allowance: Allowance
    commit: Commit
    night: str
    fence: str = ""  # the night's
    given: tuple[str, ...] = ()  # options that this run was given by name: they win
    first: Analysis | None = None  # its first verdict, where this is a second look


class WaveResult(Value):
    """Results and failures of a mapped step."""

    analyses: tuple[Analysis, ...] = ()
    failures: tuple[Failure, ...] = ()
    stopped: str = ""  # why nothing more can be done tonight; the rest of the wave stands


class AnalystTonight(Value):
    """The analyst of tonight; `able` is None if the model could not be asked."""

    able: Capabilities | None = None
    complaints: tuple[str, ...] = ()


class UnansweredAssignment(Value):
    """An assignment whose model was away, and how that was found out."""

    assignment: Assignment
    failure: Failure


class PublishResult(Value):
    """Results of publishing."""

    receipts: tuple[Receipt, ...] = ()
    skips: tuple[Skip, ...] = ()
    gates: tuple[tuple[str, GateResult], ...] = ()  # what was run of fixes, by fingerprint
    overlaps: tuple[tuple[str, tuple[Overlap, ...]], ...] = ()  # pull requests they meet, likewise
    drafts: tuple[DraftPull, ...] = ()  # that were to be published
    troubles: tuple[str, ...] = ()  # what went wrong on the way; empty ones say nothing
    stopped: str = ""  # why no model could be asked any more


class CiResult(Value):
    """CI results of the night's drafts, and the actions taken."""

    ci: tuple[DraftCi, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    gates: tuple[tuple[str, GateResult], ...] = ()  # of corrections that were pushed
    usage: Usage = Usage()  # what asking for corrections took


class CauseFindings(Value):
    """Findings of the search for causes."""

    selection: Selection
    code: CodeTonight
    memory: RecallResult
    analyst: AnalystTonight = AnalystTonight()
    forecast: Forecast | None = None
    waves: tuple[WaveResult, ...] = ()
    troubles: tuple[str, ...] = ()  # what went wrong on the way; empty ones say nothing

    @property
    def stopped(self) -> str:
        """Return the reason the night stopped; empty otherwise."""
        return next((wave.stopped for wave in self.waves if wave.stopped), "")

    def with_waves(self, *waves: WaveResult) -> "CauseFindings":
        """Return what came of looking for causes, with these waves."""
        return self.model_copy(update={"waves": waves})

    @property
    def commits(self) -> tuple[Commit, ...]:
        """Return every commit that a case was read at, once."""
        analysed = (analysis.case for wave in self.waves for analysis in wave.analyses)
        failed = (failure.case for wave in self.waves for failure in wave.failures)
        cases = (*(item.case for item in self.memory.known), *analysed, *failed)
        by_sha = {case.commit.sha: case.commit for case in cases if case.commit}
        return tuple(by_sha.values())


# Batch triage: many errors judged by a model without reading code.


class Sighting(Value):
    """Result of batch triage for one error."""

    group: ErrorGroup  # as it was when it was asked about
    night: str
    at: datetime  # when it was submitted
    rank: int  # among the errors of its batch, from 1
    result: ItemResult | None = None  # None: not answered yet
    taken: bool = False  # a night analysed it since

    @property
    def first_sight(self) -> FirstSight | None:
        """Return the triage result; None without one."""
        return self.result.first_sight if self.result else None

    @property
    def flagged(self) -> bool:
        """Tell whether it deserves an analysis."""
        return self.first_sight is not None and self.first_sight.needs_deep_investigation


class SubmittedBatch(Value):
    """A batch that a night submitted, or would have."""

    id: str = ""  # empty: held back, or nobody knows whether the service has it
    model: str
    errors: int
    expires: datetime | None = None
    note: str = ""  # why there is no id


class BatchTriage(Value):
    """Batches that a night collected and submitted."""

    judged: tuple[Sighting, ...] = ()  # by batches that were collected tonight, or before in vain
    kept: tuple[Sighting, ...] = ()  # earlier words on tonight's errors that still hold
    waiting: tuple[Sighting, ...] = ()  # flagged on earlier nights, and not analysed since
    running: tuple[str, ...] = ()  # batches that have not ended, one sentence each
    submitted: tuple[SubmittedBatch, ...] = ()
    cost: str = ""  # of what was submitted, for people
    awaited: int = 0  # errors of tonight that an earlier batch still has
    complaints: tuple[str, ...] = ()
    usage: Usage = Usage()  # of what was collected, and of errors asked alone

    @property
    def flagged(self) -> tuple[Sighting, ...]:
        """Return every error that deserves an analysis, the newest word of each."""
        every = (*self.waiting, *self.judged)
        return tuple({item.group.fingerprint: item for item in every if item.flagged}.values())
