"""Which lessons make room when there are too many: the least useful go to the archive."""

from collections.abc import Callable
from datetime import date, timedelta

from nightwatch_core.models.knowledge import Lesson

RECENT = timedelta(days=14)
_OPEN = ("", "reopened")  # outcomes of an issue or pull request that is still open
_CONFIDENCE = ("low", "medium", "high")


def to_archive(
    lessons: tuple[Lesson, ...], most: int, today: date
) -> tuple[tuple[Lesson, str], ...]:
    """The lessons that are too many, the least useful first, each with the reason.

    A lesson with open work, or seen in the last 14 days, stays as long as there are others.
    """

    def usefulness(lesson: Lesson) -> tuple[object, ...]:
        kept = _is_at_work(lesson) or today + RECENT >= _seen(lesson) >= today - RECENT
        return (kept, *(key(lesson) for key in USEFULNESS), lesson.fingerprint, lesson.file)

    many = len(lessons) - max(most, 0)
    least = sorted(lessons, key=usefulness)[:many] if many > 0 else []
    return tuple((lesson, _why(lesson)) for lesson in least)


def _is_at_work(lesson: Lesson) -> bool:
    """Whether an issue or pull request of it is open, or a merged fix is being measured."""
    last = {one.kind: one.outcome for one in lesson.proposed}
    is_watched = lesson.watch is not None and not lesson.watch.verdict
    return is_watched or any(outcome in _OPEN for outcome in last.values())


def _seen(lesson: Lesson) -> date:
    return max((seen.date for seen in lesson.nights), default=lesson.first_detected)


def _not_superseded(lesson: Lesson) -> int:
    return not lesson.superseded_by


def _not_stale(lesson: Lesson) -> int:
    return not lesson.stale


def _was_matched(lesson: Lesson) -> int:
    return lesson.matched > 0


def _last_seen(lesson: Lesson) -> int:
    return _seen(lesson).toordinal()


def _times_matched(lesson: Lesson) -> int:
    return lesson.matched


def _confidence(lesson: Lesson) -> int:
    return _CONFIDENCE.index(lesson.fix_confidence)


USEFULNESS: tuple[Callable[[Lesson], int], ...] = (
    _not_superseded,
    _not_stale,
    _was_matched,
    _last_seen,
    _times_matched,
    _confidence,
)
"""What makes a lesson useful, the weightiest first; the least of each goes first."""


def _why(lesson: Lesson) -> str:
    if lesson.superseded_by:
        return f"superseded by {lesson.superseded_by}"
    if lesson.stale:
        return f"stale: {lesson.stale}"
    matched = "" if lesson.matched else "never matched, "
    return f"{matched}not seen since {_seen(lesson).isoformat()}"
