"""`nightwatch scoreboard`: what it prints; and what every table prints for programs."""

import json
from pathlib import Path

import pytest
import typer
from core.report_fixture import HOSTILE, complete, hostile
from core.scoreboard_shapes import drafts
from typer.testing import CliRunner

from flows.commands import memory as command
from flows.commands.app import app as whole_app
from nightwatch_core.models.knowledge import Scoreboard
from nightwatch_core.settings import settings
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
    kept = nights(settings())
    for at, report in enumerate((complete(outcomes=drafts("mo", "..")), complete(outcomes=()))):
        named = report.night.model_copy(update={"id": f"n{at}"})
        kept.keep(report.model_copy(update={"night": named}))
    done = CliRunner().invoke(app, ["--json"])
    assert Scoreboard.model_validate(json.loads(done.stdout)).drafts.known == 1
    assert "1 of 1 draft passed (100 %)" in " ".join(CliRunner().invoke(app, []).output.split())


@pytest.mark.parametrize(
    "words",
    [
        *("history", "report", "batches", "manifest", "agents", "scoreboard"),
        *("ignore list", "ignore suggestions", "knowledge search import", "learnings import"),
    ],
)
def test_every_table_is_printed_as_values_that_no_terminal_obeys(words: str) -> None:
    kept, report = nights(settings()), hostile(HOSTILE)
    kept.keep(report)
    kept.finish(report)
    done = CliRunner().invoke(whole_app([words.split()[0]]), [*words.split(), "--json"])
    assert (done.exit_code, done.stdout.isascii()) == (0, True), done.output
    json.loads(done.stdout)
