"""Batches in a dry run: what is open is read, nothing is submitted, nothing is written down."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime

from nightwatch_core.models.batch import Batch, BatchState, ItemResult, ListedBatch, TriageItem
from nightwatch_core.ports import BatchModel, BatchStore

HELD_BACK = "held back: a dry run"


class QuietBatches:
    """A BatchModel that submits nothing and asks nobody alone; all else is the real one's."""

    def __init__(self, model: BatchModel) -> None:
        """Read through `model`."""
        self._model = model

    @property
    def account(self) -> str:
        """The real one's."""
        return self._model.account

    def ask_one(self, item: TriageItem, timeout: float) -> ItemResult:
        """Ask nobody."""
        return ItemResult(
            key=item.key, fingerprint=item.fingerprint, kind="canceled", reason=HELD_BACK
        )

    def intents(self, items: Sequence[TriageItem], night: str, now: datetime) -> tuple[Batch, ...]:
        """What would be submitted."""
        return self._model.intents(items, night, now)

    def submit(self, intent: Batch, items: Sequence[TriageItem]) -> Batch:
        """Return the intent as it is."""
        return intent

    def state(self, batch: Batch) -> BatchState:
        """How far it is."""
        return self._model.state(batch)

    def results(self, batch: Batch) -> Iterator[ItemResult]:
        """Each item of an ended batch."""
        return self._model.results(batch)

    def newest(self, since: datetime) -> tuple[ListedBatch, ...]:
        """What the service lists."""
        return self._model.newest(since)

    def is_of(self, id: str, intent: Batch) -> bool | None:
        """Whether this batch of the service holds the intent's items."""
        return self._model.is_of(id, intent)

    def probe(self) -> str:
        """Say that nothing is submitted, where something could be."""
        self._model.probe()
        return "nothing is submitted in a dry run"


class QuietBatchStore:
    """A BatchStore that reads another one and keeps what is new in memory."""

    def __init__(self, store: BatchStore) -> None:
        """Read through `store`."""
        self._store = store
        self._kept: dict[str, Batch] = {}

    def alone(self) -> AbstractContextManager[None]:
        """Nobody is kept from anything: nothing is submitted."""
        return nullcontext()

    def keep(self, batch: Batch) -> None:
        """Keep it as long as this process lives; an intent that was held back is none."""
        if batch.id:
            self._kept[batch.digest] = batch

    def drop(self, batch: Batch) -> None:
        """Forget what was kept here."""
        self._kept.pop(batch.digest, None)

    def batches(self) -> tuple[Batch, ...]:
        """Both, oldest first."""
        every = {one.digest: one for one in self._store.batches()} | self._kept
        return tuple(sorted(every.values(), key=lambda one: (one.submitted, one.digest)))

    def complaints(self) -> tuple[str, ...]:
        """What cannot be read."""
        return self._store.complaints()
