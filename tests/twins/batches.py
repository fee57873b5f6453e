"""Batches in memory: who answers them, and where they are kept."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nightwatch_core.analysis.model_wrappers import intent_of
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
FULL = HALF.model_copy(update={"cost": 0.00002})


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
    most: int = 100_000  # items of one batch
    now: datetime = datetime.fromisoformat("2026-11-21T02:00:00+00:00")
    fails: list[Exception] = field(default_factory=list)
    asked: list[TriageItem] = field(default_factory=list)
    sent: dict[str, tuple[TriageItem, ...]] = field(default_factory=dict)  # by id
    states: dict[str, BatchState] = field(default_factory=dict)
    created: dict[str, datetime] = field(default_factory=dict)

    @property
    def account(self) -> str:
        return "memory"

    def ask_one(self, item: TriageItem, timeout: float) -> ItemResult:
        self.asked.append(item)
        return self.answer(item).model_copy(update={"usage": FULL})

    def intents(self, items: Sequence[TriageItem], night: str, now: datetime) -> tuple[Batch, ...]:
        parts = [items[at : at + self.most] for at in range(0, len(items), self.most)]
        return tuple(intent_of(part, night, "memory", now, account="memory") for part in parts)

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

    def is_of(self, id: str, intent: Batch) -> bool | None:
        if not self.states[id].readable:
            return None
        return {entry.key for entry in self.sent[id]} == {entry.key for entry in intent.items}

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
