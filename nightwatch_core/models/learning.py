"""Words for what people and agents learned, and for learnings a person lifts into CLAUDE.md."""

from datetime import date
from typing import Literal

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


LearningKind = Literal["problem", "gotcha", "decision"]
Destination = Literal["checkout", "pull"]


class LearningOffer(Value):
    """A learning that was not promoted yet, condensed; untrusted until a person chooses it."""

    number: int  # to choose it by, from 1; 0: refused, CLAUDE.md or another offer says it
    kind: LearningKind
    headline: str
    text: str = ""  # one or two sentences
    source: str  # a task's id, or a short fingerprint
    document: str = ""  # the task's id, or the lesson's whole fingerprint
    on: date | None = None
    digest: str = ""  # names the learning: of what it says, wherever it stands
    duplicate_of: str = ""  # what says the same, shortened; empty: nothing


class Promotion(Value):
    """What came of a choice."""

    chosen: tuple[LearningOffer, ...] = ()
    place: str = ""  # an address or a path
    done: bool = False
    said: str = ""  # one sentence for the person who chose
