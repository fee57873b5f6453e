"""Learnings that people lift into CLAUDE.md: what is offered, added and delivered."""

from nightwatch_core.learning.promoting.choosing import choosable, chosen_of
from nightwatch_core.learning.promoting.likeness import likeness
from nightwatch_core.learning.promoting.offering import SAME, entry, offers, promoted
from nightwatch_core.learning.promoting.pull import PATH, pull_of

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
