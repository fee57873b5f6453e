"""A lesson's history of nights: when its error was seen, and when the lesson was of use."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from nightwatch_core.memory.limits import MOST_ALIASES, MOST_NIGHTS
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson, NightSeen
from nightwatch_core.models.report import Night

AHEAD = timedelta(days=14)  # an older window may be read after a newer one; further is no date


def add_sighting(
    lesson: Lesson, case: Case, night: Night, verdict: str = "known", traffic: int | None = None
) -> Lesson:
    """Add one more night of a lesson's error; `verdict` is one of `NightSeen`."""
    seen = sighting(case, night, verdict, lesson.fix_confidence, traffic)
    return lesson.model_copy(
        update={
            **names_kept(lesson, case),
            "occurrences": case.occurrences,
            "nights": add_night(lesson.nights, seen),
            "seen_until": later(lesson.seen_until, night.window.until),
        }
    )


def count_match(lesson: Lesson, night: Night) -> Lesson:
    """Count that a lesson was told to an analyst, or used again: once a night.

    >>> from nightwatch_core.models.error import Window
    >>> end = datetime(2030, 5, 2, 4, tzinfo=UTC)
    >>> night = Night(id="2030-05-01-ab12", window=Window(since=end, until=end), now=end)
    >>> one = Lesson(fingerprint="v1:1", error_class="E", root_cause="", first_detected=end.date())
    >>> count_match(count_match(one, night), night).matched
    1
    """
    day = night_date(night)
    last = lesson.last_matched
    if last and day <= last <= day + AHEAD:
        return lesson
    return lesson.model_copy(update={"matched": lesson.matched + 1, "last_matched": day})


def night_date(night: Night) -> date:
    """Give the date a night is called by: the one its id starts with, else its window's end.

    >>> from nightwatch_core.models.error import Window
    >>> end = datetime(2030, 5, 2, 4, tzinfo=UTC)
    >>> night_date(Night(id="2030-05-01-ab12", window=Window(since=end, until=end), now=end))
    datetime.date(2030, 5, 1)
    """
    try:
        return date.fromisoformat(night.id[:10])
    except ValueError:
        return night.window.until.date()


def last_seen(lesson: Lesson) -> date:
    """Give the date of the newest sighting; the first one's where no nights are kept."""
    return max((seen.date for seen in lesson.nights), default=lesson.first_detected)


def aware(moment: datetime) -> datetime:
    """Put a moment that names no time zone in UTC: people edit what is kept.

    >>> aware(datetime(2031, 3, 1)).isoformat()
    '2031-03-01T00:00:00+00:00'
    """
    return moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)


def plausible(moment: datetime | None, night: Night) -> datetime | None:
    """A moment that a document names, in UTC where it names no zone; None for one to come.

    A document is no word on what lies ahead: such a moment counts as not recorded.
    """
    if moment is None or aware(moment) - night.window.until > AHEAD:
        return None
    return aware(moment)


def sighting(
    case: Case, night: Night, verdict: str, confidence: str, traffic: int | None
) -> NightSeen:
    """Describe one night on which a case was seen; `traffic` is the application's in its window."""
    window = night.window
    return NightSeen(
        date=night_date(night),
        night=night.id,
        occurrences=case.occurrences,
        verdict=verdict,
        confidence=confidence,
        hours=round(hours_between(window.since, window.until), 2),
        traffic=traffic,
    )


def hours_between(since: datetime, until: datetime) -> float:
    """Hours from one aware moment to another; never negative."""
    return max(0.0, (until - since).total_seconds() / 3_600)


def names_kept(lesson: Lesson, case: Case) -> dict[str, object]:
    """The fields that name a lesson, which learns the names its case came under tonight."""
    names = (*lesson.aliases, case.fingerprint, *case.aliases)
    return {"fingerprint": lesson.fingerprint, "aliases": aliases_of(names, lesson.fingerprint)}


def aliases_of(names: Iterable[str], own: str) -> tuple[str, ...]:
    """Other names than the lesson's own, each once; the newest where there are too many."""
    return tuple(dict.fromkeys(name for name in names if name and name != own))[-MOST_ALIASES:]


def add_night(nights: tuple[NightSeen, ...], new: NightSeen) -> tuple[NightSeen, ...]:
    """Keep one entry a night, newest last; a night seen again keeps its first verdict.

    Where there are too many, those dated after the new one go first, then the oldest.
    """
    before = next((seen for seen in nights if seen.night == new.night), None)
    verdict = before.verdict if before else "changed" if new.verdict == "new" else new.verdict
    others = (seen for seen in nights if seen.night != new.night)
    entry = new.model_copy(update={"verdict": verdict})
    every = sorted((*others, entry), key=lambda seen: (seen.date, seen.night))
    at = every.index(entry) + 1
    return tuple((*every[max(0, at - MOST_NIGHTS) : at], *every[at:])[:MOST_NIGHTS])


def later(recorded: datetime | None, other: datetime) -> datetime:
    """The later moment; a recorded one that names no time zone is dropped."""
    return max(recorded, other) if recorded and recorded.tzinfo else other
