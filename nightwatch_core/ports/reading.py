"""What we ask of the world, as we would like to ask it."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from nightwatch_core.models.batch import (
    Batch,
    BatchState,
    ItemResult,
    ListedBatch,
    TriageItem,
)
from nightwatch_core.models.code import CiRun, OtherPull, Release
from nightwatch_core.models.conversation import AgentSpec, Capabilities, Conversation, Reply
from nightwatch_core.models.errors import Case, ErrorGroup, Fetched, Frame, Trace, Window
from nightwatch_core.models.file_contents import FileContents
from nightwatch_core.models.knowledge import IgnoreRules, Index, IndexEntry, Lesson, Match, Pattern
from nightwatch_core.models.proposals import OwnItem


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


class FileSource(ErrorSource, Protocol):
    """Errors from files."""

    def contents(self) -> FileContents:
        """What was understood of the files, and what was not.

        Raises `StopTheNight` where no file can be opened, not where no record is readable.
        """
        ...


class SourceMaps(Protocol):
    """What JavaScript bundles were built from."""

    def map_of(self, bundle: str) -> str | None:
        """The text of the source map of a bundle, by its path; None where none is kept."""
        ...

    def original(self, text: str, line: int, column: int) -> Frame | None:
        """Where a place of the bundle (both from 1) comes from, by the text of its map.

        Path as the map has it, line, function and source as far as they are known; None where the
        map does not say, or is none.
        """
        ...


class Tracker(Protocol):
    """Our own issues and pull requests, and the pull requests beside them."""

    def own_items(self) -> tuple[OwnItem, ...]:
        """All of them, in every state, with reviewers' words."""
        ...

    def pulls_changing(self, paths: tuple[str, ...], since: datetime) -> tuple[OtherPull, ...]:
        """Everybody's pull requests that change one of these files, those that changed last first.

        Open ones, closed ones and merged ones that changed `since` then, with what they do to these
        files; of many only the first. Where there are no pull requests, unmerged branches.
        """
        ...

    def ci(self, numbers: tuple[int, ...]) -> tuple[CiRun, ...]:
        """What continuous integration says of pull requests of ours by now, in this order."""
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


class BatchModel(Protocol):
    """Who looks at many errors at once, for less money and within a day."""

    @property
    def account(self) -> str:
        """A name of whom it is asked for: batches are seen by those who submitted them alone."""
        ...

    def ask_one(self, item: TriageItem, timeout: float) -> ItemResult:
        """The answer to one item, at once and at full price, within `timeout` seconds.

        Raises `GiveUp` or `StopTheNight` where the service would refuse every item like it: a batch
        says so only hours later, item by item.
        """
        ...

    def intents(self, items: Sequence[TriageItem], night: str, now: datetime) -> tuple[Batch, ...]:
        """What to submit, as many batches as the service's limits make of it, prices included.

        Sends nothing but the question whether there are batches; raises `GiveUp` where there are
        none.
        """
        ...

    def submit(self, intent: Batch, items: Sequence[TriageItem]) -> Batch:
        """Submit the intent's items once; returns the intent with its id.

        Raises `MayHaveArrived` where it is not known whether the service has it, and anything else
        only where it is certain that it has not.
        """
        ...

    def state(self, batch: Batch) -> BatchState:
        """How far it is."""
        ...

    def results(self, batch: Batch) -> Iterator[ItemResult]:
        """Each item of an ended batch once, in any order; those without a result come last.

        Raises `TryLater` where it breaks off or has not ended: begin again, nothing is lost.
        """
        ...

    def newest(self, since: datetime) -> tuple[ListedBatch, ...]:
        """What the service lists as created since then, whoever submitted it, newest first."""
        ...

    def is_of(self, id: str, intent: Batch) -> bool | None:
        """Whether this batch of the service holds the intent's items; None: not to be known yet."""
        ...

    def probe(self) -> str:
        """Say that there are batches, or raise what is wrong."""
        ...
