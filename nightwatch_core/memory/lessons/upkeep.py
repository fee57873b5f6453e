"""What a night changes in lessons besides writing its own, and which of them make room."""

from collections.abc import Callable
from datetime import date, timedelta
from functools import reduce

from nightwatch_core.memory.fallback import lasting
from nightwatch_core.memory.lessons.maker import add_publications
from nightwatch_core.memory.limits import MOST_SECTIONS
from nightwatch_core.memory.notes.lesson_notes import add_notes, draw_notes
from nightwatch_core.memory.outcomes.tracker_outcomes import apply_outcomes
from nightwatch_core.memory.recall.seed_score import is_same_error, names
from nightwatch_core.memory.sightings import add_sighting, count_match, last_seen, night_date
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import OutcomeUpdate
from nightwatch_core.models.report import RunReport

RECENT = timedelta(days=14)  # seen lately, a lesson is kept before others
_OPEN = ("", "reopened")  # outcomes of an issue or pull request that is still open
_CONFIDENCE = ("low", "medium", "high")
_PUBLICATIONS = ("issue_number", "pr_number", "outcome", "proposed", "fates")


def apply_news(lesson: Lesson, news: OutcomeUpdate) -> Lesson:
    """Add what tonight brought for a lesson; the same news twice changes nothing more."""
    lesson = apply_outcomes(lesson, news)
    return lesson if news.stale is None else lesson.model_copy(update={"stale": news.stale})


def is_its_own(lesson: Lesson, case: Case, report: RunReport) -> bool:
    """Whether a case's analysis belongs into a lesson that carries one of its names.

    Not where they share an alias alone and are of other classes, nor where tonight has a case of
    its own that bears the lesson's fingerprint: two errors must not write one document in turn.
    """
    if lesson.fingerprint in names(case):
        return True
    cases = [one.case for one in report.analyses] + [one.case for one in report.failures]
    others = (names(other) for other in cases if other.fingerprint != case.fingerprint)
    return is_same_error(case, lesson) and all(lesson.fingerprint not in n for n in others)


def update_lesson(lesson: Lesson, report: RunReport) -> Lesson:
    """Update a lesson after a night: followed up, counted as useful, failed analyses noted."""
    return reduce(lambda kept, change: change(kept, report), CHANGES, lesson)


def _apply_follow_up(lesson: Lesson, report: RunReport) -> Lesson:
    news = _news_of(lesson, report)
    return apply_news(lesson, news) if news else lesson


def _count_use(lesson: Lesson, report: RunReport) -> Lesson:
    """It was told to an analyst tonight."""
    used = {name for analysis in report.analyses for name in analysis.told}
    return count_match(lesson, report.night) if lesson.fingerprint in used else lesson


def _note_unfinished(lesson: Lesson, report: RunReport) -> Lesson:
    """An analysis that failed is a night of its history and nothing else."""
    for one in report.failures:
        if _is_about(lesson, one.case, report):
            return add_sighting(lesson, one.case, report.night, "failed", report.traffic)
    return lesson


def _note_publications(lesson: Lesson, report: RunReport) -> Lesson:
    """What an analysis that is no lesson published all the same: its fix may be turned down."""
    kept = {one.fingerprint for one in lasting(report.analyses)}
    for one in report.analyses:
        if one.fingerprint not in kept and _is_about(lesson, one.case, report):
            used = {
                "told": one.recalled,
                "iterations_used": one.iterations,
                "tokens_used": one.usage.new_tokens,
                "cost_used": one.usage.cost,
            }
            as_analysed = lesson.model_copy(update=used)
            published = add_publications(as_analysed, one, report.night, report.receipts)
            update = {name: getattr(published, name) for name in _PUBLICATIONS}
            lesson = lesson.model_copy(update=update)
    return lesson


def _note_dropped(lesson: Lesson, report: RunReport) -> Lesson:
    """Its error was there tonight, and took no place: it must not count as a quiet night."""
    dropped = (one.group for one in report.dropped)
    groups = tuple(group for group in dropped if not lesson.names.isdisjoint(group.names))
    if not groups or any(seen.night == report.night.id for seen in lesson.nights):
        return lesson
    case = Case(leader=groups[0], others=groups[1:])
    return add_sighting(lesson, case, report.night, "passed over", report.traffic)


def _note_verified_fix(lesson: Lesson, report: RunReport) -> Lesson:
    """A fix that was verified tonight teaches something, noted once."""
    if not report.options.learnings_enabled:
        return lesson
    news = _news_of(lesson, report)
    verified = news and any(fate.kind == "verified" for fate in news.fates)
    if not verified or len(lesson.notes) >= MOST_SECTIONS:
        return lesson
    notes = draw_notes(lesson, night_date(report.night))
    return lesson if notes.empty else add_notes(lesson, notes)


CHANGES: tuple[Callable[[Lesson, RunReport], Lesson], ...] = (
    _apply_follow_up,
    _count_use,
    _note_unfinished,
    _note_publications,
    _note_dropped,
    _note_verified_fix,
)


def _news_of(lesson: Lesson, report: RunReport) -> OutcomeUpdate | None:
    return next((one for one in report.followed if one.file == lesson.file), None)


def _is_about(lesson: Lesson, case: Case, report: RunReport) -> bool:
    return not lesson.names.isdisjoint(names(case)) and is_its_own(lesson, case, report)


def to_archive(
    lessons: tuple[Lesson, ...], most: int, today: date
) -> tuple[tuple[Lesson, str], ...]:
    """Choose the lessons that are too many, the least useful first, each with the reason.

    A lesson with open work, or seen in the last 14 days, stays as long as there are others.
    """

    def rank(lesson: Lesson) -> tuple[object, ...]:
        kept = _is_at_work(lesson) or today + RECENT >= last_seen(lesson) >= today - RECENT
        return (kept, *_usefulness(lesson), lesson.fingerprint, lesson.file)

    surplus = max(0, len(lessons) - max(most, 0))
    return tuple((lesson, _why(lesson)) for lesson in sorted(lessons, key=rank)[:surplus])


def _usefulness(lesson: Lesson) -> tuple[object, ...]:
    """What makes a lesson useful, the weightiest first."""
    return (
        not lesson.superseded_by,
        not lesson.stale,
        lesson.matched > 0,
        last_seen(lesson),
        lesson.matched,
        _CONFIDENCE.index(lesson.fix_confidence),
    )


def _is_at_work(lesson: Lesson) -> bool:
    """Whether an issue or pull request of it is open, or a merged fix is being measured."""
    last = {one.kind: one.outcome for one in lesson.proposed}
    is_watched = lesson.watch is not None and not lesson.watch.verdict
    return is_watched or any(outcome in _OPEN for outcome in last.values())


def _why(lesson: Lesson) -> str:
    if lesson.superseded_by:
        return f"superseded by {lesson.superseded_by}"
    if lesson.stale:
        return f"stale: {lesson.stale}"
    matched = "" if lesson.matched else "never matched, "
    return f"{matched}not seen since {last_seen(lesson).isoformat()}"
