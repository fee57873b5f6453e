"""Prefect's server goes away in the middle of a night."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from connected.prefect_server import prefect_server

from nightwatch_core.models.report import RunReport

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow
SOON = 180.0  # seconds


def test_what_a_night_does_after_its_server_went_is_kept_and_said(tmp_path: Path) -> None:
    state, output = tmp_path / "state", tmp_path / "output"
    with ExitStack() as server, output.open("wb") as heard:
        address = server.enter_context(prefect_server(tmp_path / "prefect"))
        night = subprocess.Popen(
            [sys.executable, str(ROOT / "flows/nightly.py")],
            env={
                **os.environ,
                "NIGHTWATCH_STATE": str(state),
                "PREFECT_API_URL": address,
                "PREFECT_HOME": str(tmp_path / "home"),
                "PREFECT_CLIENT_MAX_RETRIES": "0",
            },
            stdin=subprocess.DEVNULL, stdout=heard, stderr=heard,
        )  # fmt: skip
        end = time.monotonic() + SOON
        while not [*state.glob("nights/*/outbox/issue-*.md")]:
            assert night.poll() is None, output.read_text()
            assert time.monotonic() < end, "nothing was published"
            time.sleep(0.01)
        server.close()
        try:
            code = night.wait(SOON)
        finally:
            night.kill()
    told = output.read_text()
    assert code == 1, told
    assert "Traceback" not in told
    assert "Prefect's server went away" in told
    (file,) = state.glob("nights/*/report.json")
    report = RunReport.model_validate_json(file.read_bytes())
    assert report.status == "degraded"
    assert {receipt.status for receipt in report.receipts} == {"done"}
    published = [
        *state.glob("nights/*/outbox/issue-*.md"),
        *state.glob("nights/*/outbox/pull-*.md"),
    ]
    assert len(report.receipts) == len(published) == 4
