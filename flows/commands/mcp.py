"""`nightwatch mcp`: the memory for people's own coding agents."""

from flows.commands.memory import memory_asked, search_learnings
from nightwatch_core.errors import GiveUp
from nightwatch_core.learnings.library import as_data, lesson_file, lesson_text, lessons_text
from nightwatch_core.memory.lesson_text import archived_lessons, lessons_in
from nightwatch_core.memory.notes import as_yaml
from nightwatch_core.memory.recall import search_lessons
from nightwatch_core.text.escaping import line
from tasks.wiring import knowledge_of, serve_library


def mcp() -> None:
    """Serve lessons and learnings to a coding agent (MCP over standard input and output).

    Reads only, and never the network. Ends when the agent goes away. Needs the extra `mcp`.
    """
    serve_library(Memory())


class Memory:
    """The Library over knowledge and task files as they are at each question; writes nothing."""

    def __init__(self) -> None:
        self._knowledge = knowledge_of(memory_asked())

    def search_lessons(self, query: str, limit: int, archived: bool) -> str:
        """Return lessons that hold words of the query, as YAML."""
        old = archived_lessons(self._knowledge) if archived else ()
        matches = search_lessons(query, (*lessons_in(self._knowledge), *old))
        return as_data(lessons_text(matches[:limit]), "yaml")

    def get_lesson(self, id: str) -> str:
        """Return one lesson's document, from the archive where it is not at hand."""
        knowledge = self._knowledge
        file = lesson_file(
            id, lambda: knowledge.index().solutions, lambda: knowledge.archived().solutions
        )
        lesson = knowledge.read(file)
        if lesson is None:
            raise GiveUp(f"{line(file, 100)} cannot be read now: ask again")
        return lesson_text(lesson)

    def learnings(self, intent: str, limit: int) -> str:
        """Return learnings of task files and lessons, as the learnings researcher writes them."""
        return as_data(as_yaml(search_learnings(intent, limit)), "yaml")
