"""Rules that look at lessons over nights."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import MERGED, TURNED_DOWN
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.patterns.cause_similarity import Rarity, cause_terms, group_similar, similarity
from nightwatch_core.patterns.common_words import GENERIC_CLASSES
from nightwatch_core.patterns.members import (
    MOST_MEMBERS,
    all_occurrences,
    by_error,
    count_nights,
    dates_seen,
    most_frequent,
    open_lessons,
    shared_tags,
)
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.escaping import line

NIGHTS = 3  # on which a class, or a file, has to come back
WAYS = 3  # in which a file has to break
_MOST_IN_FILE = 100  # lessons of one file whose causes are compared


def recurring_class(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> list[Pattern]:
    """A class that open lessons saw on three nights or more, the last of them not long ago.

    One case that comes back three times counts like three cases that come once each: both are told
    by a class in the knowledge of three nights. But a class that a language raises for everything
    has to come back in one file: elsewhere it is another error that happens to be called the same.
    """
    by_class: dict[tuple[str, str], list[Lesson]] = defaultdict(list)
    for lesson in open_lessons(lessons):
        generic = last_segment(lesson.error_class) in GENERIC_CLASSES
        place = (lesson.module or lesson.transaction) if generic else ""
        by_class[lesson.error_class, place].append(lesson)
    return [
        _recurring(name, place, lessons_of)
        for (name, place), lessons_of in by_class.items()
        if count_nights(lessons_of) >= NIGHTS
    ]


def _recurring(name: str, place: str, lessons: list[Lesson]) -> Pattern:
    there = f" in {line(place, 60)}" if place else ""
    days = dates_seen(lessons)
    return Pattern(
        title=line(f"{line(name, 120 - 20 - len(there))} keeps coming back{there}", 120),
        description=f"Seen on {len(days)} nights in {_places(lessons)}.",
        pattern_type="recurring_error",
        error_classes=(line(name, 200),),
        modules=most_frequent(one.module or one.transaction for one in lessons),
        occurrences=all_occurrences(lessons),
        suggestion=_against_recurrence(lessons),
        fingerprints=_fingerprints(lessons),
        tags=shared_tags(one.tags for one in lessons),
        because=(f"the same class{there} on {len(days)} nights since {days[0]}",),
        nights=days,
    )


def hot_spot(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> list[Pattern]:
    """A file that broke in three ways or more, on three nights or more.

    Only the file a finding leads to counts: files that everything passes through are cited often
    and seldom at fault. Three tellings of one cause are one way.
    """
    by_file: dict[str, list[Lesson]] = defaultdict(list)
    for lesson in open_lessons(lessons):
        if lesson.module and (lesson.fix_confidence != "low" or lesson.evidence):
            by_file[lesson.module].append(lesson)
    return [
        _hot(file, lessons_of, ways)
        for file, lessons_of in by_file.items()
        if count_nights(lessons_of) >= NIGHTS and (ways := _ways(lessons_of)) >= WAYS
    ]


def _ways(lessons: Sequence[Lesson]) -> int:
    """In how many ways a file breaks: errors whose causes are told alike are one."""
    errors = by_error(lessons[-_MOST_IN_FILE:])
    causes = [
        cause_terms(held[-1].root_cause, ((cited.path, cited.line) for cited in held[-1].evidence))
        for held in errors
    ]
    rarity = Rarity(causes)
    alike = {
        (one, other): similarity(causes[one], causes[other], rarity)
        for one, other in combinations(range(len(causes)), 2)
    }
    return len(group_similar(len(causes), alike))


def _hot(file: str, lessons: list[Lesson], ways: int) -> Pattern:
    days = dates_seen(lessons)
    classes = most_frequent(one.error_class for one in lessons)
    more = f" and {len(classes) - 3} more" if len(classes) > 3 else ""
    names = f"{', '.join(classes[:3])}{more}"
    return Pattern(
        title=line(f"{line(file, 90)} breaks in many ways", 120),
        description=line(f"{ways} causes on {len(days)} nights: {names}.", 500),
        pattern_type="systemic_issue",
        error_classes=classes,
        modules=most_frequent((file,)),
        occurrences=all_occurrences(lessons),
        suggestion=line(
            f"Review {line(file, 200)} as a whole, and test it, before the next fix.", 400
        ),
        fingerprints=_fingerprints(lessons),
        tags=shared_tags(one.tags for one in lessons),
        because=(f"{ways} different causes lead to this file",),
        nights=days,
    )


def _fingerprints(lessons: list[Lesson]) -> tuple[str, ...]:
    """One name an error, of those seen last where there are too many."""
    return tuple(held[0].fingerprint for held in by_error(lessons))[-MOST_MEMBERS:]


def _places(lessons: list[Lesson]) -> str:
    places = most_frequent(one.module or one.transaction for one in lessons) or ("unknown places",)
    return ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")


def _against_recurrence(lessons: list[Lesson]) -> str:
    worst = max(lessons, key=lambda one: (len(one.nights), one.occurrences))
    issue = f" (issue #{worst.issue_number})" if worst.issue_number else ""
    place = worst.module or worst.transaction or worst.error_class
    if worst.watch and worst.outcome in MERGED:
        return line(f"The fix of pull request #{worst.watch.number} was merged: see it help.", 400)
    if worst.has_fix and worst.outcome not in TURNED_DOWN:
        return line(f"A fix for {place} is known{issue} and not in production: ship it.", 400)
    turned = f" (its fix: {worst.outcome})" if worst.has_fix else ""
    return line(f"Give {place} to its owner{issue}{turned}: {worst.root_cause}", 400)
