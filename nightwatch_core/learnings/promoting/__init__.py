"""Learnings that people lift into CLAUDE.md: what is offered, added and delivered."""

from nightwatch_core.learnings.promoting.choice import choosable, chosen_of
from nightwatch_core.learnings.promoting.likeness import likeness
from nightwatch_core.learnings.promoting.offers import SAME, entry, offers, promoted
from nightwatch_core.learnings.promoting.pull import PATH, pull_of

__all__ = [
    "PATH",
    "SAME",
    "choosable",
    "chosen_of",
    "entry",
    "likeness",
    "offers",
    "promoted",
    "pull_of",
]
