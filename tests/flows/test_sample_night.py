"""The sample night, computed: against the truth that nightwatch_core never sees."""

import json
import re
import socket
import subprocess
import threading
from dataclasses import dataclass
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
from nightwatch_core.report.view import as_markdown

ROOT = Path(__file__).resolve().parents[2]
TRUTH = json.loads((ROOT / "tests/core/sample/sample_truth.json").read_text(encoding="utf-8"))
pytestmark = [pytest.mark.xdist_group("prefect"), pytest.mark.usefixtures("prefect_server")]

CANARIES = {
    "NEW_RELIC_API_KEY": "NRAK-CANARY",
    "NEW_RELIC_ACCOUNT_ID": "1",
    "GITHUB_TOKEN": "ghp_CANARY",
    "GITHUB_REPO": "acme/shop",
    "SLACK_BOT_TOKEN": "xoxb-CANARY",
    "SLACK_CHANNEL": "C1",
    "ANTHROPIC_API_KEY": "sk-ant-CANARY",
}


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


@dataclass(frozen=True)
class Sample:
    """Two nights on the sample in one state folder, everything else connected to the listener."""

    state: Path
    first: RunReport
    second: RunReport
    calls: int  # that left for what was connected
    changed: bool  # whether the checkout is another one


@pytest.fixture(scope="module")
def sample(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    folder = tmp_path_factory.mktemp("sample")
    listener, before = Listener(), _git(ROOT, "status", "--porcelain")
    address = f"http://127.0.0.1:{listener.port}"
    urls = ("NEW_RELIC_API_URL", "GITHUB_API_URL", "SLACK_API_URL", "ANTHROPIC_BASE_URL")
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    own = {"NO_PROXY": "127.0.0.1,localhost", "NIGHTWATCH_STATE": str(folder / "state")}
    with (
        pytest.MonkeyPatch.context() as patch,
        temporary_settings({PREFECT_RESULTS_LOCAL_STORAGE_PATH: folder / "results"}),
    ):
        for name, value in {**dict.fromkeys((*urls, *proxies), address), **CANARIES, **own}.items():
            patch.setenv(name, value)
        first = nightly(max_errors=20, max_pull_requests=3, max_issues=9)
        second = nightly()
    changed = _git(ROOT, "status", "--porcelain") != before
    return Sample(folder / "state", first, second, listener.calls, changed)


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


def test_the_sample_night_finds_what_is_wrong(sample: Sample) -> None:
    assert sample.first.status == "complete"
    found = causes(sample.first)
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
    assert len(right_pull) >= 3
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


def test_a_second_sample_night_knows_and_opens_nothing_twice(sample: Sample) -> None:
    first, second = sample.first, sample.second
    assert first.night.id != second.night.id
    published = {receipt.number for receipt in first.receipts}
    assert [receipt.kind for receipt in first.receipts].count("issue") == 5
    assert not [r for r in second.receipts if r.kind == "issue" and r.number in published]
    assert [a for a in second.analyses if a.ending.kind == "reused"]
    assert all(a.confidence == "low" for a in second.analyses if a.ending.kind != "reused")
    outbox = [path.name for path in sample.state.glob("nights/*/outbox/issue-*.md")]
    assert len(outbox) == len(set(outbox))


def test_a_second_sample_night_has_read_most_of_its_code_before(sample: Sample) -> None:
    first, second = sample.first.code_reads, sample.second.code_reads
    assert first.known == 0
    assert first.saved > 0, "several steps read one file"
    assert second.known > second.different / 2
    assert "answered from earlier nights" in as_markdown(sample.second)


def test_drafts_are_real_branches_whose_tests_pass(sample: Sample, tmp_path: Path) -> None:
    drafts = [receipt for receipt in sample.first.receipts if receipt.kind == "pull"]
    assert {draft.status for draft in drafts} == {"done"}
    (code,) = sample.state.glob(f"sample/*/{TRUTH['application']}")
    listed = _git(code, "for-each-ref", "--format=%(refname:short)", "refs/heads/nightwatch")
    assert len(listed.split()) == len(drafts)
    for number, branch in enumerate(listed.split()):
        tree = tmp_path / f"tree{number}"
        _git(tmp_path, "clone", "--quiet", "--branch", branch, str(code), str(tree))
        done = subprocess.run(
            ["python3", "-m", "unittest", "discover", "--quiet"], cwd=tree, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()


def test_the_sample_never_leaves_the_machine(sample: Sample) -> None:
    assert sample.calls == 0
    assert sample.first.options.model == "rules"
    assert not sample.changed
    kept = b"".join(path.read_bytes() for path in sample.state.rglob("*") if path.is_file())
    assert b"CANARY" not in kept


def test_the_commands_show_what_was_kept(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTWATCH_STATE", str(sample.state))
    report = sample.second
    run = CliRunner().invoke
    assert report.night.id in run(app(), ["history"]).output
    shown = " ".join(run(app(), ["report"]).output.split())
    assert "without a cause" in shown
    assert all(service.state in ("well", "not asked") for service in report.health.services)
    named = run(app(), ["report", report.night.id]).output
    assert " ".join(named.split()) == shown
    assert "base-analyzer" in run(app(), ["agents"]).output
    found = run(app(), ["knowledge", "search", "AttributeError"])
    assert "AttributeError" in found.output
    checked = run(app(), ["check"])
    assert checked.exit_code == 0, checked.output


def test_commands_on_an_empty_state_say_so() -> None:
    run = CliRunner().invoke
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", run(app(), ["--version"]).output)
    assert run(app(), ["history"]).output.startswith("There is no night of this application yet")
    assert "No batch was submitted yet" in run(app(), ["batches"]).output
    assert isinstance(run(app(), ["report", "gone"]).exception, StopTheNight)
    assert "No lesson" in run(app(), ["knowledge", "search", "x"]).output
    assert run(app(), ["knowledge", "search", "x", "--limit", "0"]).exit_code == 2
    assert run(app(), ["check", "--source", "file"]).exit_code != 0


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    ).stdout
