"""kill -9 in the middle of a night, then the night again: nothing repeated, nothing twice."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nightwatch_core.text import frontmatter

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


class Night:
    """`python flows/nightly.py` on the sample, in its own process group."""

    def __init__(self, folder: Path, prefect: str) -> None:
        self.state = folder / "state"
        self.environment = {
            **os.environ,
            "NIGHTWATCH_STATE": str(self.state),
            "NIGHTWATCH_CONCURRENCY": "1",
            "PREFECT_HOME": str(folder / "prefect"),
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_API_URL": prefect,
        }
        self.command = [sys.executable, str(ROOT / "flows/nightly.py")]

    def killed_when(self, seen: Callable[[], bool]) -> None:
        process = subprocess.Popen(
            self.command,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        end = time.monotonic() + 180
        while not seen():
            assert process.poll() is None, "the night ended before it could be killed"
            assert time.monotonic() < end, "the moment to kill never came"
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def again(self) -> dict[str, object]:
        done = subprocess.run(
            self.command, env=self.environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
        (path,) = self.state.glob("nights/*/report.json")
        report: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
        return report

    def records(self) -> dict[Path, int]:
        """Finished analyses; one that was torn by the kill counts as not finished."""
        found = self.state.glob("results/analysis/*/*")
        return {path: path.stat().st_mtime_ns for path in found if whole(path)}

    def outbox(self, kind: str) -> list[Path]:
        return sorted(self.state.glob(f"nights/*/outbox/{kind}-*.md"))

    def lessons(self) -> list[Path]:
        return sorted(self.state.glob("sample/knowledge/errors/*.md"))


def whole(path: Path) -> bool:
    try:
        return "result" in json.loads(path.read_bytes())
    except ValueError:
        return False


MOMENTS: dict[str, Callable[[Night], bool]] = {
    "three analyses are done": lambda night: len(night.records()) >= 3,
    "one issue is published": lambda night: len(night.outbox("issue")) >= 1,
    "the draft is published": lambda night: len(night.outbox("pull")) >= 1,
    "two lessons are kept": lambda night: len(night.lessons()) >= 2,
}


def test_a_night_that_is_killed_again_and_again_is_taken_up_each_time(
    tmp_path: Path, server: str
) -> None:
    night, before = Night(tmp_path, server), dict[Path, int]()
    for seen in MOMENTS.values():
        night.killed_when(lambda seen=seen: seen(night))  # type: ignore[misc]
        after = night.records()
        assert {path: after.get(path) for path in before} == before
        before = after
        assert before

    report = night.again()
    assert report["night"]["resumed"]
    assert report["status"] == "complete"
    after = night.records()
    assert {path: after[path] for path in before} == before
    assert len(after) == len(report["analyses"]) == 10

    keys = [
        frontmatter.read(path.read_text(encoding="utf-8"))[0]["key"]
        for kind in ("issue", "pull")
        for path in night.outbox(kind)
    ]
    assert len(keys) == len(set(keys)) == 4
    assert len(night.lessons()) == 10
    assert [receipt["kind"] for receipt in report["receipts"]] == ["issue"] * 3 + ["pull"]
