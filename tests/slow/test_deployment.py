"""A real Prefect server and worker: deployments, runs on request, a schedule that fires."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from connected.prefect_server import answers, free_port
from git_repositories import Change, repository

from flows.commands.night import STARTUP_SECONDS

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
CHANNEL = "C0SECRET77"
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("deployment")]


class Prefect:
    """The `prefect` command against our own server."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.state, self.port = folder, folder / "state", free_port()
        address = f"http://127.0.0.1:{self.port}/api"
        self.address = address
        self.environment = {
            **os.environ,
            "PREFECT_HOME": str(folder / "prefect"),
            "PREFECT_API_URL": address,
            "PREFECT_SERVER_UI_API_URL": address,
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "5",
            "PREFECT_WORKER_QUERY_SECONDS": "3",
            "PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS": "5",
            "NIGHTWATCH_STATE": str(self.state),
            "NIGHTWATCH_CHECKOUT": str(ROOT),
            "NIGHTWATCH_RESULTS": str(folder / "results"),
        }

    def start(self, *arguments: str, name: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [BIN / "prefect", *arguments],
                env=self.environment,
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [BIN / "prefect", *arguments],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def ask(self, path: str, body: object) -> list[dict[str, object]]:
        request = urllib.request.Request(
            f"{self.address}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: list[dict[str, object]] = json.load(answer)
            return found

    def published(self) -> list[str]:
        return sorted(path.name for path in self.state.glob("nights/*/outbox/*.md"))

    def reports(self) -> dict[str, dict[str, object]]:
        paths = self.state.glob("nights/*/report.json")
        return {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def eventually(check: object, seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while not check():  # type: ignore[operator]
        assert time.monotonic() < end, what
        time.sleep(1)


@pytest.fixture(scope="module")
def prefect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prefect]:
    tool = Prefect(tmp_path_factory.mktemp("deployment"))
    server = tool.start(
        "server", "start", "--host", "127.0.0.1", "--port", str(tool.port), name="server"
    )
    running = [server]
    try:
        eventually(
            lambda: answers(f"{tool.address}/health"),
            float(STARTUP_SECONDS),
            "the server did not start",
        )
        template = _with_secret(tool)
        tool.run(
            *("work-pool", "create", "nightwatch", "--type", "process"),
            *("--base-job-template", str(template)),
        )
        file = _deployments(tool.folder)
        tool.run("--no-prompt", "deploy", "--all", "--prefect-file", str(file))
        running.append(tool.start("worker", "start", "--pool", "nightwatch", name="worker"))
        yield tool
    finally:
        for process in reversed(running):
            process.terminate()
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:  # Prefect's worker waits for runs it has begun
                process.kill()
                process.wait(timeout=60)


def test_every_deployment_is_registered(prefect: Prefect) -> None:
    listed = prefect.run("deployment", "ls")
    for name in ("nightly", "one-error", "act", "learn"):
        assert f"{name}/{name}" in listed


def test_a_scheduled_night_really_runs(prefect: Prefect) -> None:
    def scheduled_and_done() -> bool:
        done = {"flow_runs": {"state": {"type": {"any_": ["COMPLETED"]}}}, "limit": 50}
        return any(run["auto_scheduled"] for run in prefect.ask("/flow_runs/filter", done))

    eventually(scheduled_and_done, 240, "no scheduled run completed")
    prefect.run("--no-prompt", "deployment", "schedule", "pause", "--all")


def test_a_night_on_request_and_one_error_again(prefect: Prefect) -> None:
    chosen = ("--param", "max_errors=3", "--param", "force=true")
    prefect.run("deployment", "run", "nightly/nightly", *chosen, "--watch")
    night = next(
        report for report in prefect.reports().values() if report["options"]["max_errors"] == 3
    )
    assert len(night["analyses"]) == 3
    assert night["status"] == "complete"

    fingerprint = night["analyses"][0]["case"]["leader"]["fingerprint"]
    prefect.run(
        "deployment", "run", "one-error/one-error", "--param", f"error={fingerprint}", "--watch"
    )
    single = next(report for name, report in prefect.reports().items() if name.startswith("one-"))
    assert [a["case"]["leader"]["fingerprint"] for a in single["analyses"]] == [fingerprint]
    assert single["analyses"][0]["ending"]["kind"] == "answered"
    assert not [receipt for receipt in single["receipts"] if receipt["status"] == "done"]


def test_a_secret_block_named_by_the_pool_reaches_the_night_and_nobody_else(
    prefect: Prefect,
) -> None:
    told = "Not connected: slack, set SLACK_BOT_TOKEN."
    assert any(told in report["advice"] for report in prefect.reports().values())
    shown = (*prefect.ask("/deployments/filter", {}), *prefect.ask("/work_pools/filter", {}))
    assert CHANNEL not in json.dumps(shown)


def test_a_retry_repeats_no_analysis_and_publishes_nothing(prefect: Prefect) -> None:
    done = {"flow_runs": {"state": {"type": {"any_": ["COMPLETED"]}}}, "sort": "END_TIME_DESC"}
    run = next(r for r in prefect.ask("/flow_runs/filter", done) if "nightly-" in str(r["name"]))
    nights, published = set(prefect.reports()), prefect.published()
    prefect.run("flow-run", "retry", str(run["id"]))

    def retried() -> bool:
        body = {"flow_runs": {"id": {"any_": [run["id"]]}}}
        (now,) = prefect.ask("/flow_runs/filter", body)
        return now["run_count"] == 2 and now["state_name"] == "Completed"

    eventually(retried, 120, "the retry did not complete")
    steps = prefect.ask(
        "/task_runs/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}, "limit": 200}
    )
    cached = [s for s in steps if s["state_name"] == "Cached" and "analyse · " in str(s["name"])]
    assert len(cached) == 3
    assert set(prefect.reports()) == nights
    assert prefect.published() == published


def test_the_nights_of_two_applications_run_one_after_another(
    prefect: Prefect, tmp_path: Path
) -> None:
    code = {"till.py": "def pay(cart):\n    cart['total']\n"}
    repo = repository(tmp_path / "till", Change("Till", code))
    trace = 'Traceback (most recent call last):\n  File "till.py", line 2, in pay\n'
    (tmp_path / "till.log").write_text(
        f"2026-03-01 10:00:00 ERROR payment failed\n{trace}    cart['total']\nKeyError: 'total'\n",
        encoding="utf-8",
    )
    till = json.dumps({"errors": str(tmp_path / "till.log"), "repo": str(repo)})
    for chosen in ('{"force": true}', till, till):
        prefect.run("deployment", "run", "nightly/nightly", "--params", chosen)
    nightly = {"name": {"any_": ["nightly"]}}  # without the flows inside of them
    newest = {"flows": nightly, "sort": "EXPECTED_START_TIME_DESC", "limit": 3}

    def ended() -> bool:
        found = prefect.ask("/flow_runs/filter", newest)
        return all(run["end_time"] for run in found)

    eventually(ended, 300, "a night did not end")
    runs = prefect.ask("/flow_runs/filter", newest)
    assert [run["state_name"] for run in runs] == ["Completed"] * 3
    spans = sorted((str(run["start_time"]), str(run["end_time"])) for run in runs)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans)), spans


def test_the_page_of_the_ui_is_served(prefect: Prefect) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{prefect.port}/", timeout=30) as page:
        assert b"<title>" in page.read()


def _with_secret(tool: Prefect) -> Path:
    """A pool's template as deployments/README.md describes it, and the block that it names."""
    make = f"from prefect.blocks.system import Secret; Secret(value={CHANNEL!r}).save('channel')"
    subprocess.run([sys.executable, "-c", make], env=tool.environment, check=True, timeout=120)
    kind = ("get-default-base-job-template", "--type", "process")
    template = json.loads(tool.run("work-pool", *kind))
    named = {"SLACK_CHANNEL": "{{ prefect.blocks.secret.channel }}"}
    template["variables"]["properties"]["env"]["default"] = named
    file = tool.folder / "pool.json"
    file.write_text(json.dumps(template), encoding="utf-8")
    return file


def _deployments(folder: Path) -> Path:
    """The shipped deployments, the night every minute."""
    shipped = yaml.safe_load((ROOT / "deployments/prefect.yaml").read_text(encoding="utf-8"))
    nightly = next(item for item in shipped["deployments"] if item["name"] == "nightly")
    assert nightly["concurrency_limit"]["limit"] == 1
    assert nightly["schedules"][0]["timezone"]
    nightly["schedules"][0]["cron"] = "* * * * *"
    file = folder / "prefect.yaml"
    file.write_text(yaml.safe_dump(shipped), encoding="utf-8")
    return file
