"""Which patterns a lesson's document tells of, and which similar errors."""

from collections.abc import Iterable, Mapping

from nightwatch_core.memory.limits import (
    LONGEST_TITLE,
    LONGEST_WORDS,
    MOST_RELATED_DOCUMENTS,
)
from nightwatch_core.memory.sightings import last_seen
from nightwatch_core.models.knowledge import Lesson, RelatedDocument
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.text.escaping import line


def related_to_patterns(
    lessons: tuple[Lesson, ...], patterns: Mapping[str, Pattern]
) -> tuple[Lesson, ...]:
    """The lessons that have other relations now, each with those of today.

    `patterns` maps a document's file to its pattern. A pattern that is gone, or no longer names the
    error, leaves the lesson; so does a similar error whose lesson is gone. Of either kind the
    newest five are kept. A lesson without a cause has none.
    """
    by_name = {name: lesson for lesson in lessons for name in lesson.names}
    today = ((one, _documents(one, patterns, by_name)) for one in lessons)
    return tuple(
        one.model_copy(update={"related_patterns": documents})
        for one, documents in today
        if documents != one.related_patterns
    )


def _documents(
    lesson: Lesson, patterns: Mapping[str, Pattern], by_name: Mapping[str, Lesson]
) -> tuple[RelatedDocument, ...]:
    if not lesson.has_cause:
        return ()
    own = [(file, one) for file, one in patterns.items() if _is_about(one, lesson)]
    own.sort(key=lambda pair: (_age(pair[1]), pair[0]))
    similar = (by_name[name] for name in lesson.related if name in by_name)
    others = {one.file: one for one in similar if one.file not in ("", lesson.file)}
    return (
        *(_pattern(file, one) for file, one in own[:MOST_RELATED_DOCUMENTS]),
        *map(_similar, _newest(others.values())),
    )


def _is_about(pattern: Pattern, lesson: Lesson) -> bool:
    """A member by name; or named by class, and place where there is one, in a person's document."""
    if not lesson.names.isdisjoint(pattern.fingerprints):
        return True
    by_hand = not pattern.rule and lesson.error_class in pattern.error_classes
    places = {lesson.module, lesson.transaction} - {""}
    return by_hand and (not pattern.modules or not places.isdisjoint(pattern.modules))


def _age(pattern: Pattern) -> int:
    return -pattern.nights[-1].toordinal() if pattern.nights else 0


def _newest(lessons: Iterable[Lesson]) -> list[Lesson]:
    told = (one for one in lessons if one.has_cause and not one.superseded_by)
    ranked = sorted(told, key=lambda one: (-last_seen(one).toordinal(), one.file))
    return ranked[:MOST_RELATED_DOCUMENTS]


def _pattern(file: str, pattern: Pattern) -> RelatedDocument:
    note = line(pattern.suggestion, LONGEST_WORDS // 2)
    return RelatedDocument(file=file, title=line(pattern.title, LONGEST_TITLE), note=note)


def _similar(lesson: Lesson) -> RelatedDocument:
    title = line(lesson.title or lesson.error_class, LONGEST_TITLE)
    place = f" in {line(lesson.transaction, LONGEST_TITLE)}" if lesson.transaction else ""
    note = f"{line(lesson.error_class, LONGEST_TITLE)}{place}, last seen {last_seen(lesson)}"
    return RelatedDocument(file=lesson.file, title=title, note=note)
