"""Who is looked at again when all were looked at once: weak verdicts, told tonight's findings."""

from collections.abc import Iterable

from nightwatch_core.analysis import second_look
from nightwatch_core.analysis.budget import split_budget
from nightwatch_core.analysis.limits import LEADER_LINE, OTHER_FINDINGS
from nightwatch_core.analysis.run_context import told
from nightwatch_core.analysis.waves import (
    Prepared,
    Waves,
    assignment_of,
    family_of,
    finding_line,
    total_usage,
    with_found,
)
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import Assignment, WaveResult
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.usage import Allowance
from nightwatch_core.models.value import Value


class ThirdWave(Value):
    """Second looks to be made, and weak verdicts that are left at that, with the reason."""

    assignments: tuple[Assignment, ...] = ()
    skipped: tuple[Analysis, ...] = ()


def third_wave(
    options: NightOptions,
    waves: Waves,
    results: tuple[WaveResult, ...],
    able: Capabilities | None = None,
) -> ThirdWave:
    """Assign second looks at what stayed weak in the first two waves.

    A look gets what the first one left of what an error may use, within what the night has left.
    A family's leader comes after its siblings here: what they found is told.
    """
    analyses = tuple(one for result in results for one in result.analyses)
    waves = with_found(waves, analyses)
    wanted = (one for one in analyses if second_look.wanted(one))
    weak = tuple(sorted(wanted, key=lambda one: one.has_cause))  # those without a cause first
    findings = {one.fingerprint: _other_findings(one, analyses, waves) for one in weak}
    news = {one.fingerprint: (*findings[one.fingerprint], *_new_facts(one, waves)) for one in weak}
    reasons = {one.fingerprint: _hindrance(one, news[one.fingerprint], able) for one in weak}
    chosen = tuple(one for one in weak if not reasons[one.fingerprint])
    failures = tuple(one for result in results for one in result.failures)
    shares = split_budget(options, len(chosen), total_usage(analyses, failures), able)
    most = split_budget(options, 1, able=able)[0]
    allowances = (
        _within(second_look.left_of(most, one.usage), share)
        for one, share in zip(chosen, shares, strict=True)
    )
    return ThirdWave(
        assignments=tuple(
            _assignment(waves, one, findings[one.fingerprint], allowance)
            for one, allowance in zip(chosen, allowances, strict=True)
        ),
        skipped=tuple(
            second_look.skipped(one, second_look.wanted(one), reason)
            for one in weak
            if (reason := reasons[one.fingerprint])
        ),
    )


def with_second_looks(
    results: tuple[WaveResult, ...], wave: ThirdWave, looks: WaveResult
) -> tuple[WaveResult, ...]:
    """Give the waves with their weak verdicts replaced; a look that failed leaves the first.

    Where looks say that nothing can be done tonight, so do the waves.
    """
    after = {one.fingerprint: one for one in (*wave.skipped, *looks.analyses)}
    firsts = {one.case.fingerprint: one.first for one in wave.assignments}
    for failure in looks.failures:
        if first := firsts.get(failure.case.fingerprint):
            after[first.fingerprint] = second_look.failed(
                first, second_look.wanted(first), failure.reason, failure.usage
            )
    return tuple(
        result.model_copy(
            update={
                "analyses": tuple(after.get(one.fingerprint, one) for one in result.analyses),
                "stopped": result.stopped or looks.stopped,
            }
        )
        for result in results
    )


def _hindrance(one: Analysis, findings: tuple[str, ...], able: Capabilities | None) -> str:
    """Why no second look is made; empty where one is."""
    if able is None or able.local or one.by_fallback:
        return second_look.SAME_AGAIN
    return "" if second_look.news(one, findings) else second_look.NOTHING_NEW


def _assignment(
    waves: Waves, first: Analysis, findings: tuple[str, ...], allowance: Allowance
) -> Assignment:
    assignment = assignment_of(waves, _prepared(waves, first), allowance)
    research = assignment.research.model_copy(update={"leader_findings": findings})
    return assignment.model_copy(update={"first": first, "research": research})


def _prepared(waves: Waves, first: Analysis) -> Prepared:
    return next(one for one in waves.prepared if one.fingerprint == first.fingerprint)


def _new_facts(first: Analysis, waves: Waves) -> tuple[str, ...]:
    """What the night's facts tell of other errors and the first look was not told."""
    gathered, family = _prepared(waves, first).gathered, family_of(waves, first.fingerprint)
    known = {one.text for one in first.handed}
    facts = told(waves.facts, gathered, family)
    return tuple(fact.text for fact, _ in facts if fact.text not in known)


def _other_findings(one: Analysis, analyses: Iterable[Analysis], waves: Waves) -> tuple[str, ...]:
    """Lines on what the night found for related errors, its family first; weak ones teach nothing.

    Related are its family, and errors whose analysis read a file it fails in. Of others it is told
    facts, where they touch it.
    """
    family = family_of(waves, one.fingerprint)
    files = {frame.repo_path for frame in one.case.trace.in_app} if one.case.trace else set()
    others = [
        other
        for other in analyses
        if other.fingerprint != one.fingerprint
        and (other.fingerprint in family or files & set(other.read))
        and other.has_cause
        and not second_look.wanted(other)
    ]
    others.sort(key=lambda other: other.fingerprint not in family)
    return tuple(finding_line(other)[:LEADER_LINE] for other in others[:OTHER_FINDINGS])


def _within(left: Allowance, share: Allowance) -> Allowance:
    """The lesser of what the error and what the night has left."""
    costs = [one for one in (left.cost, share.cost) if one is not None]
    tokens = min(left.tokens, share.tokens)
    return left.model_copy(update={"tokens": tokens, "cost": min(costs, default=None)})
