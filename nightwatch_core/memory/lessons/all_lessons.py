"""The lessons of a knowledge folder that can be read."""

from collections.abc import Iterable

from nightwatch_core.models.knowledge import IndexEntry, Lesson
from nightwatch_core.ports import KnowledgeReader


def lessons_in(knowledge: KnowledgeReader) -> tuple[Lesson, ...]:
    """Every lesson at hand that can be read."""
    return _read(knowledge, knowledge.index().solutions)


def archived_lessons(knowledge: KnowledgeReader) -> tuple[Lesson, ...]:
    """Every archived lesson that can be read."""
    return _read(knowledge, knowledge.archived().solutions)


def _read(knowledge: KnowledgeReader, entries: Iterable[IndexEntry]) -> tuple[Lesson, ...]:
    return tuple(lesson for entry in entries if (lesson := knowledge.read(entry.file)))
