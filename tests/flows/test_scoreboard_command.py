"""`nightwatch scoreboard`: what it prints."""

import json
from pathlib import Path

import pytest
import typer
from core.report_fixture import complete
from core.scoreboard_shapes import drafts
from typer.testing import CliRunner

from flows.commands import memory as command
from nightwatch_core.models.knowledge import Scoreboard
from tasks.wiring import nights

app = typer.Typer()
app.command()(command.scoreboard)


@pytest.fixture(autouse=True)
def own_knowledge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTWATCH_KNOWLEDGE_DIR", str(tmp_path / "knowledge"))
    monkeypatch.setenv("NIGHTWATCH_STATE", str(tmp_path / "state"))


def test_it_says_when_there_will_be_something() -> None:
    done = CliRunner().invoke(app, [])
    assert done.exit_code == 0, done.output
    assert "No outcomes yet." in " ".join(done.output.split())


def test_drafts_count_as_the_newest_night_found_them() -> None:
    kept = nights()
    for at, report in enumerate((complete(outcomes=drafts("mo", "..")), complete(outcomes=()))):
        named = report.night.model_copy(update={"id": f"n{at}"})
        kept.keep(report.model_copy(update={"night": named}))
    done = CliRunner().invoke(app, ["--json"])
    assert Scoreboard.model_validate(json.loads(done.stdout)).drafts.known == 1
    assert "1 of 1 draft passed (100 %)" in " ".join(CliRunner().invoke(app, []).output.split())
