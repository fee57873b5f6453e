"""The table of errors: an analysis in one line."""

import re

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.value import Value
from nightwatch_core.publish.handover_text import short_handover
from nightwatch_core.report.limits import NAME, TEXT, TITLE
from nightwatch_core.report.publications import Publication
from nightwatch_core.text.escaping import line

NO_CAUSE = "No cause was found."
_SHORT = ("draft pull request", "draft PR")
_SENTENCE = re.compile(r"(.{20,}?[.!?])\s")


class Row(Value):
    """A line of the table of errors; `anchor` names the finding."""

    rank: int
    anchor: str
    error: str
    where: str
    count: int
    cause: str
    confidence: Confidence
    done: str
    known: bool = False
    unknown: bool = False  # no cause is known, and so nothing to be sure of

    @property
    def sure(self) -> str:
        """How sure we are of the cause, in a word."""
        return "–" if self.unknown else self.confidence


def error_row(rank: int, analysis: Analysis, publications: tuple[Publication, ...]) -> Row:
    """The analysis in one line."""
    known = known_since(analysis)
    back = "regression" if analysis.case.regressed else ""
    by_state = {
        state: ", ".join(each.text for each in publications if each.state == state)
        for state in ("published", "waits")
    }
    # of a known error it goes without saying that nothing was published
    undone = "" if known else ", ".join(each.text for each in publications)
    published = by_state["published"] or by_state["waits"] or undone
    return Row(
        rank=rank,
        anchor=f"error-{rank}",
        error=line(analysis.case.leader.error_class, NAME),
        where=line(analysis.case.leader.transaction, NAME),
        count=analysis.case.occurrences,
        cause=_cause(analysis),
        confidence=analysis.confidence,
        done=line("; ".join(filter(None, (back, known, published))), TITLE).replace(*_SHORT) or "–",
        known=bool(known),
        unknown=not analysis.has_cause,
    )


def _cause(analysis: Analysis) -> str:
    if analysis.handover is not None:
        return line(short_handover(analysis.handover), TITLE)
    return first_sentence(analysis.root_cause) or line(analysis.title, TITLE) or NO_CAUSE


def known_since(analysis: Analysis) -> str:
    """Since when a reused finding is known; empty for a fresh one."""
    if analysis.ending.kind != "reused":
        return ""
    return line(analysis.known_since, NAME) or "known"


def first_sentence(text: str) -> str:
    """The first sentence.

    >>> first_sentence("The rate is missing in rates.py. So the sum fails.")
    'The rate is missing in rates.py.'
    """
    flat = line(text, 2 * TEXT)
    match = _SENTENCE.match(flat)
    return line(match.group(1) if match else flat, TITLE)
