"""A lesson's history of nights: when its error was seen, and when the lesson was of use."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson, NightSeen
from nightwatch_core.models.report import Night

MOST_NIGHTS, MOST_ALIASES = 60, 100
AHEAD = timedelta(days=14)  # an older window may be read after a newer one; further is no date


def seen_again(
    lesson: Lesson, case: Case, night: Night, verdict: str = "known", traffic: int | None = None
) -> Lesson:
    """The lesson after one more night of its error; `verdict` is known, wrapped up or failed."""
    seen = sighting(case, night, verdict, lesson.fix_confidence, traffic)
    return lesson.model_copy(
        update={
            **kept_names(lesson, case),
            "occurrences": case.occurrences,
            "nights": with_night(lesson.nights, seen),
            "seen_until": later(lesson.seen_until, night.window.until),
        }
    )


def matched(lesson: Lesson, night: Night) -> Lesson:
    """The lesson after it was told to an analyst, or used again: counted once a night.

    >>> from datetime import UTC, datetime
    >>> from nightwatch_core.models.error import Window
    >>> end = datetime(2030, 5, 2, 4, tzinfo=UTC)
    >>> night = Night(id="2030-05-01-ab12", window=Window(since=end, until=end), now=end)
    >>> one = Lesson(fingerprint="v1:1", error_class="E", root_cause="", first_detected=end.date())
    >>> matched(matched(one, night), night).matched
    1
    """
    day = night_date(night)
    last = lesson.last_matched
    if last and day <= last <= day + AHEAD:
        return lesson
    return lesson.model_copy(update={"matched": lesson.matched + 1, "last_matched": day})


def night_date(night: Night) -> date:
    """The date a night is called by: the one its id starts with, else its window's end.

    >>> from datetime import UTC, datetime
    >>> from nightwatch_core.models.error import Window
    >>> end = datetime(2030, 5, 2, 4, tzinfo=UTC)
    >>> night_date(Night(id="2030-05-01-ab12", window=Window(since=end, until=end), now=end))
    datetime.date(2030, 5, 1)
    """
    try:
        return date.fromisoformat(night.id[:10])
    except ValueError:
        return night.window.until.date()


def believed(moment: datetime | None, night: Night) -> datetime | None:
    """A moment that a document names, in UTC where it names no zone; None for one to come.

    A document is no word on what lies ahead: such a moment counts as not recorded.
    """
    if moment is None:
        return None
    known = moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)
    return known if known - night.window.until <= AHEAD else None


def sighting(
    case: Case, night: Night, verdict: str, confidence: str, traffic: int | None
) -> NightSeen:
    """One night on which a case was seen; `traffic` is the application's in its window."""
    looked = (night.window.until - night.window.since).total_seconds() / 3_600
    return NightSeen(
        date=night_date(night),
        night=night.id,
        occurrences=case.occurrences,
        verdict=verdict,
        confidence=confidence,
        hours=round(max(looked, 0.0), 2),
        traffic=traffic,
    )


def kept_names(lesson: Lesson, case: Case) -> dict[str, object]:
    """The fields that name a lesson, which learns the names its case came under tonight."""
    names = (*lesson.aliases, case.fingerprint, *case.aliases)
    return {"fingerprint": lesson.fingerprint, "aliases": aliases(names, lesson.fingerprint)}


def aliases(names: Iterable[str], own: str) -> tuple[str, ...]:
    """Other names than the lesson's own, each once; the newest where there are too many."""
    return tuple(dict.fromkeys(name for name in names if name and name != own))[-MOST_ALIASES:]


def with_night(nights: tuple[NightSeen, ...], new: NightSeen) -> tuple[NightSeen, ...]:
    """One entry a night, newest last; a night told again keeps its first verdict.

    Where there are too many, those dated after the new one go first, then the oldest.
    """
    told = next((seen for seen in nights if seen.night == new.night), None)
    verdict = told.verdict if told else "changed" if new.verdict == "new" else new.verdict
    others = (seen for seen in nights if seen.night != new.night)
    entry = new.model_copy(update={"verdict": verdict})
    every = sorted((*others, entry), key=lambda seen: (seen.date, seen.night))
    at = every.index(entry) + 1
    return tuple((*every[max(0, at - MOST_NIGHTS) : at], *every[at:])[:MOST_NIGHTS])


def later(known: datetime | None, other: datetime) -> datetime:
    """The later moment; people edit documents, so that one may name no time zone and is dropped."""
    return max(known, other) if known and known.tzinfo else other
