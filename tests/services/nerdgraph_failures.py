"""Ways in which the stand-in for NerdGraph fails when it is told to."""

import json
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any


@dataclass
class _Failure:
    how: str
    match: str
    times: int
    given: dict[str, Any]


class Failures:
    """`fail(how, …)` names one of the methods `_fail_…`, which answers, or gives what to answer."""

    def __init__(self) -> None:
        self._failures: list[_Failure] = []
        self._lock = threading.Lock()

    def serve(self, body: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def fail(self, how: str, match: str = "", times: int = 1, **given: Any) -> None:
        """Fail the next `times` requests whose body holds `match`; `how` is a method `_fail_…`."""
        self._failures.append(_Failure(how, match, times, given))

    def _failure(self, raw: str) -> _Failure | None:
        for failure in self._failures:
            if failure.times > 0 and failure.match in raw:
                failure.times -= 1
                return failure
        return None

    def _fail_errors(
        self,
        _handler: Any,
        body: dict[str, Any],
        code: str = "SERVER_ERROR",
        name: str = "errorClass",
        path: list[str] | None = None,
        message: str = "",
    ) -> dict[str, Any]:
        """An error inside a 200: of everything, or of what stands at `path`."""
        error: dict[str, Any] = {"message": message or code, "extensions": {name: code}}
        if path is None:
            return {"data": None, "errors": [error]}
        document = self.serve(body)
        found = document["data"]
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = None
        return {**document, "errors": [{**error, "path": path}]}

    def _fail_answer(self, _handler: Any, _body: Any, document: Any) -> Any:
        return document

    def _fail_status(self, handler: BaseHTTPRequestHandler, _body: Any, status: int) -> None:
        send(handler, status, b"<html>no</html>")

    def _fail_429(
        self, handler: BaseHTTPRequestHandler, _body: Any, retry_after: str = "1"
    ) -> None:
        send(handler, 429, b"{}", {"Retry-After": retry_after})

    def _fail_cut(self, handler: BaseHTTPRequestHandler, _body: Any) -> None:
        """The connection ends in the middle of the body."""
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"data": {"act')
        handler.close_connection = True

    def _fail_truncated(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """A complete answer of half a document."""
        whole = json.dumps(self.serve(body)).encode()
        send(handler, 200, whole[: len(whole) // 2])

    def _fail_slow(
        self, handler: BaseHTTPRequestHandler, body: dict[str, Any], seconds: float
    ) -> None:
        time.sleep(seconds)
        send(handler, 200, json.dumps(self.serve(body)).encode())

    def _fail_drip(
        self, handler: BaseHTTPRequestHandler, _body: Any, seconds: float, pause: float = 0.02
    ) -> None:
        """A byte now and then, which no read timeout notices."""
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        try:
            for _ in range(int(seconds / pause)):
                handler.wfile.write(b" ")
                time.sleep(pause)
        except OSError:
            pass
        handler.close_connection = True

    def _fail_huge(self, handler: BaseHTTPRequestHandler, _body: Any, size: int) -> None:
        try:
            send(handler, 200, b" " * size)
        except OSError:
            handler.close_connection = True


def send(
    handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str] | None = None
) -> None:
    handler.send_response(status)
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
