"""What earlier nights say about tonight's cases: still explained, or to be looked into again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.code.score import scored
from nightwatch_core.code.verdict import looked_up, sound_fix
from nightwatch_core.memory.lessons.body import summary
from nightwatch_core.memory.outcomes.tracker_outcomes import why_no_news
from nightwatch_core.memory.recall.seed_score import (
    SAME,
    SAME_BY_ALIAS,
    SHARES_A_NAME,
    is_same,
    is_same_error,
    names,
    recall,
)
from nightwatch_core.memory.reuse import (
    CaseTonight,
    failed_pulls,
    news,
    refused_fixes,
    reused_analysis,
    still_sound,
)
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import UnexplainedCase
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Index, IndexEntry, Lesson, Match, PriorAnalysis
from nightwatch_core.models.report import Night
from nightwatch_core.ports import CodeReader
from nightwatch_core.traces.frame_mapping import digest

ReadLesson = Callable[[str], Lesson | None]
Similar = Callable[[Case], tuple[tuple[IndexEntry, Match], ...]]


@dataclass(frozen=True)
class Memory:
    """Where lessons are looked up; `told` adds to a lesson what tonight brought for it."""

    index: Index
    read: ReadLesson
    similar: Similar | None = None  # without it the visible score over the index decides
    archived: Callable[[frozenset[str]], Lesson | None] | None = None
    told: Callable[[Lesson], Lesson] = lambda lesson: lesson


def recall_case(
    meeting: CaseTonight, memory: Memory, code: CodeReader, afresh: bool
) -> Analysis | UnexplainedCase:
    """The known analysis where a lesson on this very case still holds, else what resembles it."""
    priors: list[PriorAnalysis] = []
    for lesson, match in _lessons(meeting.case, memory):
        if _seen_first_tonight(lesson, meeting.night):
            continue
        if is_same(match) and not afresh:
            known, why = _still_known(lesson, meeting, code)
            if known:
                return known
            if not is_same_error(meeting.case, lesson):
                match = match.model_copy(update={"because": SHARES_A_NAME, "relevance": 0.0})
            match = match.model_copy(update={"because": (*match.because, f"but {why}")})
        priors.append(PriorAnalysis(lesson=lesson, match=match, summary=summary(lesson)))
    return UnexplainedCase(case=meeting.case, priors=_sound_first(priors))


def _lessons(case: Case, memory: Memory) -> Iterable[tuple[Lesson, Match]]:
    """The case's own lesson first, from the archive where it is not at hand, then similar ones."""
    found = memory.similar(case) if memory.similar else recall(case, memory.index)
    if memory.archived and not any(is_same(match) for _, match in found):
        back = memory.archived(names(case))
        if back:
            yield memory.told(back), Match(score=1.0, because=SAME_BY_ALIAS, relevance=1.0)
    for entry, match in found:
        lesson = memory.read(entry.file)
        if lesson:
            yield memory.told(lesson), match


def _sound_first(priors: list[PriorAnalysis]) -> tuple[PriorAnalysis, ...]:
    """Own lessons, then similar ones as they were ranked, those that fit the code before others."""
    return tuple(sorted(priors, key=lambda one: not is_own(one) and bool(one.lesson.stale)))


def is_own(prior: PriorAnalysis) -> bool:
    """Whether a lesson is about the very case it was told for, whatever speaks against it."""
    return prior.match.because[:1] == SAME[:1]


def with_priors(analysis: Analysis, unknown: Iterable[UnexplainedCase]) -> Analysis:
    """A fresh analysis, with what memory had told about its case."""
    priors = next(
        (one.priors for one in unknown if one.case.fingerprint == analysis.fingerprint), ()
    )
    own = next((prior for prior in priors if is_own(prior)), None)
    update = {
        "told": tuple(prior.lesson.fingerprint for prior in priors),
        "known_as": tuple(sorted(own.lesson.names)) if own else (),
        "rejected": refused_fixes(own.lesson) if own else (),
        "failed_pulls": failed_pulls(own.lesson) if own else (),
        "news": _doubt(own.match) if own else "",
        "because": (*analysis.because, *_as_before(analysis, own)),
    }
    return analysis.model_copy(update=update)


def _as_before(analysis: Analysis, own: PriorAnalysis | None) -> tuple[str, ...]:
    """Said where the analyst, told that a fix had failed, comes to the same one."""
    same = own and fix_digest(analysis.fix) in refused_fixes(own.lesson)
    return ("this very fix was turned down, or did not help, before",) if same else ()


def _doubt(match: Match) -> str:
    return next((why[4:] for why in reversed(match.because) if why.startswith("but ")), "")


def checked(analysis: Analysis, code: CodeReader) -> Analysis:
    """A remembered analysis put to the same tests as any other: quotes, fix and score."""
    fix, why_not = sound_fix(analysis.fix, code)
    because = (*analysis.because, *((why_not,) if why_not else ()))
    evidence = looked_up(analysis.evidence, code)
    update = {"evidence": evidence, "fix": fix, "because": because}
    return scored(analysis.model_copy(update=update))


def _still_known(
    lesson: Lesson, meeting: CaseTonight, code: CodeReader
) -> tuple[Analysis | None, str]:
    """The lesson's analysis, or why it may not stand in for a new one."""
    happened, known = news(lesson, meeting), reused_analysis(lesson, meeting.case, meeting.night)
    if happened:
        return None, happened
    if not is_same_error(meeting.case, lesson):
        return None, "it is of another class, and shares only a name with it"
    if why := why_no_news(lesson, meeting.night.window.until):
        told = {"fix": (), "waiting": why, "because": (*known.because, why)}
        return checked(known.model_copy(update=told), code), ""
    sound, why = still_sound(lesson, lambda path: digest(code.read_file(path)))
    if not sound:
        return None, why
    known = checked(known, code)
    if not any(one.verified for one in known.evidence):
        return None, "none of its quotes stands in the code"
    if lesson.has_fix and not known.has_fix:
        return None, "its fix no longer applies"
    return known, ""


def _seen_first_tonight(lesson: Lesson, night: Night) -> bool:
    """A night that is taken up again must not meet its own lessons as memories."""
    return {seen.night for seen in lesson.nights} == {night.id}
