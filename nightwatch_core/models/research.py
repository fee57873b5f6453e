"""Words for what is gathered before an analysis starts."""

from typing import Literal

from nightwatch_core.models.code import Release, SearchHit, Suspect
from nightwatch_core.models.error import DroppedGroup
from nightwatch_core.models.knowledge import FoundLearning, PriorAnalysis
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.models.value import Value


class LikelyFile(Value):
    """A file that may hold the fault, best first, with the reasons."""

    path: str
    score: float
    because: tuple[str, ...] = ()


# Why lines are shown: where it fails, a caller, what made the failing value, what the message
# names, the same method elsewhere, what only a name suggests.
PreviewKind = Literal["failing", "frame", "flow", "named", "sibling", "guess"]


class Preview(Value):
    """Lines `start` to `end` (1-based, included) of a file."""

    path: str
    start: int
    end: int
    text: str
    lines: int = 0  # of the whole file
    kind: PreviewKind = "guess"
    because: str = ""  # "line 83 calls it"


class ResearchContext(Value):
    """What the analyst is told besides the error itself."""

    likely_files: tuple[LikelyFile, ...] = ()
    previews: tuple[Preview, ...] = ()
    other_uses: tuple[SearchHit, ...] = ()  # of the expression that fails, in other places
    tests: tuple[str, ...] = ()  # existing ones of the failing file
    suspects: tuple[Suspect, ...] = ()
    releases: tuple[Release, ...] = ()
    priors: tuple[PriorAnalysis, ...] = ()
    learnings: tuple[FoundLearning, ...] = ()
    patterns: tuple[Pattern, ...] = ()  # known ones that this case is part of, or resembles
    similar_ignored: tuple[DroppedGroup, ...] = ()
    conventions: str = ""  # what the repository says about how its code is written
    misfit: str = ""  # why the record does not fit the commit; then nothing is suspected
    leader_findings: tuple[str, ...] = ()  # lines, at most 1,500 characters
