"""What deserves tonight's attention: one score per error group, with its terms in the open."""

from datetime import datetime

from nightwatch_core.intake.inbox import is_back
from nightwatch_core.intake.severity import severity, user_facing
from nightwatch_core.models.error import ErrorGroup, Window
from nightwatch_core.models.value import Value

MANY_OCCURRENCES = 100
UNKNOWN_RECENCY = 0.5
WEIGHTS: dict[str, float] = {
    "occurrences": 0.4,
    "severity": 0.3,
    "recency": 0.2,
    "user-facing": 0.1,
}


class Term(Value):
    """One part of a score: `weight` times `value`, both 0 to 1."""

    name: str
    weight: float
    value: float


class Rank(Value):
    """How much a group matters."""

    terms: tuple[Term, ...]

    @property
    def score(self) -> float:
        """The weighted sum, 0 to 1.

        >>> Rank(terms=(Term(name="a", weight=0.4, value=1), Term(name="b", weight=0.3, value=0.5)))
        Rank(terms=(Term(name='a', weight=0.4, value=1.0), Term(name='b', weight=0.3, value=0.5)))
        >>> _.score
        0.55
        """
        return round(sum(term.weight * term.value for term in self.terms), 6)


def frequency(occurrences: int) -> float:
    """How often, 0 to 1: a hundred times is as bad as it gets.

    >>> frequency(25), frequency(5_000), frequency(-1)
    (0.25, 1.0, 0.0)
    """
    return max(0.0, min(occurrences / MANY_OCCURRENCES, 1.0))


def recency(last_seen: datetime | None, window: Window) -> float:
    """How lately: falls from 1 at the window's end to 0 at its start; 0.5 where unknown."""
    if last_seen is None or last_seen.tzinfo is None:
        return UNKNOWN_RECENCY
    length = (window.until - window.since).total_seconds()
    if length <= 0:
        return 1.0
    age = (window.until - last_seen).total_seconds()
    return max(0.0, min(1.0 - age / length, 1.0))


def rank(group: ErrorGroup, window: Window) -> Rank:
    """Score one group against the window that was looked at; a regression is always severe."""
    values = {
        "occurrences": frequency(group.occurrences),
        "severity": 1.0 if is_back(group) else severity(group.error_class),
        "recency": recency(group.last_seen, window),
        "user-facing": user_facing(group.transaction),
    }
    return Rank(
        terms=tuple(
            Term(name=name, weight=weight, value=values[name]) for name, weight in WEIGHTS.items()
        )
    )
