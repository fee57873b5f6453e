"""What the rules answer where the model could not be reached, or paid, told apart from its own."""

from collections.abc import Iterable, Sequence

from nightwatch_core.models.analysis import FELL_BACK, Analysis, Failure
from nightwatch_core.models.assignment import Assignment, UnansweredAssignment, WaveResult
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import plural

STANDS_IN = ("unreachable", "budget gone")  # endings after which the rules are asked
_NEXT = "{said}, because: {why}. Analyse this error again once the model can be asked."


def unanswered_assignments(
    wave: WaveResult, asked: Sequence[Assignment]
) -> tuple[UnansweredAssignment, ...]:
    """The assignments of a wave whose model was away, with what it took to find out."""
    away = {one.case.fingerprint: one for one in wave.failures if one.ending.kind in STANDS_IN}
    return tuple(
        UnansweredAssignment(assignment=one, failure=away[one.case.fingerprint])
        for one in asked
        if one.case.fingerprint in away
    )


def mark_fallback(analysis: Analysis, failure: Failure) -> Analysis:
    """The stand-in's analysis, which says that it is one and why, and what the model had used."""
    why = line(failure.reason, 300).rstrip(".")
    step = _NEXT.format(said=FELL_BACK.capitalize(), why=why)
    update = {
        "by_fallback": True,
        "tags": (FELL_BACK, *analysis.tags),
        "next_steps": (step, *analysis.next_steps),
        "usage": failure.usage + analysis.usage,
    }
    return analysis.model_copy(update=update)


def is_fallback(analysis: Analysis) -> bool:
    """Whether the rules answered for a model that was away."""
    return analysis.by_fallback


def lasting(analyses: Iterable[Analysis]) -> tuple[Analysis, ...]:
    """Analyses worth a lesson: what rules answered must not keep the model from the case."""
    return tuple(one for one in analyses if not is_fallback(one))


def merge_waves(wave: WaveResult, instead: WaveResult) -> WaveResult:
    """The wave, its failures replaced by what was answered instead."""
    answered = {one.fingerprint for one in instead.analyses}
    left = tuple(one for one in wave.failures if one.case.fingerprint not in answered)
    stopped = wave.stopped or instead.stopped
    return WaveResult(analyses=(*wave.analyses, *instead.analyses), failures=left, stopped=stopped)


def fallback_summary(analyses: Iterable[Analysis]) -> str:
    """A sentence for the report where the rules answered; empty where they did not."""
    stood = [one for one in analyses if is_fallback(one)]
    if not stood:
        return ""
    why = stood[0].next_steps[0] if stood[0].next_steps else ""
    times = plural(len(stood), "analysis", "analyses")
    return f"the model was away for {times}: {why}"
