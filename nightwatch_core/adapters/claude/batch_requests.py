"""Items as requests of a batch: one turn each, no tools, and as many batches as the limits make."""

import json
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO

from nightwatch_core.adapters.claude.features import Features, Json, Tuning
from nightwatch_core.adapters.claude.request import request_for
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.batch import TriageItem

# Requests of a batch are hours apart, so what they share is kept for an hour; and nothing makes
# room in a conversation of one turn.
_KEPT = {"type": "ephemeral", "ttl": "1h"}
_PLAIN = Tuning(clear_at=None, compact_at=None)
_OPENING, _CLOSING = b'{"requests":[', b"]}"
_AROUND = len(_OPENING) + len(_CLOSING)


def params(item: TriageItem, features: Features) -> Json:
    """What is asked about one item, alone or in a batch; raises `GiveUp` where that cannot be.

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
    """One request of a batch as it is sent."""
    request = {"custom_id": item.key, "params": params(item, features)}
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()


def body(requests: Iterable[bytes]) -> bytes:
    """The whole batch as it is sent; nothing of it is in memory twice.

    >>> body([b"{}", b"{}"])
    b'{"requests":[{},{}]}'
    """
    whole = BytesIO()
    whole.write(_OPENING)
    for number, request in enumerate(requests):
        whole.write(b"," if number else b"")
        whole.write(request)
    whole.write(_CLOSING)
    return whole.getvalue()


def parts(
    items: Sequence[TriageItem], features: Features, most_requests: int, most_bytes: int
) -> Iterator[tuple[TriageItem, ...]]:
    """The items in their order, in as few batches as the limits allow.

    Raises `GiveUp` where keys are not unique or one item alone is too large.
    """
    if len({one.key for one in items}) < len(items):
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
