"""The BatchModel port over Anthropic's Message Batches.

A batch is created once; its results are read from the batch's own path at the address the key is
for, whatever address the service names.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import anthropic
import httpx2
from anthropic.types.messages import MessageBatch
from pydantic import SecretStr, ValidationError

from nightwatch_core.adapters.claude import client as library
from nightwatch_core.adapters.claude.client import ASKING, COLLECTING, LONGEST_WORDS, SILENCE
from nightwatch_core.adapters.claude.features import (
    PRICES,
    Features,
    Json,
    inside,
    number,
    priced_by,
)
from nightwatch_core.adapters.claude.model import EXPECTED, Calls, reply_of, usage_of
from nightwatch_core.adapters.claude.request import request_for
from nightwatch_core.errors import GiveUp, MayHaveArrived, NightWatchError, TryLater
from nightwatch_core.models.batch import (
    BATCH_SHARE,
    Batch,
    BatchState,
    FirstSight,
    ItemResult,
    ListedBatch,
    ResultKind,
    TriageItem,
)
from nightwatch_core.models.conversation import Reply
from nightwatch_core.ports import Clock
from nightwatch_core.text.escaping import line as one_line
from nightwatch_core.text.json_objects import object_in, problems_text
from nightwatch_core.text.plain_text import data_table

LISTING = 60.0  # seconds for one page of the service's list, or for one batch's state
SUBMITTING = 900.0  # seconds for a batch to be sent and taken
OVERDUE = 3_600.0  # seconds after which a batch that should have expired is called late
PAGE = 100  # batches of the list that are looked at, the newest
LONGEST_CAUSE = 2_000  # characters of a likely cause

_PATH = "/v1/messages/batches"
_ID = re.compile(r"[a-zA-Z0-9_-]{1,128}")  # one that cannot lead elsewhere in a path
_Bytes = anthropic.AsyncStream[object]  # an answer that is read as it comes
_ABSENT = (400, 404, 405, 410, 501)  # how servers without batches say so
_UNREADABLE = "Claude's answer about a batch cannot be read: try again later"
GONE = (
    "the service has no such batch for this key: it was deleted, or submitted with the key of "
    "another workspace"
)
ARCHIVED = "the service keeps results for 29 days, and these are older"
# What the questions of a batch share is kept for an hour.
_KEPT = {"type": "ephemeral", "ttl": "1h"}


class NoSuchBatch(GiveUp):
    """The service does not know it, or does not know it any more."""


class ClaudeBatches:
    """Batches of a model at Anthropic's address, or at `base_url`; see `Claude`."""

    def __init__(
        self,
        api_key: SecretStr,
        model: str,
        clock: Clock,
        base_url: str = "",
        attempts: int = 3,
        patience: float = 0.5,
        silence: float = SILENCE,
    ) -> None:
        """Make no request yet; raises `StopTheNight` where key or address cannot be one."""
        self._calls = Calls(api_key, model, base_url, attempts, patience, silence)
        self._model, self._clock = model, clock

    def intent(self, items: Sequence[TriageItem], night: str, now: datetime) -> Batch:
        self.probe()
        if self._features().batch is False:
            raise GiveUp(f"{self._model} is not offered in batches: choose another model for them")
        prices = PRICES.get(self._model)
        facts = {"prices": prices.tiers, "priced": prices.date} if prices else {}
        return Batch.intent(items, night=night, model=self._model, submitted=now, **facts)

    def submit(self, intent: Batch, items: Sequence[TriageItem]) -> Batch:
        features = self._features()
        requests = [{"custom_id": item.key, "params": params(item, features)} for item in items]
        whole = {"requests": requests}
        body = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
        options: Any = {"headers": {"content-type": "application/json"}}
        is_sent = False

        async def once(client: Any) -> Mapping[str, Any]:
            nonlocal is_sent
            is_sent = True
            try:
                made = await client.post(_PATH, content=body, cast_to=MessageBatch, options=options)
                return _batch(made)
            except EXPECTED as problem:
                cause = problem.__cause__
                is_refused = isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout)
                if isinstance(problem, anthropic.APIStatusError):
                    status = problem.status_code
                    is_refused = 300 <= status < 500 and status != 408
                if is_refused:
                    is_sent = False
                    raise
                raise _unsure(library.translated(problem, self._calls.key)) from None
            except TryLater as unreadable:
                raise _unsure(unreadable) from None

        try:
            made = self._calls.ask(once, time.monotonic() + SUBMITTING)
        except MayHaveArrived:
            raise
        except TryLater as late:
            raise (_unsure(late) if is_sent else late) from None
        update = {"id": made["id"], "expires": moment(made.get("expires_at"))}
        return Batch.model_validate({**dict(intent), **update})

    def state(self, batch: Batch) -> BatchState:
        """Return the batch's progress; gone where the service does not know it."""

        async def once(client: Any) -> Mapping[str, Any]:
            try:
                return _batch(await client.messages.batches.retrieve(batch.id))
            except anthropic.NotFoundError:
                raise NoSuchBatch(GONE) from None

        try:
            found = self._calls.ask(once, time.monotonic() + LISTING)
        except NoSuchBatch as gone:
            return BatchState(status="gone", reason=str(gone))
        return state_of(found, self._clock.now())

    def results(self, batch: Batch) -> Iterator[ItemResult]:
        """Yield each item once; raises `TryLater` for broken off, `GiveUp` for lost results."""
        state = self.state(batch)
        if not state.readable:
            raise (GiveUp if state.status == "gone" else TryLater)(
                state.reason or "the batch has not ended: collect it later"
            )
        names = {item.key: item.fingerprint for item in batch.items}

        async def once(client: Any) -> dict[str, ItemResult]:
            path, found = f"{_PATH}/{batch.id}/results", dict[str, ItemResult]()
            try:
                stream = await client.get(path, cast_to=object, stream=True, stream_cls=_Bytes)
            except anthropic.NotFoundError:
                raise NoSuchBatch(GONE) from None
            async with stream:
                async for row in stream.response.aiter_lines():
                    entry = _entry(row)
                    if (key := entry.get("custom_id")) in names:
                        found[key] = result_in(entry, batch, names[key])
            return found

        found = self._calls.ask(once, time.monotonic() + COLLECTING)
        yield from found.values()
        why = "the results were read to their end, and it is not among them"
        for key in names.keys() - found.keys():
            yield ItemResult(key=key, fingerprint=names[key], kind="missing", reason=why)

    def newest(self, since: datetime) -> tuple[ListedBatch, ...]:
        """Return the newest batches that were created since then, at most 100."""
        listed = list[ListedBatch]()
        for row in self._page(PAGE):
            created = moment(row.get("created_at"))
            if created is None:
                raise TryLater("the service's list of batches cannot be read: try again later")
            state = state_of(row, self._clock.now())
            listed.append(ListedBatch(id=row["id"], created=created, state=state))
        return tuple(batch for batch in listed if batch.created >= since)

    def probe(self) -> str:
        """Say that there are batches; raises `GiveUp` where the server has none."""
        self._page(1)
        return f"Message Batches at {self._calls.address}, half the price, within 24 hours"

    def _features(self) -> Features:
        return self._calls.features(time.monotonic() + ASKING)

    def _page(self, size: int) -> list[Mapping[str, Any]]:
        async def once(client: Any) -> list[Mapping[str, Any]]:
            absent = GiveUp(
                f"{self._calls.address} has no Message Batches: run without --batch, or set "
                "ANTHROPIC_BASE_URL to a service that has them"
            )
            try:
                query = {"params": {"limit": size}}
                listed = await client.get(_PATH, cast_to=object, options=query)
            except anthropic.APIStatusError as problem:
                if problem.status_code in _ABSENT and problem.error_code is None:
                    raise absent from None
                raise
            if not isinstance(listed, Mapping) or not isinstance(listed.get("data"), list):
                raise absent
            return [_identified(item) for item in listed["data"] if isinstance(item, Mapping)]

        return self._calls.ask(once, time.monotonic() + LISTING)


def params(item: TriageItem, features: Features) -> Json:
    """Return the request for one item, of one turn: no cache at its end, nothing to be cleared."""
    request = request_for(item.conversation, features)
    for name in ("cache_control", "context_management"):
        request.pop(name, None)
    if features.caching and request.get("system"):
        *blocks, last = request["system"]
        request["system"] = [*blocks, {**last, "cache_control": _KEPT}]
    return request


def state_of(batch: Mapping[str, Any], now: datetime) -> BatchState:
    """Return the state of a batch."""
    counts = inside(batch, "request_counts")
    names = ("processing", "succeeded", "errored", "canceled", "expired")
    facts: dict[str, Any] = {name: number(counts, name) for name in names}
    facts["expires"] = expires = moment(batch.get("expires_at"))
    if batch.get("archived_at"):
        return BatchState(**facts, status="gone", reason=ARCHIVED)
    if batch.get("processing_status") != "ended":
        reason = ""
        if batch.get("processing_status") == "canceling":
            reason = "it is being canceled"
        if expires is not None and (now - expires).total_seconds() > OVERDUE:
            reason = "it should have expired: look at it in the Claude Console"
        return BatchState(**facts, status="in progress", reason=reason)
    if facts["succeeded"] or facts["errored"] or not (facts["canceled"] or facts["expired"]):
        return BatchState(**facts, status="ended", readable=True)
    is_canceled = facts["canceled"] >= facts["expired"]
    return BatchState(**facts, status="canceled" if is_canceled else "expired", readable=True)


def moment(text: object) -> datetime | None:
    """Return an aware time; None where it is invalid.

    >>> moment("2026-11-21T02:00:00Z").isoformat(), moment("soon")
    ('2026-11-21T02:00:00+00:00', None)
    """
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _unsure(trouble: NightWatchError) -> MayHaveArrived:
    return MayHaveArrived(f"it is not known whether the batch arrived: {trouble}")


def _batch(made: object) -> Mapping[str, Any]:
    if not isinstance(made, anthropic.BaseModel):
        raise TryLater(_UNREADABLE)
    return _identified(made.to_dict(mode="json"))


def _identified(batch: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(batch.get("id"), str) or not _ID.fullmatch(batch["id"]):
        raise TryLater(_UNREADABLE)
    return batch


# Lines of a batch's results.

_Ends = dict[str, dict[str, tuple[ResultKind, str]]]  # without an answer
_ENDS = data_table("nightwatch_core.adapters.claude", "batch_ends.toml", _Ends)
_STOPS, _UNBILLED = _ENDS["stops"], _ENDS["unbilled"]


def result_in(entry: Mapping[str, Any], batch: Batch, fingerprint: str) -> ItemResult:
    """Return one item's result from its line of the results, with what it cost."""
    result, facts = inside(entry, "result"), {"key": entry["custom_id"], "fingerprint": fingerprint}
    kind = str(result.get("type"))
    if kind in _UNBILLED:
        outcome, reason = _UNBILLED[kind]
        return ItemResult(**facts, kind=outcome, reason=reason)
    if kind == "errored":
        error = inside(result, "error", "error") or inside(result, "error")
        words = one_line(str(error.get("message") or "no reason given"), LONGEST_WORDS)
        reason = f"{one_line(str(error.get('type') or 'error'), 60)}: {words}"
        return ItemResult(**facts, kind="errored", reason=reason)
    message = inside(result, "message")
    content = message.get("content")
    if kind != "succeeded" or not isinstance(content, list):
        reason = f"a result of another kind ({one_line(kind, 40)}), or without an answer"
        return ItemResult(**facts, kind="unreadable", reason=reason)
    tier = inside(message, "usage").get("service_tier") or "batch"
    share = BATCH_SHARE if tier == "batch" else 1.0
    usage = priced_by(batch.prices, batch.priced, usage_of(message, batch.model), share)
    sound = {
        **message,
        "content": [block for block in content if isinstance(block, Mapping)],
        "stop_details": inside(message, "stop_details"),
    }
    return ItemResult.model_validate({**facts, "usage": usage, **_judged(reply_of(sound, usage))})


def _judged(reply: Reply) -> dict[str, Any]:
    """Return what the reply says of the error, or why it says nothing."""
    if reply.stop in _STOPS:
        kind, reason = _STOPS[reply.stop]
        detail = one_line(reply.detail, LONGEST_WORDS)
        return {"kind": kind, "reason": f"{reason}: {detail}" if detail else reason}
    try:
        sight = FirstSight.model_validate(object_in(reply.turn.text, FirstSight.model_fields))
    except (GiveUp, ValidationError) as wrong:
        why = str(wrong) if isinstance(wrong, GiveUp) else problems_text(wrong)
        cut = "the answer was cut off at its greatest length: " if reply.stop == "cut" else ""
        return {"kind": "unreadable", "reason": f"{cut}{why}"}
    cause = sight.likely_cause[:LONGEST_CAUSE]
    return {"kind": "answered", "first_sight": sight.model_copy(update={"likely_cause": cause})}


def _entry(row: str) -> Mapping[str, Any]:
    """An object of the results; empty for an invalid line."""
    try:
        value = json.loads(row)
    except (ValueError, RecursionError):
        return {}
    is_entry = isinstance(value, dict) and isinstance(value.get("custom_id"), str)
    return value if is_entry else {}
