"""Words for the source code the errors come from."""

from datetime import datetime

from nightwatch_core.models.value import Value


class Commit(Value):
    """One commit of one repository: what every code read of a night is pinned to."""

    repository: str
    sha: str
    branch: str = ""
    at: datetime | None = None
    because: str = ""  # why this one: "release 2026.11.3", "head of main"


class Hit(Value):
    """A line found by a search."""

    path: str
    line: int
    text: str


class Entry(Value):
    """One name in a folder."""

    name: str
    kind: str  # file | folder | link | submodule
    size: int | None = None


class Blame(Value):
    """The commit that last wrote a line."""

    sha: str
    author: str
    at: datetime
    subject: str
    line: int
    text: str


class Release(Value):
    """A version that was deployed or tagged."""

    version: str
    sha: str
    at: datetime


class MergedPull(Value):
    """A pull request that was merged; number 0 where only the merge commit is known."""

    number: int
    title: str
    sha: str
    author: str = ""
    merged_at: datetime
    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()  # shas it brought in, where known


class Suspect(Value):
    """A merged pull request with reasons to think that it broke something."""

    pull: MergedPull
    score: float  # 0 to 1
    because: tuple[str, ...] = ()
