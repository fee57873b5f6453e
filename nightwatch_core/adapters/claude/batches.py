"""The BatchModel port over Anthropic's Message Batches.

A batch is created once. Its results are read into a file that nobody else sees and that goes with
the reading, so that neither 10,000 results nor a slow reader of them hold memory or a connection;
what broke off is read again, and nothing is given twice.
"""

import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import SecretStr

from nightwatch_core.adapters.claude import batch_calls
from nightwatch_core.adapters.claude.batch_calls import NoSuchBatch, moment, state_of
from nightwatch_core.adapters.claude.batch_requests import body, encoded, params, parts
from nightwatch_core.adapters.claude.batch_results import lines, result_in, result_of
from nightwatch_core.adapters.claude.cache_gate import PROCESS
from nightwatch_core.adapters.claude.calls import Calls
from nightwatch_core.adapters.claude.limits import (
    ASKING,
    MEAN_LINE,
    MOST_BATCH_BYTES,
    MOST_LINE,
    MOST_PAGES,
    MOST_READS,
    MOST_REQUESTS,
    PAGE,
    SILENCE,
)
from nightwatch_core.adapters.claude.prices import PRICES, token_prices
from nightwatch_core.adapters.claude.turns import answer_to
from nightwatch_core.analysis.request_sets import intent_of
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.batch import (
    Batch,
    BatchState,
    ItemResult,
    ListedBatch,
    TriageItem,
)
from nightwatch_core.ports import Clock

_MISSING = "the results were read to their end, and it is not among them"


class ClaudeBatches:
    """Batches of a model at Anthropic's address, or at `base_url`; see `Claude`.

    A batch has at most `most_requests` items and `most_bytes` bytes as it is sent.
    """

    def __init__(
        self,
        api_key: SecretStr,
        model: str,
        clock: Clock,
        base_url: str = "",
        attempts: int = 3,
        patience: float = 0.5,
        silence: float = SILENCE,
        most_requests: int = MOST_REQUESTS,
        most_bytes: int = MOST_BATCH_BYTES,
    ) -> None:
        """Make no request yet; raises `StopTheNight` where key or address cannot be one."""
        self._calls = Calls(api_key, model, base_url, attempts, patience, silence)
        self._model, self._clock = model, clock
        self._most_requests, self._most_bytes = most_requests, most_bytes

    @property
    def account(self) -> str:
        """A name for address and key that gives neither away."""
        return self._calls.account

    def ask_one(self, item: TriageItem, timeout: float) -> ItemResult:
        """The answer to what would be sent in a batch, at once and at full price."""
        reply = answer_to(lambda features: params(item, features), self._calls, timeout, PROCESS)
        return result_of(reply, item.key, item.fingerprint)

    def intents(self, items: Sequence[TriageItem], night: str, now: datetime) -> tuple[Batch, ...]:
        """What to submit, in as many batches as the limits make of it.

        Raises `GiveUp` where the server has no batches, or an item cannot be in one.
        """
        self.probe()
        features = self._calls.features(time.monotonic() + ASKING)
        if features.batch is False:
            raise GiveUp(f"{self._model} is not offered in batches: choose another model for them")
        prices, known = token_prices(self._model), PRICES.get(self._model)
        date = known.date if known else ""
        return tuple(
            intent_of(part, night, self._model, now, prices, date, self.account)
            for part in parts(items, features, self._most_requests, self._most_bytes)
        )

    def submit(self, intent: Batch, items: Sequence[TriageItem]) -> Batch:
        """Submit the intent's items once; returns the intent with its id."""
        features = self._calls.features(time.monotonic() + ASKING)
        wanted = {one.key for one in intent.items}
        whole = body(encoded(one, features) for one in items if one.key in wanted)
        made = batch_calls.create(self._calls, whole)
        told = {"id": made["id"], "expires": moment(made.get("expires_at"))}
        return Batch.model_validate({**dict(intent), **told})

    def state(self, batch: Batch) -> BatchState:
        """How far it is; gone where the service does not know it."""
        try:
            return state_of(batch_calls.retrieve(self._calls, batch.id), self._clock.now())
        except NoSuchBatch as gone:
            return BatchState(status="gone", reason=str(gone))

    def results(self, batch: Batch) -> Iterator[ItemResult]:
        """Each item once; raises `TryLater` where it breaks off, `GiveUp` where they are gone."""
        state = self.state(batch)
        if not state.readable:
            raise (GiveUp if state.status == "gone" else TryLater)(
                state.reason or "the batch has not ended: collect it later"
            )
        waiting = {one.key: one.fingerprint for one in batch.items}
        in_vain, whole = 0, False
        for _ in range(MOST_READS):
            left = len(waiting)
            whole = yield from self._read(batch, waiting)
            in_vain = 0 if len(waiting) < left else in_vain + 1
            if not waiting or in_vain >= self._calls.attempts:
                break
        if waiting and not whole:
            count = f"{len(waiting):,}"
            raise TryLater(f"the results broke off, {count} are missing: collect them later")
        for key, fingerprint in waiting.items():
            yield ItemResult(key=key, fingerprint=fingerprint, kind="missing", reason=_MISSING)

    def newest(self, since: datetime) -> tuple[ListedBatch, ...]:
        """What was created since then; raises `GiveUp` where the list is too long to be sure."""
        listed, after = list[ListedBatch](), ""
        for _ in range(MOST_PAGES):
            rows, has_more = batch_calls.page(self._calls, PAGE, after)
            batches = [self._listed(row) for row in rows]
            listed += [one for one in batches if one.created >= since]
            if not has_more or not batches or batches[-1].created < since:
                return tuple(listed)
            after = batches[-1].id
        raise GiveUp(f"the service lists more than {MOST_PAGES * PAGE:,} batches since {since}")

    def is_of(self, id: str, intent: Batch) -> bool | None:
        """Whether its first result has one of the intent's keys; None before it has ended."""
        batch = intent.model_copy(update={"id": id})
        state = self.state(batch)
        if not state.readable:
            return False if state.status == "gone" else None
        with tempfile.TemporaryFile() as file:
            batch_calls.download(self._calls, id, file, MOST_LINE * 2, first_line=True)
            file.seek(0)
            first = next((one for one in lines(file) if one), None)
        return None if first is None else first["custom_id"] in {one.key for one in intent.items}

    def probe(self) -> str:
        """Say that there are batches; raises `GiveUp` where the server has none."""
        batch_calls.page(self._calls, 1)
        return f"Message Batches at {self._calls.address}, half the price, within 24 hours"

    def _read(self, batch: Batch, waiting: dict[str, str]) -> Generator[ItemResult, None, bool]:
        """Results of items that are waited for, which they are no more; whether that was all."""
        most = MOST_LINE * 2 + MEAN_LINE * len(batch.items)
        with tempfile.TemporaryFile() as file:
            whole = batch_calls.download(self._calls, batch.id, file, most)
            file.seek(0)
            for entry in lines(file):
                fingerprint = waiting.pop(entry["custom_id"], None) if entry else None
                if entry and fingerprint is not None:
                    yield result_in(entry, batch, fingerprint)
        return whole

    def _listed(self, row: Mapping[str, Any]) -> ListedBatch:
        created = moment(row.get("created_at"))
        if created is None:
            raise TryLater("the service's list of batches cannot be read: try again later")
        return ListedBatch(id=row["id"], created=created, state=state_of(row, self._clock.now()))
