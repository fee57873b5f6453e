"""A proxy before a stand-in that breaks one of its answers, or all from that one on.

    with FaultyService("github", server.url) as faulty:
        faulty.url                                  # instead of the stand-in's
        faulty.calls                                # what came, in order
        faulty.fault = Fault("reset", "POST /graphql", nth=2, lasting=True)

What it breaks is the transport or the answer: the stand-in behind it knows nothing of faults, and
keeps what reached it. Who follows a redirect comes to `elsewhere`, which notes what it was sent.
"""

import contextlib
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml
from services.serving import Quiet, Served

HELD = 60.0  # seconds that a silent service keeps a connection, unless its client leaves
A_LONG_TIME = "1000000000"  # seconds
SLOWLY = 0.15  # seconds until the first byte, and again until the last
JSON = {"Content-Type": "application/json"}
PAGE = {"Content-Type": "text/html"}
_PER_HOP = ("connection", "transfer-encoding", "content-length", "keep-alive")

# What each service says with an error, by what it is.
WORDS: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
    Path(__file__).with_suffix(".yml").read_text("utf-8")
)


class Fault(NamedTuple):
    """How a call is broken, which one of those alike, and whether all after it are, too."""

    kind: str
    call: str
    nth: int = 1
    lasting: bool = False


class Answered(NamedTuple):
    """An answer as it goes to the client."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Elsewhere(Served):
    """A machine that nobody was told to talk to; `heard` is what it was sent all the same."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def _handler(self) -> type[Quiet]:
        trap = self

        class Handler(Quiet):
            protocol_version = "HTTP/1.0"

            def do_GET(self) -> None:
                trap.heard.append(f"{self.command} {self.path} {dict(self.headers)}")
                _write(self, Answered(200, JSON, b"{}"))

            do_POST = do_PUT = do_CONNECT = do_GET

        return Handler


_OF_A_DRAFT = re.compile(r"/commits/[0-9a-f]{40}/")  # made tonight: it has another name every night


class FaultyService(Served):
    """The proxy of one stand-in."""

    def __init__(self, service: str, upstream: str, elsewhere: str = "") -> None:
        parts = urlsplit(upstream)
        self.service, self.calls, self.elsewhere = service, list[str](), elsewhere
        self.fault: Fault | None = None
        self.met = 0  # calls that were broken
        self._upstream, self._path = parts.netloc, parts.path
        self._lock = threading.Lock()
        self._over = threading.Event()

    def _handler(self) -> type[Quiet]:
        faulty = self

        class Handler(Quiet):
            def do_GET(self) -> None:
                faulty._serve(self)

            do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

        return Handler

    @property
    def address(self) -> str:
        return self.root.removeprefix("http://")

    @property
    def url(self) -> str:
        return f"{self.root}{self._path}"

    def __exit__(self, *_: object) -> None:
        self._over.set()
        super().__exit__()

    def heal(self) -> None:
        """Break nothing from here on, and count anew."""
        self.fault, self.met, self.calls = None, 0, []

    def _serve(self, http: BaseHTTPRequestHandler) -> None:
        body = _received(http)
        path = _OF_A_DRAFT.sub("/commits/<sha>/", http.path.partition("?")[0])
        call = f"{http.command} {path}"
        with self._lock:
            fault = self.fault
            self.calls.append(call)
            is_it = fault and call == fault.call and self.calls.count(call) == fault.nth
            broken = is_it or (fault and fault.lasting and self.met > 0)
            self.met += bool(broken)
        if not fault or not broken:
            _write(http, self._asked(http, body))
        elif fault.kind in _TRANSPORTS:
            _TRANSPORTS[fault.kind](self, http, body)
        else:
            _write(http, _ANSWERS[fault.kind](self, http, body))

    def _asked(self, http: BaseHTTPRequestHandler, body: bytes) -> Answered:
        """What the stand-in says, whose own address becomes ours."""
        upstream = HTTPConnection(self._upstream, timeout=HELD)
        headers = {k: v for k, v in http.headers.items() if k.lower() not in (*_PER_HOP, "host")}
        try:
            upstream.request(http.command, http.path, body or None, headers)
            answer = upstream.getresponse()
            said, ours = self._upstream.encode(), self.address.encode()
            whole = answer.read().replace(said, ours)
        finally:
            upstream.close()
        told = {k: v for k, v in answer.getheaders() if k.lower() not in _PER_HOP}
        moved = {name: value.replace(self._upstream, self.address) for name, value in told.items()}
        return Answered(answer.status, moved, whole)


def _received(http: BaseHTTPRequestHandler) -> bytes:
    if http.headers.get("Transfer-Encoding", "").lower() != "chunked":
        return http.rfile.read(int(http.headers.get("Content-Length") or 0))
    parts = []
    while size := int(http.rfile.readline().split(b";")[0], 16):
        parts.append(http.rfile.read(size))
        http.rfile.readline()
    http.rfile.readline()
    return b"".join(parts)


def _write(http: BaseHTTPRequestHandler, answer: Answered, upto: int | None = None) -> None:
    http.send_response(answer.status)
    for name, value in answer.headers.items():
        if name.lower() not in ("server", "date"):
            http.send_header(name, value)
    http.send_header("Content-Length", str(len(answer.body)))
    http.end_headers()
    with contextlib.suppress(OSError):
        http.wfile.write(answer.body[:upto])
        http.wfile.flush()


# Faults of the answer.

Answer = Callable[[FaultyService, BaseHTTPRequestHandler, bytes], Answered]


def _refused(status: int, said: str, **headers: Callable[[], str]) -> Answer:
    """An error in the service's own shape; Slack says most of them in a 200."""

    def answer(faulty: FaultyService, _http: object, _body: object) -> Answered:
        code = 200 if faulty.service == "slack" and status in (401, 403) else status
        told = {name.replace("_", "-"): value() for name, value in headers.items()}
        return Answered(code, JSON | told, json.dumps(WORDS[faulty.service][said]).encode())

    return answer


def _broken(status: int, *, stored: bool) -> Answer:
    """An error of whatever stands before the service."""

    def answer(faulty: FaultyService, http: BaseHTTPRequestHandler, body: bytes) -> Answered:
        if stored:
            faulty._asked(http, body)
        return Answered(status, PAGE, b"<html>Bad gateway</html>")

    return answer


def _said(text: bytes) -> Answer:
    return lambda _faulty, _http, _body: Answered(200, JSON, text)


def _wrong_types(faulty: FaultyService, http: BaseHTTPRequestHandler, body: bytes) -> Answered:
    """The answer as it would be, every value of another type."""
    whole = faulty._asked(http, body)
    kind = next((v for k, v in whole.headers.items() if k.lower() == "content-type"), "")
    if kind.startswith("text/event-stream"):
        lines = [_wrong_event(line) for line in whole.body.split(b"\n")]
        return whole._replace(body=b"\n".join(lines))
    try:
        value = json.loads(whole.body)
    except ValueError:
        return Answered(200, JSON, b'{"message": 5}')
    return whole._replace(body=json.dumps(_inner(value)).encode())


def _wrong_event(line: bytes) -> bytes:
    if not line.startswith(b"data: "):
        return line
    event = json.loads(line[6:])
    return b"data: " + json.dumps({**_inner(event), "type": event["type"]}).encode()


def _inner(value: Any) -> Any:
    """Wrong below the top, which stays what it is."""
    if isinstance(value, dict):
        return {name: _wrong(each) for name, each in value.items()}
    return [_wrong(each) for each in value] if isinstance(value, list) else _wrong(value)


def _wrong(value: Any) -> Any:
    match value:
        case bool():
            return "yes"
        case str():
            return [len(value)]
        case int() | float():
            return "many"
        case dict():
            return [1]
        case list():
            return {"0": "no list"}
    return "something"


def _errors(faulty: FaultyService, http: BaseHTTPRequestHandler, body: bytes) -> Answered:
    """200, and in it that nothing worked."""
    said = json.dumps(WORDS[faulty.service]["errors"])
    if faulty.service == "claude" and b'"stream"' in body:
        kind = {"Content-Type": "text/event-stream"}
        return Answered(200, kind, f"event: error\ndata: {said}\n\n".encode())
    return Answered(200, JSON, said.encode())


def _redirect(faulty: FaultyService, http: BaseHTTPRequestHandler, _body: bytes) -> Answered:
    return Answered(302, {"Location": faulty.elsewhere + http.path, **PAGE}, b"")


def _soon() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)


_ANSWERS: Mapping[str, Answer] = {
    "429 seconds": _refused(429, "429", Retry_After=lambda: "30"),
    "429 date": _refused(429, "429", Retry_After=_soon),
    "429 absurd": _refused(429, "429", Retry_After=lambda: A_LONG_TIME),
    "500": _broken(500, stored=False),
    "502 stored": _broken(502, stored=True),
    "invalid JSON": _said(b'{"not": json'),
    "wrong types": _wrong_types,
    "200 with errors": _errors,
    "empty": _said(b""),
    "redirect": _redirect,
    "401": _refused(401, "401"),
    "403": _refused(403, "403"),
}


# Faults of the transport.


def _timeout(faulty: FaultyService, http: BaseHTTPRequestHandler, _body: bytes) -> None:
    """Nothing is said until the client has left."""
    http.connection.settimeout(0.05)
    end = time.monotonic() + HELD
    while time.monotonic() < end and not faulty._over.is_set():
        try:
            if not http.connection.recv(1, socket.MSG_PEEK):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    http.close_connection = True


def _slow(faulty: FaultyService, http: BaseHTTPRequestHandler, body: bytes) -> None:
    whole = faulty._asked(http, body)
    time.sleep(SLOWLY)
    _write(http, whole, len(whole.body) // 2)
    time.sleep(SLOWLY)
    with contextlib.suppress(OSError):
        http.wfile.write(whole.body[len(whole.body) // 2 :])


def _reset(_faulty: FaultyService, http: BaseHTTPRequestHandler, _body: bytes) -> None:
    http.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    http.connection.close()
    http.close_connection = True


def _truncated(faulty: FaultyService, http: BaseHTTPRequestHandler, body: bytes) -> None:
    """As it would be, and the line is cut in the middle."""
    whole = faulty._asked(http, body)
    _write(http, whole, len(whole.body) // 2)
    http.close_connection = True


_TRANSPORTS: Mapping[str, Callable[[FaultyService, BaseHTTPRequestHandler, bytes], None]] = {
    "timeout": _timeout,
    "slow": _slow,
    "reset": _reset,
    "truncated": _truncated,
}
KINDS = tuple(kind for kind in (*_ANSWERS, *_TRANSPORTS) if kind not in ("401", "403"))
CREDENTIALS = ("401", "403")
