"""Words for what a model answers: the schema that it is sent, and what our code adds to it."""

from typing import Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from nightwatch_core.models.value import Value

Confidence = Literal["high", "medium", "low"]


Action = Literal["edit", "create", "delete"]


class Evidence(Value):
    """A line of code that supports the finding."""

    path: str
    line: int
    quote: str = ""
    note: str = ""
    verified: SkipJsonSchema[bool] = False  # our code looked the quote up; never asked of a model


class Edit(Value):
    """One change: the exact old text, found once in the file, and what replaces it."""

    path: str
    action: Action = "edit"
    old: str = ""  # empty for create and delete
    new: str = ""  # the whole text for create, empty for delete
    description: str = ""


class Hypothesis(Value):
    """An explanation that was considered."""

    statement: str
    standing: Literal["confirmed", "open", "ruled out"] = "open"
    because: str = ""


class PlannedStep(Value):
    """One of several steps in which a fix is to be made."""

    title: str  # of its commit
    task: str = ""  # for whoever makes it, without having seen the rest
    files: tuple[str, ...] = ()
    accepted_when: str = ""  # a test's file, or the name of a check
    stands_alone: bool = False  # with the steps before, worth merging if nothing came after


class Learning(Value):
    """A fact about the codebase worth telling the next analyst, with its place."""

    fact: str
    path: str = ""
    line: int | None = None


class Handover(Value):
    """What is known of an error whose cause is not, for whoever looks at it next.

    Texts are untrusted: they come from the code and from the error.
    """

    unknown: str = ""  # what is not known: "why `order` is None in shop/orders.py:14"
    path: str = ""  # in the repository
    line: int = 0  # 0: not known
    lines: tuple[str, ...] = ()  # the failing line with its surroundings
    first_line: int = 0  # the number of the first of `lines`
    value: str = ""  # the value that failed, as the message or the trace gives it
    last_change: str = ""  # who wrote the failing line last, and when
    look_at: tuple[str, ...] = ()  # what a person would look at next, a sentence each


class Answer(Value):
    """What a model has to answer: the schema sent with the first request."""

    title: str
    root_cause: str
    confidence: Confidence  # in the cause
    fix_confidence: Confidence | None = None  # in what should happen instead
    question: str = ""  # to the team, where what should happen instead is theirs to decide
    has_fix: bool = False
    file_changes: tuple[Edit, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    suspect_commit: str = Field(
        "",
        description="The commit that brought the fault, as blame, show_commit or history showed "
        "it, old or new, by an id that you were shown, or #12 for its pull request; empty where "
        "none is shown to have brought it, never one you ruled out",
    )
    tags: tuple[str, ...] = ()
    learnings: tuple[Learning, ...] = ()
    related_to: tuple[str, ...] = ()
    suggested_next_steps: tuple[str, ...] = ()
    steps: SkipJsonSchema[tuple[PlannedStep, ...]] = ()  # where a plan was asked for
    handover: SkipJsonSchema[Handover | None] = None  # of the rules alone: they know no cause
