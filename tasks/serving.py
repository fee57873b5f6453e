"""Door for `nightwatch mcp`: the memory as people's own coding agents may read it."""

from nightwatch_core.errors import GiveUp
from nightwatch_core.intake.default_ports import SAMPLE
from nightwatch_core.learnings.library import as_data, found_text, lesson_text, named
from nightwatch_core.memory.notes.selection import as_yaml
from nightwatch_core.memory.word_search import search_lessons
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.options import NightOptions
from nightwatch_core.text.escaping import line
from tasks.notes import found_learnings
from tasks.readers import lessons_in
from tasks.wiring import knowledge_of, serve_library


def serve(sample: bool) -> None:
    """Answer a coding agent over standard input and output until it goes away."""
    serve_library(Memory(sample))


class Memory:
    """The Library over knowledge and task files as they are at each question; writes nothing."""

    def __init__(self, sample: bool) -> None:
        """What nights on real errors taught, or nights on the sample, which has no task files."""
        self._sample = sample
        self._knowledge = knowledge_of(NightOptions(source=SAMPLE if sample else "file"))

    def search_lessons(self, query: str, limit: int, archived: bool) -> str:
        """Lessons that hold words of the query."""
        lessons = (*lessons_in(self._knowledge), *(self._archive() if archived else ()))
        return as_data(found_text(search_lessons(query, lessons)[:limit]), "yaml")

    def get_lesson(self, id: str) -> str:
        """One lesson's document, from the archive where it is not at hand."""
        knowledge = self._knowledge
        file = named(
            id, lambda: knowledge.index().solutions, lambda: knowledge.archived().solutions
        )
        lesson = knowledge.read(file)
        if lesson is None:
            raise GiveUp(f"{line(file, 100)} cannot be read now: ask again")
        return lesson_text(lesson)

    def learnings(self, intent: str, limit: int) -> str:
        """Learnings of task files and lessons, in the shape of the learnings researcher."""
        return as_data(as_yaml(found_learnings(intent, self._sample, limit)), "yaml")

    def _archive(self) -> tuple[Lesson, ...]:
        read = (self._knowledge.read(entry.file) for entry in self._knowledge.archived().solutions)
        return tuple(lesson for lesson in read if lesson)
