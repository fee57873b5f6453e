"""Lessons of a pattern over nights, each error counted once, and the pattern that they make."""

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta

from nightwatch_core.memory.occurrences import last_seen
from nightwatch_core.models.knowledge import Lesson, Pattern, PatternType
from nightwatch_core.text.escaping import line

NIGHTS = 3  # on which something has to come back
RECENT = timedelta(days=30)  # a lesson not seen for longer than this is history
MOST_MEMBERS = 50


def open_lessons(lessons: tuple[Lesson, ...]) -> list[Lesson]:
    """Return lessons seen within 30 days of the newest sighting, whose fix was not verified."""
    newest = max(map(last_seen, lessons), default=date.min)
    recent = (lesson for lesson in lessons if newest - last_seen(lesson) <= RECENT)
    return [lesson for lesson in recent if lesson.outcome != "verified"]


def dates_seen(lessons: Iterable[Lesson]) -> tuple[date, ...]:
    """Return the dates on which any of the lessons was seen, oldest first."""
    return tuple(sorted({seen.date for lesson in lessons for seen in lesson.nights}))


def by_error(lessons: Iterable[Lesson]) -> list[list[Lesson]]:
    """Lessons with a name in common are about one error, however many documents it has."""
    held: dict[int, list[Lesson]] = {}
    group_of: dict[str, int] = {}
    for number, lesson in enumerate(lessons):
        joined = sorted({group_of[name] for name in lesson.names if name in group_of})
        held[number] = [*(item for group in joined for item in held.pop(group)), lesson]
        group_of |= {name: number for item in held[number] for name in item.names}
    return list(held.values())


def all_occurrences(lessons: Iterable[Lesson]) -> int:
    """Occurrences on all nights; an error of several documents counts once a night."""
    most: Counter[tuple[int, date, str]] = Counter()
    for number, held in enumerate(by_error(lessons)):
        for seen in (seen for lesson in held for seen in lesson.nights):
            night = (number, seen.date, seen.night)
            most[night] = max(most[night], seen.occurrences)
    return most.total()


def pattern_of_lessons(
    title: str,
    lessons: list[Lesson],
    *,
    pattern_type: PatternType,
    description: str,
    suggestion: str,
) -> Pattern:
    """Make a pattern of lessons; its title holds no number, so that it stays the same."""
    members = tuple(held[0].fingerprint for held in by_error(lessons))
    return Pattern(
        title=line(title, 120),
        description=line(description, 500),
        pattern_type=pattern_type,
        error_classes=most_frequent(lesson.error_class for lesson in lessons),
        modules=most_frequent(lesson.module or lesson.transaction for lesson in lessons),
        occurrences=all_occurrences(lessons),
        suggestion=line(suggestion, 400),
        fingerprints=members[-MOST_MEMBERS:],
        tags=shared_tags(lesson.tags for lesson in lessons),
        nights=dates_seen(lessons),
    )


def shared_tags(tags: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """At most ten tags that all have."""
    sets = [set(tag) for tag in tags]
    return tuple(sorted(set.intersection(*sets)))[:10] if sets else ()


def most_frequent(texts: Iterable[str]) -> tuple[str, ...]:
    """At most twenty short lines, each once, the most frequent first."""
    counted = Counter(line(text, 200) for text in texts if text.strip())
    return tuple(text for text, _ in counted.most_common(20))


def listed(texts: tuple[str, ...]) -> str:
    """Return the first three texts, and how many there are more."""
    return ", ".join(texts[:3]) + (f" and {len(texts) - 3} more" if len(texts) > 3 else "")
