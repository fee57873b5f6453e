"""The sample night, computed: against the truth that nightwatch_core never sees."""

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prefect.settings import PREFECT_RESULTS_LOCAL_STORAGE_PATH, temporary_settings
from typer.testing import CliRunner

from flows.commands.app import app
from flows.nightly import nightly
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.report import RunReport

ROOT = Path(__file__).resolve().parents[2]
TRUTH = json.loads((ROOT / "tests/core/sample/sample_truth.json").read_text(encoding="utf-8"))
pytestmark = [pytest.mark.xdist_group("prefect"), pytest.mark.usefixtures("prefect_server")]


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    with temporary_settings({PREFECT_RESULTS_LOCAL_STORAGE_PATH: tmp_path / "results"}):
        yield tmp_path / "state"


class Listener:
    """A loopback port that counts who calls."""

    def __init__(self) -> None:
        self.calls = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        while True:
            caller, _ = self._socket.accept()
            self.calls += 1
            caller.close()


def causes(report: RunReport) -> dict[str, tuple[dict[str, Any], Analysis]]:
    """Analyses by the id of the error they are about."""
    by_group = {
        (group["class"], group["transaction"]): error
        for error in TRUTH["errors"]
        for group in error["groups"]
    }
    found: dict[str, tuple[dict[str, Any], Analysis]] = {}
    for analysis in report.analyses:
        group = analysis.case.leader
        error = by_group.get((group.error_class, group.transaction))
        if error:
            found.setdefault(error["id"], (error, analysis))
    return found


def test_the_sample_night_finds_what_is_wrong(state: Path) -> None:
    report = nightly(max_errors=20, max_pull_requests=3, max_issues=9)
    assert report.status == "complete"
    found = causes(report)
    right_place = {
        name
        for name, (error, analysis) in found.items()
        if any(e.verified and e.path == error["place"]["path"] for e in analysis.evidence)
    }
    assert set(found) >= {error["id"] for error in TRUTH["errors"] if not error["noise"]}
    assert len(right_place) >= 9
    right_pull = {
        name
        for name, (error, analysis) in found.items()
        if error["introduced_by"]
        and analysis.suspects
        and analysis.suspects[0].pull.number == error["introduced_by"]["pull_request"]
    }
    assert len(right_pull) >= 5
    edits = {
        name: [(edit.path, edit.old, edit.new) for edit in analysis.fix]
        for name, (error, analysis) in found.items()
        if analysis.fix
    }
    mechanical = {error["id"] for error in TRUTH["errors"] if error["fix"]}
    assert set(edits) == mechanical
    for error, analysis in found.values():
        if analysis.fix:
            assert error["fix"]["path"] == analysis.fix[0].path
            assert error["fix"]["new"].split("(")[0] in analysis.fix[0].new


def test_a_second_sample_night_knows_and_opens_nothing_twice(state: Path) -> None:
    first, second = nightly(), nightly()
    assert first.night.id != second.night.id
    assert [r.kind for r in first.receipts].count("issue") == 3
    assert not [r for r in second.receipts if r.kind == "issue" and r.number in _numbers(first)]
    known = [a for a in second.analyses if a.ending.kind == "reused"]
    assert known
    assert all(a.confidence == "low" for a in second.analyses if a.ending.kind != "reused")
    outbox = [path.name for path in state.glob("nights/*/outbox/issue-*.md")]
    assert len(outbox) == len(set(outbox))


def test_the_draft_is_a_real_branch_whose_tests_pass(state: Path, tmp_path: Path) -> None:
    report = nightly()
    drafts = [receipt for receipt in report.receipts if receipt.kind == "pull"]
    assert [draft.status for draft in drafts] == ["done"]
    code = state / "sample" / TRUTH["application"]
    branches = _git(code, "for-each-ref", "--format=%(refname:short)", "refs/heads/nightwatch")
    tree = tmp_path / "tree"
    _git(tmp_path, "clone", "--quiet", "--branch", branches.split()[0], str(code), str(tree))
    done = subprocess.run(
        ["python3", "-m", "unittest", "discover", "--quiet"], cwd=tree, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()


def test_the_sample_never_leaves_the_machine(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener()
    address = f"http://127.0.0.1:{listener.port}"
    for name in ("NEW_RELIC_API_URL", "GITHUB_API_URL", "SLACK_API_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, address)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, address)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    secrets = {
        "NEW_RELIC_API_KEY": "NRAK-CANARY",
        "NEW_RELIC_ACCOUNT_ID": "1",
        "GITHUB_TOKEN": "ghp_CANARY",
        "GITHUB_REPO": "acme/shop",
        "SLACK_BOT_TOKEN": "xoxb-CANARY",
        "SLACK_CHANNEL": "C1",
        "ANTHROPIC_API_KEY": "sk-ant-CANARY",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    before = _git(ROOT, "status", "--porcelain")
    report = nightly()
    assert report.status == "complete"
    assert listener.calls == 0
    assert report.options.model == "rules"
    assert _git(ROOT, "status", "--porcelain") == before
    kept = b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())
    assert b"CANARY" not in kept


def _numbers(report: RunReport) -> set[int | None]:
    return {receipt.number for receipt in report.receipts}


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    ).stdout


def test_the_commands_show_what_was_kept(state: Path) -> None:
    report = nightly(max_errors=3)
    run = CliRunner().invoke
    assert report.night.id in run(app(), ["history"]).output
    assert "root cause" in run(app(), ["report"]).output
    assert "root cause" in run(app(), ["report", report.night.id]).output
    assert "base-analyzer" in run(app(), ["agents"]).output
    found = run(app(), ["knowledge", "search", "AttributeError", "--sample"])
    assert "AttributeError" in found.output
    checked = run(app(), ["check"])
    assert checked.exit_code == 0, checked.output


def test_commands_on_an_empty_state_say_so(state: Path) -> None:
    run = CliRunner().invoke
    assert run(app(), ["history"]).exit_code == 0
    assert isinstance(run(app(), ["report", "gone"]).exception, StopTheNight)
    assert "No lesson" in run(app(), ["knowledge", "search", "x", "--sample"]).output
    assert run(app(), ["knowledge", "search", "x", "--sample", "--limit", "0"]).exit_code == 2
    assert run(app(), ["check", "--source", "file"]).exit_code != 0
