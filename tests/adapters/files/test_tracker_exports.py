"""Exports of error trackers: class, message, time, count, people and frames of each."""

from pathlib import Path

import pytest
from adapters.files.export_cases import Case, as_read
from adapters.files.monitor_cases import CASES as MONITORS
from adapters.files.sentry_cases import CASES as SENTRY
from adapters.files.tracker_cases import CASES as TRACKERS

CASES = (*SENTRY, *TRACKERS, *MONITORS)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_a_night_reads(case: Case, tmp_path: Path) -> None:
    assert as_read(case, tmp_path)._asdict() == case._asdict()
