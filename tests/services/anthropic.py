"""A stand-in for Anthropic's Messages, Models and token counting, over real HTTP.

    with Anthropic() as server:
        Claude(SecretStr(server.key), "claude-opus-5-5", server.url)

It refuses what the service refuses (`anthropic_rules`), counts tokens with a cache like the
service's, and answers only from the text it was sent (`anthropic_mind`). `server.requests` is what
it was asked, `server.bills.totals` what it bills; `server.fail("529", times=2)` makes it fail.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from services import anthropic_batches, anthropic_context, anthropic_mind, anthropic_models
from services.anthropic_billing import Bills, Cache, digest, unmarked
from services.anthropic_context import tokens
from services.anthropic_rules import Refused, bad, check
from services.anthropic_stream import BROKEN, SSE_ERRORS, Stream, ended
from services.serving import Quiet, Served

ANSWERS = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))
BREAKS = {
    *BROKEN, *SSE_ERRORS, "slow", "502", "redirect", "no json", "no events", "drop",
    *anthropic_batches.FAULTS,
}  # fmt: skip
STOPS = {"refusal", "max_tokens", "pause_turn", "model_context_window_exceeded", "no summary"}


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: dict


@dataclass
class _Fault:
    kind: str
    times: int
    after: int
    path: str
    said: dict


@dataclass
class Anthropic(Served):
    """`compatible` is a server of somebody else: no Models API, no thinking, no formats."""

    key: str = "sk-ant-test-0123456789"
    reads: int = 0  # asks for the file so often at once, although it was shown
    fixes: dict[str, str] = field(default_factory=dict)
    compatible: bool = False
    mind: Callable = anthropic_mind.turn
    requests: list[Request] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)  # every body, as it came

    def __post_init__(self):
        self._lock, self._faults, self._issued = threading.Lock(), [], {}
        self._cache, self._number, self._paused, self.bills = Cache(), 0, [], Bills()
        self.batches = anthropic_batches.Batches(self)
        self.closing = threading.Event()

    def __exit__(self, *_):
        self.closing.set()
        super().__exit__()

    @property
    def url(self):
        return self.root

    def _handler(self):
        return type("Handler", (_Handler,), {"service": self})

    def fail(self, kind, times=1, after=0, path="/v1/messages", **said):
        """Fail the next `times` requests below `path`, but for the first `after` of them.

        `said` are headers of the failing answer: `retry_after="2"`.
        """
        assert kind in {*ANSWERS, *BREAKS, *STOPS}, kind
        self._faults.append(_Fault(kind, times, after, path, said))

    @property
    def bodies(self):
        """The bodies of all requests for a turn, failed ones included."""
        return [one.body for one in self.requests if one.path == "/v1/messages"]

    def fault(self, path):
        """The fault that is due for this request, if any."""
        with self._lock:
            for fault in self._faults:
                if not path.startswith(fault.path) or fault.times <= 0:
                    continue
                if fault.after:
                    fault.after -= 1
                    return None
                fault.times -= 1
                return fault
        return None

    def model(self, name):
        if self.compatible:
            small = {"structured": False, "thinking": (), "efforts": ()}
            return anthropic_models.model(name, None, **small)
        found = anthropic_models.CATALOGUE.get(name)
        if found is None:
            raise Refused(404, "not_found_error", f"model: {name}")
        return found

    def message(self, body, headers, stop=""):
        """The next turn of the conversation; `stop` ends it so."""
        model = self._checked(body, headers)
        with self._lock:
            self._number += 1
            number = self._number
        shown, edits = anthropic_context.shown(body)
        if edit := anthropic_context.due(shown):
            content, reason, usage = self._summarised(shown, stop)
            if not edit.get("pause_after_compaction"):
                raise bad("this stand-in summarises only with pause_after_compaction")
        else:
            content, reason, usage = self._said(shown, body, stop, number)
        with self._lock:
            said = self._issued.setdefault(_before(body, len(body["messages"])), [])
            said.append(content)
            if reason in ("pause_turn", "compaction"):
                self._paused.append(content)
        told = {"type": "refusal", "category": "cyber", "explanation": "No."}
        return {
            "id": f"msg_{number:04}", "type": "message", "role": "assistant", "model": model["id"],
            "content": content, "stop_reason": reason, "stop_sequence": None,
            "usage": {**usage, "service_tier": "standard"},
            "stop_details": told if reason == "refusal" else None,
            "context_management": {"applied_edits": edits} if edits else None,
        }  # fmt: skip

    def _said(self, shown, body, stop, number):
        if anthropic_batches.asks_first_sight(body):
            content, reason = anthropic_batches.first_sight(body)
        else:
            content, reason = self.mind(shown, self.reads, self.fixes, number)
        content, reason = ended(content, reason, "" if stop == "no summary" else stop)
        thoughts = []
        if body.get("thinking") and content:
            signature = digest([number, _before(body, len(body["messages"]))])
            thoughts = [{"type": "thinking", "thinking": "", "signature": signature}]
        content = [*thoughts, *content]
        with self._lock:
            usage = self._cache.usage(shown, max(tokens(content), 1))
        if thoughts:
            usage["output_tokens_details"] = {"thinking_tokens": tokens(thoughts)}
        return content, reason, usage

    def _summarised(self, shown, stop):
        """A turn that is only a summary; what it took is left out of the totals."""
        text = None if stop == "no summary" else anthropic_mind.summary(shown)
        with self._lock:
            took = self._cache.usage(shown, max(tokens(text), 1))
        nothing = {name: 0 for name in took if name != "cache_creation"}
        content = [{"type": "compaction", "content": text, "encrypted_content": None}]
        entry = {"type": "compaction", **took}
        return content, "compaction", {**nothing, "iterations": [entry]}

    def _checked(self, body, headers):
        model = self.model(body.get("model", ""))
        if model["lifecycle"] == "retired":
            raise Refused(404, "not_found_error", f"model: {model['id']} is retired")
        plain = self.compatible
        if plain and isinstance(body.get("system"), list):
            body = {**body, "system": "\n".join(one["text"] for one in body["system"])}
        check(body, model, headers.get("anthropic-beta", ""), plain)
        if not plain:
            self._unedited(body)
        return model

    def _unedited(self, body):
        """Every turn of ours is where we said it, as we said it, and none is left to be ended."""
        last = body["messages"][-1]
        if last["role"] == "system":  # an effort, after what was said
            last = body["messages"][-2]
        if last["role"] == "assistant" and last["content"] not in self._paused:
            raise bad("This model does not support prefill: end with a user message")
        for number, message in enumerate(body["messages"]):
            if message["role"] != "assistant":
                continue
            said = self._issued.get(_before(body, number))
            if said is None:
                raise bad("Invalid signature in thinking block. The block is bound to a different "
                          "conversation")  # fmt: skip
            if message["content"] not in said:
                raise bad(f"messages.{number}: `thinking` blocks and all others in an assistant "
                          "turn must remain as they were in the original response")  # fmt: skip


class _Handler(Quiet):
    def do_GET(self):  # noqa: N802 - the library's name
        self._answer({})

    def do_POST(self):  # noqa: N802
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.service.received.append(raw)
        self._answer(json.loads(raw), len(raw))

    def _answer(self, body, size=0):
        headers = {name.lower(): value for name, value in self.headers.items()}
        path, _, query = self.path.partition("?")
        self.service.requests.append(Request(self.command, path, headers, body))
        fault = self.service.fault(path)
        try:
            self._admitted(headers)
            if fault and fault.kind in ANSWERS:
                status, kind, words, *details = ANSWERS[fault.kind]
                raise Refused(status, kind, words, **dict(*details))
            kind = fault.kind if fault else ""
            if path.startswith(anthropic_batches.PATH) and not self.service.compatible:
                self._broken(kind) or anthropic_batches.answer(
                    self, self.command, path, query, body, size, kind
                )
            else:
                self._broken(kind) or self._routed(path, body, headers, kind)
        except Refused as no:
            error = {"type": no.kind, "message": no.words}
            error |= {"details": no.details} if no.details else {}
            said = fault.said if fault else {}
            self.send(no.status, {"type": "error", "error": error}, **said)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _admitted(self, headers):
        given = headers.get("authorization", "").removeprefix("Bearer ")
        if self.service.key not in (given, headers.get("x-api-key")):
            words = f"invalid x-api-key {given}"  # a careless server: it tells the key
            raise Refused(401, "authentication_error", words)
        if "anthropic-version" not in headers:
            raise bad("anthropic-version: header is required")

    def _broken(self, fault):
        """Whether a fault of any call has answered."""
        if fault == "slow":
            self.service.closing.wait(20)
        if fault == "drop":
            raise ConnectionResetError
        if fault == "502":
            self._plain(502, "<html>Bad gateway</html>", "text/html")
        if fault == "redirect":
            self.send(307, {}, location="https://elsewhere.invalid/v1/messages")
        if fault == "no json":
            self._plain(200, "{not json", "application/json")
        return fault in ("502", "redirect", "no json")

    def _routed(self, path, body, headers, fault):
        if path == "/v1/messages":
            message = self.service.message(body, headers, fault if fault in STOPS else "")
            bills = self.service.bills
            if body.get("stream"):
                return Stream(self, message, fault, bills).write()
            bills.close(bills.open(message, message["usage"]), message)
            return self.send(200, message)
        if path.startswith("/v1/models/") and not self.service.compatible:
            return self.send(200, self.service.model(path.rpartition("/")[2]))
        raise Refused(404, "not_found_error", "Not found")

    def send(self, status, value, **headers):
        self._plain(status, json.dumps(value), "application/json", **headers)

    def chunk(self, raw):
        """A piece of an answer in chunks; an empty one ends it."""
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))

    def _plain(self, status, text, kind, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def _before(body, end):
    """Names everything a turn is bound to: prompt, tools and the messages before it."""
    said = [unmarked(body.get("system")), body.get("tools"), unmarked(body["messages"][:end])]
    return digest(said)
