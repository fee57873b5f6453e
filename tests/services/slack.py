"""A stand-in for Slack's Web API over real HTTP, as strict as the service, that can fail on demand.

    with Slack() as slack:
        slack.fail("chat.postMessage", "cut after", times=1)
        ...  # SLACK_API_URL=slack.url, SLACK_BOT_TOKEN=slack.token

It keeps channels, threads and edits; knows scopes; refuses what Slack refuses; and tells whom a
message would ping and where it would link (`pings`, `links`).
"""

import json
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl

from services.serving import Quiet, Served
from services.slack_rules import refused_blocks, texts, total

Answer = dict[str, Any]
ALL_SCOPES = frozenset(
    {"chat:write", "im:write", "im:history", "users:read", "users:read.email", "channels:read"}
    | {"channels:history", "groups:read", "groups:history", "metadata.message:read"}
)
# What each method needs; "history" and "info" depend on the kind of conversation.
SCOPES = {
    "auth.test": "",
    "chat.postMessage": "chat:write",
    "chat.update": "chat:write",
    "chat.getPermalink": "",
    "conversations.open": "im:write",
    "users.lookupByEmail": "users:read.email users:read",
    "conversations.info": "{}:read",
    "conversations.history": "{}:history",
    "conversations.replies": "{}:history",
}
JSON_ALLOWED = frozenset({"auth.test", "chat.postMessage", "chat.update", "conversations.open"})
EVENT_TYPE = re.compile(r"[a-z0-9_.-]{1,255}")


class Refusal(Exception):
    """Slack says no: HTTP 200, ok false."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(code)
        self.answer = {"ok": False, "error": code, **more}


@dataclass
class Channel:
    """A conversation; `kind` is channels, groups or im."""

    id: str
    name: str = "nightwatch"
    kind: str = "channels"
    member: bool = True
    archived: bool = False


@dataclass
class Posted:
    """A message as Slack holds it."""

    channel: str
    ts: str
    text: str
    blocks: list[Answer]
    thread_ts: str | None
    metadata: Answer | None
    parse: str
    unfurl: bool
    edits: int = 0
    deleted: bool = False


@dataclass
class Request:
    """What arrived."""

    method: str
    arguments: Answer
    token: str


@dataclass
class Failure:
    """How the next calls of a method fail."""

    kind: str  # an HTTP status, cut, truncated, html, or Slack's code
    after: bool  # the request was carried out first
    value: str = ""


@dataclass
class Slack(Served):
    """The workspace, and the server in front of it."""

    token: str = "xoxb-stand-in"
    scopes: frozenset[str] = ALL_SCOPES
    channels: dict[str, Channel] = field(default_factory=lambda: {"C0NIGHTS": Channel("C0NIGHTS")})
    people: dict[str, str] = field(default_factory=lambda: {"U0DANA": "dana@tidepool.example"})
    posted: list[Posted] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)  # every body, as it came
    page: int = 1_000
    metadata_shown: bool = True
    _failures: dict[str, deque[Failure]] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _ticks: int = 0

    def _handler(self) -> type[Quiet]:
        slack = self

        class Handler(Quiet):
            def do_POST(self) -> None:
                slack._serve(self)

            do_GET = do_POST

        return Handler

    @property
    def url(self) -> str:
        """What SLACK_API_URL would be."""
        return f"{self.root}/api/"

    def fail(self, method: str, kind: str, *, times: int = 1, value: str = "") -> None:
        """Let the next `times` calls of a method fail; "… after" carries the request out first."""
        bare = kind.removesuffix(" after")
        failure = Failure(bare, kind != bare, value)
        self._failures.setdefault(method, deque()).extend([failure] * times)

    def calls(self, method: str = "") -> list[Answer]:
        """The arguments of every call of a method that arrived."""
        return [each.arguments for each in self.requests if each.method.startswith(method)]

    def shown(self) -> list[Posted]:
        """Messages that people see, oldest first."""
        return [each for each in self.posted if not each.deleted]

    def pings(self) -> list[str]:
        """Whom the messages ping."""
        return [hit for each in self.shown() for hit in _pings(each)]

    def links(self) -> list[str]:
        """Addresses that people can click."""
        return [hit for each in self.shown() for hit in _links(each)]

    # -- HTTP

    def _serve(self, http: BaseHTTPRequestHandler) -> None:
        method = http.path.removeprefix("/api/")
        body = http.rfile.read(int(http.headers.get("Content-Length") or 0))
        self.received.append(body)
        kind = (http.headers.get("Content-Type") or "").partition(";")[0]
        token = (http.headers.get("Authorization") or "").removeprefix("Bearer ")
        with self._lock:
            arguments = _arguments(kind, body)
            self.requests.append(Request(method, arguments, token))
            queue = self._failures.get(method) or self._failures.get("*")
            failure = queue.popleft() if queue else None
            answer: Answer = {"ok": True}
            if failure is None or failure.after:
                answer = self._answer(method, kind, arguments, token)
        if failure:
            _break(http, failure, answer)
        else:
            _send(http, 200, json.dumps(answer), {"X-OAuth-Scopes": ",".join(sorted(self.scopes))})

    def _answer(self, method: str, kind: str, arguments: Answer, token: str) -> Answer:
        try:
            if not token:
                raise Refusal("not_authed")
            if token != self.token:
                raise Refusal("invalid_auth")
            if method not in SCOPES:
                raise Refusal("unknown_method", req_method=method)
            if kind == "application/json" and method not in JSON_ALLOWED:
                arguments = {}  # Slack ignores a JSON body there
            self._permit(SCOPES[method], arguments)
            name = "_" + method.replace(".", "_")
            return {"ok": True, **getattr(self, name)(arguments)}
        except Refusal as refusal:
            return refusal.answer

    def _permit(self, scope: str, arguments: Answer) -> None:
        channel = self.channels.get(str(arguments.get("channel", "")))
        needed = scope.format(channel.kind if channel else "channels")
        for each in needed.split():
            if each not in self.scopes:
                provided = ",".join(sorted(self.scopes))
                raise Refusal("missing_scope", needed=each, provided=provided)

    # -- methods

    def _auth_test(self, _: Answer) -> Answer:
        team = {"url": "https://tidepool.slack.com/", "team": "Tidepool", "user": "nightwatch"}
        return {**team, "team_id": "T0", "user_id": "U0BOT", "bot_id": "B0BOT"}

    def _users_lookupByEmail(self, arguments: Answer) -> Answer:
        for user, email in self.people.items():
            if email == arguments.get("email"):
                return {"user": {"id": user}}
        raise Refusal("users_not_found")

    def _conversations_open(self, arguments: Answer) -> Answer:
        user = arguments.get("users")
        if user not in self.people:
            raise Refusal("user_not_found")
        id = f"D0{str(user)[2:]}"
        self.channels.setdefault(id, Channel(id, "", "im"))
        return {"channel": {"id": id}}

    def _conversations_info(self, arguments: Answer) -> Answer:
        channel = self._channel(arguments, joined=False)
        told = {"is_member": channel.member, "is_archived": channel.archived}
        return {"channel": {"id": channel.id, "name": channel.name, **told}}

    def _chat_postMessage(self, arguments: Answer) -> Answer:
        channel = self._channel(arguments)
        thread = arguments.get("thread_ts")
        if thread is not None and self._message(channel.id, str(thread)) is None:
            raise Refusal("thread_not_found")
        message = Posted(
            channel=channel.id,
            ts=self._tick(),
            thread_ts=thread,
            unfurl=arguments.get("unfurl_links") is not False
            or arguments.get("unfurl_media") is not False,
            **_content(arguments, 40_000),
        )
        message.text = message.text[:40_000]
        self.posted.append(message)
        return {"channel": channel.id, "ts": message.ts, "message": self._told(message, True)}

    def _chat_update(self, arguments: Answer) -> Answer:
        channel = self._channel(arguments)
        message = self._message(channel.id, str(arguments.get("ts")))
        if message is None:
            raise Refusal("message_not_found")
        new = _content(arguments, 4_000)
        if "parse" not in arguments:
            new["parse"] = "client"
        new["metadata"] = new["metadata"] or message.metadata
        for name, value in new.items():
            setattr(message, name, value)
        message.edits += 1
        return {"channel": channel.id, "ts": message.ts, "text": message.text}

    def _chat_getPermalink(self, arguments: Answer) -> Answer:
        channel, ts = self._channel(arguments), str(arguments.get("message_ts"))
        if self._message(channel.id, ts) is None:
            raise Refusal("message_not_found")
        number = ts.replace(".", "")
        return {"permalink": f"https://tidepool.slack.com/archives/{channel.id}/p{number}"}

    def _conversations_history(self, arguments: Answer) -> Answer:
        channel = self._channel(arguments)
        return self._page(arguments, [m for m in self._in(channel.id) if m.thread_ts is None][::-1])

    def _conversations_replies(self, arguments: Answer) -> Answer:
        channel, ts = self._channel(arguments), str(arguments.get("ts"))
        if self._message(channel.id, ts) is None:
            raise Refusal("thread_not_found")
        return self._page(arguments, [m for m in self._in(channel.id) if ts in (m.ts, m.thread_ts)])

    # -- what it holds

    def _in(self, channel: str) -> list[Posted]:
        return [each for each in self.posted if each.channel == channel and not each.deleted]

    def _message(self, channel: str, ts: str) -> Posted | None:
        return next((each for each in self._in(channel) if each.ts == ts), None)

    def _channel(self, arguments: Answer, joined: bool = True) -> Channel:
        channel = self.channels.get(str(arguments.get("channel", "")))
        if channel is None or (channel.kind == "groups" and not channel.member):
            raise Refusal("channel_not_found")
        if joined and channel.archived:
            raise Refusal("is_archived")
        if joined and not channel.member and "chat:write.public" not in self.scopes:
            raise Refusal("not_in_channel")
        return channel

    def _page(self, arguments: Answer, messages: list[Posted]) -> Answer:
        oldest = float(arguments.get("oldest") or 0)
        start = int(arguments.get("cursor") or 0)
        size = min(self.page, int(arguments.get("limit") or 100))
        kept = [each for each in messages if float(each.ts) > oldest or each.thread_ts is None]
        payload = arguments.get("include_all_metadata") in ("1", "true", True)
        told = [self._told(each, payload) for each in kept[start : start + size]]
        more = start + size < len(kept)
        cursor = {"next_cursor": str(start + size) if more else ""}
        return {"messages": told, "has_more": more, "response_metadata": cursor}

    def _told(self, message: Posted, payload: bool) -> Answer:
        told: Answer = {"ts": message.ts, "text": message.text, "bot_id": "B0BOT"}
        if message.thread_ts:
            told["thread_ts"] = message.thread_ts
        if message.metadata and self.metadata_shown:
            whole = message.metadata
            told["metadata"] = whole if payload else {"event_type": whole["event_type"]}
        return told

    def _tick(self) -> str:
        self._ticks += 1
        return f"{int(time.time())}.{self._ticks:06d}"


def _arguments(kind: str, body: bytes) -> Answer:
    if kind == "application/json":
        given = json.loads(body or b"{}")
        return given if isinstance(given, dict) else {}
    return dict(parse_qsl(body.decode()))


def _content(arguments: Answer, longest: int) -> Answer:
    """The parts of a message that posting and updating share, checked."""
    text, blocks = arguments.get("text") or "", arguments.get("blocks") or []
    metadata = arguments.get("metadata")
    if not text and not blocks:
        raise Refusal("no_text")
    if not isinstance(text, str) or not isinstance(blocks, list):
        raise Refusal("invalid_arguments")
    if longest < 40_000 and len(text) > longest:
        raise Refusal("msg_too_long")
    if wrong := refused_blocks(blocks):
        raise Refusal("invalid_blocks", response_metadata={"messages": wrong})
    if total(blocks) > 12_000:
        raise Refusal("msg_blocks_too_long")
    if metadata is not None and not (
        isinstance(metadata, dict)
        and EVENT_TYPE.fullmatch(str(metadata.get("event_type", "")))
        and isinstance(metadata.get("event_payload"), dict)
        and len(json.dumps(metadata)) <= 8_000
    ):
        raise Refusal("invalid_metadata_format")
    parse = arguments.get("parse", "none")
    return {"text": text, "blocks": blocks, "metadata": metadata, "parse": parse}


def _break(http: BaseHTTPRequestHandler, failure: Failure, answer: Answer) -> None:
    whole = json.dumps(answer)
    if failure.kind == "cut":
        http.connection.shutdown(socket.SHUT_RDWR)
        http.close_connection = True
    elif failure.kind == "truncated":
        _send(http, 200, whole[: len(whole) // 2], {})
    elif failure.kind == "html":
        _send(http, 200, "<html>Welcome to the hotel's network</html>", {})
    elif failure.kind == "429":
        headers = {"Retry-After": failure.value} if failure.value else {}
        _send(http, 429, json.dumps({"ok": False, "error": "ratelimited"}), headers)
    elif failure.kind.isdigit():
        _send(http, int(failure.kind), failure.value or "upstream error", {})
    else:
        more = json.loads(failure.value) if failure.value else {}
        _send(http, 200, json.dumps({"ok": False, "error": failure.kind, **more}), {})


def _send(http: BaseHTTPRequestHandler, status: int, body: str, headers: dict[str, str]) -> None:
    data = body.encode()
    http.send_response(status)
    for name, value in headers.items():
        http.send_header(name, value)
    http.send_header("Content-Length", str(len(data)))
    http.end_headers()
    with suppress(ConnectionError):  # whoever asked may be gone
        http.wfile.write(data)


def _pings(message: Posted) -> Iterator[str]:
    for text, _ in _marked(message):
        yield from re.findall(r"<[!@][^>]*>", text)
    if message.parse in ("full", "client"):
        yield from re.findall(r"@(?:channel|here|everyone)\b", message.text)


def _links(message: Posted) -> Iterator[str]:
    for text, verbatim in _marked(message):
        bare = re.sub(r"```.*?```|`[^`\n]+`", "", text, flags=re.DOTALL)
        yield from re.findall(r"<([a-z]+:[^|>]+)", bare)
        if not verbatim:
            yield from re.findall(r"(?<![<|])https?://\S+", bare)


def _marked(message: Posted) -> Iterator[tuple[str, bool]]:
    """Every text that Slack reads as mrkdwn, and whether bare addresses stay text."""
    yield message.text, message.parse == "none"
    for each in texts(message.blocks):
        if each["type"] == "mrkdwn":
            yield each["text"], each.get("verbatim") is True
