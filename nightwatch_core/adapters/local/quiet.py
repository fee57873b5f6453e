"""Neighbours that nobody hears: what a dry run writes to, and the news without a service."""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.index import entry_of, index_over
from nightwatch_core.models.batch import Batch, TriageItem
from nightwatch_core.models.knowledge import IgnoreRules, Index, Lesson, Pattern, PatternEntry
from nightwatch_core.models.proposals import Proposal, Receipt, receipt_for
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns import merge_pattern
from nightwatch_core.ports import BatchModel, BatchStore
from nightwatch_core.privacy.proxy import proxied


class QuietOutbox:
    """An Outbox that publishes nothing: a dry run's."""

    def publish(self, proposal: Proposal) -> Receipt:
        """Say what would have been published."""
        return receipt_for(proposal, "held back")

    def probe(self) -> str:
        return "nothing is published in a dry run"


@dataclass
class MemoryKnowledge:
    """KnowledgeReader and KnowledgeWriter over a dict."""

    lessons: dict[str, Lesson] = field(default_factory=dict)
    patterns: dict[str, Pattern] = field(default_factory=dict)
    rules: IgnoreRules = IgnoreRules()
    put_away: dict[str, Lesson] = field(default_factory=dict)  # the archive

    def index(self) -> Index:
        entries = tuple(entry_of(lesson) for lesson in self.lessons.values())
        patterns = tuple(
            PatternEntry(
                file=file,
                title=pattern.title,
                occurrences=pattern.occurrences,
                modules=pattern.modules,
                tags=pattern.tags,
            )
            for file, pattern in self.patterns.items()
        )
        return index_over(entries, patterns)

    def read(self, file: str) -> Lesson | None:
        return self.lessons.get(file) or self.put_away.get(file)

    def archived(self) -> Index:
        return index_over(tuple(map(entry_of, self.put_away.values())), ())

    def archived_lesson(self, names: frozenset[str]) -> Lesson | None:
        return next((item for item in self.put_away.values() if item.names & names), None)

    def read_patterns(self) -> tuple[Pattern, ...]:
        return tuple(self.patterns.values())

    def ignore_rules(self) -> IgnoreRules:
        return self.rules

    def write(self, lesson: Lesson) -> str:
        file = f"errors/{lesson.fingerprint}.md"
        self.lessons[file] = lesson.model_copy(update={"file": file})
        self.put_away.pop(lesson.file, None)
        return file

    def write_pattern(self, pattern: Pattern) -> str:
        file = f"patterns/{pattern.slug}.md"
        self.patterns[file] = merge_pattern(pattern, self.patterns.get(file))
        return file

    def archive(self, files: Sequence[str]) -> tuple[str, ...]:
        gone = {file: self.lessons.pop(file) for file in files if file in self.lessons}
        moved = {f"archive/{file.partition('/')[2]}": item for file, item in gone.items()}
        for file, item in moved.items():
            self.put_away[file] = item.model_copy(update={"file": file})
        return tuple(moved)

    def rebuild_index(self) -> Index:
        return self.index()


class LocalNotifier:
    """The Notifier port without a network; writes nothing."""

    def publish(self, report: RunReport) -> str:
        """Return the path of the night's report.html; raises `GiveUp` where there is none."""
        page = Path(report.night.folder) / "report.html"
        if not report.night.folder or not page.is_file():
            raise GiveUp(f"there is no {page}: the night's report has not been written")
        return str(page.resolve())

    def probe(self) -> str:
        return "nobody is told: the report is a page on this machine"


# Batches in a dry run: what is open is read, nothing is submitted, nothing is written down.


def quiet_batches(model: BatchModel) -> BatchModel:
    """Return a model that submits nothing; all else is the real one's."""

    def submit(intent: Batch, items: Sequence[TriageItem]) -> Batch:
        return intent

    def probe() -> str:
        model.probe()
        return "nothing is submitted in a dry run"

    return proxied(model, BatchModel, replaced={"submit": submit, "probe": probe})


def quiet_batch_store(store: BatchStore) -> BatchStore:
    """Return a store over a real one, which keeps in memory what a dry run adds."""
    added: dict[str, Batch] = {}

    def keep(batch: Batch) -> None:
        if batch.id:  # an intent that was held back is none
            added[batch.digest] = batch

    def drop(batch: Batch) -> None:
        added.pop(batch.digest, None)

    def batches() -> tuple[Batch, ...]:
        every = {batch.digest: batch for batch in store.batches()} | added
        return tuple(sorted(every.values(), key=lambda item: (item.submitted, item.digest)))

    replaced: dict[str, Callable[..., Any]] = {
        "alone": nullcontext,
        "keep": keep,
        "drop": drop,
        "batches": batches,
    }
    return proxied(store, BatchStore, replaced=replaced)


# The time of this machine.


class SystemClock:
    """The Clock port on the operating system, in its time zone."""

    def now(self) -> datetime:
        return datetime.now().astimezone()

    def monotonic(self) -> float:
        """Return seconds of a clock that never goes back."""
        return time.monotonic()


def pause(seconds: float) -> None:
    """Wait that long."""
    time.sleep(seconds)
