"""Ports: everything the core asks of the outside.

Every method may raise `TryLater`, `GiveUp` or `StopTheNight` (errors.py) and nothing else. `probe`
returns a sentence that says what was reached, for `nightwatch check`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from nightwatch_core.models import code, proposals
from nightwatch_core.models.batch import Batch, BatchState, ItemResult, ListedBatch, TriageItem
from nightwatch_core.models.conversation import AgentSpec, Capabilities, Conversation, Reply
from nightwatch_core.models.errors import ErrorGroup, Fetched, FileContents, Frame, Trace, Window
from nightwatch_core.models.knowledge import IgnoreRules, Index, Lesson, Notes, Pattern, TaskFile
from nightwatch_core.models.report import Night, NightKind, NightRecord, RunReport

# What we ask of the repository that the errors come from, as we would like to ask it.


class CodeReader(Protocol):
    """The source tree at one commit; paths are relative to the repository, with slashes.

    A path that leaves the tree, or names something that is not there, is None or empty. What was
    committed later than that commit is never shown.
    """

    @property
    def commit(self) -> code.Commit:
        """Return the commit everything is read at."""

    def paths(self) -> tuple[str, ...]:
        """Return every file of the tree, sorted."""

    def read_file(self, path: str) -> str | None:
        """Return the text at `path`; None where there is no such file, or it is not text."""

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[code.SearchHit, ...]:
        """Return lines that hold `query` literally, below folder or file `path`."""

    def list_directory(self, path: str = "") -> tuple[code.FolderEntry, ...]:
        """Return the names in a folder."""

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[code.Blame, ...]:
        """Return the last author of each line from `start` to `end` (included).

        Reformatting, moved lines and ignored revisions are looked through where that is known.
        """

    def show_commit(self, sha: str, path: str = "") -> code.CommitDiff | None:
        """Return a commit's changes, below `path` where given; None for an unknown commit.

        `sha` may be shortened to seven digits, or be "#12" for what merged that pull request.
        """

    def history(
        self, path: str = "", text: str = "", limit: int = 20
    ) -> tuple[code.LoggedCommit, ...]:
        """Return commits, newest first, below `path`; with `text` those that added or removed it.

        Raises `GiveUp` where past texts cannot be searched.
        """

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[code.ChangedFile, ...]:
        """Return what differs between two commits, of the first files; `GiveUp`: one is unknown."""

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        """Return sorted paths that differ between two commits; `GiveUp`: one is unknown."""


class LibraryReader(Protocol):
    """The source of libraries that the application is built on, where they are installed."""

    def copies(self, ecosystem: code.Ecosystem, package: str) -> tuple[code.Library, ...]:
        """Return every copy of a package, the application's own first; empty where none is here."""

    def paths(self, library: code.Library) -> tuple[str, ...]:
        """Return its source files, relative to site-packages or to its own folder."""

    def read_file(self, library: code.Library, path: str) -> str | None:
        """Return the text at one of these paths; None where it is none of them, or not text."""


@runtime_checkable
class LaysOut(Protocol):
    """A `CodeReader` that can write all files of its commit into an empty folder."""

    def lay_out(self, folder: str, most_bytes: int, most_files: int) -> int:
        """Write files, modes and links; returns how many lack. `GiveUp`: too many or too large."""


@runtime_checkable
class CodeCache(Protocol):
    """A `CodeHost` that keeps what its readers answer."""

    def read_ahead(self, commit: code.Commit, ask: Callable[[CodeReader], object]) -> code.CodeRead:
        """Return every answer that a reader of the commit gives to `ask`.

        An answer that lacks something, because a request failed, is left out.
        """

    def take(self, read: code.CodeRead) -> None:
        """Answer from what was read in another night, or by another worker."""


class CodeHost(Protocol):
    """The repository the errors come from."""

    def head(self) -> code.Commit:
        """Return the newest commit of the base branch, which fixes aim at."""

    def commit_of(self, name: str, *, branches: bool = False) -> code.Commit | None:
        """Return the commit of a tag, a sha or its beginning; with `branches` of a branch, too.

        None where no commit here goes by that name, or several do.
        """

    def commit_at(self, moment: datetime) -> code.Commit:
        """Return the newest commit that the base branch had then, its head where it had none.

        `because` says which it is. A merge counts from its own time, not from its commits'.
        """

    def reader(self, commit: code.Commit) -> CodeReader:
        """Return the tree at that commit, by a reader of the caller's own."""

    def pulls_merged_since(self, since: datetime) -> tuple[code.MergedPull, ...]:
        """Return pull requests merged into the base branch, newest first."""

    def releases(self) -> tuple[code.Release, ...]:
        """Return releases, newest first."""

    def probe(self) -> str:
        """Say what is there."""


# What we ask of the place where code is run that nobody has read.


class Sandbox(Protocol):
    """Runs programs without network, credentials or the files of this machine, within bounds.

    Every method raises `GiveUp`, with what to do, where nothing here can confine a program: it is
    never run bare.
    """

    def confinement(self) -> str:
        """Say what confines programs here."""

    def prepare(
        self, commit: code.Commit, preparation: proposals.Preparation
    ) -> proposals.Prepared:
        """Have the dependencies of a project at hand, before any change is applied.

        Raises `GiveUp`, with what to set, where they cannot be had.
        """

    def run(
        self,
        commit: code.Commit,
        changes: tuple[proposals.FileChange, ...],
        command: proposals.Command,
    ) -> proposals.Run:
        """Run a command in a fresh copy of the tree with the changes made; nothing of it stays."""

    def close(self) -> None:
        """Delete what was laid out for runs; what is asked for next is laid out again."""


class ProjectDocuments(Protocol):
    """The documents that say how projects are tested."""

    def read(self, name: str) -> str:
        """Return a document; empty where there is none."""

    def write(self, name: str, text: str) -> str:
        """Write or replace a document; returns its file."""


# What we ask of the world, as we would like to ask it.


class Clock(Protocol):
    """The clock."""

    def now(self) -> datetime:
        """Return the present, aware."""

    def monotonic(self) -> float:
        """Return seconds since some moment; they never go back."""


class ErrorSource(Protocol):
    """Where production's errors are counted."""

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        """Return the window: `lookback` long, else all that the source holds or has not told."""

    def error_groups(self, window: Window) -> Fetched:
        """Return every group of the window."""

    def traces(self, group: ErrorGroup, limit: int = 3) -> tuple[Trace, ...]:
        """Return at most `limit` traces of the group, newest first."""

    def releases(self) -> tuple[code.Release, ...]:
        """Return known deployments, newest first; `sha` as it was reported, or empty."""

    def probe(self) -> str:
        """Say what is there."""


class FileSource(ErrorSource, Protocol):
    """Errors from files."""

    def contents(self) -> FileContents:
        """Return which files were understood and which were not.

        Raises `StopTheNight` where no file can be opened, not where no record is readable.
        """

    def check_names(self) -> None:
        """Raise `StopTheNight` where no name leads to a file; reads none."""


class SourceMaps(Protocol):
    """Source maps of JavaScript bundles."""

    def map_of(self, bundle: str) -> str | None:
        """Return the text of the source map of a bundle, by its path; None where none is kept."""

    def original(self, text: str, line: int, column: int) -> Frame | None:
        """Return the source location of a bundle location (line and column from 1).

        Path as the map has it, line, function and source as far as they are known; None where the
        map does not say, or is none.
        """


class Tracker(Protocol):
    """Our own issues and pull requests, and the pull requests beside them."""

    def own_items(self) -> tuple[proposals.OwnItem, ...]:
        """Return all our issues and pull requests, in every state, with reviewers' comments."""

    def pulls_changing(self, paths: tuple[str, ...], since: datetime) -> tuple[code.OtherPull, ...]:
        """Return all pull requests that change one of these files, the last changed first.

        Open ones, closed ones and merged ones that changed `since` then, with what they do to these
        files; of many only the first. Where there are no pull requests, unmerged branches.
        """

    def ci(self, numbers: tuple[int, ...]) -> tuple[code.CiRun, ...]:
        """Return the CI state of our pull requests, in this order."""

    def probe(self) -> str:
        """Say what is there."""


class KnowledgeReader(Protocol):
    """Search and list lessons."""

    def index(self) -> Index:
        """Return the list of documents."""

    def read(self, file: str) -> Lesson | None:
        """Return a lesson, "errors/x.md" or "archive/x.md"; None where it cannot be read."""

    def archived(self) -> Index:
        """Return the list of archived lessons: made on request, a night never needs it."""

    def archived_lesson(self, names: frozenset[str]) -> Lesson | None:
        """Return the archived lesson of one of these names, if a file is named for it."""

    def read_patterns(self) -> tuple[Pattern, ...]:
        """Return every known pattern that can be read."""

    def ignore_rules(self) -> IgnoreRules:
        """Return the team's ignore rules."""


class AgentStore(Protocol):
    """The agent files."""

    def names(self) -> tuple[str, ...]:
        """Return agents that can be chosen."""

    def agent(self, name: str) -> AgentSpec:
        """Return an agent; raises `StopTheNight`, with what to do, for a missing or wrong file."""


class Model(Protocol):
    """The model that analyses cases."""

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """Return the next turn, within `timeout` seconds."""

    def capabilities(self) -> Capabilities:
        """Return its capabilities."""

    def probe(self) -> str:
        """Say which model answers, and until when."""


class BatchModel(Protocol):
    """A model that answers batches of questions at half the price, within a day."""

    def intent(self, items: Sequence[TriageItem], night: str, now: datetime) -> Batch:
        """Return the batch to submit, with prices; sends nothing. `GiveUp`: there are none."""

    def submit(self, intent: Batch, items: Sequence[TriageItem]) -> Batch:
        """Submit the intent's items once; returns the intent with its id.

        Raises `MayHaveArrived` where it is not known whether the service has it, and anything else
        only where it is certain that it has not.
        """

    def state(self, batch: Batch) -> BatchState:
        """Return the batch's progress."""

    def results(self, batch: Batch) -> Iterator[ItemResult]:
        """Return each item of an ended batch once, in any order; those without a result come last.

        Raises `TryLater` where it cannot be read to its end, or has not ended.
        """

    def newest(self, since: datetime) -> tuple[ListedBatch, ...]:
        """Return the newest batches created since then by anybody, newest first."""

    def probe(self) -> str:
        """Say that there are batches, or raise what is wrong."""


# What we ask the world to keep or to tell, as we would like to ask it.


class Records(Protocol):
    """Text kept between processes by key, while a night may be resumed."""

    def get(self, key: str) -> str | None:
        """Return the record unless it has expired."""

    def put(self, key: str, text: str) -> None:
        """Keep it."""


class Outbox(Protocol):
    """Where issues, comments and draft pull requests are published."""

    def publish(self, proposal: proposals.Proposal) -> proposals.Receipt:
        """Publish once per key, however often it is asked."""

    def probe(self) -> str:
        """Say what may be written, without writing."""


class Notifier(Protocol):
    """The team's channel."""

    def publish(self, report: RunReport) -> str:
        """Publish the report; return where it can be read."""

    def probe(self) -> str:
        """Say who would be told."""


class KnowledgeWriter(Protocol):
    """Keeps what was learned; one writer at a time."""

    def write(self, lesson: Lesson) -> str:
        """Write or replace one lesson's document, out of the archive too; returns its file."""

    def write_pattern(self, pattern: Pattern) -> str:
        """Write or replace one pattern's document; returns its file."""

    def archive(self, files: Sequence[str]) -> tuple[str, ...]:
        """Put lessons into the archive; returns the new names of those that were there."""

    def rebuild_index(self) -> Index:
        """Read all documents, unite those on one error, and write index.yml."""


class LessonLibrary(Protocol):
    """The memory, read-only; every method answers with text and raises `NightWatchError`."""

    def search_lessons(self, query: str, limit: int, archived: bool) -> str:
        """Return lessons that fit some words, as YAML."""

    def get_lesson(self, id: str) -> str:
        """Return one lesson's document."""

    def learnings(self, intent: str, limit: int) -> str:
        """Return learnings that fit an intent, as YAML."""


class Nights(Protocol):
    """The nights that were: their names, folders, reports and history."""

    def begin(self, name: str, night: Callable[[str, bool], Night]) -> Night:
        """Start or resume the night called `name`; `night(id, resumed)` makes the value.

        A finished night of that name makes this one `name-2`, and so on.
        """

    def unfinished(self, kind: NightKind, since: datetime) -> Night | None:
        """Return the last night of this kind since then that had a window and never ended."""

    def watermark(self, key: str) -> datetime | None:
        """Return the time until which the last scheduled, whole night read the sources of this key.

        See `windows.read_until`. None where there was none.
        """

    def keep(self, report: RunReport) -> str:
        """Write report.json, report.md and report.html; returns the folder."""

    def finish(self, report: RunReport) -> None:
        """Close the night in the history."""

    def reports(self) -> Iterator[RunReport]:
        """Return reports that were kept, newest first, read as they are asked for."""

    def report(self, night_id: str) -> RunReport | None:
        """Return a report by its name; None where there is none."""

    def history(self) -> tuple[NightRecord, ...]:
        """Return every night, newest first."""


class TaskStore(Protocol):
    """The task files; one writer at a time."""

    def tasks(self) -> tuple[TaskFile, ...]:
        """Return every file that can be read, by id; empty where there is no folder."""

    def complaints(self) -> tuple[str, ...]:
        """Return unreadable files as "file: reason"."""

    def read(self, id: str) -> TaskFile | None:
        """Return a task by its id; None where there is none, or it cannot be read."""

    def append(self, id: str, notes: Notes, related: tuple[str, ...] = ()) -> str:
        """Put notes at the end of a task's file and link related tasks; returns the file.

        Raises `GiveUp` where there is no such task or its file cannot be added to.
        """

    def mark_promoted(self, id: str, digests: tuple[str, ...]) -> str:
        """Note which of a task's learnings were promoted; returns the file, raises as `append`."""


class BatchStore(Protocol):
    """Batches between the night that submits one and the night that collects it."""

    def alone(self) -> AbstractContextManager[None]:
        """Keep every other process from submitting meanwhile; raises `TryLater` where one does."""

    def keep(self, batch: Batch) -> None:
        """Write or replace a batch, by its digest; whole or not at all."""

    def drop(self, batch: Batch) -> None:
        """Forget an intent of which nothing came; never a batch that has an id."""

    def batches(self) -> tuple[Batch, ...]:
        """Return the batches that can be read, oldest first, collected ones too."""

    def complaints(self) -> tuple[str, ...]:
        """Return unreadable files as "file: reason" with advice."""
