"""Words for what tools show of the code and its history, for code that reads their answers."""

from nightwatch_core.models.code import (
    Blame,
    CommitDiff,
    FolderEntry,
    LoggedCommit,
    SearchHit,
)
from nightwatch_core.models.trace import Trace
from nightwatch_core.models.value import Value


class LinesRead(Value):
    """Lines of a file by number, only those that are shown whole, and how many the file has."""

    path: str
    total: int
    lines: dict[int, str] = {}


class HitsFound(Value):
    """Lines that hold a text; `complete` where no other line does."""

    hits: tuple[SearchHit, ...] = ()
    complete: bool = True


class PathsFound(Value):
    """Paths of files, sorted as they are shown."""

    paths: tuple[str, ...] = ()


class EntriesListed(Value):
    """What is in a folder."""

    entries: tuple[FolderEntry, ...] = ()


class TracesShown(Value):
    """Traces of the error, newest first."""

    traces: tuple[Trace, ...] = ()


class NothingThere(Value):
    """No file or folder has the path that was asked for; `near` are those like it."""

    near: tuple[str, ...] = ()


class LinesBlamed(Value):
    """Who last wrote lines of a file."""

    blames: tuple[Blame, ...] = ()


class DefinitionPlace(Value):
    """Where a name is defined; `owner` is what stands around it, `end` its last line."""

    path: str
    start: int
    end: int
    name: str
    owner: str = ""


class DefinitionsFound(Value):
    """Every place that defines a name, in the order they are shown."""

    places: tuple[DefinitionPlace, ...] = ()


class CommitsShown(Value):
    """Commits of a history, newest first, or the one that was asked for with its changes."""

    commits: tuple[LoggedCommit, ...] = ()
    diff: CommitDiff | None = None


ToolValue = (
    LinesRead
    | HitsFound
    | PathsFound
    | EntriesListed
    | TracesShown
    | NothingThere
    | LinesBlamed
    | DefinitionsFound
    | CommitsShown
)
