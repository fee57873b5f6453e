"""How the stand-in says a message: as server-sent events, whole or broken."""

import json
import time


class Stream:
    """A message as server-sent events, in chunks, whole or broken."""

    def __init__(self, handler, message, fault):
        self._handler, self._message, self._fault = handler, message, fault

    def write(self):
        handler = self._handler
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        events = list(_events(self._message))
        if self._fault in ("cut", "end", "sse error", "truncated", "drip"):
            events = events[: len(events) - 3]  # before the stop reason
        for event in events:
            self._event(event)
        if self._fault == "sse error":
            error = {"type": "overloaded_error", "message": "Overloaded"}
            self._event({"type": "error", "error": error})
        elif self._fault == "truncated":
            self._chunk('event: content_block_delta\ndata: {"type": "content_bl\n\n')
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
    begun["usage"] = {**message["usage"], "output_tokens": 1}
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
    yield {"type": "message_delta", "delta": ended, "usage": used}
    yield {"type": "message_stop"}


def _parts(block):
    """An empty block, and what fills it."""
    if block["type"] == "thinking":
        delta = {"type": "signature_delta", "signature": block["signature"]}
        return {**block, "signature": ""}, [delta]
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
