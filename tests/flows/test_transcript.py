"""`nightwatch transcript`: what it prints and how it ends."""

import os
from pathlib import Path

import pytest
from analysis_shapes import OPENING, case, group, says
from journal_runs import JournalRuns
from twins.reading import MemoryModel
from typer.testing import CliRunner

from flows.commands.app import app
from nightwatch_core.adapters.stores.journal_files import JournalFile
from nightwatch_core.models.conversation import ResultsTurn, ToolResult, UserTurn

NAME = "v1:aaaa111122223333"
HOSTILE = "\x1b]0;owned\x07 [red]It[/red] broke \u202e"


@pytest.fixture
def _kept(tmp_path: Path) -> None:
    long = "\n".join(f"row {number}" for number in range(50))
    result = ResultsTurn(results=(ToolResult(id="1", name="blame", text=long),))
    turns = UserTurn(text=HOSTILE), result
    of = case(group(fingerprint=NAME))
    for age, night in enumerate(("n1", "n2")):
        runs, file = JournalRuns(), JournalFile(tmp_path / "state" / "journal", night)
        asked = OPENING.model_copy(update={"case": of, "turns": turns})
        runs.model(MemoryModel([says("It did.")])).reply(asked, 5.0)
        file.write(runs.files[0])
        file.pack()
        (packed,) = file.path.parent.glob(f"{night}~*")
        os.utime(packed, (1_000 + age, 1_000 + age))


@pytest.mark.usefixtures("_kept")
def test_it_prints_the_newest_one() -> None:
    done = CliRunner().invoke(app(), ["transcript", "aaaa1"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{NAME}  {group().title}\nnight n2")
    assert "[red]It[/red] broke" in done.output
    assert not {"\x1b", "\x07", "\u202e"} & set(done.output)
    assert "row 49" not in done.output
    assert "It did." in done.output
    assert "In all: 0 calls" in done.output
    named = CliRunner().invoke(app(), ["transcript", "aaaa1", "--night", "n1"])
    assert "\nnight n1" in named.output
