"""`nightwatch transcript`: what it prints and how it ends."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.commands.app import app
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.adapters.stores.state_folder import Transcripts
from nightwatch_core.models.conversation import RecordedResult, TranscriptEntry, TranscriptOpening

NAME = "v1:aaaa111122223333"
HOSTILE = "\x1b]0;owned\x07 [red]It[/red] broke \u202e"


@pytest.fixture
def kept(tmp_path: Path) -> Transcripts:
    store = Transcripts(tmp_path / "state" / "transcripts", SystemClock())
    for night in ("n1", "n2"):
        told = TranscriptOpening(night=night, fingerprint=NAME, error="KeyError in orders/show")
        store.keep(night, NAME, TranscriptEntry(kind="opening", opening=told))
        store.keep(night, NAME, TranscriptEntry(kind="user", text=HOSTILE))
        long = "\n".join(f"row {number}" for number in range(50))
        store.keep(
            night,
            NAME,
            TranscriptEntry(kind="results", results=(RecordedResult(name="blame", text=long),)),
        )
    return store


def test_it_prints_the_newest_one(kept: Transcripts) -> None:
    done = CliRunner().invoke(app(), ["transcript", "aaaa1"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{NAME}  KeyError in orders/show\nnight n2")
    assert "[red]It[/red] broke" in done.output
    assert not {"\x1b", "\x07", "\u202e"} & set(done.output)
    assert "row 49" not in done.output
    assert "In all: 0 calls" in done.output
