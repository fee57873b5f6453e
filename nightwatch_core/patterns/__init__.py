"""What several errors, or several nights, have in common. Told to people; nothing acts on it."""

from nightwatch_core.patterns.common_words import GENERIC_CLASSES
from nightwatch_core.patterns.history import NIGHTS, hot_spot, recurring_class
from nightwatch_core.patterns.known import merged, patterns_for, recognised
from nightwatch_core.patterns.members import RECENT, nights, recent
from nightwatch_core.patterns.rules import MOST, PATTERN_RULES, PatternRule, detect
from nightwatch_core.patterns.tonight import (
    SHARING,
    TRANSIENT_TAGS,
    all_transient,
    same_cause,
    same_change,
    same_tags,
)

__all__ = [
    "GENERIC_CLASSES",
    "MOST",
    "NIGHTS",
    "PATTERN_RULES",
    "RECENT",
    "SHARING",
    "TRANSIENT_TAGS",
    "PatternRule",
    "all_transient",
    "detect",
    "hot_spot",
    "merged",
    "nights",
    "patterns_for",
    "recent",
    "recognised",
    "recurring_class",
    "same_cause",
    "same_change",
    "same_tags",
]
