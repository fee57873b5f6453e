"""What we ask of the world, as we would like to ask it."""

from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from nightwatch_core.models.agent import AgentSpec
from nightwatch_core.models.code import (
    Blame,
    CodeReads,
    Commit,
    CommitDiff,
    FolderEntry,
    LoggedCommit,
    MergedPull,
    Release,
    SearchHit,
)
from nightwatch_core.models.conversation import Capabilities, Conversation, Reply
from nightwatch_core.models.error import Case, ErrorGroup, Fetched, Window
from nightwatch_core.models.knowledge import Index, IndexEntry, Lesson, Match
from nightwatch_core.models.pattern import IgnoreRules, Pattern
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.models.trace import Trace


class Clock(Protocol):
    """What time it is."""

    def now(self) -> datetime:
        """The present, aware."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        ...


class ErrorSource(Protocol):
    """Where production's errors are counted."""

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        """The stretch to look at: `lookback` long, or what the source holds or has not told yet."""
        ...

    def error_groups(self, window: Window) -> Fetched:
        """Every group of the window."""
        ...

    def traces(self, group: ErrorGroup, limit: int = 3) -> tuple[Trace, ...]:
        """Up to `limit` traces of the group, newest first; empty where the source has none."""
        ...

    def releases(self) -> tuple[Release, ...]:
        """Deployments it was told of, newest first, `sha` as whoever deploys wrote it, or empty."""
        ...

    def probe(self) -> str:
        """Say what is there."""
        ...


class CodeReader(Protocol):
    """The source tree at one commit; paths are relative to the repository, with slashes.

    A path that leaves the tree, or names something that is not there, is None or empty. What was
    committed later than that commit is never shown.
    """

    @property
    def commit(self) -> Commit:
        """The commit everything is read at."""
        ...

    def paths(self) -> tuple[str, ...]:
        """Every file of the tree, sorted."""
        ...

    def read_file(self, path: str) -> str | None:
        """The text at `path`; None where there is no such file, or it is not text."""
        ...

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Lines that hold `query` literally, below folder or file `path`."""
        ...

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        """The names in a folder."""
        ...

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        """Who last wrote lines `start` to `end` (included; one line without it), line by line.

        Reformatting, moved lines and ignored revisions are looked through where that is known.
        """
        ...

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        """What a commit changed, or below file or folder `path` alone; None where it is not known.

        `sha` may be shortened to seven digits, or be "#12" for what merged that pull request.
        """
        ...

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Commits, newest first, below `path`; with `text` those that added or removed it.

        Raises `GiveUp` where past texts cannot be searched.
        """
        ...

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        """Paths of files that differ between two commits, sorted.

        Raises `GiveUp` where one of them is not known.
        """
        ...


@runtime_checkable
class CountsReads(Protocol):
    """A `CodeReader` whose reads cross a network, and that counts how many did."""

    @property
    def code_reads(self) -> CodeReads:
        """What was read since this reader was made."""
        ...


class CodeHost(Protocol):
    """The repository the errors come from."""

    def head(self) -> Commit:
        """The newest commit of the base branch, which fixes aim at."""
        ...

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """The commit of a release: a tag, a sha or the beginning of one; with `branches` a branch.

        None where no commit here goes by that name, or several do.
        """
        ...

    def commit_at(self, moment: datetime) -> Commit:
        """The newest commit that the base branch had then, its head where it had none.

        `because` says which it is. A merge counts from its own time, not from its commits'.
        """
        ...

    def reader(self, commit: Commit) -> CodeReader:
        """The tree at that commit, by a reader of the caller's own."""
        ...

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Pull requests merged into the base branch, newest first."""
        ...

    def releases(self) -> tuple[Release, ...]:
        """Releases, newest first."""
        ...

    def probe(self) -> str:
        """Say what is there."""
        ...


class Tracker(Protocol):
    """Our own issues and pull requests."""

    def own_items(self) -> tuple[OwnItem, ...]:
        """All of them, in every state, with reviewers' words."""
        ...

    def probe(self) -> str:
        """Say what is there."""
        ...


class KnowledgeReader(Protocol):
    """What earlier nights taught."""

    def index(self) -> Index:
        """The list of documents."""
        ...

    def read(self, file: str) -> Lesson | None:
        """One lesson, "errors/x.md" or "archive/x.md"; None where it is gone or cannot be read."""
        ...

    def archived(self) -> Index:
        """The list of archived lessons: made on request, a night never needs it."""
        ...

    def archived_lesson(self, names: frozenset[str]) -> Lesson | None:
        """The archived lesson on the error of one of these names.

        Cheap: one that knows the error by an alias alone may be missed.
        """
        ...

    def read_patterns(self) -> tuple[Pattern, ...]:
        """Every known pattern that can be read."""
        ...

    def ignore_rules(self) -> IgnoreRules:
        """The team's ignore rules."""
        ...


class Recall(Protocol):
    """Finds the earlier lessons an error resembles; never reads every document to do so."""

    def compare(self) -> int:
        """Take in what changed since the last search; returns how many documents that were."""
        ...

    def refresh(self, file: str) -> None:
        """Take in one document that was written, or forget one that is gone."""
        ...

    def similar(
        self, case: Case, limit: int = 3, threshold: float = 0.3
    ) -> tuple[tuple[IndexEntry, Match], ...]:
        """The case's own lesson, then similar ones of at least that relevance, best first."""
        ...


class AgentStore(Protocol):
    """The agent files."""

    def names(self) -> tuple[str, ...]:
        """Agents that can be chosen."""
        ...

    def agent(self, name: str) -> AgentSpec:
        """One agent; raises `StopTheNight` with what to do where its file is missing or wrong."""
        ...


class Model(Protocol):
    """Who thinks about a case."""

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """The next turn, within `timeout` seconds."""
        ...

    def capabilities(self) -> Capabilities:
        """What it can do."""
        ...

    def probe(self) -> str:
        """Say which model answers, and until when."""
        ...
