"""Exports of error trackers: class, message, time, count, people and frames of each."""

from pathlib import Path

import pytest
from adapters.files.export_cases import CASES, as_read


@pytest.mark.parametrize("name", CASES)
def test_what_a_night_reads(name: str, tmp_path: Path) -> None:
    assert as_read(CASES[name], tmp_path) == CASES[name]
