"""Words for one night: what it did, took, learned and tells in the morning."""

from datetime import datetime
from typing import Literal

from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.answer import Experience, Forecast, TierRecord, Usage
from nightwatch_core.models.assignment import BatchTriage
from nightwatch_core.models.code import CodeReads, Commit, DraftCi
from nightwatch_core.models.errors import Case, DroppedGroup, RejectedRecord, Window
from nightwatch_core.models.knowledge import (
    IgnoreSuggestion,
    MergedFix,
    OutcomeUpdate,
    Pattern,
    Rejection,
    Scoreboard,
)
from nightwatch_core.models.options import Health, NightOptions
from nightwatch_core.models.proposals import OwnItem, Receipt, Skip
from nightwatch_core.models.value import Value

Status = Literal["complete", "degraded", "failed"]
SINGLE_RUN = "one-"  # how the names of runs for one error begin
EXIT_CODES: dict[Status, int] = {"complete": 0, "failed": 1, "degraded": 3}


class NightKind(Value):
    """A night's source and trigger; the next night of its kind resumes an unfinished one."""

    key: str = ""  # of the sources, windows.source_key; empty: neither taken up nor a watermark
    scheduled: bool = False  # by its schedule, not by hand
    dry: bool = False
    since: str = ""  # as it was asked for


class Night(Value):
    """One run: its name is the local date of the window's end and a digest of source and window."""

    id: str
    window: Window
    now: datetime
    resumed: bool = False  # an unfinished night of the same window was taken up again
    folder: str = ""
    given: tuple[str, ...] = ()  # options that this run was given by name
    kind: NightKind = NightKind()
    fence: str = ""  # what closes untrusted text in prompts tonight: nobody outside can know it
    left_out: str = ""  # what lies before the window and was never read, one sentence


class WrittenLesson(Value):
    """A lesson's document, and why it was written."""

    file: str
    # "unknown": it names no cause; "kept": tonight's answer proved less than it does
    what: Literal["new", "refreshed", "reused", "kept", "unknown"]


class LearningResult(Value):
    """Results of the learning steps."""

    lessons: tuple[str, ...] = ()  # files written or brought up to date
    new: int = 0  # thereof, of errors that had none
    refreshed: int = 0  # thereof, after a fresh analysis
    reused: int = 0  # thereof, that stood in for an analysis
    kept: int = 0  # thereof, that proved more than tonight's answer
    unknown: int = 0  # thereof, of errors without a known cause: only that they were looked at
    stale: tuple[str, ...] = ()  # files of lessons that no longer fit the code, since tonight
    archived: tuple[str, ...] = ()  # files that were moved to the archive
    patterns: tuple[Pattern, ...] = ()
    patterns_going_on: int = 0  # of errors without a known cause, reported on an earlier night
    suggestions: tuple[IgnoreSuggestion, ...] = ()
    no_suggestion: tuple[str, ...] = ()  # why errors got no suggestion, a sentence each
    scoreboard: Scoreboard | None = None  # how right earlier analyses proved; None: not reckoned
    failure: str = ""  # why learning is incomplete


class NightRecord(Value):
    """A line of the run history."""

    id: str
    status: Status | Literal["running"]
    started: datetime
    finished: datetime | None = None
    app: str = ""  # whose errors were read; empty: none, or kept before it was recorded
    errors: int = 0
    analysed: int = 0  # error groups
    known: int | None = None  # error groups of earlier nights; None: kept before they were counted
    issues: int = 0
    pulls: int = 0
    merged: int = 0  # of our pull requests, as the night noticed it
    verified: int = 0  # of these, whose effect it measured
    cost: float | None = None
    forecast: float | None = None  # that was expected of the cost; None: nobody knew
    tiers: tuple[TierRecord, ...] = ()
    traffic: int | None = None  # the application's transactions in the window; None: not known
    night: Night | None = None
    read_whole: bool = False  # all errors of its window, as far as the source lists them
    well: tuple[str, ...] = ()  # services that answered


class Efficiency(Value):
    """What analyses with a model took: averages of an error, and shares."""

    avg_iterations_per_error: float  # requests to the model, of every look and of failed analyses
    avg_tokens_per_error: float  # new ones
    avg_cost_per_error: float | None  # USD; None: price unknown
    cache_hit_rate: float  # share of the input that was read from the prompt cache
    tool_calls: int = 0
    missed_calls: int = 0  # thereof, for a file or folder that does not exist


class Accounts(Value):
    """Tokens, time and cost of a night's errors, analysed or failed."""

    usage: Usage = Usage()
    errors: int = 0
    proofs: Usage = Usage()  # of reproductions and corrections, besides `usage`
    efficiency: Efficiency | None = None  # None: no model was asked


ChangeKind = Literal["new", "back", "rising", "gone"]


class Change(Value):
    """An error that is not as it was the night before; its title is untrusted text."""

    kind: ChangeKind
    title: str
    fingerprint: str = ""
    before: int = 0
    now: int = 0


class RunReport(Value):
    """Everything one night has to tell: nothing dropped, failed or undone is missing."""

    night: Night
    options: NightOptions
    application: str = ""  # as the settings name it
    command: str = "nightwatch"  # as people type it for this application
    status: Status = "complete"
    degraded: tuple[str, ...] = ()  # why the status is not complete
    unsent: bool = False  # the team could not be told of it: the next night does
    banner: tuple[str, ...] = ()  # what was local tonight
    advice: tuple[str, ...] = ()  # what might be set, for whoever runs it
    commit: Commit | None = None  # that runs in production
    base: Commit | None = None  # that fixes are made on; None: `commit`
    commits: tuple[Commit, ...] = ()  # that cases were read at, each once; empty: `commit` alone
    errors: int = 0  # groups fetched
    read_whole: bool = False  # reading the window again would bring nothing more
    occurrences: int = 0
    analyses: tuple[Analysis, ...] = ()
    failures: tuple[Failure, ...] = ()
    dropped: tuple[DroppedGroup, ...] = ()
    rejects: tuple[RejectedRecord, ...] = ()
    complaints: tuple[str, ...] = ()  # ignore rules, agent files, lessons that cannot be read
    receipts: tuple[Receipt, ...] = ()
    skips: tuple[Skip, ...] = ()
    ci: tuple[DraftCi, ...] = ()  # what the checks of tonight's drafts said by its end
    outcomes: tuple[OwnItem, ...] = ()
    followed: tuple[OutcomeUpdate, ...] = ()  # tonight's, for lessons we had proposals for
    fixes: tuple[MergedFix, ...] = ()  # merged ones, as this night finds them
    rejections: tuple[Rejection, ...] = ()  # that wait for an answer on their pull requests
    traffic: int | None = None  # the application's transactions in the window; None: not known
    learned: LearningResult = LearningResult()
    batch_triage: BatchTriage = BatchTriage()  # judged in batches; `usage` holds what they took
    usage: Usage = Usage()
    accounts: Accounts = Accounts()
    forecast: Forecast | None = None  # of what the model costs; None: nothing, or nobody knew
    experience: Experience = Experience()
    health: Health | None = None  # how its services were; None: nobody looked
    code_reads: CodeReads = CodeReads()  # that the code cache answered, or passed on
    changes: tuple[Change, ...] = ()  # since the night before; empty: nothing to compare with
    started: datetime
    finished: datetime

    @property
    def cases(self) -> tuple[Case, ...]:
        """Return every case it tells of, those that were not analysed last."""
        return *self.attempted, *(Case(leader=item.group) for item in self.dropped)

    @property
    def attempted(self) -> tuple[Case, ...]:
        """Return the cases that were analysed, and those whose analysis failed."""
        return *(item.case for item in self.analyses), *(item.case for item in self.failures)
