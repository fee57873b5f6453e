"""Read-only doors for commands that run no flow."""

from nightwatch_core.intake.default_ports import SAMPLE
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import AgentStore, KnowledgeReader, Nights
from tasks.wiring import knowledge_of, nights, shelf


def agent_shelf() -> AgentStore:
    """The agent files."""
    return shelf()


def night_store() -> Nights:
    """The nights that were."""
    return nights()


def all_lessons(sample: bool) -> tuple[Lesson, ...]:
    """What nights on real errors taught, or nights on the sample."""
    return lessons_in(knowledge_of(NightOptions(source=SAMPLE if sample else "file")))


def lessons_in(knowledge: KnowledgeReader) -> tuple[Lesson, ...]:
    """Every lesson at hand that can be read."""
    read = (knowledge.read(entry.file) for entry in knowledge.index().solutions)
    return tuple(lesson for lesson in read if lesson)


def every_lesson(sample: bool) -> tuple[Lesson, ...]:
    """Every lesson that can be read, archived ones too."""
    knowledge = knowledge_of(NightOptions(source=SAMPLE if sample else "file"))
    archived = (knowledge.read(entry.file) for entry in knowledge.archived().solutions)
    return (*lessons_in(knowledge), *(lesson for lesson in archived if lesson))
