"""Words for what several errors have in common."""

from datetime import date
from typing import Literal

from nightwatch_core.models.value import Value

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

    @property
    def slug(self) -> str:
        """Names the document.

        >>> Pattern(title="One cause: Rates!", description="", pattern_type="systemic_issue").slug
        'one-cause-rates'
        """
        words = "".join(c.lower() if c.isascii() and c.isalnum() else " " for c in self.title)
        return "-".join(words.split())[:60]


class IgnoreRule(Value):
    """One line of ignore.yml; matched without regard to case against class, message or both."""

    pattern: str
    match: MatchMode = "contains"
    field: Literal["error_class", "message", "transaction", "any"] = "any"
    reason: str = ""
    expires: date | None = None  # the last day on which it holds
    unless_rate_above: float | None = None  # occurrences a day beyond which it does not hold
    line: int = 0


class IgnoreRules(Value):
    """The rules that hold, and the lines that could not be read."""

    rules: tuple[IgnoreRule, ...] = ()
    complaints: tuple[str, ...] = ()


class Backtest(Value):
    """What a rule would have hidden on the nights that were."""

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
    field: Literal["error_class", "message", "transaction", "any"] = "any"
    expires: date | None = None
    unless_rate_above: float | None = None
    backtest: Backtest = Backtest()
