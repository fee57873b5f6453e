"""One Prefect server for many nights."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STARTING = 180.0  # seconds


@contextmanager
def prefect_server(folder: Path) -> Iterator[str]:
    """Start a server of its own; yields the address for PREFECT_API_URL."""
    port = free_port()
    address = f"http://127.0.0.1:{port}/api"
    environment = {
        **{name: v for name, v in os.environ.items() if not name.startswith("PREFECT_")},
        "PREFECT_HOME": str(folder),
        "PREFECT_API_URL": address,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    command = ["prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [Path(sys.executable).parent / command[0], *command[1:]],
            env=environment, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        end = time.monotonic() + STARTING
        while not _answers(f"{address}/health"):
            assert server.poll() is None, (folder / "server.log").read_text()
            assert time.monotonic() < end, "Prefect's server did not start"
            time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(60)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2):
            return True
    except OSError:
        return False
