"""Words for what several errors have in common."""

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
    line: int = 0


class IgnoreRules(Value):
    """The rules that hold, and the lines that could not be read."""

    rules: tuple[IgnoreRule, ...] = ()
    complaints: tuple[str, ...] = ()


class IgnoreSuggestion(Value):
    """A rule that a person might add; never added by us."""

    pattern: str
    match: MatchMode
    reason: str
    evidence: str
