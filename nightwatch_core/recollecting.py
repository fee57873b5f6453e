"""What earlier nights say about tonight's cases: still explained, or to be looked into again."""

from collections.abc import Callable

from nightwatch_core.agent.verdict import scored, verified
from nightwatch_core.lesson_body import summary
from nightwatch_core.matching import is_same, recall
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import Unknown
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Index, Lesson, PriorAnalysis
from nightwatch_core.models.report import Night
from nightwatch_core.ports import CodeReader
from nightwatch_core.reuse import reused, still_sound
from nightwatch_core.tracing import digest

ReadLesson = Callable[[str], Lesson | None]


def recollected(
    case: Case, index: Index, read: ReadLesson, code: CodeReader, night: Night, afresh: bool
) -> Analysis | Unknown:
    """The known analysis where a lesson on this very case still holds, else what resembles it."""
    priors: list[PriorAnalysis] = []
    for entry, match in recall(case, index):
        lesson = read(entry.file)
        if lesson is None:
            continue
        if is_same(match) and not afresh and not _seen_first_tonight(lesson, night):
            sound, why = still_sound(lesson, lambda path: digest(code.read_file(path)))
            if sound:
                return checked(reused(lesson, case, night), code)
            match = match.model_copy(update={"because": (*match.because, f"but {why}")})
        priors.append(PriorAnalysis(lesson=lesson, match=match, summary=summary(lesson)))
    return Unknown(case=case, priors=tuple(priors))


def checked(analysis: Analysis, code: CodeReader) -> Analysis:
    """A remembered analysis with its quotes looked up and its score computed as for any other."""
    evidence = tuple(verified(one, code.read_file(one.path)) for one in analysis.evidence)
    return scored(analysis.model_copy(update={"evidence": evidence}))


def _seen_first_tonight(lesson: Lesson, night: Night) -> bool:
    """A night that is taken up again must not meet its own lessons as memories."""
    return {seen.night for seen in lesson.nights} == {night.id}
