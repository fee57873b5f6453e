"""A server on this machine, which answers as long as its `with` block runs."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Quiet(BaseHTTPRequestHandler):
    """A handler that keeps connections open, sends at once, and logs nothing."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # saves 40 ms a request

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is what some tests are about."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Served:
    """Starts with its `with` block; `_handler` gives the class that answers."""

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def root(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        raise NotImplementedError
