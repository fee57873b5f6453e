"""The BatchModel port over Anthropic's Message Batches.

A batch is created once. Its results are read into a file that nobody else sees and that goes with
the reading, so that neither 10,000 results nor a slow reader of them hold memory or a connection;
what broke off is read again, and nothing is given twice.
"""

import json
import re
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import IO, Any

import anthropic
import httpx2
from anthropic.types.messages import MessageBatch
from pydantic import SecretStr

from nightwatch_core.adapters.claude import client as library
from nightwatch_core.adapters.claude.client import (
    ASKING,
    COLLECTING,
    LONGEST_WORDS,
    MEAN_LINE,
    MOST_REQUESTS,
    SILENCE,
)
from nightwatch_core.adapters.claude.features import (
    PRICES,
    Features,
    Json,
    Tuning,
    inside,
    number,
    priced_by,
    token_prices,
)
from nightwatch_core.adapters.claude.model import EXPECTED, Calls, answer_to, reply_of, usage_of
from nightwatch_core.adapters.claude.request import GATE, request_for
from nightwatch_core.analysis.model_wrappers import intent_of
from nightwatch_core.analysis.second_look import read_first_sight
from nightwatch_core.errors import GiveUp, MayHaveArrived, NightWatchError, TryLater
from nightwatch_core.models.batch import (
    Batch,
    BatchState,
    ItemResult,
    ListedBatch,
    ResultKind,
    TriageItem,
)
from nightwatch_core.models.conversation import Reply
from nightwatch_core.ports import Clock
from nightwatch_core.text.escaping import line as one_line

LISTING = 60.0  # seconds for one page of the service's list, or for one batch's state
SUBMITTING = 900.0  # seconds for a batch to be sent and taken
OVERDUE = 3_600.0  # seconds after which a batch that should have expired is called late
MOST_BATCH_BYTES = 100_000_000  # the service takes 256 MB; a batch is whole in memory while sent
PAGE = 100  # batches of one page of the list
MOST_PAGES = 50
MOST_READS = 20  # of the results of one batch, where they break off again and again
MOST_LINE = 2_000_000  # bytes of one result
LONGEST_CAUSE = 2_000  # characters of a likely cause

# The Message Batches endpoint: create, retrieve, list, results; nothing is decided here.
#
# Results are read from the batch's own path at the address the key is for, whatever address the
# service names.

_PATH = "/v1/messages/batches"
_ID = re.compile(r"[a-zA-Z0-9_-]{1,128}")  # one that cannot lead elsewhere in a path
_Bytes = anthropic.AsyncStream[object]  # an answer that is read as it comes
_ABSENT = (400, 404, 405, 410, 501)  # how servers without batches say so
_UNREADABLE = "Claude's answer about a batch cannot be read: try again later"
_MOVED = "the service's list of batches changed while it was read: try again later"
GONE = (
    "the service has no such batch for this key: it was deleted, or submitted with the key of "
    "another workspace"
)
ARCHIVED = "the service keeps results for 29 days, and these are older"


class NoSuchBatch(GiveUp):
    """The service does not know it, or does not know it any more."""


def create(calls: Calls, body: bytes) -> Mapping[str, Any]:
    """Submit a batch once; raises `MayHaveArrived` unless it is certain that it did not arrive."""
    options: Any = {"headers": {"content-type": "application/json"}}
    sent = False

    async def once(client: Any) -> Mapping[str, Any]:
        nonlocal sent
        sent = True
        try:
            return _batch(
                await client.post(_PATH, content=body, cast_to=MessageBatch, options=options)
            )
        except EXPECTED as problem:
            if _is_refused(problem):
                sent = False
                raise
            raise _unsure(library.translated(problem, calls.key)) from None
        except TryLater as unreadable:
            raise _unsure(unreadable) from None

    try:
        return calls.ask(once, time.monotonic() + SUBMITTING)
    except MayHaveArrived:
        raise
    except TryLater as late:
        raise (_unsure(late) if sent else late) from None


def retrieve(calls: Calls, id: str) -> Mapping[str, Any]:
    """Return one batch; raises `NoSuchBatch` where there is none."""

    async def once(client: Any) -> Mapping[str, Any]:
        try:
            return _batch(await client.messages.batches.retrieve(id))
        except anthropic.NotFoundError:
            raise NoSuchBatch(GONE) from None

    return calls.ask(once, time.monotonic() + LISTING)


def page(calls: Calls, size: int, after: str = "") -> tuple[list[Mapping[str, Any]], bool]:
    """Return batches, newest first, and whether there are more.

    Raises `GiveUp` where the server has no batches at all.
    """

    async def once(client: Any) -> tuple[list[Mapping[str, Any]], bool]:
        query = {"limit": size, **({"after_id": after} if after else {})}
        try:
            listed = await client.get(_PATH, cast_to=object, options={"params": query})
        except anthropic.APIStatusError as problem:
            if problem.status_code in _ABSENT and problem.error_code is None:
                raise (TryLater(_MOVED) if after else GiveUp(_without(calls))) from None
            raise
        if not isinstance(listed, Mapping) or not isinstance(listed.get("data"), list):
            raise GiveUp(_without(calls))
        rows = [_identified(item) for item in listed["data"] if isinstance(item, Mapping)]
        return rows, bool(listed.get("has_more"))

    return calls.ask(once, time.monotonic() + LISTING)


def download(calls: Calls, id: str, file: IO[bytes], most: int, first_line: bool = False) -> bool:
    """Write the results into a file, as far as they come; whether they came to their end.

    `first_line` is enough of them. Raises `GiveUp` beyond `most` bytes, `NoSuchBatch`, or what
    goes wrong before the first byte.
    """

    async def once(client: Any) -> bool:
        try:
            stream = await client.get(
                f"{_PATH}/{id}/results", cast_to=object, stream=True, stream_cls=_Bytes
            )
        except anthropic.NotFoundError:
            raise NoSuchBatch(GONE) from None
        async with stream:
            return await _written(stream.response, file, most, first_line)

    return calls.ask(once, time.monotonic() + COLLECTING)


async def _written(response: httpx2.Response, file: IO[bytes], most: int, first: bool) -> bool:
    """Whether the answer came to its end; what broke off is for who reads the file to say."""
    size = 0
    try:
        async for chunk in response.aiter_bytes():
            size += file.write(chunk)
            if size > most:
                raise GiveUp(f"the results of a batch are larger than {most:,} bytes")
            if first and b"\n" in chunk:
                return True
    except library.BROKEN:
        if not size:
            raise
        return False
    return True


def state_of(batch: Mapping[str, Any], now: datetime) -> BatchState:
    """Return the state of a batch."""
    counts = inside(batch, "request_counts")
    names = ("processing", "succeeded", "errored", "canceled", "expired")
    told: dict[str, Any] = {name: number(counts, name) for name in names}
    told["expires"] = expires = moment(batch.get("expires_at"))
    if batch.get("archived_at"):
        return BatchState(**told, status="gone", reason=ARCHIVED)
    if batch.get("processing_status") != "ended":
        canceling = batch.get("processing_status") == "canceling"
        late = expires is not None and (now - expires).total_seconds() > OVERDUE
        reason = "it is being canceled" if canceling else ""
        overdue = "it should have expired: look at it in the Claude Console"
        return BatchState(**told, status="in progress", reason=overdue if late else reason)
    if told["succeeded"] or told["errored"] or not (told["canceled"] or told["expired"]):
        return BatchState(**told, status="ended", readable=True)
    canceled = told["canceled"] >= told["expired"]
    return BatchState(**told, status="canceled" if canceled else "expired", readable=True)


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


def _is_refused(problem: Exception) -> bool:
    if isinstance(problem, anthropic.APIStatusError):
        return 300 <= problem.status_code < 500 and problem.status_code != 408
    return isinstance(problem.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)


def _unsure(trouble: NightWatchError) -> MayHaveArrived:
    return MayHaveArrived(f"it is not known whether the batch arrived: {trouble}")


def _batch(made: object) -> Mapping[str, Any]:
    told = made.to_dict(mode="json") if isinstance(made, anthropic.BaseModel) else None
    if told is None:
        raise TryLater(_UNREADABLE)
    return _identified(told)


def _identified(batch: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(batch.get("id"), str) or not _ID.fullmatch(batch["id"]):
        raise TryLater(_UNREADABLE)
    return batch


def _without(calls: Calls) -> str:
    return (
        f"{calls.address} has no Message Batches: run without --batch, or set ANTHROPIC_BASE_URL "
        "to a service that has them"
    )


# Items as requests of a batch: one turn each, no tools, and as many batches as the limits make.

# Requests of a batch are hours apart, so what they share is kept for an hour; and nothing makes
# room in a conversation of one turn.
_KEPT = {"type": "ephemeral", "ttl": "1h"}
_PLAIN = Tuning(clear_at=None, compact_at=None)
_OPENING, _CLOSING = b'{"requests":[', b"]}"
_AROUND = len(_OPENING) + len(_CLOSING)


def params(item: TriageItem, features: Features) -> Json:
    """Return the request for one item; raises `GiveUp` where it cannot be asked.

    The end of the conversation is not marked for the cache: nobody says it twice.
    """
    if item.conversation.tools:
        raise GiveUp("a batch has no turn to answer a tool in: its questions have no tools")
    request = request_for(item.conversation, features, _PLAIN)
    request.pop("cache_control", None)
    if features.caching and request.get("system"):
        *blocks, last = request["system"]
        request["system"] = [*blocks, {**last, "cache_control": _KEPT}]
    return request


def encoded(item: TriageItem, features: Features) -> bytes:
    """Return one request of a batch as it is sent."""
    request = {"custom_id": item.key, "params": params(item, features)}
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()


def body(requests: Iterable[bytes]) -> bytes:
    """Return the whole batch as it is sent; nothing of it is in memory twice.

    >>> body([b"{}", b"{}"])
    b'{"requests":[{},{}]}'
    """
    whole = BytesIO()
    whole.write(_OPENING)
    for position, request in enumerate(requests):
        whole.write(b"," if position else b"")
        whole.write(request)
    whole.write(_CLOSING)
    return whole.getvalue()


def parts(
    items: Sequence[TriageItem], features: Features, most_requests: int, most_bytes: int
) -> Iterator[tuple[TriageItem, ...]]:
    """Return the items in their order, in as few batches as the limits allow.

    Raises `GiveUp` where keys are not unique or one item alone is too large.
    """
    if len({item.key for item in items}) < len(items):
        raise GiveUp("two items of a batch have the same key")
    part, size = list[TriageItem](), _AROUND
    for item in items:
        more = len(encoded(item, features)) + 1
        if more + _AROUND > most_bytes:
            raise GiveUp(f"the question about {item.fingerprint} alone has {more:,} bytes")
        if part and (len(part) == most_requests or size + more > most_bytes):
            yield tuple(part)
            part, size = [], _AROUND
        part.append(item)
        size += more
    if part:
        yield tuple(part)


# Lines of a batch's results, and replies to one item alone, as results with what they cost.

_EXPIRED = "the service did not come to it within its 24 hours; it costs nothing"
_CANCELED = "the batch was canceled before the service came to it; it costs nothing"
_STOPS: Mapping[str, tuple[ResultKind, str]] = {  # ways to end without an answer
    "refused": ("refused", "the model refused"),
    "context exceeded": ("errored", "the question does not fit the model"),
    "paused": ("unreadable", "the model paused, and nothing goes on in a batch"),
    "tools": ("unreadable", "the model asked for tools, and a batch has none"),
}
Outcome = tuple[ResultKind, str]


def lines(file: IO[bytes]) -> Iterator[Mapping[str, Any] | None]:
    """Yield the objects of a JSONL file; None for an invalid, cut off or far too long line."""
    while raw := file.readline(MOST_LINE):
        torn = False
        while not raw.endswith(b"\n") and (more := file.readline(MOST_LINE)):
            torn, raw = True, more
        if not torn and not raw.strip():
            continue
        yield None if torn else _object(raw)


def result_in(entry: Mapping[str, Any], batch: Batch, fingerprint: str) -> ItemResult:
    """Return one item's result from its line of the results."""
    result = inside(entry, "result")
    key, kind = str(entry["custom_id"]), str(result.get("type"))
    if kind == "succeeded":
        return _succeeded(inside(result, "message"), batch, key, fingerprint)
    known: Mapping[str, Outcome] = {
        "errored": ("errored", _error(result)),
        "expired": ("expired", _EXPIRED),
        "canceled": ("canceled", _CANCELED),
    }
    unknown = f"a kind of result that is not known here ({one_line(kind, 40)}): update NightWatch"
    outcome, reason = known.get(kind, ("unreadable", unknown))
    return ItemResult(key=key, fingerprint=fingerprint, kind=outcome, reason=reason)


def result_of(reply: Reply, key: str, fingerprint: str) -> ItemResult:
    """Return one item's result from its reply, with the reply's usage."""
    told: dict[str, Any] = {"key": key, "fingerprint": fingerprint, "usage": reply.usage}
    if reply.stop in _STOPS:
        kind, reason = _STOPS[reply.stop]
        detail = one_line(reply.detail, LONGEST_WORDS)
        return ItemResult(**told, kind=kind, reason=f"{reason}: {detail}" if detail else reason)
    try:
        sight = read_first_sight(reply.turn.text)
    except GiveUp as wrong:
        cut = "the answer was cut off at its greatest length: " if reply.stop == "cut" else ""
        return ItemResult(**told, kind="unreadable", reason=f"{cut}{wrong}")
    bounded = {"likely_cause": sight.likely_cause[:LONGEST_CAUSE]}
    return ItemResult(**told, kind="answered", first_sight=sight.model_copy(update=bounded))


def _succeeded(message: Mapping[str, Any], batch: Batch, key: str, fingerprint: str) -> ItemResult:
    tier = inside(message, "usage").get("service_tier") or "batch"
    share = batch.share if tier == "batch" else 1.0
    usage = priced_by(batch.prices, batch.priced, usage_of(message, batch.model), share)
    content = message.get("content")
    if not isinstance(content, list) or not all(isinstance(item, Mapping) for item in content):
        reason = "the message of the result is none"
        return ItemResult(
            key=key, fingerprint=fingerprint, kind="unreadable", reason=reason, usage=usage
        )
    details = message.get("stop_details")
    sound = {**message, "stop_details": details if isinstance(details, Mapping) else None}
    return result_of(reply_of(sound, usage), key, fingerprint)


def _error(result: Mapping[str, Any]) -> str:
    error = inside(result, "error", "error") or inside(result, "error")
    kind = one_line(str(error.get("type") or "error"), 60)
    words = one_line(str(error.get("message") or "no reason given"), LONGEST_WORDS)
    return f"{kind}: {words}"


def _object(raw: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(value, dict) and isinstance(value.get("custom_id"), str)
    return value if whole else None


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
        return self._calls.account

    def ask_one(self, item: TriageItem, timeout: float) -> ItemResult:
        """Return the answer to one item of a batch at once, at full price."""
        reply = answer_to(lambda features: params(item, features), self._calls, timeout, GATE)
        return result_of(reply, item.key, item.fingerprint)

    def intents(self, items: Sequence[TriageItem], night: str, now: datetime) -> tuple[Batch, ...]:
        """Return the batches to submit, split by the service's limits.

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
        wanted = {item.key for item in intent.items}
        whole = body(encoded(item, features) for item in items if item.key in wanted)
        made = create(self._calls, whole)
        told = {"id": made["id"], "expires": moment(made.get("expires_at"))}
        return Batch.model_validate({**dict(intent), **told})

    def state(self, batch: Batch) -> BatchState:
        """Return the batch's progress; gone where the service does not know it."""
        try:
            return state_of(retrieve(self._calls, batch.id), self._clock.now())
        except NoSuchBatch as gone:
            return BatchState(status="gone", reason=str(gone))

    def results(self, batch: Batch) -> Iterator[ItemResult]:
        """Yield each item once; raises `TryLater` for broken off, `GiveUp` for lost results."""
        state = self.state(batch)
        if not state.readable:
            raise (GiveUp if state.status == "gone" else TryLater)(
                state.reason or "the batch has not ended: collect it later"
            )
        waiting = {item.key: item.fingerprint for item in batch.items}
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
        """Return batches created since then; raises `GiveUp` where the list is too long."""
        listed, after = list[ListedBatch](), ""
        for _ in range(MOST_PAGES):
            rows, has_more = page(self._calls, PAGE, after)
            batches = [self._listed(row) for row in rows]
            listed += [batch for batch in batches if batch.created >= since]
            if not has_more or not batches or batches[-1].created < since:
                return tuple(listed)
            after = batches[-1].id
        raise GiveUp(f"the service lists more than {MOST_PAGES * PAGE:,} batches since {since}")

    def is_of(self, id: str, intent: Batch) -> bool | None:
        """Tell whether its first result has one of the intent's keys; None before it has ended."""
        batch = intent.model_copy(update={"id": id})
        state = self.state(batch)
        if not state.readable:
            return False if state.status == "gone" else None
        with tempfile.TemporaryFile() as file:
            download(self._calls, id, file, MOST_LINE * 2, first_line=True)
            file.seek(0)
            first = next((line for line in lines(file) if line), None)
        return None if first is None else first["custom_id"] in {item.key for item in intent.items}

    def probe(self) -> str:
        """Say that there are batches; raises `GiveUp` where the server has none."""
        page(self._calls, 1)
        return f"Message Batches at {self._calls.address}, half the price, within 24 hours"

    def _read(self, batch: Batch, waiting: dict[str, str]) -> Generator[ItemResult, None, bool]:
        """Results of items that are waited for, which they are no more; whether that was all."""
        most = MOST_LINE * 2 + MEAN_LINE * len(batch.items)
        with tempfile.TemporaryFile() as file:
            whole = download(self._calls, batch.id, file, most)
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
