"""Earlier lessons for tonight's cases: reused, or context for a new analysis."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edits import fix_digest, grounds_of, judged, reasons
from nightwatch_core.code.verdict import completed, looked_up, scored
from nightwatch_core.memory.lesson_text import summary
from nightwatch_core.memory.occurrences import waits_for, why_weak
from nightwatch_core.memory.outcomes import why_no_news
from nightwatch_core.memory.recall import SAME_BY_ALIAS, is_same_error
from nightwatch_core.memory.recall import names_of_case as names
from nightwatch_core.memory.reuse import (
    CaseTonight,
    Doubt,
    failed_pulls,
    news,
    refused_fixes,
    reused_analysis,
    turn_of,
    wants_fix_alone,
    why_unsound,
)
from nightwatch_core.models.analysis import FELL_BACK, Analysis, Failure
from nightwatch_core.models.assignment import (
    Assignment,
    UnansweredAssignment,
    UnexplainedCase,
    WaveResult,
)
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import IndexEntry, Lesson, Match, PriorAnalysis
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import digest, plural

ReadLesson = Callable[[str], Lesson | None]
Similar = Callable[[Case], tuple[tuple[IndexEntry, Match], ...]]


@dataclass(frozen=True)
class Memory:
    """Where lessons are looked up; `with_news` adds to a lesson what tonight brought for it."""

    read: ReadLesson
    similar: Similar
    archived: Callable[[frozenset[str]], Lesson | None] | None = None
    with_news: Callable[[Lesson], Lesson] = lambda lesson: lesson


def recall_case(
    tonight: CaseTonight, memory: Memory, code: CodeReader, afresh: bool
) -> Analysis | UnexplainedCase:
    """Reuse the analysis of a lesson on this very case that still holds, else list what resembles.

    `afresh`: no lesson is reused.
    """
    priors: list[PriorAnalysis] = []
    for lesson, match in _lessons(tonight.case, memory):
        if {seen.night for seen in lesson.nights} == {tonight.night.id}:
            continue  # a night that is resumed must not meet its own lessons as memories
        if match.is_same and not afresh:
            outcome = _reused(lesson, tonight, code)
            if isinstance(outcome, Analysis):
                return outcome
            match = _doubted(match, outcome, is_same_error(tonight.case, lesson))
        if not lesson.has_cause and not match.is_same:
            continue  # it knows nothing to tell
        priors.append(PriorAnalysis(lesson=lesson, match=match, summary=summary(lesson)))
    # Own lessons, then similar ones as they were ranked, those that fit the code before others.
    priors.sort(key=lambda item: not item.match.is_same and bool(item.lesson.stale))
    return UnexplainedCase(case=tonight.case, priors=tuple(priors))


def _lessons(case: Case, memory: Memory) -> Iterable[tuple[Lesson, Match]]:
    """The case's own lesson first, from the archive where it is not at hand, then similar ones."""
    matches = memory.similar(case)
    if memory.archived and not any(match.is_same for _, match in matches):
        archived = memory.archived(names(case))
        if archived:
            yield memory.with_news(archived), SAME_BY_ALIAS
    for entry, match in matches:
        lesson = memory.read(entry.file)
        if lesson:
            yield memory.with_news(lesson), match


def _doubted(match: Match, doubt: Doubt, same_error: bool) -> Match:
    update: dict[str, object] = {
        "doubt": doubt.why,
        "because": (*match.because, f"but {doubt.why}"),
        "unsettled_nights": doubt.nights,
        "fix_alone": doubt.fix_alone,
    }
    if not same_error:
        because = ("shares a name", f"but {doubt.why}")
        update |= {"kind": "shared name", "because": because, "relevance": 0.0}
    return match.model_copy(update=update)


def with_priors(analysis: Analysis, unexplained: Iterable[UnexplainedCase]) -> Analysis:
    """Add to a fresh analysis what memory had told about its case."""
    cases = (case for case in unexplained if case.case.fingerprint == analysis.fingerprint)
    priors = next((case.priors for case in cases), ())
    own = next((prior for prior in priors if prior.match.is_same), None)
    told = tuple(prior.lesson.fingerprint for prior in priors if prior.lesson.has_cause)
    update: dict[str, object] = {"told": told}
    if own:
        refused = refused_fixes(own.lesson)
        again = ("this very fix was turned down, or did not help, before",)
        update |= {
            "known_as": tuple(sorted(own.lesson.names)),
            "rejected": refused,
            "failed_pulls": failed_pulls(own.lesson),
            "news": own.match.doubt,
            "unsettled_nights": own.match.unsettled_nights,
            "because": (*analysis.because, *(again if fix_digest(analysis.fix) in refused else ())),
        }
    return analysis.model_copy(update=update)


def checked(analysis: Analysis, code: CodeReader) -> Analysis:
    """Put a remembered analysis to the same tests as any other: quotes, fix and score."""
    evidence = looked_up(analysis.evidence, code)
    fix = judged(analysis.fix, code, grounds_of(analysis, analysis.case, evidence, analysis.read))
    update = {
        "evidence": evidence,
        "fix": fix.edits,
        "changes": file_diffs(fix.edits, code.read_file),
        "refused": (*analysis.refused, *fix.refused),
        "because": (*analysis.because, *reasons(fix.refused)),
        "handover": completed(analysis.handover, analysis.case, code)
        if analysis.handover
        else None,
    }
    return scored(analysis.model_copy(update=update))


def _reused(lesson: Lesson, tonight: CaseTonight, code: CodeReader) -> Analysis | Doubt:
    """The lesson's analysis, or why it may not stand in for a new one."""
    if why_weak(lesson):  # it is looked at again by turns, however old it is
        tonight = tonight.model_copy(update={"lesson_days": 0})
    digest_of = cache(lambda path: digest(code.read_file(path)))
    if reason := news(lesson, tonight):
        cited = reused_analysis(lesson, tonight.case, tonight.night).evidence
        alone = wants_fix_alone(lesson, tonight, digest_of) and any(
            evidence.verified for evidence in looked_up(cited, code, tonight.case)
        )
        return Doubt(reason, fix_alone=alone)
    if not is_same_error(tonight.case, lesson):
        return Doubt("it is of another class, and shares only a name with it")
    analysis = reused_analysis(lesson, tonight.case, tonight.night)
    if why := why_no_news(lesson, tonight.night.window.until):
        update = {"fix": (), "waiting": why, "because": (*analysis.because, why)}
        return checked(analysis.model_copy(update=update), code)
    if doubt := turn_of(lesson, tonight, digest_of):
        return doubt
    if why_weak(lesson):
        update = {"waiting": waits_for(lesson)}
        return checked(analysis.model_copy(update=update), code)
    if reason := why_unsound(lesson, digest_of):
        return Doubt(reason)
    analysis = checked(analysis, code)
    if not any(evidence.verified for evidence in analysis.evidence):
        return Doubt("none of its quotes stands in the code")
    if lesson.has_fix and (analysis.refused or not analysis.has_fix):
        return Doubt("its fix no longer applies")
    return analysis


# What the rules answer where the model could not be reached, or paid, told apart from its own.

STANDS_IN = ("unreachable", "budget gone")  # endings after which the rules are asked
_NEXT = "{said}, because: {why}. Analyse this error again once the model can be asked."


def unanswered_assignments(
    wave: WaveResult, asked: Sequence[Assignment]
) -> tuple[UnansweredAssignment, ...]:
    """Return the assignments of a wave whose model was away, with what it took to find out."""
    away = {
        failure.case.fingerprint: failure
        for failure in wave.failures
        if failure.ending.kind in STANDS_IN
    }
    return tuple(
        UnansweredAssignment(assignment=assignment, failure=away[assignment.case.fingerprint])
        for assignment in asked
        if assignment.case.fingerprint in away
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


def lasting(analyses: Iterable[Analysis]) -> tuple[Analysis, ...]:
    """Analyses worth a lesson: what rules answered must not keep the model from the case."""
    return tuple(analysis for analysis in analyses if not analysis.by_fallback)


def merge_waves(wave: WaveResult, instead: WaveResult) -> WaveResult:
    """Return the wave, its failures replaced by what was answered instead."""
    answered = {analysis.fingerprint for analysis in instead.analyses}
    left = tuple(failure for failure in wave.failures if failure.case.fingerprint not in answered)
    stopped = wave.stopped or instead.stopped
    return WaveResult(analyses=(*wave.analyses, *instead.analyses), failures=left, stopped=stopped)


def fallback_summary(analyses: Iterable[Analysis]) -> str:
    """Return a sentence for the report where the rules answered; empty where they did not."""
    stood = [analysis for analysis in analyses if analysis.by_fallback]
    if not stood:
        return ""
    why = stood[0].next_steps[0] if stood[0].next_steps else ""
    times = plural(len(stood), "analysis", "analyses")
    return f"the model was away for {times}: {why}"
