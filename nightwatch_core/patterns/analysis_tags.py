"""An analysis's tags, as patterns compare them."""

from nightwatch_core.memory.seed_score import seed_tags
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.conversation import FELL_BACK
from nightwatch_core.text.escaping import line

_LONGEST = 40


def own_tags(analysis: Analysis) -> tuple[str, ...]:
    """The analysis's tags in one spelling: short, lowercase, with hyphens."""
    kept = (tag for tag in analysis.tags if tag.strip() and tag != FELL_BACK)
    return tuple(line(tag, _LONGEST).lower().replace(" ", "-") for tag in kept)


def telling_tags(analysis: Analysis) -> frozenset[str]:
    """The tags that are no words of the case's class or transaction, however they are spelt."""
    leader = analysis.case.leader
    names = {_letters(word) for word in seed_tags(leader.error_class, leader.transaction)}
    return frozenset(tag for tag in own_tags(analysis) if _letters(tag) not in names)


def _letters(text: str) -> str:
    """What is left of a word without case and signs.

    >>> _letters("Rate-Missing")
    'ratemissing'
    """
    return "".join(char for char in text.lower() if char.isalnum())
