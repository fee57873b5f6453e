"""Words for pull requests beside our own, and for what continuous integration says of ours."""

from datetime import datetime
from typing import Literal

from nightwatch_core.models.code import ChangedFile
from nightwatch_core.models.value import Value


class OtherPull(Value):
    """A pull request, or a branch without one, whoever made it. Its texts are untrusted."""

    number: int = 0  # 0: a branch without a pull request
    title: str = ""
    body: str = ""
    author: str = ""
    branch: str = ""
    url: str = ""
    state: Literal["open", "closed", "merged"] = "open"  # "closed": it was not merged
    at: datetime  # of its last change
    merged_at: datetime | None = None
    sha: str = ""  # of the commit that merged it
    files: tuple[ChangedFile, ...] = ()  # those that were asked for, with their changes
    words: tuple[str, ...] = ()  # what people of the repository said last of a closed one

    @property
    def name(self) -> str:
        """What people call it, and whose it is.

        >>> from datetime import UTC
        >>> OtherPull(number=12, author="alice", at=datetime(2026, 11, 20, tzinfo=UTC)).name
        '#12 by alice'
        """
        called = f"#{self.number}" if self.number else f"branch {self.branch[:80]}"
        return f"{called} by {self.author[:60]}" if self.author.strip() else called


class Overlap(Value):
    """A pull request that a fix meets; its texts are untrusted."""

    kind: Literal["taken", "turned down", "merged", "beside"]
    # "taken": open, for the same error; "beside": open, same lines, for something else
    name: str
    because: str  # what says so, for people
    number: int = 0
    url: str = ""
    words: str = ""  # the last that was said of one that was turned down
    sha: str = ""
    at: datetime | None = None  # when it was merged


CiState = Literal["passed", "failed", "pending", "none", "unreadable"]
# "none": nothing has appeared that runs on it, which is no pass


class DraftCi(Value):
    """A draft of ours, and what became of its checks by the end of the night."""

    number: int
    fingerprint: str
    url: str = ""
    state: CiState
    text: str  # for people; names of checks in it are untrusted


class CiRun(Value):
    """What continuous integration says of the head of one of our branches."""

    state: CiState
    sha: str = ""  # the head that it says so of
    failed: tuple[str, ...] = ()  # names of what failed; untrusted
    before: bool = False  # all of it fails on the base as well
    log: str = ""  # the end of what a failed job printed, where it may be read; untrusted
    because: str = ""  # for people, where it may not be read
