"""Nights that were, run again from their bundles: offline, through the real flow.

Where a night decides otherwise on purpose, `python tests/bundles/golden_bundles.py` makes new ones.
"""

from pathlib import Path

import pytest
from bundles.golden_bundles import HERE, clean_environment, run

pytestmark = pytest.mark.slow


def replayed(tmp_path: Path, name: str, *given: str) -> str:
    """What the command says; whatever it is told, it ends well."""
    done = run(
        "replay", str(HERE / f"{name}.bundle"), *given, environment=clean_environment(tmp_path)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "state" / "nights").exists(), "a replay leaves nothing behind"
    return done.stdout


@pytest.mark.parametrize("name", ["rules", "model"])
def test_a_night_comes_to_the_same_decisions_byte_by_byte(tmp_path: Path, name: str) -> None:
    assert replayed(tmp_path, name).startswith("Equal: ")


def test_another_choice_shows_what_it_would_have_changed(tmp_path: Path) -> None:
    said = replayed(tmp_path, "model", "--with", "max_prs=5")
    assert "that night: 3 verdicts, 3 issues, 1 drafts" in said
    assert "now:        3 verdicts, 3 issues, 3 drafts" in said
    assert said.count("+ proposal pull") == 2
    ended = said.partition("The record ends here")[2].splitlines()[1:]
    assert all(line.startswith("  code.search ") for line in ended), "who uses what they change"
