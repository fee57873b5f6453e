"""The Message Batches endpoint: create, retrieve, list, results; nothing is decided here.

Results are read from the batch's own path at the address the key is for, whatever address the
service names.
"""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import IO, Any

import anthropic
import httpx2
from anthropic.types.messages import MessageBatch

from nightwatch_core.adapters.claude import client as library
from nightwatch_core.adapters.claude.calls import EXPECTED, Calls
from nightwatch_core.adapters.claude.features import inside, number
from nightwatch_core.adapters.claude.limits import COLLECTING, LISTING, OVERDUE, SUBMITTING
from nightwatch_core.errors import GiveUp, MayHaveArrived, NightWatchError, TryLater
from nightwatch_core.models.batch import BatchState

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

    end = time.monotonic() + SUBMITTING
    try:
        return calls.run(calls.patiently(once, end), end)
    except MayHaveArrived:
        raise
    except TryLater as late:
        raise (_unsure(late) if sent else late) from None


def retrieve(calls: Calls, id: str) -> Mapping[str, Any]:
    """One batch; raises `NoSuchBatch` where there is none."""

    async def once(client: Any) -> Mapping[str, Any]:
        try:
            return _batch(await client.messages.batches.retrieve(id))
        except anthropic.NotFoundError:
            raise NoSuchBatch(GONE) from None

    end = time.monotonic() + LISTING
    return calls.run(calls.patiently(once, end), end)


def page(calls: Calls, size: int, after: str = "") -> tuple[list[Mapping[str, Any]], bool]:
    """Batches in the order they were created, newest first, and whether there are more.

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
        rows = [_identified(one) for one in listed["data"] if isinstance(one, Mapping)]
        return rows, bool(listed.get("has_more"))

    end = time.monotonic() + LISTING
    return calls.run(calls.patiently(once, end), end)


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

    end = time.monotonic() + COLLECTING
    return calls.run(calls.patiently(once, end), end)


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
    """What the service says of a batch, in our words."""
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
    """An aware time; None where it is none.

    >>> moment("2026-11-21T02:00:00Z").isoformat(), moment("soon")
    ('2026-11-21T02:00:00+00:00', None)
    """
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _is_refused(problem: Exception) -> bool:
    """Whether it is certain that nothing came of the request."""
    if isinstance(problem, anthropic.APIStatusError):
        return 300 <= problem.status_code < 500 and problem.status_code != 408
    return isinstance(problem.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)


def _unsure(trouble: NightWatchError) -> MayHaveArrived:
    return MayHaveArrived(f"it is not known whether the batch arrived: {trouble}")


def _batch(made: object) -> Mapping[str, Any]:
    """The batch in an answer; raises `TryLater` where it holds none."""
    told = made.to_dict(mode="json") if isinstance(made, anthropic.BaseModel) else None
    if told is None:
        raise TryLater(_UNREADABLE)
    return _identified(told)


def _identified(batch: Mapping[str, Any]) -> Mapping[str, Any]:
    """The batch; raises `TryLater` where it has no id that can be asked for."""
    if not isinstance(batch.get("id"), str) or not _ID.fullmatch(batch["id"]):
        raise TryLater(_UNREADABLE)
    return batch


def _without(calls: Calls) -> str:
    return (
        f"{calls.address} has no Message Batches: run without --batch, or set ANTHROPIC_BASE_URL "
        "to a service that has them"
    )
