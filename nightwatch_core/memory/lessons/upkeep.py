"""What a night changes in lessons besides writing those of its own errors."""

from collections.abc import Callable
from functools import reduce

from nightwatch_core.memory.fallback import lasting
from nightwatch_core.memory.lessons.nights import matched, night_date, seen_again
from nightwatch_core.memory.lessons.numbers import numbered
from nightwatch_core.memory.notes.lesson_notes import notes_of, with_new_notes
from nightwatch_core.memory.notes.note_sections import MOST_SECTIONS
from nightwatch_core.memory.outcomes.tracker_outcomes import remember
from nightwatch_core.memory.seed_score import is_kin, names
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import OutcomeUpdate
from nightwatch_core.models.report import RunReport


def told_of(lesson: Lesson, news: OutcomeUpdate) -> Lesson:
    """The lesson with what tonight brought for it; telling it twice changes nothing more."""
    told = remember(lesson, news)
    return told if news.stale is None else told.model_copy(update={"stale": news.stale})


def is_its_own(lesson: Lesson, case: Case, report: RunReport) -> bool:
    """Whether a case's analysis belongs into a lesson that carries one of its names.

    Not where they share an alias alone and are of other classes, nor where tonight has a case of
    its own that bears the lesson's fingerprint: two errors must not write one document in turn.
    """
    if lesson.fingerprint in names(case):
        return True
    cases = [one.case for one in report.analyses] + [one.case for one in report.failures]
    others = (names(other) for other in cases if other.fingerprint != case.fingerprint)
    return is_kin(case, lesson) and all(lesson.fingerprint not in known for known in others)


def kept_up(lesson: Lesson, report: RunReport) -> Lesson:
    """The lesson after a night: followed up, counted as useful, its failed analyses noted."""
    return reduce(lambda kept, change: change(kept, report), CHANGES, lesson)


def _followed(lesson: Lesson, report: RunReport) -> Lesson:
    news = next((one for one in report.followed if one.file == lesson.file), None)
    return told_of(lesson, news) if news else lesson


def _told(lesson: Lesson, report: RunReport) -> Lesson:
    """It was told to an analyst tonight."""
    names = {name for analysis in report.analyses for name in analysis.told}
    return matched(lesson, report.night) if lesson.fingerprint in names else lesson


def _unfinished(lesson: Lesson, report: RunReport) -> Lesson:
    """An analysis that failed, or was wrapped up, is a night of its history and nothing else."""
    failed = ((one.case, "failed") for one in report.failures)
    cut = ((a.case, "wrapped up") for a in report.analyses if a.ending.kind == "wrapped up")
    met = next(
        ((case, how) for case, how in (*failed, *cut) if _is_about(lesson, case, report)), None
    )
    return seen_again(lesson, met[0], report.night, met[1], report.traffic) if met else lesson


def _published(lesson: Lesson, report: RunReport) -> Lesson:
    """What an analysis that is no lesson published all the same: its fix may be turned down."""
    lasts = {one.fingerprint for one in lasting(report.analyses)}
    for one in report.analyses:
        if one.fingerprint not in lasts and _is_about(lesson, one.case, report):
            used = {
                "told": one.recalled,
                "iterations_used": one.iterations,
                "tokens_used": one.usage.new_tokens,
                "cost_used": one.usage.cost,
            }
            told = numbered(lesson.model_copy(update=used), one, report.night, report.receipts)
            kept = ("issue_number", "pr_number", "outcome", "proposed", "fates")
            lesson = lesson.model_copy(update={name: getattr(told, name) for name in kept})
    return lesson


def _passed_over(lesson: Lesson, report: RunReport) -> Lesson:
    """Its error was there tonight, and took no place: it must not count as a quiet night."""
    groups = tuple(one.group for one in report.dropped if one.group.fingerprint in lesson.names)
    if not groups or any(seen.night == report.night.id for seen in lesson.nights):
        return lesson
    case = Case(leader=groups[0], others=groups[1:])
    return seen_again(lesson, case, report.night, "passed over", report.traffic)


def _verified(lesson: Lesson, report: RunReport) -> Lesson:
    """A fix that was verified tonight teaches something, noted once."""
    news = next((one for one in report.followed if one.file == lesson.file), None)
    if not news or not any(fate.kind == "verified" for fate in news.fates):
        return lesson
    if len(lesson.notes) >= MOST_SECTIONS:
        return lesson
    notes = notes_of(lesson, night_date(report.night))
    return lesson if notes.empty else with_new_notes(lesson, notes)


CHANGES: tuple[Callable[[Lesson, RunReport], Lesson], ...] = (
    _followed,
    _told,
    _unfinished,
    _published,
    _passed_over,
    _verified,
)


def _is_about(lesson: Lesson, case: Case, report: RunReport) -> bool:
    return not lesson.names.isdisjoint(names(case)) and is_its_own(lesson, case, report)
