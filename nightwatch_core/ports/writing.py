"""What we ask the world to keep or to tell, as we would like to ask it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from nightwatch_core.models.batch import Batch
from nightwatch_core.models.knowledge import Index, Lesson, Notes, Pattern, TaskFile
from nightwatch_core.models.proposals import Proposal, Receipt
from nightwatch_core.models.report import Night, NightKind, NightRecord, RunReport


class Records(Protocol):
    """Text kept between processes by key, while a night may be resumed."""

    def get(self, key: str) -> str | None:
        """What was put there and has not expired."""
        ...

    def put(self, key: str, text: str) -> None:
        """Keep it."""
        ...


class Outbox(Protocol):
    """Where issues, comments and draft pull requests are published."""

    def publish(self, proposal: Proposal) -> Receipt:
        """Publish once per key, however often it is asked."""
        ...

    def probe(self) -> str:
        """Say what may be written, without writing."""
        ...


class Notifier(Protocol):
    """Who is told in the morning."""

    def publish(self, report: RunReport) -> str:
        """Tell; returns where the news can be read."""
        ...

    def probe(self) -> str:
        """Say who would be told."""
        ...


class KnowledgeWriter(Protocol):
    """Keeps what was learned; one writer at a time."""

    def write(self, lesson: Lesson) -> str:
        """Write or replace one lesson's document, out of the archive too; returns its file."""
        ...

    def write_pattern(self, pattern: Pattern) -> str:
        """Write or replace one pattern's document; returns its file."""
        ...

    def archive(self, files: Sequence[str]) -> tuple[str, ...]:
        """Put lessons into the archive; returns the new names of those that were there."""
        ...

    def rebuild_index(self) -> Index:
        """Read all documents, unite those on one error, and write index.yml."""
        ...


class Nights(Protocol):
    """The nights that were: their names, folders, reports and history."""

    def begin(self, name: str, night: Callable[[str, bool], Night]) -> Night:
        """Start, or take up again, the night called `name`; `night(id, resumed)` makes the value.

        A finished night of that name makes this one `name-2`, and so on.
        """
        ...

    def unfinished(self, kind: NightKind, since: datetime) -> Night | None:
        """The last night of this kind that began after `since`, had a window, and never ended."""
        ...

    def watermark(self, key: str) -> datetime | None:
        """Until when the sources of this key were read by the last scheduled, whole night.

        See `windows.read_until`. None where there was none.
        """
        ...

    def keep(self, report: RunReport) -> str:
        """Write report.json, report.md and report.html; returns the folder."""
        ...

    def finish(self, report: RunReport) -> None:
        """Close the night in the history."""
        ...

    def reports(self) -> Iterator[RunReport]:
        """Reports that were kept, newest first, read as they are asked for."""
        ...

    def report(self, night_id: str) -> RunReport | None:
        """One of them; None where there is none of that name."""
        ...

    def history(self) -> tuple[NightRecord, ...]:
        """Every night, newest first."""
        ...


class TaskStore(Protocol):
    """The task files; one writer at a time."""

    def tasks(self) -> tuple[TaskFile, ...]:
        """Every file that can be read, by id; empty where there is no folder."""
        ...

    def complaints(self) -> tuple[str, ...]:
        """What cannot be read, and why: "file: reason"."""
        ...

    def read(self, id: str) -> TaskFile | None:
        """One of them; None where there is none of that id, or it cannot be read."""
        ...

    def append(self, id: str, notes: Notes, related: tuple[str, ...] = ()) -> str:
        """Put notes at the end of a task's file and link related tasks; returns the file.

        Raises `GiveUp` where there is no such task or its file cannot be added to.
        """
        ...

    def mark_promoted(self, id: str, digests: tuple[str, ...]) -> str:
        """Remember in a task's file which of its learnings were promoted; returns the file.

        Raises as `append`.
        """
        ...


class BatchStore(Protocol):
    """Batches between the night that submits one and the night that collects it."""

    def alone(self) -> AbstractContextManager[None]:
        """Keep every other process from submitting meanwhile; raises `TryLater` where one does."""
        ...

    def keep(self, batch: Batch) -> None:
        """Write or replace a batch, by its digest; whole or not at all."""
        ...

    def drop(self, batch: Batch) -> None:
        """Forget an intent of which nothing came; never a batch that has an id."""
        ...

    def batches(self) -> tuple[Batch, ...]:
        """Those that can be read, oldest first, collected ones too."""
        ...

    def complaints(self) -> tuple[str, ...]:
        """What cannot be read, why, and what to do: "file: reason"."""
        ...
