"""Words for what one error of a night tells about others."""

from datetime import datetime
from typing import Literal

from nightwatch_core.models.value import Value

# A name or a file that was replaced, a module, table or setting that is not there, a neighbour that
# does not answer, and where the cause of another error lies.
FactKind = Literal[
    "renamed", "moved", "missing module", "not migrated", "not configured", "unreachable", "cause"
]


class RunFact(Value):
    """What code drew from errors of this night: one sentence of ours that says where it stands.

    No prose of a model or of a record is in it, only names, places and lines that were looked up.
    """

    kind: FactKind
    text: str  # at most 200 characters
    names: tuple[str, ...] = ()  # what it is about
    paths: tuple[str, ...] = ()  # files it is about, the place of its evidence first
    line: int = 0  # of the evidence; 0: not one line
    changes: tuple[str, ...] = ()  # commits and "#12" that brought it
    sources: tuple[str, ...] = ()  # fingerprints of the cases it was drawn from
    at: datetime | None = None  # when that began


class HandedFact(Value):
    """A fact that another error was told, and what came of it."""

    text: str
    because: str = ""  # why it was told
    used: str = ""  # how the finding used it; empty: it did not
