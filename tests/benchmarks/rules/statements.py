"""What an analysis states, cut into sentences; and which of them need no judge."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from benchmarks.rules.cases import Bug

from nightwatch_core.models.analysis import Analysis

Verdict = Literal["true", "false", "none"]  # none: a restatement, or says it is not known
_SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z`$@]|[\w./@-]+:\d)")
_WRITTEN = re.compile(r"\S+:\d+ (?:was last written by|came with) ")
_UNKNOWN = re.compile(
    r"\b(?:[Cc]ause unknown|[Nn]ot known|not established|cause is not|does not say)\b"
)
_BARE = re.compile(r"\S+(?: in \S+)?$")  # class and place
_ADVICE = re.compile(
    r"(?:Find|Check|Change|Log|Look|Read|Decide|Keep|Compare|Make|Retry|Consider|Add|Give|Say|Ask|See|Run|Search)\b"
)

_CALLED = re.compile(r"Called from \S+:\d+ ")  # the trace's word


class Statement(NamedTuple):
    """A sentence and where it stands."""

    where: str
    text: str

    @property
    def key(self) -> str:
        """Its name in the verdicts."""
        return f"{self.where}: {self.text}"


def statements(analysis: Analysis) -> tuple[Statement, ...]:
    """Every distinct sentence that claims something, in the order a reader meets them."""
    return tuple(dict.fromkeys(item for item in _all(analysis) if item.text))


def _all(analysis: Analysis) -> Iterator[Statement]:
    yield Statement("title", analysis.title)
    yield from (Statement("cause", word) for word in _SENTENCE.split(analysis.root_cause))
    for quoted in analysis.evidence:
        yield Statement("evidence", f"{quoted.path}:{quoted.line} {quoted.note}")
    for one in analysis.hypotheses:
        if one.standing != "open":
            yield Statement("hypothesis", f"{one.statement} ({one.standing}: {one.because})")
    if analysis.suspect_commit:
        yield Statement("suspect", analysis.suspect_commit)
    yield from (Statement("learning", learning.fact) for learning in analysis.learnings)
    yield from (Statement("step", step) for step in analysis.next_steps)
    if analysis.handover:
        yield Statement("value", analysis.handover.value)
        yield from (Statement("look at", item) for item in analysis.handover.look_at)
    for edit in analysis.fix:
        yield Statement("edit", f"{edit.path}: {edit.description}")


def settled(statement: Statement, bug: Bug) -> Verdict | None:
    """The verdict on what is no claim about the cause; None where a judge is needed.

    Advice asserts nothing; who wrote a line last is git's word; the top frame's line is given.
    """
    text = statement.text
    top = bug.own[0]
    if statement.where == "evidence" and text == f"{top.path}:{top.line} the failing line":
        return "none"
    if statement.where in ("step", "look at") and (_ADVICE.match(text) or _CALLED.match(text)):
        return "none"
    if statement.where == "cause" and _WRITTEN.match(text):
        return "none"
    if statement.where == "title" and _BARE.match(text):
        return "none"
    if statement.where in ("title", "cause") and _UNKNOWN.search(text):
        return "none"
    return None
