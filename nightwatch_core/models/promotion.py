"""Words for what is lifted into CLAUDE.md."""

from datetime import date
from typing import Literal

from nightwatch_core.models.value import Value

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
