"""What the edits of a finding may rest on: files that were read, and what the analysis says."""

from collections.abc import Collection

from nightwatch_core.code.taint import Strangers
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Answer, Evidence
from nightwatch_core.models.error import Case
from nightwatch_core.models.value import Value

NOBODY = Strangers()


class Grounds(Value):
    """What the edits of a fix may rest on."""

    read: frozenset[str] | None = None  # files that their writer saw; None: that is not asked
    reasoning: str = ""  # what the analysis says: a file goes where this names it
    failing: frozenset[str] = frozenset()  # files of the error's own frames
    orders: Strangers = Strangers()  # of text from outside, that no edit may repeat


def grounds_of(
    answer: Answer | Analysis,
    case: Case,
    evidence: tuple[Evidence, ...],
    read: Collection[str],
    orders: Strangers = NOBODY,
) -> Grounds:
    """What the edits of a finding may rest on: files that were read, and what it says."""
    steps = answer.next_steps if isinstance(answer, Analysis) else answer.suggested_next_steps
    frames = case.trace.frames if case.trace else ()
    return Grounds(
        read=frozenset((*read, *(one.path for one in evidence if one.verified))),
        reasoning="\n".join((answer.root_cause, *steps)),
        failing=frozenset(frame.repo_path for frame in frames if frame.repo_path),
        orders=orders,
    )
