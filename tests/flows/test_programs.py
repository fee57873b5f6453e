"""The flow files as programs: what they say and how they end before Prefect starts."""

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from flows.commands.night import SERVER_FILE, running_server

ROOT = Path(__file__).resolve().parents[2]


def program(
    *arguments: str, folder: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("file", ["nightly", "one_error"])
@pytest.mark.slow
def test_a_flow_file_helps_from_any_folder(file: str, tmp_path: Path) -> None:
    done = program(str(ROOT / f"flows/{file}.py"), "--help", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "--max-errors" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("--max-errors", "0"), "max_errors", marks=pytest.mark.slow),
        pytest.param(("--since", "yesterday"), "24h", marks=pytest.mark.slow),
        (("--source", "newrelic"), "'newrelic' is not connected here"),
        (("--errors", "export.jsonl"), "--repo"),
        (("--errors", "nope.jsonl", "--repo", "."), "nope.jsonl does not exist"),
        (("--errors", "README.md", "--source", "sample"), "add --source file"),
        (("--errors", "README.md", "--repo", "/"), "/ is not in a git repository"),
        pytest.param(("--agent", "nope"), "there is no agent 'nope'", marks=pytest.mark.slow),
        pytest.param(("--model", "claude-opus-5-5"), "choose rules", marks=pytest.mark.slow),
    ],
)
def test_a_choice_that_cannot_work_ends_at_once_with_advice(
    arguments: tuple[str, ...], said: str
) -> None:
    done = program("-X", "importtime", str(ROOT / "flows/nightly.py"), *arguments)
    assert done.returncode == 1
    assert said in done.stderr
    assert "| prefect" not in done.stderr  # which takes seconds
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("known", "profile", "is_used"),
    [("nightwatch", "", True), ("others", "", False), ("nightwatch", "PREFECT_API_URL", False)],
)
def test_a_night_uses_the_running_server_if_it_is_ours(
    known: str, profile: str, is_used: bool, tmp_path: Path
) -> None:
    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == f"/api/work_pools/{known}" else 404)
            self.end_headers()

    with HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/api"
        (tmp_path / SERVER_FILE).write_text(f"{address}\n", encoding="utf-8")
        (tmp_path / "profiles.toml").write_text(f'{profile} = "x"', encoding="utf-8")
        assert running_server(tmp_path) == (address if is_used else "")
        server.shutdown()
    assert running_server(tmp_path) == ""  # nobody answers there any more


def test_a_bad_setting_names_itself() -> None:
    done = program(str(ROOT / "flows/nightly.py"), NIGHTWATCH_MAX_ISSUES="many")
    assert done.returncode == 1
    assert "max_issues" in done.stderr.lower()


@pytest.mark.slow
def test_a_home_prefect_cannot_write_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    done = program(str(ROOT / "flows/nightly.py"), PREFECT_HOME=str(tmp_path / "file/home"))
    assert done.returncode == 1
    assert "PREFECT_HOME" in done.stderr
