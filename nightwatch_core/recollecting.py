"""What earlier nights say about tonight's cases: still explained, or to be looked into again."""

from collections.abc import Callable

from nightwatch_core.agent.score import scored
from nightwatch_core.agent.verdict import looked_up, sound_fix
from nightwatch_core.lesson_body import summary
from nightwatch_core.matching import is_same, recall
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import Unknown
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Index, IndexEntry, Lesson, Match, PriorAnalysis
from nightwatch_core.models.report import Night
from nightwatch_core.ports import CodeReader
from nightwatch_core.reuse import reused, still_sound
from nightwatch_core.tracing import digest

ReadLesson = Callable[[str], Lesson | None]
Similar = Callable[[Case], tuple[tuple[IndexEntry, Match], ...]]


def recollected(
    case: Case,
    index: Index,
    read: ReadLesson,
    code: CodeReader,
    night: Night,
    afresh: bool,
    similar: Similar | None = None,
) -> Analysis | Unknown:
    """The known analysis where a lesson on this very case still holds, else what resembles it.

    `similar` finds lessons (see `ports.Recall`); without it the visible score over `index` does.
    """
    priors: list[PriorAnalysis] = []
    for entry, match in similar(case) if similar else recall(case, index):
        lesson = read(entry.file)
        if lesson is None or _seen_first_tonight(lesson, night):
            continue
        if is_same(match) and not afresh:
            known, why = _still_known(lesson, case, code, night)
            if known:
                return known
            match = match.model_copy(update={"because": (*match.because, f"but {why}")})
        priors.append(PriorAnalysis(lesson=lesson, match=match, summary=summary(lesson)))
    return Unknown(case=case, priors=tuple(priors))


def checked(analysis: Analysis, code: CodeReader) -> Analysis:
    """A remembered analysis put to the same tests as any other: quotes, fix and score."""
    fix, why_not = sound_fix(analysis.fix, code)
    because = (*analysis.because, *((why_not,) if why_not else ()))
    evidence = looked_up(analysis.evidence, code)
    update = {"evidence": evidence, "fix": fix, "because": because}
    return scored(analysis.model_copy(update=update))


def _still_known(
    lesson: Lesson, case: Case, code: CodeReader, night: Night
) -> tuple[Analysis | None, str]:
    """The lesson's analysis, or why it may not stand in for a new one."""
    sound, why = still_sound(lesson, lambda path: digest(code.read_file(path)), case)
    if not sound:
        return None, why
    known = checked(reused(lesson, case, night), code)
    if not any(one.verified for one in known.evidence):
        return None, "none of its quotes stands in the code"
    if lesson.has_fix and not known.has_fix:
        return None, "its fix no longer applies"
    return known, ""


def _seen_first_tonight(lesson: Lesson, night: Night) -> bool:
    """A night that is taken up again must not meet its own lessons as memories."""
    return {seen.night for seen in lesson.nights} == {night.id}
