"""Several documents on one error made into one lesson, and the names older documents go by.

What is united may be united again with a part of it and stays the same, so that a merge that was
interrupted is finished by doing it again.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeVar

from nightwatch_core.intake.fingerprint import fingerprint
from nightwatch_core.memory import limits
from nightwatch_core.memory.sightings import aliases_of, aware, last_seen
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import IndexEntry, Lesson, NightSeen
from nightwatch_core.models.outcome import FixWatch, OutcomeEvent, PublishedItem

_EVER = datetime.min.replace(tzinfo=UTC)
_OWN = ("new", "changed")  # verdicts of nights that analysed the error
_VERDICTS = ("known", "changed", "new")  # the last says most
_HISTORY = {  # what does not come from the newest analysis alone
    "file", "aliases", "analysed_at", "first_detected", "occurrences", "nights", "seen_until",
    "tags", "related", "learnings", "notes", "promoted", "pattern_notes", "matched", "last_matched",
    "issue_number", "pr_number", "outcome", "fates", "proposed", "watch", "unsettled_since",
    "unsettled_nights",
}  # fmt: skip

_T = TypeVar("_T")


def merge_lessons(lessons: tuple[Lesson, ...]) -> Lesson:
    """Make one lesson of all these, which are about one fingerprint; `ValueError` for none.

    The newest analysis says what is wrong and how to fix it; histories are put together, and
    numbers are kept. The order of `lessons` does not matter.
    """
    if not lessons:
        raise ValueError("no lessons to unite")
    old_first = sorted(lessons, key=_analysed)
    newest = old_first[-1]
    names = (name for one in old_first for name in (one.fingerprint, *one.aliases))
    seen_last = max(reversed(old_first), key=last_seen)
    return newest.model_copy(
        update={
            **_numbers(old_first),
            "aliases": aliases_of(names, newest.fingerprint),
            "analysed_at": _analysed(newest)[0],
            "first_detected": min(one.first_detected for one in lessons),
            "occurrences": seen_last.occurrences,
            "nights": _nights(old_first),
            "seen_until": _latest(one.seen_until for one in lessons),
            "tags": _all(one.tags for one in reversed(old_first))[: limits.MOST_TAGS],
            "related": _all(one.related for one in old_first)[-limits.MOST_TAGS :],
            "learnings": _all(one.learnings for one in reversed(old_first))[: limits.MOST_TAGS],
            "notes": _all(one.notes for one in old_first),
            "pattern_notes": _all(one.pattern_notes for one in old_first)[: limits.MOST_ROWS],
            "promoted": _all(one.promoted for one in old_first)[-limits.MOST_PROMOTED :],
            "matched": max(one.matched for one in lessons),
            "last_matched": max((d for one in lessons if (d := one.last_matched)), default=None),
        }
    )


def legacy_names(case: Case) -> tuple[str, ...]:
    """List the fingerprints that a seeds' document on one of the case's groups would have got.

    Such documents name no application, and keep the first 200 characters of a message.

    >>> from nightwatch_core.models.error import ErrorGroup
    >>> names = {"error_class": "KeyError", "transaction": "orders/show", "message": "no total"}
    >>> group = ErrorGroup(fingerprint="v1:1", source="file", app="shop", **names)
    >>> legacy_names(Case(leader=group)) == (fingerprint(app="", **names),)
    True
    """
    names = (
        fingerprint(
            app="", error_class=one.error_class, transaction=one.transaction, message=message
        )
        for one in case.groups
        for message in (one.message[: limits.LONGEST_MESSAGE], one.message)
    )
    return tuple(dict.fromkeys(names))


def entries_of_former_names(
    case: Case, lesson: Lesson, entries: Iterable[IndexEntry]
) -> tuple[IndexEntry, ...]:
    """Find other lessons on the lesson's own groups: earlier versions took one error for several.

    >>> from nightwatch_core.models.error import ErrorGroup
    >>> names = {"fingerprint": "v1:3", "formerly": ("v1:1", "v1:2")}
    >>> case = Case(leader=ErrorGroup(source="file", error_class="E", **names))
    >>> kept = Lesson(fingerprint="v1:1", error_class="E", root_cause="",
    ...               first_detected=datetime(2030, 5, 1).date())
    >>> entries = [IndexEntry(file=n, fingerprint=f"v1:{n}", error_class="E") for n in "1234"]
    >>> [one.file for one in entries_of_former_names(case, kept, entries)]
    ['2', '3']
    """
    own = {
        name
        for group in case.groups
        if group.formerly and not lesson.names.isdisjoint(group.names)
        for name in group.names
    }
    return tuple(e for e in entries if e.fingerprint in own - {lesson.fingerprint})


def _analysed(lesson: Lesson) -> tuple[datetime, str, str, int, str]:
    """When the lesson was last analysed.

    The rest keeps the order the same every time, and what was united behind its parts.
    """
    nights = [seen.date for seen in lesson.nights if seen.verdict in _OWN]
    day = max((*nights, lesson.first_detected))
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    at = aware(lesson.analysed_at) if lesson.analysed_at else midnight
    text, whole = lesson.model_dump_json(exclude=_HISTORY), lesson.model_dump_json()
    return at, lesson.run_id, text, len(whole), whole


def _numbers(old_first: list[Lesson]) -> dict[str, object]:
    """Numbers of the newest lesson that has them, and what became of what they stand for."""
    fates = sorted(_each((one.fates for one in old_first), _fate), key=lambda fate: fate.on)
    proposed = _each((one.proposed for one in old_first), _proposed)
    watches = [one.watch for one in old_first if one.watch]
    last = old_first[-1]
    outcome = next((one.outcome for one in reversed(old_first) if one.outcome), "")
    return {
        "issue_number": _last(one.issue_number for one in old_first),
        "pr_number": _last(one.pr_number for one in old_first),
        "outcome": last.outcome if last.pr_number is not None else outcome,
        "fates": tuple(fates[-limits.MOST_FATES :]),
        "proposed": tuple(sorted(proposed, key=lambda one: one.on)[-limits.MOST_PROPOSED :]),
        "watch": max(watches, key=_watched, default=None),
    }


def _nights(old_first: list[Lesson]) -> tuple[NightSeen, ...]:
    """Every night once; only the first of them can have been the first."""
    fullest_last = sorted((seen for one in old_first for seen in one.nights), key=_fullness)
    every = _each([tuple(fullest_last)], lambda seen: (seen.night, seen.date))
    first, *later = sorted(every, key=lambda seen: (seen.date, seen.night)) or (None,)
    changed = {"verdict": "changed"}
    rest = (one.model_copy(update=changed) if one.verdict == "new" else one for one in later)
    return (*((first,) if first else ()), *rest)[-limits.MOST_NIGHTS :]


def _fullness(seen: NightSeen) -> tuple[object, ...]:
    """How much is said of a night: of two that speak of the same one, the fuller is kept."""
    verdict = _VERDICTS.index(seen.verdict) if seen.verdict in _VERDICTS else -1
    traffic = -1 if seen.traffic is None else seen.traffic
    return seen.occurrences, seen.hours, traffic, verdict, seen.verdict, seen.confidence


def _fate(fate: OutcomeEvent) -> tuple[object, ...]:
    return fate.kind, fate.number, fate.on, fate.night


def _proposed(one: PublishedItem) -> tuple[object, ...]:
    return one.kind, one.number


def _watched(watch: FixWatch) -> tuple[datetime, datetime]:
    return aware(watch.merged_at), aware(watch.until) if watch.until else _EVER


def _each(lists: Iterable[tuple[_T, ...]], name: Callable[[_T], tuple[object, ...]]) -> list[_T]:
    """All values, one of each name: the last one told."""
    return list({name(value): value for values in lists for value in values}.values())


def _all(lists: Iterable[tuple[_T, ...]]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(value for values in lists for value in values))


def _last(numbers: Iterable[int | None]) -> int | None:
    return next((n for n in reversed(list(numbers)) if n is not None), None)


def _latest(moments: Iterable[datetime | None]) -> datetime | None:
    """The latest moment; people edit documents, so that one may name no time zone: it is UTC."""
    return max((aware(one) for one in moments if one), default=None)
