"""Words for what is gathered before an analysis starts."""

from datetime import datetime
from typing import Literal

from nightwatch_core.models.code import LoggedCommit, MergedPull, Suspect
from nightwatch_core.models.knowledge import FoundLearning, Pattern, PriorAnalysis
from nightwatch_core.models.value import Value


class LikelyFile(Value):
    """A file that may hold the fault, best first, with the reasons."""

    path: str
    score: float
    because: tuple[str, ...] = ()


# Why lines are shown: where it fails, a caller, what made the failing value, a likely file's
# head, what a database names.
PreviewKind = Literal["failing", "frame", "flow", "guess", "table"]


class Preview(Value):
    """Lines `start` to `end` (1-based, included) of a file."""

    path: str
    start: int
    end: int
    text: str
    lines: int = 0  # of the whole file
    kind: PreviewKind = "guess"
    because: str = ""  # "line 83 calls it"
    until: int = 0  # last line of a definition of which only parts are shown


class Onset(Value):
    """When an error began, and how that is known: "first seen", or its rate rose."""

    at: datetime
    because: str = "first seen"


# Whose line it is: the one that failed, one that sets what it reads, a caller's, one of what is
# used there, or one of a table that a database names.
AuthorKind = Literal["failing", "sets", "caller", "used", "table"]


class LineAuthor(Value):
    """The commit that last wrote a line which matters to a case."""

    path: str
    line: int
    kind: AuthorKind
    commit: LoggedCommit


class DependencyChange(Value):
    """Another version of a library; `old` or `new` is empty where it came or went."""

    name: str
    old: str = ""
    new: str = ""
    path: str = ""  # the manifest or lock file
    commit: LoggedCommit | None = None  # None: one of those between two releases


class Rename(Value):
    """A name that a change replaced by another, and that an error misses."""

    old: str
    new: str
    path: str
    commit: LoggedCommit | None = None


class Deployment(Value):
    """The deployment before an error began."""

    name: str  # "release 1.4, deployed 35 min before first seen"
    paths: tuple[str, ...] = ()  # changed ones, the case's first; not all where `changed` is more
    changed: int = 0  # files


class CodeChanges(Value):
    """Code changes around a case: facts, and unproven candidates."""

    onset: Onset | None = None
    authors: tuple[LineAuthor, ...] = ()
    renames: tuple[Rename, ...] = ()
    dependencies: tuple[DependencyChange, ...] = ()
    deployment: Deployment | None = None
    candidates: tuple[MergedPull, ...] = ()  # merged before the onset, newest first


class ResearchContext(Value):
    """Research for the analyst, besides the error itself."""

    likely_files: tuple[LikelyFile, ...] = ()
    previews: tuple[Preview, ...] = ()
    tests: tuple[str, ...] = ()  # existing ones of the failing file
    suspects: tuple[Suspect, ...] = ()
    changes: CodeChanges = CodeChanges()
    priors: tuple[PriorAnalysis, ...] = ()
    learnings: tuple[FoundLearning, ...] = ()
    patterns: tuple[Pattern, ...] = ()  # known ones that this case is part of, or resembles
    conventions: str = ""  # what the repository says about how its code is written
    misfit: str = ""  # why the record does not fit the commit; then nothing is suspected
    leader_findings: tuple[str, ...] = ()  # lines, at most 1,500 characters
