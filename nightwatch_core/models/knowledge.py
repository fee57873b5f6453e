"""Words for what nights, people and agents taught."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from nightwatch_core.models.analysis import RefusedEdit
from nightwatch_core.models.answer import Confidence, Edit
from nightwatch_core.models.code import PullSign
from nightwatch_core.models.value import Value

# Words for what became of our issues, pull requests and fixes, and how right analyses proved.

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
    # of the finding, as somebody labelled its issue or pull request, or said by a command
    "useful",
    "wrong",
]

Feedback = Literal["useful", "wrong"]
FEEDBACK: tuple[OutcomeKind, ...] = ("useful", "wrong")  # as labels with the prefix `nightwatch:`

MERGED: tuple[OutcomeKind, ...] = ("merged", "edited before merge")
# Not proposed again as it is.
TURNED_DOWN: tuple[OutcomeKind, ...] = ("closed unmerged", "no effect")
FAILED: tuple[OutcomeKind, ...] = (*TURNED_DOWN, "regressed")  # another fix, or the same undone one


class OccurrenceCount(Value):
    """Occurrences of an error in an observed time span."""

    occurrences: int = 0
    hours: float = 0.0
    traffic: int | None = None  # the application's transactions in that time; None: not known
    nights: int = 0


class OutcomeEvent(Value):
    """One thing that happened to an item of ours, or to its error, as a night noticed it."""

    kind: OutcomeKind
    number: int | None = None  # of the issue or pull request
    sign: PullSign = "#"  # before that number
    on: date
    night: str = ""
    words: tuple[str, ...] = ()  # what reviewers said
    because: str = ""  # the figures behind a verdict
    answered: bool = False  # by a fresh analysis; a verified one, by a comment on its issue, too
    told: bool = False  # who rejected the draft, by a comment on it: what became of it


class FixWatch(Value):
    """A merged fix whose effect on its error is measured from night to night."""

    number: int  # of the pull request
    sign: PullSign = "#"  # before that number
    merged_at: datetime
    deployed_at: datetime | None = None  # None: not yet in production, as far as we can tell
    before: OccurrenceCount = OccurrenceCount()
    after: OccurrenceCount = OccurrenceCount()
    until: datetime | None = None  # how far the time after is counted
    verdict: Literal["", "verified", "no effect", "regressed"] = ""


FixStatus = Literal["no effect", "regressed", "merged", "measuring", "verified"]


class MergedFix(Value):
    """A merged pull request of ours, by the errors it is about, as a night finds it."""

    number: int
    names: tuple[str, ...]  # of its error
    merged_at: datetime
    status: FixStatus = "merged"  # "merged": no release or deploy that contains it was seen yet
    deployed_at: datetime | None = None


class Rejection(Value):
    """A draft that people closed unmerged, and that has no answer of ours yet."""

    number: int
    fingerprint: str
    names: tuple[str, ...]  # of its error
    stopped: str = ""  # since when its error was not seen, for people; empty: it goes on


class PublishedItem(Value):
    """An issue or pull request of ours, and what its analysis had said."""

    kind: Literal["issue", "pull"]
    number: int
    on: date
    night: str = ""
    confidence: str = ""  # what was said: high, medium, low
    fix: str = ""  # digest of the edits; empty for none
    has_cause: bool = True  # False: it said that none is known, so that it cannot prove right
    outcome: str = ""  # the last `OutcomeKind`; empty: nothing yet


class OutcomeUpdate(Value):
    """Tonight's news for one lesson: about its items, and its error."""

    fingerprint: str
    file: str = ""
    title: str = ""
    outcomes: tuple[OutcomeEvent, ...] = ()  # new ones
    verified: OutcomeEvent | None = None  # whose open issue still has to be told
    watch: FixWatch | None = None
    outcome: str = ""  # of the lesson from now on
    stale: str | None = None  # why it no longer fits the code; empty: it does; None: as before


class SuccessRate(Value):
    """Share of decided analyses that proved right."""

    times: int = 0
    decided: int = 0
    right: float = 0.0  # a half for what was right in part
    share: float | None = None  # None: none decided


class ConfidenceTier(Value):
    """Outcomes of analyses of one confidence."""

    stated_confidence: Confidence
    nominal: float  # the probability that the word stands for
    found: SuccessRate = SuccessRate()
    merged: int = 0  # whatever came after
    verified: int = 0
    rejected: int = 0  # closed unmerged, not planned, no effect, regressed


class DraftRate(Value):
    """Outcomes of our draft pull requests: the share that was merged.

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
        """Return the share, 0 to 1; None where nothing is known."""
        return self.good / self.known if self.known else None


class DuplicateRate(Value):
    """Analyses of the newest nights whose cause an earlier one of them had found already."""

    nights: int = 0
    analyses: int = 0  # fresh ones
    duplicates: int = 0
    share: float | None = None  # None: nothing was analysed


class Scoreboard(Value):
    """The share of analyses of this installation that proved right, by stated confidence."""

    found: SuccessRate = SuccessRate()
    tiers: tuple[ConfidenceTier, ...] = ()  # high, medium, low
    drafts: DraftRate | None = None  # None: the tracker was not read
    duplicates: DuplicateRate | None = None  # None: no night was read


class Problem(Value):
    """Something that went wrong, and how it was solved."""

    what: str
    symptoms: tuple[str, ...] = ()
    root_cause: str = ""
    solution: str = ""
    prevention: str = ""


class Decision(Value):
    """A choice that was made, and why."""

    choice: str
    alternatives: str = ""
    rationale: str = ""


class Notes(Value):
    """One `<future-agent-notes>` section."""

    timestamp: date | None = None
    problems: tuple[Problem, ...] = ()
    decisions: tuple[Decision, ...] = ()
    gotchas: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Tell whether nothing was noted."""
        return not (self.problems or self.decisions or self.gotchas)


class CitedLine(Value):
    """A line a lesson rests on; `digest` is of the whole file, to notice that it changed."""

    path: str
    line: int
    quote: str = ""
    digest: str = ""
    commit: str = ""  # the line was read at; empty: at the lesson's


class RelatedDocument(Value):
    """A pattern that a lesson's error belongs to, or the lesson of a similar error."""

    file: str  # "patterns/slow-rates.md"
    title: str
    note: str = ""  # what to do about a pattern; when a similar error was last seen


class NightSeen(Value):
    """One night on which a lesson's error was seen."""

    date: date
    night: str
    occurrences: int
    verdict: str  # new | known | changed | looked again | wrapped up | failed | passed over
    confidence: str = ""  # of that night's verdict; empty where not recorded
    hours: float = 0.0  # the night looked at; 0: not recorded
    traffic: int | None = None  # the application's transactions in that time; None: not known


class Lesson(Value):
    """Knowledge about one case: one document per fingerprint."""

    fingerprint: str
    aliases: tuple[str, ...] = ()
    error_class: str
    transaction: str = ""
    module: str = ""
    message: str = ""
    occurrences: int = 0
    title: str = ""
    root_cause: str
    confidence: Confidence = "low"  # in the cause
    fix_confidence: Confidence | None = None  # in what should happen instead
    has_fix: bool = False
    issue_number: int | None = None
    pr_number: int | None = None
    pr_sign: PullSign = "#"  # before that number
    tags: tuple[str, ...] = ()
    first_detected: date
    run_id: str = ""
    iterations_used: int = 0
    tokens_used: int = 0
    cost_used: float | None = None  # USD; None: not known
    model: str = ""  # who analysed it
    analyst: str = ""  # digest of model and instructions; empty: not known, or no whole analysis
    commit: str = ""
    outcome: str = ""  # of our proposals, the last of `outcomes`; empty: nothing yet
    outcomes: tuple[OutcomeEvent, ...] = ()  # what became of our proposals, oldest first
    proposed: tuple[PublishedItem, ...] = ()  # what we published about it, oldest first
    watch: FixWatch | None = None  # its merged fix, being measured
    nights: tuple[NightSeen, ...] = ()
    seen_until: datetime | None = None  # where those nights' windows end; None: not recorded
    evidence: tuple[CitedLine, ...] = ()
    edits: tuple[Edit, ...] = ()  # without `has_fix`: turned down, and no other came
    edits_read: tuple[str, ...] = ()  # files of these that their analyst had read
    refused_edits: tuple[RefusedEdit, ...] = ()  # what else was proposed, and why it is not kept
    next_steps: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    related: tuple[str, ...] = ()  # documents: `related_tasks` of its front matter
    related_patterns: tuple[RelatedDocument, ...] = ()
    pattern_notes: str = ""  # what people wrote below them, as it stands in the body
    causes: tuple[str, ...] = ()  # "Class: message" of the exceptions it wraps, root cause first
    places: tuple[str, ...] = ()  # frames nearest to where its exceptions were raised
    frames: tuple[str, ...] = ()  # "module.function" of the application's frames, innermost first
    analysed_at: datetime | None = None  # end of the night of the last fresh analysis
    question: str = ""  # to the team, where what should happen is theirs to decide
    fix_owed: str = ""  # what was wrong with its fix, of which nothing could be proposed
    unsettled_nights: int = 0  # nights that saw it so
    watched: tuple[CitedLine, ...] = ()  # frames of an unsettled one: their change is news
    stale: str = ""  # why it no longer fits the code: "app/a.rb was rewritten"; empty: it does
    matched: int = 0  # nights on which it was told to an analyst or reused
    last_matched: date | None = None
    notes: tuple[Notes, ...] = ()  # `<future-agent-notes>` of its document's body
    promoted: tuple[str, ...] = ()  # digests of learnings that were promoted
    schema_version: int = 2
    file: str = ""  # "errors/2026-02-05_keyerror-orders-show_1a2b3c4d.md"; empty: not yet written

    @property
    def names(self) -> frozenset[str]:
        """Return every name this lesson's error is recognised by."""
        return frozenset((self.fingerprint, *self.aliases))

    @property
    def has_cause(self) -> bool:
        """Tell whether it says why; else it tells only that the error was looked at."""
        return bool(self.root_cause.strip())


class Match(Value):
    """Similarity of an earlier case, with reasons.

    `relevance` (0 to 1) says how often so near a case turned out to be the same failure; `doubt`
    why a lesson on this very case does not stand in for a new analysis.
    """

    score: float
    because: tuple[str, ...]
    relevance: float = 0.0
    kind: Literal["same", "alias", "shared name", "similar"] = "similar"
    doubt: str = ""
    unsettled_nights: int = 0  # before tonight, where its lesson is doubted for it is its turn
    fix_alone: bool = False  # the lesson's cause stands, only its fix is asked for

    @property
    def is_same(self) -> bool:
        """Tell whether it is of the very same case, not only of a similar one."""
        return self.kind in ("same", "alias")


class PriorAnalysis(Value):
    """An earlier case told to the analyst."""

    lesson: Lesson
    match: Match
    summary: str = ""  # first 500 characters of the document's body


class IndexEntry(Value):
    """A lesson's line in index.yml."""

    file: str
    fingerprint: str
    error_class: str
    transaction: str = ""
    confidence: str = ""
    fix_confidence: str = ""
    has_fix: bool = False
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    last_seen: date | None = None
    stale: bool = False
    unknown: bool = False  # it names no cause


class PatternEntry(Value):
    """A pattern document's line in index.yml."""

    file: str
    title: str
    occurrences: int = 0
    modules: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Index(Value):
    """The readable list of all documents."""

    last_updated: date | None = None  # the newest document's date: stable between equal runs
    solutions: tuple[IndexEntry, ...] = ()
    patterns: tuple[PatternEntry, ...] = ()
    quarantined: tuple[str, ...] = ()  # "file: reason" of documents that cannot be read


class TaskSection(Value):
    """A section of a task file: `research`, `plan`, `implementation` or `ship`."""

    name: str
    text: str


class TaskFile(Value):
    """A document that notes can be appended to: a task file, or a lesson seen as one."""

    id: str  # the file's path without folder and ending, or a lesson's fingerprint
    file: str = ""
    title: str = ""
    related_tasks: tuple[str, ...] = ()
    notes: tuple[Notes, ...] = ()
    sections: tuple[TaskSection, ...] = ()
    promoted: tuple[str, ...] = ()  # digests of learnings that were promoted


class FoundLearning(Value):
    """A document that has something to say about an intent."""

    task_id: str
    title: str
    relevance: float  # 0 to 1
    summary: str
    source_sections: tuple[str, ...] = ()
    file: str = ""
    because: tuple[str, ...] = ()


# Words for what several errors have in common.

PatternType = Literal["recurring_error", "systemic_issue", "transient_noise"]
MatchMode = Literal["contains", "exact", "prefix", "glob"]


class Pattern(Value):
    """Something that several errors, or several nights, have in common."""

    title: str
    description: str
    pattern_type: PatternType
    error_classes: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    occurrences: int = 0
    suggestion: str = ""
    fingerprints: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    rule: str = ""  # the name of the rule of PATTERN_RULES that found it
    because: tuple[str, ...] = ()  # what its members have in common
    nights: tuple[date, ...] = ()  # on which it was found, oldest first
    # Of errors without a known cause alone: reported on these dates, and on no night between.
    opened: date | None = None
    closed: date | None = None  # None: it goes on
    closed_because: str = ""

    @property
    def slug(self) -> str:
        """Return the document's name.

        >>> Pattern(title="One cause: Rates!", description="", pattern_type="systemic_issue").slug
        'one-cause-rates'
        """
        words = "".join(c.lower() if c.isascii() and c.isalnum() else " " for c in self.title)
        return "-".join(words.split())[:60]


class IgnoreRule(Value):
    """One line of ignore.yml; matched without regard to case against class, message or both."""

    pattern: str
    match: MatchMode = "contains"
    field: Literal["error_class", "message", "transaction", "any", "missing"] = "any"
    reason: str = ""
    expires: date | None = None  # the last day on which it holds
    # occurrences a day beyond which it does not hold
    unless_rate_above: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    line: int = 0


class IgnoreRules(Value):
    """The rules that hold, and the lines that could not be read."""

    rules: tuple[IgnoreRule, ...] = ()
    complaints: tuple[str, ...] = ()


class Backtest(Value):
    """Errors that a rule would have hidden on earlier nights."""

    nights: int = 0  # looked at
    groups: int = 0  # hidden, each counted once
    occurrences: int = 0
    fixed_later: int = 0  # of those groups, how many got a merged fix
    users: int | None = None  # most users of one night; None: not known


class IgnoreSuggestion(Value):
    """A rule that a person might add; never added by us."""

    pattern: str
    match: MatchMode
    reason: str
    evidence: str
    field: Literal["error_class", "message", "transaction", "any", "missing"] = "any"
    expires: date | None = None
    unless_rate_above: float | None = None
    backtest: Backtest = Backtest()


class IgnoreAdvice(Value):
    """Suggested ignore rules, and what is missing for more."""

    suggestions: tuple[IgnoreSuggestion, ...] = ()
    missing: tuple[str, ...] = ()  # why errors got none, a sentence each
