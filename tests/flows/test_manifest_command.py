"""`nightwatch manifest`: what it prints, and how it ends."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.commands.app import app
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.adapters.stores.database import NightStore
from nightwatch_core.adapters.stores.journal_files import JournalFile
from nightwatch_core.adapters.stores.traffic import Outgoing
from nightwatch_core.errors import StopTheNight
from nightwatch_core.journal.writer import Journal
from nightwatch_core.models.errors import Window
from nightwatch_core.models.report import Night

AT = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outgoing:
    state = tmp_path / "state"
    monkeypatch.setenv("NIGHTWATCH_STATE", str(state))
    window = Window(since=AT, until=AT)
    NightStore(state, SystemClock()).begin("n1", lambda id, _: Night(id=id, window=window, now=AT))
    outgoing = Outgoing()
    outgoing.begin(Journal(JournalFile(state / "journal", "n1").write).add, str)
    return outgoing


def printed(*arguments: str) -> str:
    done = CliRunner().invoke(app(), ["manifest", *arguments], catch_exceptions=False)
    return done.output


def test_a_night_is_listed_and_each_text_printed(sent: Outgoing) -> None:
    assert "No requests were sent to other services in n1." in printed()
    sent.sent("Claude", "POST", "https://api.example/v1/messages", b'{"hello":\n1}\n')
    sent.sent("GitHub", "GET", "https://git.example/\x1b[31mred")
    first, second, total = printed("n1").splitlines()
    number, _, _, size, _, _, *to = first.split()
    assert (number, size) == ("1", "13")
    assert to == ["Claude:", "POST", "https://api.example/v1/messages"]
    assert second.endswith("GitHub: GET https://git.example/red")
    assert total == "2 requests with 13 bytes sent to other services in n1."
    assert printed("--text", "1") == '{"hello":\n1}\n'


def test_what_is_not_there_is_a_message(sent: Outgoing) -> None:
    for arguments in (["n2"], ["--text", "1"], ["n1", "--text", "3"]):
        with pytest.raises(StopTheNight, match="no night|no text"):
            printed(*arguments)
    assert "No requests were sent to other services outside nights." in printed("--others")
