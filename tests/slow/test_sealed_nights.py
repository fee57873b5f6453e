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
