"""Task files made of memory: for tests."""

from dataclasses import dataclass, field

from nightwatch_core.errors import GiveUp
from nightwatch_core.learnings.task_text import task_of, with_notes, with_promoted
from nightwatch_core.models.learning import Notes, TaskFile


@dataclass
class MemoryTasks:
    """A TaskShelf over a dict of ids and texts."""

    texts: dict[str, str] = field(default_factory=dict)

    def tasks(self) -> tuple[TaskFile, ...]:
        """Every text that can be read, by id."""
        found = (self.read(id) for id in sorted(self.texts))
        return tuple(task for task in found if task)

    def complaints(self) -> tuple[str, ...]:
        """What cannot be read, and why."""
        wrong = ((id, _wrong(id, self.texts[id])) for id in sorted(self.texts))
        return tuple(f"tasks/{id}.md: {why}" for id, why in wrong if why)

    def read(self, id: str) -> TaskFile | None:
        """One task; None where there is none, or its text cannot be read."""
        if id not in self.texts or _wrong(id, self.texts[id]):
            return None
        return task_of(self.texts[id], f"tasks/{id}.md")

    def append(self, id: str, notes: Notes, related: tuple[str, ...] = ()) -> str:
        """Put notes at the end; raises `GiveUp` where there is no such task."""
        self.texts[id] = with_notes(self._text(id), notes, related)
        return f"tasks/{id}.md"

    def mark_promoted(self, id: str, digests: tuple[str, ...]) -> str:
        """Remember which learnings were promoted; raises as `append`."""
        self.texts[id] = with_promoted(self._text(id), digests)
        return f"tasks/{id}.md"

    def _text(self, id: str) -> str:
        if id not in self.texts:
            raise GiveUp(f"there is no task {id[:80]!r}: name one that is there")
        return self.texts[id]


def _wrong(id: str, text: str) -> str:
    try:
        task_of(text, f"tasks/{id}.md")
    except GiveUp as wrong:
        return str(wrong)
    return ""
