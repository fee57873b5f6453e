"""Lines of a batch's results, and replies to one item alone, as results with what they cost."""

import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from nightwatch_core.adapters.claude.features import inside
from nightwatch_core.adapters.claude.limits import LONGEST_CAUSE, LONGEST_WORDS, MOST_LINE
from nightwatch_core.adapters.claude.prices import priced_by
from nightwatch_core.adapters.claude.reply import reply_of, usage_of
from nightwatch_core.analysis.first_sights import read_first_sight
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.batch import Batch, ItemResult, ResultKind
from nightwatch_core.models.conversation import Reply
from nightwatch_core.models.usage import Usage
from nightwatch_core.text.escaping import line as one_line

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
    """The objects of a JSONL file; None for a line that is none, is torn, or is far too long."""
    while raw := file.readline(MOST_LINE):
        torn = False
        while not raw.endswith(b"\n") and (more := file.readline(MOST_LINE)):
            torn, raw = True, more
        if not torn and not raw.strip():
            continue
        yield None if torn else _object(raw)


def result_in(entry: Mapping[str, Any], batch: Batch, fingerprint: str) -> ItemResult:
    """What came of one item, from its line of the results."""
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
    """What came of one item, from the reply to it; its usage is the reply's."""
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
    usage = _usage(message, batch)
    content = message.get("content")
    if not isinstance(content, list) or not all(isinstance(one, Mapping) for one in content):
        reason = "the message of the result is none"
        return ItemResult(
            key=key, fingerprint=fingerprint, kind="unreadable", reason=reason, usage=usage
        )
    details = message.get("stop_details")
    sound = {**message, "stop_details": details if isinstance(details, Mapping) else None}
    return result_of(reply_of(sound, usage), key, fingerprint)


def _usage(message: Mapping[str, Any], batch: Batch) -> Usage:
    """What it took, at the price of the day it was submitted; half of it, unless it says so."""
    tier = inside(message, "usage").get("service_tier") or "batch"
    share = batch.share if tier == "batch" else 1.0
    return priced_by(batch.prices, batch.priced, usage_of(message, batch.model), share)


def _error(result: Mapping[str, Any]) -> str:
    """The service's words; the error is inside an answer of its own."""
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
