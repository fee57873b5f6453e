"""The same night on threads, on two processes of Dask and on Ray; and workers that know little.

Those have an environment and a folder of their own, and share the state folder with the night.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from bundles.golden_bundles import model_night, rules_night
from connected import shop
from connected.prefect_server import free_port
from connected.world import MODEL, World
from services import nerdgraph
from services.anthropic import Anthropic
from slow.test_turn_kills import COUNTED, ERROR, TURN, TURNS, investigating, said

from nightwatch_core.adapters.claude.features import priced
from nightwatch_core.adapters.stores.bundle_files import read_bundle
from nightwatch_core.models.answer import Usage

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
pytest.importorskip("prefect_ray", reason="the extra ray is not installed")
pytestmark = pytest.mark.slow
# Times, of which short ones are not told, and costs: every process asks for the model's features,
# and who asks first at the model's cache pays more. Every process reads code.
VARYING = re.compile(
    r"\d{4}-\d\d-\d\d[ T][\d:]{5}|[ (]+(\d+ min )?[\d.]+ s\b\)?|[0-9a-f]{40}"
    r"|(?<=_used: )[\d.]+|\$[\d.]+|^(- Work: |All services |- Sent to |- Code cache: ).*$",
    re.MULTILINE,
)
USD = 1.5  # of a night
KILLED_IN = 3  # the turn, counted from 1, in which a worker is killed


def written(state: Path) -> dict[str, str]:
    """What a night wrote for people, by file, without times and costs."""
    texts = [*state.glob("nights/*/outbox/*.md"), *state.glob("nights/*/report.md")]
    texts += state.glob("**/knowledge/**/*.*")
    return {str(path.relative_to(state)): VARYING.sub("", path.read_text()) for path in texts}


@pytest.mark.parametrize("night", [rules_night, model_night])
def test_a_night_is_the_same_on_every_runner(
    night: Callable[..., Path], tmp_path: Path, server: str
) -> None:
    nights, folder = {}, tmp_path / "night"
    for runner in ("threads", "dask", "ray"):
        folder.mkdir()
        bundle = night(folder, NIGHTWATCH_TASK_RUNNER=runner, PREFECT_API_URL=server)
        assert not read_bundle(bundle).manifest.missing
        nights[runner] = written(folder / "state")
        folder.rename(tmp_path / runner)
    assert any("outbox" in name for name in nights["threads"])
    assert nights["dask"] == nights["threads"]
    assert nights["ray"] == nights["threads"]


# A cluster whose processes have nothing of the night's but the same variables.


class Tap:
    """A port in front of another one; remembers what is sent to that."""

    def __init__(self, port: int) -> None:
        self.heard, self._port = bytearray(), port
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            caller, _ = self._door.accept()
            inner = socket.create_connection(("127.0.0.1", self._port))
            for pipe in ((caller, inner, self.heard), (inner, caller, bytearray())):
                threading.Thread(target=self._pass, args=pipe, daemon=True).start()

    @staticmethod
    def _pass(source: socket.socket, target: socket.socket, heard: bytearray) -> None:
        with source, target:
            while piece := source.recv(65_536):
                heard += piece
                target.sendall(piece)


@contextmanager
def cluster(folder: Path, environment: Mapping[str, str], workers: int = 2) -> Iterator[int]:
    """A scheduler and workers of one thread; yields the scheduler's port."""
    port = free_port()
    address, folder = f"tcp://127.0.0.1:{port}", folder / "elsewhere"
    folder.mkdir()
    commands = [["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]]
    commands += [["worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]] * workers
    with ExitStack() as stack:
        log = stack.enter_context((folder / "cluster.log").open("wb"))
        for command in commands:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *command],
                env=dict(environment), cwd=folder, stdout=log, stderr=log,
            )  # fmt: skip
            stack.callback(process.wait)
            stack.callback(process.kill)
        with distributed.Client(address, timeout=120, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=120)
        yield port


def test_no_secret_travels_with_a_task(tmp_path: Path, server: str) -> None:
    with World(tmp_path, prefect=server) as world, cluster(tmp_path, world.environment()) as port:
        tap = Tap(port)
        night = world.night(NIGHTWATCH_TASK_RUNNER=f"dask=tcp://127.0.0.1:{tap.port}")
        assert night.code == 0, night.output
        assert shop.BROKEN_BASKET.message.encode() in tap.heard
        secrets = (world.claude.key, world.github.token, world.slack.token, nerdgraph.KEY)
        assert not [secret for secret in secrets if secret.encode() in tap.heard]
        calls = {item["name"]: item["calls"] for item in night.report["health"]["services"]}
        assert calls["Claude"]["requests"] >= len(world.claude.bodies)


def spending(
    body: Any, reads: int, fixes: Mapping[str, str], number: int
) -> tuple[list[dict[str, Any]], str]:
    """It reads on and never answers, and writes as much as it may."""
    files = sorted(shop.running())
    call = {"type": "tool_use", "id": f"toolu_{number:04}", "name": "read_file"}
    text = {"type": "text", "text": "Hm. " * (body["max_tokens"] - 100)}
    return [text, {**call, "input": {"path": files[number % len(files)]}}], "tool_use"


def test_workers_together_spend_no_more_than_the_night_may(tmp_path: Path, server: str) -> None:
    with World(tmp_path, prefect=server) as world, cluster(tmp_path, world.environment()) as port:
        world.claude.mind = spending
        runner = f"dask=tcp://127.0.0.1:{port}"
        night = world.night("--cost-per-night", str(USD), NIGHTWATCH_TASK_RUNNER=runner)
        assert night.code == 3, night.output
        assert "(cost)" in night.output
        billed = world.claude.bills.totals
        used = priced(MODEL, Usage(**{name: billed[name] for name in COUNTED}))
        assert night.report["usage"]["cost"] == pytest.approx(used.cost)
        assert used.calls > len(shop.THREE)
        assert USD * 0.9 < (used.cost or 0.0) <= USD


class Killer(Anthropic):
    """It kills who asks for the third turn, and answers everybody else."""

    port = 0

    def fault(self, path: str) -> Any:
        if path == TURN and self.port and len(self.bodies) == KILLED_IN:
            address = f"tcp://127.0.0.1:{self.port}"
            with distributed.Client(address, set_as_default=False) as client:
                (worker,) = (name for name, tasks in client.processing().items() if tasks)
                (pid,) = client.run(os.getpid, workers=[worker]).values()
            os.kill(pid, signal.SIGKILL)
            self.fail("drop", path=path)
        return super().fault(path)


def test_the_analysis_of_a_killed_worker_goes_on_where_it_was(tmp_path: Path, server: str) -> None:
    with World(tmp_path, (ERROR,), server) as world:
        world.claude = world._open.enter_context(Killer(fixes=dict(shop.FIXED), mind=investigating))
        with cluster(tmp_path, world.environment()) as port:
            world.claude.port = port
            night = world.night(NIGHTWATCH_TASK_RUNNER=f"dask=tcp://127.0.0.1:{port}")
        assert night.code == 0, night.output
        asked = Counter(map(said, world.claude.bodies))
        assert sorted(asked.values()) == [*[1] * (TURNS - 1), 2], "only the turn it died in, again"
        (analysis,) = night.report["analyses"]
        assert analysis["iterations"] == TURNS
        assert night.report["usage"]["calls"] == world.claude.bills.totals["calls"]
        left = {item["service"]: item["bytes"] for item in night.report["health"]["left"]}
        assert left["Claude"] == sum(map(len, world.claude.received))
        assert not world.published_twice()
