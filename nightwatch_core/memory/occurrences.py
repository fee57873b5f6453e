"""A lesson's history of nights: when its error was seen, and when the lesson was of use."""

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta

from nightwatch_core.memory.limits import MOST_ALIASES, MOST_NIGHTS, MOST_WATCHED
from nightwatch_core.models.analysis import RefusedEdit
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import Lesson, NightSeen
from nightwatch_core.models.report import Night
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import plural

AHEAD = timedelta(days=14)  # an older window may be read after a newer one; further is no date


def add_sighting(
    lesson: Lesson, case: Case, night: Night, verdict: str = "known", traffic: int | None = None
) -> Lesson:
    """Add one more night of a lesson's error; `verdict` is one of `NightSeen`."""
    seen = sighting(case, night, verdict, lesson.confidence, traffic)
    return lesson.model_copy(
        update={
            **names_kept(lesson, case),
            "occurrences": case.occurrences,
            "nights": add_night(lesson.nights, seen),
            "seen_until": later(lesson.seen_until, night.window.until),
        }
    )


def count_match(lesson: Lesson, night: Night) -> Lesson:
    """Count that a lesson was told to an analyst, or used again: once a night."""
    day = night_date(night)
    last = lesson.last_matched
    if last and day <= last <= day + AHEAD:
        return lesson
    return lesson.model_copy(update={"matched": lesson.matched + 1, "last_matched": day})


def night_date(night: Night) -> date:
    """Give the date a night is called by: the one its id starts with, else its window's end."""
    try:
        return date.fromisoformat(night.id[:10])
    except ValueError:
        return night.window.until.date()


def last_seen(lesson: Lesson) -> date:
    """Give the date of the newest sighting; the first one's where no nights are kept."""
    return max((seen.date for seen in lesson.nights), default=lesson.first_detected)


def aware(moment: datetime) -> datetime:
    """Put a moment that names no time zone in UTC: people edit what is kept."""
    return moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)


def plausible(moment: datetime | None, night: Night) -> datetime | None:
    """Return a moment that a document names, in UTC where it names no zone; None for one to come.

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
    """Return the fields that name a lesson, which learns the names its case came under tonight."""
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
    """Return the later moment; a recorded one that names no time zone is dropped."""
    return max(recorded, other) if recorded and recorded.tzinfo else other


# Findings that did not settle their error: weak ones, and causes whose fix is owed.
#
# The same code and record lead to the same finding, so they are looked at again once anything
# speaks for another: the error regressed or rose, code it runs through changed, another model or
# other instructions, somebody asked afresh; then the count of nights begins anew. Else every 32
# nights; the next night where a fix is owed, or only a fix was asked for.

_STEP = 200  # characters
_LONGEST = 32  # nights
_SETTLED = {"unsettled_nights": 0, "watched": ()}
OWED = "its fix is owed: "


def why_weak(lesson: Lesson) -> str:
    """Say why a lesson proves too little to be relied upon; empty where it does not."""
    reasons = (
        (not lesson.has_cause, "cause unknown"),
        (lesson.confidence == "low", "its confidence was low"),
        (not lesson.evidence, "it cites no line of code"),
    )
    return next((reason for holds, reason in reasons if holds), "")


def why_unsettled(lesson: Lesson) -> str:
    """Say why a lesson does not settle its error; empty where it does."""
    return why_weak(lesson) or (f"{OWED}{lesson.fix_owed}" if lesson.fix_owed else "")


def fix_owed(has_fix: bool, refused: tuple[RefusedEdit, ...]) -> str:
    """Say what is wrong with a fix that fell to slips alone; empty where none is owed."""
    if has_fix or not refused or not all(edit.is_slip for edit in refused):
        return ""
    return line(f"{refused[0].path}: {refused[0].reason}", _STEP)


def watched_files(case: Case) -> tuple[str, ...]:
    """List the files of a case's innermost frames: their change may show what was not seen."""
    frames = case.trace.in_app if case.trace else ()
    paths = dict.fromkeys(frame.repo_path for frame in frames if frame.repo_path)
    return tuple(paths)[:MOST_WATCHED]


def nights_before(lesson: Lesson) -> int:
    """Count the nights before tonight on which it stayed so; of older documents, the first."""
    return max(lesson.unsettled_nights, 1)


def is_due(lesson: Lesson) -> bool:
    """Tell whether it is looked at again although nothing has changed."""
    tonight = nights_before(lesson) + 1
    is_whole = lesson.analyst and why_weak(lesson)
    return tonight % _LONGEST == 0 or (tonight == 2 and not is_whole)


def waits_for(lesson: Lesson) -> str:
    """Say since when a weak finding waits, and for what; its words are escaped by who shows it."""
    looks = sum(seen.verdict != "known" for seen in lesson.nights)
    nights = plural(max(len(lesson.nights), looks), "night")
    files = ", ".join(dict.fromkeys(item.path for item in lesson.watched[:2]))
    changed = f"a change of {line(files, _STEP)}, " if files else ""
    weak = f" ({why_weak(lesson)})" if lesson.has_cause else ""
    asked = lesson.question or next(iter(lesson.next_steps), "")
    ask = f"; what would settle it: {line(asked, _STEP)}" if asked else ""
    return (
        f"seen since {lesson.first_detected.isoformat()}{weak}, looked at on {looks} of {nights}, "
        f"waiting for {changed}a higher rate or another model{ask}"
    )


def counted(lesson: Lesson, before: int) -> Lesson:
    """Count tonight for a lesson that stays unsettled, after `before` nights; else count anew."""
    if not why_unsettled(lesson):
        return lesson.model_copy(update=_SETTLED)
    return lesson.model_copy(update={"unsettled_nights": before + 1})


def has_changed(lesson: Lesson, digest_of: Callable[[str], str]) -> str:
    """Name the first file of a lesson's frames that is another now; empty where none is."""
    digests = {item.path: item.digest for item in lesson.watched if item.digest}
    return next((path for path, old in digests.items() if digest_of(path) != old), "")
