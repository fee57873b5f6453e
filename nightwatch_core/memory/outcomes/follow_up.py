"""All lessons followed up at once: their proposals, their merged fixes, the files they cite."""

from collections.abc import Iterable

from nightwatch_core.memory.outcomes.fix_watch import Tonight, fix_stands
from nightwatch_core.memory.outcomes.staleness import stale, touched, with_staleness
from nightwatch_core.memory.outcomes.tracker_outcomes import REOPENED, followed
from nightwatch_core.models.code import MergedPull
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import OutcomeUpdate
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.ports import CodeReader


def followed_up(
    lessons: tuple[Lesson, ...],
    own: tuple[OwnItem, ...],
    tonight: Tonight,
    cases: tuple[Case, ...],
    pulls: Iterable[MergedPull],
    code: CodeReader,
) -> tuple[OutcomeUpdate, ...]:
    """What tonight brought for these lessons, those without news left out.

    `own` are all our issues and pull requests, `cases` tonight's, `pulls` those merged lately.
    """
    paths, changed = frozenset(code.paths()), touched(pulls, lessons)

    def stands(lesson: Lesson) -> bool:
        return fix_stands(lesson.edits, code.read_file)

    told = (
        with_staleness(
            lesson,
            _with_known(
                lesson, followed(_as_met(lesson, cases), own, tonight, stands), tonight.night.id
            ),
            stale(lesson, paths, changed, code.read_file),
        )
        for lesson in lessons
    )
    return tuple(one for one in told if one)


def _with_known(lesson: Lesson, told: OutcomeUpdate | None, night: str) -> OutcomeUpdate | None:
    """And what this very night had noticed when it was cut off: it was kept, and nobody told."""
    known = tuple(fate for fate in lesson.fates if fate.night == night and fate.because != REOPENED)
    if not known:
        return told
    told = told or OutcomeUpdate(
        fingerprint=lesson.fingerprint, file=lesson.file, title=lesson.title
    )
    outcome = told.outcome if told.fates else lesson.outcome
    fates = (*known, *told.fates)
    return told.model_copy(update={"fates": fates, "outcome": outcome})


def _as_met(lesson: Lesson, cases: tuple[Case, ...]) -> Lesson:
    """The lesson by every name its case has tonight: a trace may tell that it is the same."""
    names = {
        name
        for case in cases
        if not lesson.names.isdisjoint((case.fingerprint, *case.aliases))
        for name in (case.fingerprint, *case.aliases)
    }
    more = tuple(sorted(names - lesson.names))
    return lesson.model_copy(update={"aliases": (*lesson.aliases, *more)}) if more else lesson
