"""`nightwatch scoreboard`: what it prints."""

import io
import json
from pathlib import Path

import pytest
import typer
from core.scoreboard_shapes import record
from rich.console import Console
from typer.testing import CliRunner

from flows.commands import scoreboard as command
from nightwatch_core.memory.outcomes.scoreboard import scoreboard
from nightwatch_core.models.outcome import Scoreboard

app = typer.Typer()
app.command()(command.scoreboard)


@pytest.fixture(autouse=True)
def own_knowledge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTWATCH_KNOWLEDGE_DIR", str(tmp_path / "knowledge"))


def test_it_says_when_there_will_be_something() -> None:
    done = CliRunner().invoke(app, [])
    assert done.exit_code == 0, done.output
    assert "Nothing of what was published is decided yet." in " ".join(done.output.split())


def test_it_prints_json() -> None:
    done = CliRunner().invoke(app, ["--sample", "--json"])
    assert Scoreboard.model_validate(json.loads(done.stdout)) == scoreboard([])


@pytest.mark.parametrize("width", ["80", "120"])
def test_it_prints_both_tables(width: str) -> None:
    out = io.StringIO()
    board = scoreboard(record("mmmmmmmcc", model="[red]m[/red]"))
    command.draw(board, Console(file=out, width=int(width)))
    text = " ".join(out.getvalue().split())
    assert "Said high 9 times, merged 7, wrong 2." in text
    assert "with prior knowledge" in text
    assert "Nothing" not in text
    assert "[red]m[/red]" in text
    assert all(len(row) <= int(width) for row in out.getvalue().splitlines())
