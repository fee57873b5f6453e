"""10,000 errors in one batch over HTTP: each submitted once, each collected, in bounded memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
TESTS = Path(__file__).resolve().parents[1]


def test_ten_thousand_errors_are_submitted_and_collected() -> None:
    command = [sys.executable, str(TESTS / "benchmarks" / "batches.py"), "10000"]
    ended = subprocess.run(command, capture_output=True, check=True, timeout=480)  # noqa: S603
    told = json.loads(ended.stdout)
    assert (told["batches"], told["submitted_again"], told["waiting"]) == (1, 0, 10_000)
    assert told["kinds"] == {"answered": 10_000}
    assert told["bytes_sent"] > 50_000_000
    # What is sent once, what is read once, and not much more.
    assert told["megabytes_at_peak"] - told["megabytes_before"] < 250
    assert told["submit_seconds"] + told["collect_seconds"] < 240
