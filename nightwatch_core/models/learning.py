"""Words for what people and agents learned while they worked on something."""

from datetime import date

from nightwatch_core.models.value import Value


class Problem(Value):
    """Something that went wrong, and how it was solved."""

    what: str
    symptoms: tuple[str, ...] = ()
    root_cause: str = ""
    solution: str = ""
    prevention: str = ""


class Decision(Value):
    """A choice that was made, and why."""

    choice: str
    alternatives: str = ""
    rationale: str = ""


class Notes(Value):
    """One `<future-agent-notes>` section."""

    timestamp: date | None = None
    problems: tuple[Problem, ...] = ()
    decisions: tuple[Decision, ...] = ()
    gotchas: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing was noted.

        >>> Notes().empty
        True
        """
        return not (self.problems or self.decisions or self.gotchas)


class TaskSection(Value):
    """A section of a task file: `research`, `plan`, `implementation` or `ship`."""

    name: str
    text: str


class TaskFile(Value):
    """A document that notes can be appended to: a task file, or a lesson seen as one."""

    id: str  # the file's stem, or a lesson's fingerprint
    file: str = ""
    title: str = ""
    related_tasks: tuple[str, ...] = ()
    notes: tuple[Notes, ...] = ()
    sections: tuple[TaskSection, ...] = ()
    promoted: tuple[str, ...] = ()  # digests of learnings that were promoted


class FoundLearning(Value):
    """A document that has something to say about an intent."""

    task_id: str
    title: str
    relevance: float  # 0 to 1
    summary: str
    source_sections: tuple[str, ...] = ()
    file: str = ""
    because: tuple[str, ...] = ()
