"""Earlier proposals that are not over: merged fixes on their way, and rejections without answer."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from nightwatch_core.memory import occurrences, rates
from nightwatch_core.memory.follow_up import merged_pulls, without_unconfirmed_watch
from nightwatch_core.memory.outcomes import Tonight, is_its_source
from nightwatch_core.models.knowledge import FixStatus, Lesson, MergedFix, Rejection
from nightwatch_core.models.proposals import OwnItem

LOOK_BACK = timedelta(days=90)  # for rejections that nobody was told the result of


def merged_fixes(lessons: Iterable[Lesson], own: Sequence[OwnItem]) -> tuple[MergedFix, ...]:
    """Return the merged fix of each lesson that has one, as the tracker bears it out.

    `lessons` hold what this night brought for them.
    """
    merged = merged_pulls(own)
    confirmed = (without_unconfirmed_watch(lesson, merged) for lesson in lessons)
    return tuple(
        MergedFix(
            number=watch.number,
            names=tuple(sorted(lesson.names)),
            merged_at=occurrences.aware(watch.merged_at),
            status=_status(watch.verdict, is_deployed=watch.deployed_at is not None),
            deployed_at=watch.deployed_at,
        )
        for lesson in confirmed
        if (watch := lesson.watch)
    )


def _status(verdict: str, *, is_deployed: bool) -> FixStatus:
    match verdict:
        case "verified" | "no effect" | "regressed":
            return verdict
    return "measuring" if is_deployed else "merged"


def unanswered_rejections(
    lessons: Iterable[Lesson], own: Iterable[OwnItem], tonight: Tonight
) -> tuple[Rejection, ...]:
    """Return the drafts that people closed lately and whose reviewers were told nothing since."""
    since = occurrences.night_date(tonight.night) - LOOK_BACK
    closed = {
        item.number: item
        for item in own
        if (item.kind, item.state) == ("pull", "closed") and not item.as_patch
    }
    found: dict[int, Rejection] = {}
    for lesson in lessons:
        for event in lesson.outcomes:
            item = closed.get(event.number or 0)
            if event.kind != "closed unmerged" or event.told or item is None or event.on < since:
                continue
            if lesson.names.isdisjoint(item.names):
                continue
            names, stopped = tuple(sorted(lesson.names)), _stopped(lesson, tonight)
            rejection = Rejection(
                number=item.number, fingerprint=lesson.fingerprint, names=names, stopped=stopped
            )
            found.setdefault(item.number, rejection)
    return tuple(found[number] for number in sorted(found))


def _stopped(lesson: Lesson, tonight: Tonight) -> str:
    """Say since when an error was not seen, where that is no chance; empty where it may go on."""
    night = tonight.night
    is_seen = any(group.fingerprint in lesson.names for group in tonight.groups)
    if is_seen or not tonight.read_whole or not is_its_source(lesson, tonight):
        return ""
    nights = rates.nights_read(lesson, tonight.records, night, night.window.until)
    seen = [item for item in nights if item.occurrences]
    if not seen:
        return ""
    last = max(item.date for item in seen)
    quiet = sum(item.hours for item in nights if item.date > last)
    hours = quiet + occurrences.hours_between(night.window.since, night.window.until)
    return f"since {last.isoformat()}" if rates.was_gone(seen, hours) else ""
