"""Verdicts of the model that stands in for another one: marked, so that nobody takes them for it.

It is asked where the model cannot be reached, or the night's budget is gone.
"""

from nightwatch_core.errors import NightWatchError
from nightwatch_core.escaping import line
from nightwatch_core.models.analysis import Analysis, Usage
from nightwatch_core.models.conversation import FELL_BACK

STANDS_IN = ("unreachable", "budget gone")  # endings after which it is asked
_NEXT = "{said}, because: {why}. Analyse this error again once the model can be asked."


def may_stand_in(trouble: NightWatchError) -> bool:
    """Whether the stand-in is to be asked after this."""
    return trouble.ending is not None and trouble.ending.kind in STANDS_IN


def marked(analysis: Analysis, trouble: NightWatchError) -> Analysis:
    """The stand-in's verdict, with the tag, the reason, and what the model had used."""
    why = line(str(trouble), 300).rstrip(".")
    told = _NEXT.format(said=FELL_BACK.capitalize(), why=why)
    return analysis.model_copy(
        update={
            "tags": tuple(dict.fromkeys((FELL_BACK, *analysis.tags))),
            "next_steps": (told, *analysis.next_steps),
            "usage": (trouble.usage or Usage()) + analysis.usage,
        }
    )
