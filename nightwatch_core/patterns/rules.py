"""PATTERN_RULES in their order, and what they find together."""

from collections.abc import Callable
from datetime import date

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.patterns.history import hot_spot, recurring_class
from nightwatch_core.patterns.known import recognised
from nightwatch_core.patterns.tonight import all_transient, same_cause, same_change, same_tags

MOST = 10

PatternRule = Callable[[tuple[Analysis, ...], tuple[Lesson, ...]], list[Pattern]]

# In this order: what an earlier rule told, a later one does not repeat.
PATTERN_RULES: tuple[tuple[str, PatternRule], ...] = (
    ("same_cause", same_cause),
    ("same_change", same_change),
    ("recurring_class", recurring_class),
    ("same_tags", same_tags),
    ("hot_spot", hot_spot),
    ("all_transient", all_transient),
)
_OVER_NIGHTS = ("recurring_class", "hot_spot")


def detect(
    analyses: tuple[Analysis, ...],
    lessons: tuple[Lesson, ...],
    known: tuple[Pattern, ...] = (),
    on: date | None = None,
) -> tuple[Pattern, ...]:
    """Patterns in tonight's analyses and in the lessons, most occurrences first, at most 10.

    Where two rules of one night find the same errors, or one finds a part of what an earlier one
    found, only the earlier one speaks; likewise for rules over nights. A pattern that is `known`
    from documents keeps its title. `on` is tonight's date: the night of those that no lesson dates.
    """
    found: list[Pattern] = []
    for name, rule in PATTERN_RULES:
        for pattern in rule(analyses, lessons):
            nights = pattern.nights or ((on,) if on else ())
            named = pattern.model_copy(update={"rule": name, "nights": nights})
            if not any(_says_no_more(named, told) for told in found):
                found.append(named)
    ranked = sorted(found, key=lambda pattern: (-pattern.occurrences, pattern.title))
    return recognised(ranked[:MOST], known)


def _says_no_more(pattern: Pattern, told: Pattern) -> bool:
    """Whether its errors were told already; a history of nights is news of its own."""
    return _sort(pattern) == _sort(told) and set(pattern.fingerprints) <= set(told.fingerprints)


def _sort(pattern: Pattern) -> str:
    return "over nights" if pattern.rule in _OVER_NIGHTS else pattern.pattern_type
