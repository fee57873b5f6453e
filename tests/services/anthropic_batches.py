"""The stand-in's Message Batches: kept, worked off by a clock of their own, and read as JSONL.

    server.batches.pass_by(hours=1)

A batch takes `per_item` for each of its requests, and expires after 24 hours with what it has then.
`fates` say what becomes of a request: by its custom_id, or by a text that its question holds.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

from services.anthropic_rules import Refused, bad

MOST_REQUESTS, MOST_BYTES = 100_000, 256 * 1024 * 1024
LIVES, KEPT = timedelta(hours=24), timedelta(days=29)
PATH = "/v1/messages/batches"
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NOT_BATCHED = ("stream", "speed", "fallbacks")
FAULTS = {  # of the whole call
    "lost",  # created, but the answer never comes
    "lost 500",  # created, but the answer is an error
    "cut results", "doubled results", "noise", "endless line",
}  # fmt: skip
_HALF = '{"severity": "high", "likely_cause": "Two code pa'


@dataclass
class Kept:
    """One batch: its requests, and when things happened to it."""

    id: str
    created: datetime
    requests: list
    takes: timedelta
    said: dict = field(default_factory=dict)  # results by number: they never change

    def done(self, now):
        """How many requests were worked off."""
        until = min(now, self.created + LIVES)
        each = self.takes or timedelta(0)
        whole = not each or until - self.created >= each * len(self.requests)
        return len(self.requests) if whole else int((until - self.created) / each)

    def ended(self, now):
        """When it ended; None while it has not."""
        worked = self.created + min(self.takes * len(self.requests), LIVES)
        return worked if now >= worked else None


@dataclass
class Batches:
    """All batches of one stand-in."""

    service: object
    now: datetime = datetime(2026, 11, 21, 2, tzinfo=UTC)
    per_item: timedelta = timedelta(0)
    fates: dict = field(default_factory=dict)
    kept: dict = field(default_factory=dict)
    reads: int = 0  # of results

    def pass_by(self, **time):
        """Let the service's time pass."""
        self.now += timedelta(**time)

    def create(self, body, size):
        """The answer to a new batch; what its requests ask for is looked at hours later."""
        requests = body.get("requests")
        if set(body) != {"requests"} or not isinstance(requests, list) or not requests:
            raise bad("requests: List should have at least 1 item")
        if size > MOST_BYTES:
            raise Refused(413, "request_too_large", "Request exceeds the maximum size")
        if len(requests) > MOST_REQUESTS:
            raise bad(f"requests: List should have at most {MOST_REQUESTS} items")
        for number, one in enumerate(requests):
            if set(one) != {"custom_id", "params"} or not isinstance(one["params"], dict):
                raise bad(f"requests.{number}: custom_id and params are required, and all")
            if not _ID.fullmatch(one["custom_id"]):
                raise bad(f"requests.{number}.custom_id: String should match '^[a-zA-Z0-9_-]…'")
        if len({one["custom_id"] for one in requests}) < len(requests):
            raise bad("requests: custom_id must be unique within a batch")
        id = f"msgbatch_{len(self.kept) + 1:04}"
        self.kept[id] = Kept(id, self.now, requests, self.per_item)
        return self.shown(self.kept[id])

    def batch(self, id):
        """One batch that is there."""
        if id not in self.kept:
            raise Refused(404, "not_found_error", f"message batch {id} not found")
        return self.kept[id]

    def shown(self, batch):
        """The batch as the service shows it: no word of what is in it."""
        ended, archived = batch.ended(self.now), self.now >= batch.created + KEPT
        address = f"https://api.anthropic.com{PATH}/{batch.id}/results"  # never where we are asked
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": self._counts(batch, ended),
            "created_at": _text(batch.created),
            "expires_at": _text(batch.created + LIVES),
            "ended_at": _text(ended) if ended else None,
            "cancel_initiated_at": None,
            "archived_at": _text(batch.created + KEPT) if archived else None,
            "results_url": address if ended and not archived else None,
        }

    def listed(self, query):
        """A page of all batches, newest first."""
        asked = {name: values[0] for name, values in parse_qs(query).items()}
        if set(asked) - {"limit"}:
            raise bad("this stand-in knows the first page alone")
        limit = int(asked.get("limit", 20))
        if not 1 <= limit <= 1_000:
            raise bad("limit: Input should be from 1 to 1000")
        order = sorted(self.kept.values(), key=lambda one: (one.created, one.id), reverse=True)
        page = order[:limit]
        return {
            "data": [self.shown(one) for one in page],
            "has_more": limit < len(order),
            "first_id": page[0].id if page else None,
            "last_id": page[-1].id if page else None,
        }

    def lines(self, id):
        """The results, one JSON object a line, in an order of their own."""
        batch = self.batch(id)
        if not batch.ended(self.now):
            raise bad("The batch has not ended: there are no results yet")
        if self.now >= batch.created + KEPT:
            raise Refused(404, "not_found_error", "The results of this batch are no longer kept")
        self.reads += 1
        return self._lines(batch)

    def _lines(self, batch):
        done = batch.done(self.now)
        order = sorted(range(len(batch.requests)), key=lambda n: _mixed(batch.requests[n]))
        for number in order:
            request = batch.requests[number]
            fate = self._fate(request)
            if fate == "left out":
                continue
            if fate == "torn line":
                yield b'{"custom_id": "' + request["custom_id"].encode() + b'", "result": {"ty\n'
                continue
            if number not in batch.said:
                batch.said[number] = self._result(request["params"], fate, number < done)
            line = {"custom_id": request["custom_id"], "result": batch.said[number]}
            yield json.dumps(line).encode() + b"\n"

    def _result(self, params, fate, done):
        if not done:
            return {"type": "expired"}
        if fate == "unknown":
            return {"type": "postponed", "until": "tomorrow"}
        if fate == "no message":
            return {"type": "succeeded", "message": {"content": "text", "usage": None}}
        try:
            if fate == "errored":
                raise bad("something of this request is wrong")
            if unknown := [name for name in NOT_BATCHED if name in params]:
                raise bad(f"{unknown[0]}: not supported in a batch")
            message = self.service.message(
                params, {}, fate if fate in ("refusal", "max_tokens") else ""
            )
        except Refused as no:
            error = {"type": "error", "error": {"type": no.kind, "message": no.words}}
            return {"type": "errored", "error": error}
        return {"type": "succeeded", "message": _fated(message, fate)}

    def _fate(self, request):
        if not self.fates:
            return ""
        said = json.dumps(request)
        return next((fate for text, fate in self.fates.items() if text in said), "")

    def _counts(self, batch, ended):
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        if not ended:
            return {**counts, "processing": len(batch.requests)}
        done = batch.done(self.now)
        fates = [self._fate(one) for one in batch.requests[:done]]
        failed = sum(fate == "errored" for fate in fates)
        return {**counts, "succeeded": done - failed, "errored": failed,
                "expired": len(batch.requests) - done}  # fmt: skip


def _fated(message, fate):
    usage = {**message["usage"], "service_tier": "standard" if fate == "standard" else "batch"}
    text = {"no json": _HALF, "no schema": '{"severity": "urgent"}', "empty": " "}.get(fate)
    content = message["content"] if text is None else [{"type": "text", "text": text}]
    told = {**message, "content": content, "usage": usage}
    if fate == "no usage":
        told.pop("usage")
    return told


def first_sight(body):
    """What this stand-in says at first sight: of nothing but the question's own words."""
    said = json.dumps(body["messages"])
    flagged = "checkout" in said.lower()
    sight = {
        "severity": "high" if flagged else "low",
        "likely_cause": "Unknown: the message is all there is.",
        "needs_deep_investigation": flagged,
        "category": "code_bug" if flagged else "unknown",
    }
    return [{"type": "text", "text": json.dumps(sight)}], "end_turn"


def asks_first_sight(body):
    """Whether that is what the answer's schema wants."""
    schema = body.get("output_config", {}).get("format", {}).get("schema", {})
    return "needs_deep_investigation" in schema.get("properties", {})


def answer(handler, method, path, query, body, size, fault):
    """Answer a request below `PATH`."""
    batches, rest = handler.service.batches, path.removeprefix(PATH).strip("/").split("/")
    id, action = rest[0], rest[1] if len(rest) > 1 else ""
    if method == "POST" and not id:
        made = batches.create(body, size)
        if fault == "lost":
            raise ConnectionResetError
        if fault == "lost 500":
            raise Refused(500, "api_error", "Internal server error")
        return handler.send(200, made)
    if method == "GET" and not id:
        return handler.send(200, batches.listed(query))
    if method == "GET" and action == "results":
        return _stream(handler, batches.lines(id), fault)
    if method == "GET" and not action:
        return handler.send(200, batches.shown(batches.batch(id)))
    raise Refused(404, "not_found_error", "Not found")


def _stream(handler, lines, fault):
    """JSONL in chunks, whole or broken."""
    handler.send_response(200)
    handler.send_header("content-type", "application/x-jsonl")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    for number, raw in enumerate(lines):
        if fault == "cut results" and number == 3:
            handler.chunk(raw[: len(raw) // 2])
            handler.close_connection = True  # without the last chunk
            return
        handler.chunk(raw)
        if fault == "doubled results":
            handler.chunk(raw)
        if fault == "noise" and number % 2:
            handler.chunk(b'\n[1]\n{"custom_id": 7}\n{"custom_id": "somebody-else"}\nnull\n')
        if fault == "endless line" and number == 1:
            handler.chunk(b"x" * 3_000_000 + b"\n")
    handler.chunk(b"")


def _mixed(request):
    return hashlib.sha256(request["custom_id"].encode()).hexdigest()


def _text(at):
    return at.isoformat().replace("+00:00", "Z")
