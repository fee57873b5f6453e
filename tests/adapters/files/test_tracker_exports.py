"""Exports of error trackers: class, message, time, count, people and frames of each."""

import pytest
from adapters.files.export_cases import CASES, as_read


@pytest.mark.parametrize("name", CASES)
def test_what_a_night_reads(name, tmp_path):
    assert as_read(CASES[name], tmp_path) == CASES[name]
