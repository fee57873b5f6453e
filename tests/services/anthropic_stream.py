"""How the stand-in says a message: as server-sent events, whole or broken."""

import json
import time

BROKEN = {"cut", "end", "truncated", "drip", "stall"}
SSE_ERRORS = {  # errors in a stream that began with status 200
    "sse error": "overloaded_error",
    "sse api": "api_error",
    "sse rate": "rate_limit_error",
    "sse timeout": "timeout_error",
    "sse invalid": "invalid_request_error",
    "sse key": "authentication_error",
    "sse unknown": "something_new_error",
}


class Stream:
    """A message as server-sent events, in chunks, whole or broken."""

    def __init__(self, handler, message, fault, bills=None):
        self._handler, self._message, self._fault = handler, message, fault
        self._bills = bills

    def write(self):
        handler = self._handler
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        events = list(_events(self._message))
        if self._fault == "no events":
            events = []
        if self._fault in BROKEN or self._fault.startswith("sse "):
            events = events[: len(events) - 3]  # before the stop reason
        bill = None
        for event in events:
            if self._bills and event["type"] == "message_start":
                bill = self._bills.open(self._message, event["message"]["usage"])
            self._event(event)
            if bill and event["type"] == "message_delta":
                self._bills.close(bill, self._message)
        self._end(handler)

    def _end(self, handler):
        """The end of the stream, as the fault wants it."""
        if self._fault.startswith("sse "):
            kind = SSE_ERRORS[self._fault]
            error = {"type": "error", "error": {"type": kind, "message": kind}}
            self._event(error)
        elif self._fault == "truncated":
            self._chunk('event: content_block_delta\ndata: {"type": "content_bl\n\n')
        elif self._fault == "stall":
            handler.service.closing.wait(20)
        while self._fault == "drip" and not handler.service.closing.is_set():
            self._event({"type": "ping"})
            time.sleep(0.05)
        if self._fault == "cut":
            handler.close_connection = True  # without the last chunk
        else:
            self._chunk("")

    def _event(self, event):
        self._chunk(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n")

    def _chunk(self, text):
        raw = text.encode()
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
        self._handler.wfile.flush()


def _events(message):
    begun = {**message, "content": [], "stop_reason": None, "stop_details": None}
    late = ("iterations", "output_tokens_details")
    begun["usage"] = {
        name: value for name, value in message["usage"].items() if name not in late
    } | {"output_tokens": min(message["usage"]["output_tokens"], 1)}
    begun.pop("context_management", None)
    yield {"type": "message_start", "message": begun}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        empty, deltas = _parts(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {name: message[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    used = {"output_tokens": message["usage"]["output_tokens"]}
    used |= {name: message["usage"][name] for name in late if name in message["usage"]}
    more = {"context_management": message.get("context_management")}
    yield {"type": "message_delta", "delta": ended, "usage": used, **more}
    yield {"type": "message_stop"}


def _parts(block):
    """An empty block, and what fills it."""
    if block["type"] == "thinking":
        delta = {"type": "signature_delta", "signature": block["signature"]}
        return {**block, "signature": ""}, [delta]
    if block["type"] == "compaction":
        told = {"content": block["content"], "encrypted_content": None}
        return {"type": "compaction", "content": None}, [{"type": "compaction_delta", **told}]
    if block["type"] == "text":
        halves = block["text"][:20], block["text"][20:]
        deltas = [{"type": "text_delta", "text": half} for half in halves if half]
        return {**block, "text": ""}, deltas
    raw = json.dumps(block["input"])
    halves = raw[:5], raw[5:]
    deltas = [{"type": "input_json_delta", "partial_json": half} for half in halves]
    return {**block, "input": {}}, deltas


def ended(content, reason, stop):
    """The turn as it is where something ends it early."""
    if not stop:
        return content, reason
    if stop in ("refusal", "model_context_window_exceeded"):
        return [], stop
    if stop == "pause_turn":
        return [{"type": "text", "text": "One moment."}], stop
    half = [
        {**one, "text": one["text"][: len(one["text"]) // 2 + 1]} if one["type"] == "text" else one
        for one in content
    ]
    return half, stop
