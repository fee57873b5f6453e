"""Words for what a model answers: the schema that it is sent, and what our code adds to it."""

from typing import Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import ErrorGroup, FileContents, Frame
from nightwatch_core.models.value import Value

Confidence = Literal["high", "medium", "low"]


Action = Literal["edit", "create", "delete"]


class Evidence(Value):
    """A line of code that supports the finding."""

    path: str
    line: int
    quote: str = ""
    note: str = ""
    verified: SkipJsonSchema[bool] = False  # our code looked the quote up; never asked of a model


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


class PlannedStep(Value):
    """One of several steps in which a fix is to be made."""

    title: str  # of its commit
    task: str = ""  # for whoever makes it, without having seen the rest
    files: tuple[str, ...] = ()


class Learning(Value):
    """A fact about the codebase worth telling the next analyst, with its place."""

    fact: str
    path: str = ""
    line: int | None = None

    @property
    def text(self) -> str:
        """Return the fact, with its place where it does not name it."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        return self.fact if place in self.fact else f"{self.fact} ({place})"


class Handover(Value):
    """Facts about an error with unknown cause, for the person who continues; untrusted texts."""

    unknown: str = ""  # what is not known: "why `order` is None in shop/orders.py:14"
    path: str = ""  # in the repository
    line: int = 0  # 0: not known
    lines: tuple[str, ...] = ()  # the failing line with its surroundings
    first_line: int = 0  # the number of the first of `lines`
    value: str = ""  # the value that failed, as the message or the trace gives it
    last_change: str = ""  # who wrote the failing line last, and when
    look_at: tuple[str, ...] = ()  # what a person would look at next, a sentence each


class Answer(Value):
    """A model's answer: the schema sent with the first request."""

    title: str
    root_cause: str
    confidence: Confidence  # in the cause
    fix_confidence: Confidence | None = None  # in what should happen instead
    question: str = ""  # to the team, where what should happen instead is theirs to decide
    has_fix: bool = False
    file_changes: tuple[Edit, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    suspect_commit: str = Field(
        "",
        description="The commit that brought the fault, as blame, show_commit or history showed "
        "it, old or new, by an id that you were shown, or #12 for its pull request; empty where "
        "none is shown to have brought it, never one you ruled out",
    )
    tags: tuple[str, ...] = ()
    learnings: tuple[Learning, ...] = ()
    related_to: tuple[str, ...] = ()
    suggested_next_steps: tuple[str, ...] = ()
    steps: SkipJsonSchema[tuple[PlannedStep, ...]] = ()  # where a plan was asked for
    handover: SkipJsonSchema[Handover | None] = None  # of the rules alone: they know no cause


# Words for what an analysis uses, and what it may.


class Usage(Value):
    """Usage: tokens as the service bills them, cost in USD (None: price unknown).

    Input, output and cache hold everything, summarising included; fields that say "thereof" name a
    part of them. `cleared_tokens` were said earlier and no longer sent to the model: prompts of
    `uncleared_tokens` were that much shorter.
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
    uncleared_tokens: int = 0  # of prompts before something was cleared from them
    saved: float | None = 0.0  # what reading from the cache saved, less what writing to it added
    priced: str = ""  # date of the oldest price that was used; empty: none was

    @property
    def new_tokens(self) -> int:
        """Return tokens that count against budgets: cache reads are free.

        >>> Usage(input_tokens=5, output_tokens=2, cache_read_tokens=90).new_tokens
        7
        """
        return self.input_tokens + self.output_tokens + self.cache_write_tokens

    @property
    def prompt_tokens(self) -> int:
        """Return everything that was sent, cached or not."""
        return self.input_tokens + self.cache_write_tokens + self.cache_read_tokens

    @property
    def cache_hit_rate(self) -> float:
        """Return the share of everything sent that was read from the cache.

        >>> Usage(input_tokens=10, cache_write_tokens=20, cache_read_tokens=90).cache_hit_rate
        0.75
        """
        return self.cache_read_tokens / self.prompt_tokens if self.prompt_tokens else 0.0

    @property
    def cache_write_5m_tokens(self) -> int:
        """Return the tokens written to the five-minute cache."""
        return self.cache_write_tokens - self.cache_write_1h_tokens

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum; an unknown price stays unknown."""
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


def _sum(number: float | None, other: float | None) -> float | None:
    return None if number is None or other is None else number + other


class Allowance(Value):
    """Budget of one analysis; a `cost` of None means no cap in USD."""

    iterations: int  # of one conversation; a second look may take as many again
    tokens: int
    cost: float | None
    seconds: int


# Words for a first look at files of errors: what was understood, and what a night would cost.


class GlancedError(Value):
    """One error group, and where its newest trace leads.

    Frames are counted over the whole trace: `own` look like the application's, thereof `placed`
    stand in the checkout at `commit`.
    """

    group: ErrorGroup
    language: str = ""  # empty: no trace
    top: Frame | None = None  # the innermost of its own frames
    frames: int = 0
    own: int = 0
    placed: int = 0
    commit: Commit | None = None  # None: no checkout was given
    misfit: str = ""  # why the record is not of that commit


class FoundRelease(Value):
    """A release that errors name, and the commit it is in the checkout."""

    name: str
    commit: Commit | None = None  # None: no tag or commit there, or no checkout was given


class Estimate(Value):
    """Estimated cost of a night with a language model, from measured bugs."""

    model: str
    errors: int  # that it would analyse
    least: Usage  # of all of them, as the cheapest of the bugs that were measured
    most: Usage  # as the dearest
    measured: int  # bugs
    cap: float | None = None  # USD that a night never exceeds; None: no cap


class TierRecord(Value):
    """What errors of one tier came to: cost in USD, proofs included, and merged fixes."""

    tier: str = ""
    model: str = ""  # the night's
    errors: int = 0  # analysed, at a known price
    cost: float = 0.0
    squares: float = 0.0  # sum of the squared costs
    lessons: int = 0  # errors that were ever analysed
    merged: int = 0  # thereof: a fix was merged

    def __add__(self, other: "TierRecord") -> "TierRecord":
        """Return the sum, under this one's name."""
        counts = ("errors", "cost", "squares", "lessons", "merged")
        return self.model_copy(update={n: getattr(self, n) + getattr(other, n) for n in counts})


class Experience(Value):
    """What errors cost this installation, and what it brought."""

    tiers: tuple[TierRecord, ...] = ()
    cost: float = 0.0  # of all nights before, USD
    merged: int = 0  # fixes, in all nights before


class Forecast(Value):
    """Expected cost of a night's errors in USD, before it is spent."""

    model: str
    errors: int
    cost: float
    least: float  # four nights of five cost from `least` to `most`
    most: float
    cap: float | None = None  # that a night never exceeds; None: no cap
    paid: int = 0  # earlier errors it rests on; 0: on measured bugs alone


class FirstLook(Value):
    """A first look at error files, before any night."""

    contents: FileContents
    groups: int = 0
    errors: tuple[GlancedError, ...] = ()  # the best ranked, traced; of many groups only the first
    cases: int = 0  # that those errors make: one cause each
    releases: tuple[FoundRelease, ...] = ()
    base: Commit | None = None  # None: no checkout was given
    estimate: Estimate | None = None
