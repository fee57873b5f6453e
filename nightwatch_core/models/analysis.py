"""Words for what we believe about a case."""

from typing import Any, Literal

from pydantic import model_validator

from nightwatch_core.models.code import CodeReads, Suspect
from nightwatch_core.models.error import Case
from nightwatch_core.models.value import Value

Confidence = Literal["high", "medium", "low"]
Action = Literal["edit", "create", "delete"]


FELL_BACK = "answered by the rules model"  # tag of an answer whose model could not be reached


class Evidence(Value):
    """A line of code that supports the finding; `verified` once our code found the quote there."""

    path: str
    line: int
    quote: str = ""
    note: str = ""
    verified: bool = False


class Edit(Value):
    """One change: the exact old text, found once in the file, and what replaces it."""

    path: str
    action: Action = "edit"
    old: str = ""  # empty for create and delete
    new: str = ""  # the whole text for create, empty for delete
    description: str = ""


class Hypothesis(Value):
    """An explanation that was considered."""

    statement: str
    standing: Literal["confirmed", "open", "ruled out"] = "open"
    because: str = ""


class Learning(Value):
    """A fact about the codebase worth telling the next analyst, with its place."""

    fact: str
    path: str = ""
    line: int | None = None


class Answer(Value):
    """What a model has to answer: the schema sent with the first request."""

    title: str
    root_cause: str
    confidence: Confidence
    has_fix: bool = False
    file_changes: tuple[Edit, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    suspect_commit: str = ""
    tags: tuple[str, ...] = ()
    learnings: tuple[Learning, ...] = ()
    related_to: tuple[str, ...] = ()
    suggested_next_steps: tuple[str, ...] = ()


class Usage(Value):
    """What was used: tokens as the service bills them, money in USD (None: price unknown).

    Input, output and cache hold everything, summarising included; fields that say "thereof" name a
    part of them. `cleared_tokens` were said earlier and no longer sent to the model.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    cost: float | None = 0.0
    cache_write_1h_tokens: int = 0  # thereof, of what was written: kept for an hour, not 5 minutes
    thinking_tokens: int = 0  # thereof, of the output; 0 where the service does not say
    compaction_tokens: int = 0  # thereof: what summarising the conversation took
    compactions: int = 0
    cleared_tokens: int = 0
    saved: float | None = 0.0  # what reading from the cache saved, less what writing to it added
    priced: str = ""  # date of the oldest price that was used; empty: none was

    @property
    def new_tokens(self) -> int:
        """Tokens that count against budgets: cache reads are free.

        >>> Usage(input_tokens=5, output_tokens=2, cache_read_tokens=90).new_tokens
        7
        """
        return self.input_tokens + self.output_tokens + self.cache_write_tokens

    @property
    def prompt_tokens(self) -> int:
        """Everything that was sent, cached or not."""
        return self.input_tokens + self.cache_write_tokens + self.cache_read_tokens

    @property
    def cache_write_5m_tokens(self) -> int:
        """What was written for five minutes."""
        return self.cache_write_tokens - self.cache_write_1h_tokens

    def __add__(self, other: "Usage") -> "Usage":
        """Both together; an unknown price stays unknown."""
        counts = {
            name: getattr(self, name) + getattr(other, name)
            for name in type(self).model_fields
            if name not in ("cost", "saved", "priced")
        }
        return Usage(
            **counts,
            cost=_sum(self.cost, other.cost),
            saved=_sum(self.saved, other.saved),
            priced=min(filter(None, (self.priced, other.priced)), default=""),
        )


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


class Ending(Value):
    """How an analysis came to its verdict, or why it came to none."""

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


class Allowance(Value):
    """What one analysis may use; a `cost` of None is no cap on USD."""

    iterations: int  # of one conversation; a second look may take as many again
    tokens: int
    cost: float | None
    seconds: int


class SecondLook(Value):
    """What became of looking again at a case whose first verdict was weak."""

    wanted: str  # why
    skipped: str = ""  # why it was not made all the same
    kept: Literal["first", "second"] = "first"
    because: str = ""  # why that one was kept
    confidence: tuple[Confidence, ...] = ()  # of the first, and of the second where there is one
    score: tuple[float, ...] = ()  # likewise
    usage: Usage = Usage()  # of the second, within the analysis's own


class TrackRecord(Value):
    """How often findings that were as sure proved right in this installation."""

    said: Confidence
    right: float  # half right counts half
    decided: int


class Analysis(Value):
    """The verdict on one case, with its because."""

    case: Case
    title: str
    root_cause: str
    confidence: Confidence
    evidence: tuple[Evidence, ...] = ()
    fix: tuple[Edit, ...] = ()  # empty: no fix is proposed
    hypotheses: tuple[Hypothesis, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    suspect_commit: str = ""
    next_steps: tuple[str, ...] = ()
    learnings: tuple[Learning, ...] = ()
    tags: tuple[str, ...] = ()
    related_to: tuple[str, ...] = ()
    because: tuple[str, ...] = ()  # why this confidence and score
    score: float = 0.0  # computed by our code, 0 to 1
    ending: Ending = Ending()
    passes: int = 1
    second_look: SecondLook | None = None  # None: none was wanted
    iterations: int = 0  # of all passes
    read: tuple[str, ...] = ()  # files the model has seen
    missed: int = 0  # tool calls that named a file that is not there
    truncated: int = 0  # tool results that were shortened
    recalled: int = 0  # lessons of earlier nights it was told
    told: tuple[str, ...] = ()  # those lessons' fingerprints
    known_as: tuple[str, ...] = ()  # names of its error's lesson: those of earlier nights, too
    rejected: tuple[str, ...] = ()  # digests of fixes that were turned down, or did not help
    failed_pulls: tuple[int, ...] = ()  # our pull requests that did not settle it, whatever came
    chance: float | None = None  # how often as sure a finding proved right here; None: too few yet
    said: Confidence | None = None  # the analyst's own confidence, where ours differs
    settled: tuple[int, ...] = ()  # issues we reopened for it, and people closed again
    waiting: str = ""  # why a known error that goes on is no news: its fix is not deployed yet …
    news: str = ""  # why a known error was looked at again
    known_since: str = ""  # of a finding that is reused: since when, for people
    track_record: TrackRecord | None = None  # None: too few are decided yet
    code_reads: CodeReads | None = None  # None: no read had to cross a network
    usage: Usage = Usage()
    model: str = ""
    by_fallback: bool = False  # the rules answered for a model that was away
    commit: str = ""

    @model_validator(mode="before")
    @classmethod
    def _read_record(cls, value: Any) -> Any:
        """Fill in what records of earlier versions say in words alone."""
        if not isinstance(value, dict):
            return value
        since = [str(one) for one in value.get("because", ()) if str(one).startswith("known since")]
        fell_back = FELL_BACK in value.get("tags", ())
        return {"known_since": since[0] if since else "", "by_fallback": fell_back} | value

    @property
    def fingerprint(self) -> str:
        """The case's name."""
        return self.case.fingerprint

    @property
    def has_fix(self) -> bool:
        """Whether edits are proposed."""
        return bool(self.fix)


class Failure(Value):
    """An analysis that did not come about: a line in the report, never a silent gap."""

    case: Case
    reason: str
    usage: Usage = Usage()
    ending: Ending = Ending(kind="failed")
