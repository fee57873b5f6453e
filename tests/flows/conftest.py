"""Results of Prefect's tasks, kept apart for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def own_results(tmp_path: Path) -> Iterator[None]:
    from prefect.settings import PREFECT_RESULTS_LOCAL_STORAGE_PATH, temporary_settings

    with temporary_settings({PREFECT_RESULTS_LOCAL_STORAGE_PATH: tmp_path / "results"}):
        yield
