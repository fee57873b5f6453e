"""Words for what we believe about a case."""

from typing import Literal

from nightwatch_core.models.code import CodeReads, Suspect
from nightwatch_core.models.error import Case
from nightwatch_core.models.value import Value

Confidence = Literal["high", "medium", "low"]
Action = Literal["edit", "create", "delete"]


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
    """What was used: tokens as the service counts them, cost in USD (None: price unknown)."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    cost: float | None = 0.0

    @property
    def new_tokens(self) -> int:
        """Tokens that count against budgets: cache reads are free.

        >>> Usage(input_tokens=5, output_tokens=2, cache_read_tokens=90).new_tokens
        7
        """
        return self.input_tokens + self.output_tokens + self.cache_write_tokens

    def __add__(self, other: "Usage") -> "Usage":
        """Both together; an unknown price stays unknown."""
        both = {
            name: getattr(self, name) + getattr(other, name)
            for name in type(self).model_fields
            if name != "cost"
        }
        known = self.cost is not None and other.cost is not None
        return Usage(**both, cost=(self.cost or 0) + (other.cost or 0) if known else None)


class Ending(Value):
    """How an analysis came to its verdict."""

    kind: Literal["answered", "wrapped up", "reused"] = "answered"
    detail: str = ""  # which bound wrapped it up, or the lesson that was reused


class Allowance(Value):
    """What one analysis may use."""

    iterations: int
    tokens: int
    cost: float
    seconds: int


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
    iterations: int = 0
    read: tuple[str, ...] = ()  # files the model has seen
    missed: int = 0  # tool calls that named a file that is not there
    code_reads: CodeReads | None = None  # None: no read had to cross a network
    usage: Usage = Usage()
    model: str = ""
    commit: str = ""

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
    model_away: bool = False  # the model could not be reached: the rules may stand in
