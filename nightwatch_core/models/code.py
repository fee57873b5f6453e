"""Words for the source code the errors come from."""

import re
from datetime import datetime
from typing import Any, Literal

from nightwatch_core.models.value import Value

PullSign = Literal["#", "!"]
"""What stands before a pull request's number, so that its host links it: ! on GitLab."""


def numbered(number: int, url: str) -> str:
    """Return an item's number with its host's sign, as the address of the item says.

    >>> numbered(12, "https://git.example/a/b/-/merge_requests/12#note_7"), numbered(12, "")
    ('!12', '#12')
    """
    return f"{sign_of(url)}{number}"


def sign_of(url: str) -> PullSign:
    """Return what stands before the number of the item at an address."""
    return "!" if "/-/merge_requests/" in url else "#"


Ecosystem = Literal["python", "ruby", "javascript", "go", "php"]


class Commit(Value):
    """One commit of one repository: what every code read of a night is pinned to."""

    repository: str
    sha: str
    branch: str = ""
    at: datetime | None = None
    address: str = ""  # of the repository on the web; empty: not known
    because: str = ""  # why this one: "release 2026.11.3", "head of main"
    is_named: bool = False  # by a release, a deployment or an option; not by a time alone

    @property
    def folder(self) -> str:
        """Return the folder of what is kept of the commit.

        >>> Commit(repository="Acme/Shop", sha="1a2b").folder
        'code/acme__shop/1a2b'
        """
        name = re.sub(r"[^a-z0-9._-]", "_", self.repository.lower().replace("/", "__"))
        return f"code/{name[:120].lstrip('.') or 'repository'}/{self.sha}"


class CodePlaces(Value):
    """Lines of files at one commit, the failing one first."""

    commit: Commit
    places: tuple[tuple[str, int | None], ...]  # path in the repository, line from 1

    @property
    def short(self) -> str:
        """Return a name for people.

        >>> shop = Commit(repository="acme/shop", sha="1a2b3c4d5e")
        >>> CodePlaces(commit=shop, places=(("app/cart.py", 3), ("app/a.py", None))).short
        'acme/shop@1a2b3c4 app/cart.py:3 and 1 more'
        """
        path, line = self.places[0]
        more = f" and {len(self.places) - 1} more" if len(self.places) > 1 else ""
        place = f"{path[-80:]}:{line}" if line else path[-80:]
        return f"{self.commit.repository}@{self.commit.sha[:7]} {place}{more}"


class CodeAnswer(Value):
    """What a `CodeReader` answered."""

    method: str  # of the reader
    arguments: tuple[str | int | None, ...]
    answer: Any  # as JSON


class CodeRead(Value):
    """Files of a commit, and other answers of its reader, as they are kept."""

    commit: Commit
    answers: tuple[CodeAnswer, ...] = ()


class CodeReads(Value):
    """Counts of a night's reads of code."""

    different: int = 0
    known: int = 0  # thereof answered from earlier nights
    asked: int = 0  # repeated ones included

    @property
    def saved(self) -> int:
        """Return how many reads needed no request to the repository.

        >>> CodeReads(different=46, known=41, asked=92).saved
        87
        """
        return self.asked - (self.different - self.known)

    def __add__(self, other: "CodeReads") -> "CodeReads":
        """Return the reads of two processes together."""
        return CodeReads(
            different=self.different + other.different,
            known=self.known + other.known,
            asked=self.asked + other.asked,
        )


class SearchHit(Value):
    """A line found by a search."""

    path: str
    line: int
    text: str


class FolderEntry(Value):
    """One name in a folder."""

    name: str
    kind: str  # file | folder | link | submodule
    size: int | None = None


class Blame(Value):
    """The commit that last wrote a line; `pull` is 0 where no pull request is known."""

    sha: str
    author: str
    at: datetime
    subject: str
    line: int
    text: str
    pull: int = 0
    sign: PullSign = "#"
    path: str = ""  # where the line stood then, if elsewhere
    is_root: bool = False  # the commit began the history
    only_indented: bool = False  # by a later commit than the one that wrote its words


class ChangedFile(Value):
    """A commit's change of one file."""

    path: str
    added: int = 0  # lines; both 0 for what is not text
    removed: int = 0
    diff: str = ""  # unified, without the header; empty where it was left out
    old_path: str = ""  # where it was renamed


class LoggedCommit(Value):
    """A commit as a log lists it; `pull` is 0 where no pull request is known."""

    sha: str
    author: str = ""
    at: datetime
    subject: str = ""
    pull: int = 0
    sign: PullSign = "#"


class CommitDiff(Value):
    """A commit with its changes, against its first parent; `files` may be fewer than `changed`."""

    commit: LoggedCommit
    message: str = ""
    files: tuple[ChangedFile, ...] = ()
    changed: int = 0  # files in all


class Library(Value):
    """A copy of a package that an application is built on."""

    ecosystem: Ecosystem
    package: str
    version: str = ""  # empty where it does not say
    is_standard: bool = False  # a module of the language's own library, where NightWatch runs


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
    sign: PullSign = "#"

    @property
    def name(self) -> str:
        """Return its name: pull request or commit.

        >>> from datetime import UTC, datetime
        >>> at = datetime(2026, 11, 20, tzinfo=UTC)
        >>> MergedPull(number=0, title="Fix", sha="a" * 40, merged_at=at).name
        'commit aaaaaaaaaa'
        """
        named = f"pull request {self.sign}{self.number}"
        return named if self.number else f"commit {self.sha[:10]}"


class Suspect(Value):
    """A pull request or a commit with reasons to think it broke something."""

    pull: MergedPull
    score: float  # 0 to 1
    because: tuple[str, ...] = ()


# Words for pull requests beside our own, and for what continuous integration says of ours.


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
        """Return its name and author.

        >>> from datetime import UTC
        >>> OtherPull(number=12, author="alice", at=datetime(2026, 11, 20, tzinfo=UTC)).name
        '#12 by alice'
        """
        named = numbered(self.number, self.url)
        called = named if self.number else f"branch {self.branch[:80]}"
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
# "none": nothing has appeared that runs on it, so they did not pass


class DraftCi(Value):
    """A draft of ours, and what became of its checks by the end of the night."""

    number: int
    fingerprint: str
    url: str = ""
    state: CiState
    text: str  # for people; names of checks in it are untrusted
    waited: float | None = None  # seconds until its checks ended, or were given up; None: not kept
    appeared: float | None = None  # seconds until a first check was seen; None: none was

    @property
    def name(self) -> str:
        """Return its number with its host's sign."""
        return numbered(self.number, self.url)


class CiRun(Value):
    """CI result of the head of one of our branches."""

    state: CiState
    sha: str = ""  # the head that it says so of
    failed: tuple[str, ...] = ()  # names of what failed; untrusted
    before: bool = False  # all of it fails on the base as well
    log: str = ""  # the end of what a failed job printed, where it may be read; untrusted
    because: str = ""  # for people, where it may not be read
