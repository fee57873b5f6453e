"""One Prefect server for many nights."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from flows.commands.night import STARTUP_SECONDS

STARTING = float(STARTUP_SECONDS)
NOTHING: Mapping[str, str] = {}
# Of a server that is asked for nothing but to remember runs: many nights at once are quicker.
QUIET: Mapping[str, str] = {
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_FOREMAN_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_PAUSE_EXPIRATIONS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_CANCELLATION_CLEANUP_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "500",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "500",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
}


@contextmanager
def prefect_server(folder: Path, more: Mapping[str, str] = NOTHING) -> Iterator[str]:
    """Start a server of its own; yields the address for PREFECT_API_URL."""
    port = free_port()
    address = f"http://127.0.0.1:{port}/api"
    environment = {
        **{name: v for name, v in os.environ.items() if not name.startswith("PREFECT_")},
        "PREFECT_HOME": str(folder),
        "PREFECT_API_URL": address,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        **more,
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
        while not answers(f"{address}/health"):
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


def answers(address: str) -> bool:
    """Tell whether anybody answers there."""
    try:
        with urllib.request.urlopen(address, timeout=2):
            return True
    except OSError:
        return False
