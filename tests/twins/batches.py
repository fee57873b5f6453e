"""Batches in memory: who answers them, and where they are kept."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nightwatch_core.errors import MayHaveArrived
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.batch import (
    Batch,
    BatchState,
    FirstSight,
    ItemResult,
    ListedBatch,
    TriageItem,
)

UNREMARKABLE = FirstSight(
    severity="low", likely_cause="Unknown.", needs_deep_investigation=False, category="unknown"
)
HALF = Usage(calls=1, input_tokens=100, output_tokens=20, cost=0.00001, priced="2026-10-10")


def unremarkable(item: TriageItem) -> ItemResult:
    """The same answer to everything."""
    return ItemResult(
        key=item.key,
        fingerprint=item.fingerprint,
        kind="answered",
        first_sight=UNREMARKABLE,
        usage=HALF,
    )


@dataclass
class MemoryBatches:
    """A BatchModel over a list; a batch ends when it is told to (`end`).

    `fails` are raised by the next submissions, in their order: before anything is kept, but for
    `MayHaveArrived`, which is raised after.
    """

    answer: Callable[[TriageItem], ItemResult] = unremarkable
    now: datetime = datetime.fromisoformat("2026-11-21T02:00:00+00:00")
    fails: list[Exception] = field(default_factory=list)
    sent: dict[str, tuple[TriageItem, ...]] = field(default_factory=dict)  # by id
    states: dict[str, BatchState] = field(default_factory=dict)
    created: dict[str, datetime] = field(default_factory=dict)

    def intent(self, items: Sequence[TriageItem], night: str, now: datetime) -> Batch:
        return Batch.intent(items, night=night, model="memory", submitted=now)

    def submit(self, intent: Batch, items: Sequence[TriageItem]) -> Batch:
        failure = self.fails.pop(0) if self.fails else None
        if failure and not isinstance(failure, MayHaveArrived):
            raise failure
        id = f"msgbatch_{len(self.sent) + 1:04}"
        wanted = {entry.key for entry in intent.items}
        self.sent[id] = tuple(entry for entry in items if entry.key in wanted)
        self.states[id] = BatchState(status="in progress", processing=len(intent.items))
        self.created[id] = self.now
        if failure:
            raise failure
        return intent.model_copy(update={"id": id, "expires": self.now + timedelta(days=1)})

    def end(self, id: str = "", **state: object) -> None:
        for entry in [id] if id else list(self.sent):
            whole = {"status": "ended", "succeeded": len(self.sent[entry]), "readable": True}
            self.states[entry] = BatchState.model_validate(state or whole)

    def state(self, batch: Batch) -> BatchState:
        return self.states.get(batch.id, BatchState(status="gone"))

    def results(self, batch: Batch) -> Iterator[ItemResult]:
        for item in reversed(self.sent[batch.id]):
            yield self.answer(item)

    def newest(self, since: datetime) -> tuple[ListedBatch, ...]:
        return tuple(
            ListedBatch(id=id, created=self.created[id], state=self.states[id])
            for id in reversed(self.sent)
            if self.created[id] >= since
        )

    def probe(self) -> str:
        return f"{len(self.sent)} batches in memory"


@dataclass
class MemoryBatchStore:
    """A BatchStore in a dict."""

    kept: dict[str, Batch] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()

    def alone(self) -> AbstractContextManager[None]:
        return nullcontext()

    def keep(self, batch: Batch) -> None:
        self.kept[batch.digest] = batch

    def drop(self, batch: Batch) -> None:
        if self.kept.get(batch.digest, batch).is_intent:
            self.kept.pop(batch.digest, None)

    def batches(self) -> tuple[Batch, ...]:
        return tuple(sorted(self.kept.values(), key=lambda entry: entry.submitted))

    def complaints(self) -> tuple[str, ...]:
        return self.unreadable
