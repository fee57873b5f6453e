"""The carrier and the payment gateway, played on the loopback interface."""

import json
import socket
import struct
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, cast

MAINTENANCE = b"<html><body><h1>Back soon</h1></body></html>"
ABORT = struct.pack("ii", 1, 0)  # close without a goodbye: the other side sees a reset


class Services(ThreadingHTTPServer):
    """Both services behind one port; `mood` is how the carrier behaves."""

    daemon_threads = True
    mood = "well"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def start(self) -> None:
        Thread(target=self.serve_forever, daemon=True).start()

    def shutdown_request(self, request: Any) -> None:
        if self.mood == "reset":
            request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            self.close_request(request)
        else:
            super().shutdown_request(request)


class Answer(BaseHTTPRequestHandler):
    """One call."""

    def do_GET(self) -> None:
        mood = cast(Services, self.server).mood
        if mood == "slow":
            self.rfile.read(1)  # until the caller gives up
        elif mood == "maintenance":
            self._send(MAINTENANCE, "text/html")
        elif mood == "well":
            offer = {"service": "standard", "days": 2, "price": 490}
            parcel = {"status": "on its way"}
            self._send_json(offer if self.path.startswith("/v1/offers") else parcel)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["card"].startswith("tok_3ds"):
            page = f"https://bank.example.com/challenge/{asked['order']}"
            self._send_json({"status": "challenge", "challenge_url": page})
        else:
            reference = f"A-{asked['order']}"
            answer = {"status": "ok", "authorisation": reference, "amount": asked["amount"]}
            self._send_json(answer)

    def _send_json(self, value: object) -> None:
        self._send(json.dumps(value).encode("utf-8"), "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
