"""`nightwatch replay` and `nightwatch bundle`: which nights they take, and what else they say."""

import os
from pathlib import Path

import pytest
from core.report_fixture import NOW, complete
from typer.testing import CliRunner

from flows.commands.app import app
from nightwatch_core.adapters.stores.journal_files import JournalFile
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.journal.decisions import Writes
from nightwatch_core.journal.sealing import Begun, write_begun, write_decisions
from nightwatch_core.journal.writer import Journal
from nightwatch_core.models.journal import RunHeader
from nightwatch_core.settings import settings
from tasks.wiring import journals


def kept(name: str, age: int = 0, *, ended: bool = True) -> None:
    """Write a journal of that name; those of a smaller `age` are newer."""
    file = JournalFile(settings().state / "journal", name)
    journal = Journal(file.write, RunHeader(run=name, began=NOW))
    night = complete().night.model_copy(update={"id": name})
    write_begun(journal, Begun(night=night), NOW, str)
    if ended:
        write_decisions(journal, complete(), Writes(), NOW, str)
    os.utime(file.path, (1_000 - age, 1_000 - age))


def run(*words: str) -> str:
    return CliRunner().invoke(app(), [*words], catch_exceptions=False).output


def test_a_run_of_one_error_is_kept_but_not_replayed() -> None:
    kept("one-ab12-20261120"), kept("n2", 1), kept("n1", 2)
    assert journals.bundle_named(settings(), "").manifest.night.id == "n2"
    assert "one-ab12-20261120" in run("bundle", "show", "one-ab12-20261120")
    with pytest.raises(StopTheNight, match="is a run of one error"):
        run("replay", "one-ab12-20261120")
    assert [journals.is_replayable(settings(), name) for name in ("n1", "n3")] == [True, False]
    assert not journals.is_replayable(settings(), "one-ab12-20261120")


def test_an_exported_night_is_the_same_wherever_it_is_read(tmp_path: Path) -> None:
    kept("n1")
    file = tmp_path / "a.bundle"
    assert str(file) in run("bundle", "export", "n1", str(file))
    digest = [line for line in run("bundle", "show", "n1").splitlines() if "Digest" in line]
    assert digest[0] in run("bundle", "show", str(file)).splitlines()


def test_what_is_not_there_or_never_ended_is_a_message(tmp_path: Path) -> None:
    with pytest.raises(GiveUp, match="no night is written down"):
        run("replay")
    kept("killed", ended=False)
    for name, said in (
        ("killed", "has no end in its journal"),
        ("unknown", "no journal of this night is there"),
        ("../../etc", "cannot name a night"),
    ):
        with pytest.raises(GiveUp, match=said):
            run("bundle", "show", name)
        with pytest.raises(GiveUp, match=said):
            run("bundle", "export", name, str(tmp_path / "a.bundle"))
