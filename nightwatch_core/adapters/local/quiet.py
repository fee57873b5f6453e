"""Neighbours that nobody hears: what a dry run writes to, and the news without a service."""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.batch import Batch, TriageItem
from nightwatch_core.models.knowledge import Index, Lesson, Pattern
from nightwatch_core.models.proposals import Proposal, Receipt, receipt_for
from nightwatch_core.models.report import RunReport
from nightwatch_core.ports import BatchModel, BatchStore
from nightwatch_core.privacy.proxy import proxied


class QuietOutbox:
    """An Outbox that publishes nothing: a dry run's."""

    def publish(self, proposal: Proposal) -> Receipt:
        """Say what would have been published."""
        return receipt_for(proposal, "held back")

    def probe(self) -> str:
        return "nothing is published in a dry run"


class QuietKnowledge:
    """A KnowledgeWriter that keeps nothing: a dry run's."""

    def write(self, lesson: Lesson) -> str:
        return f"errors/{lesson.fingerprint}.md"

    def write_pattern(self, pattern: Pattern) -> str:
        return f"patterns/{pattern.slug}.md"

    def archive(self, files: Sequence[str]) -> tuple[str, ...]:
        return ()

    def rebuild_index(self) -> Index:
        return Index()


class LocalNotifier:
    """The Notifier port without a network; writes nothing."""

    def publish(self, report: RunReport) -> str:
        """Return the path of the night's report.html; raises `GiveUp` where there is none."""
        page = Path(report.night.folder) / "report.html"
        if not report.night.folder or not page.is_file():
            raise GiveUp(f"there is no {page}: the night's report has not been written")
        return str(page.resolve())

    def probe(self) -> str:
        return "no notifications: the report is a page on this machine"


# Batches in a dry run.


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


# The clock.


class SystemClock:
    """The Clock port on the operating system, in its time zone."""

    def now(self) -> datetime:
        return datetime.now().astimezone()

    def monotonic(self) -> float:
        return time.monotonic()


def pause(seconds: float) -> None:
    """Wait that long."""
    time.sleep(seconds)
