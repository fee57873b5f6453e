"""An earlier case as the analyst is told of it: what was found, and what became of it."""

from nightwatch_core.code.edits import diff
from nightwatch_core.models.knowledge import Lesson, PriorAnalysis
from nightwatch_core.models.outcome import FAILED, TURNED_DOWN, OutcomeEvent
from nightwatch_core.text.escaping import block, line
from nightwatch_core.traces.trace_text import middle_out

_FATES, _WORDS, _LONGEST = 5, 3, 1_000


def prior_text(prior: PriorAnalysis) -> str:
    """One earlier case; it came from outside, so it belongs into a fence."""
    lesson, match = prior.lesson, prior.match
    rows = (
        f"{line(lesson.error_class, 200)} in {line(lesson.transaction, 200)} (match "
        f"{match.relevance or match.score:.0%}: {line(', '.join(match.because), 300)})",
        f"root cause: {line(lesson.root_cause, 1_000)}",
        f"confidence {lesson.fix_confidence}, fix {'yes' if lesson.has_fix else 'no'}, "
        f"outcome: {line(lesson.outcome, 100) or 'unknown'}",
        f"it no longer fits the code: {line(lesson.stale, 300)}" if lesson.stale else "",
        *(_failed_fix(fate) for fate in lesson.fates[-_FATES:]),
        block(prior.summary, 500),
        _turned_down(lesson),
    )
    return "\n".join(row for row in rows if row)


def _failed_fix(fate: OutcomeEvent) -> str:
    """What people, or production, said to a fix that was proposed."""
    said = "; ".join((fate.because, *fate.words[:_WORDS])).strip("; ")
    why = f": {line(said, _LONGEST)}" if said else ""
    return f"pull request #{fate.number} {fate.kind}{why}" if fate.kind in FAILED else ""


def _turned_down(lesson: Lesson) -> str:
    """The fix that failed, so that it is not proposed again."""
    if lesson.outcome not in TURNED_DOWN or not lesson.edits:
        return ""
    told = middle_out(block(diff(lesson.edits), 3 * _LONGEST), _LONGEST)
    return f"that fix, not to be proposed again unchanged:\n{told}"
