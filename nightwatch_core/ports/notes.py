"""Where task files are kept that people and their agents write notes into."""

from typing import Protocol

from nightwatch_core.models.learning import Notes, TaskFile


class TaskShelf(Protocol):
    """The task files; one writer at a time."""

    def tasks(self) -> tuple[TaskFile, ...]:
        """Every file that can be read, by id; empty where there is no folder."""
        ...

    def complaints(self) -> tuple[str, ...]:
        """What cannot be read, and why: "file: reason"."""
        ...

    def read(self, id: str) -> TaskFile | None:
        """One of them; None where there is none of that id, or it cannot be read."""
        ...

    def append(self, id: str, notes: Notes, related: tuple[str, ...] = ()) -> str:
        """Put notes at the end of a task's file and link related tasks; returns the file.

        Raises `GiveUp` where there is no such task or its file cannot be added to.
        """
        ...

    def mark_promoted(self, id: str, digests: tuple[str, ...]) -> str:
        """Remember in a task's file which of its learnings were promoted; returns the file.

        Raises as `append`.
        """
        ...
