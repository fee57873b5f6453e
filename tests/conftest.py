"""Fixtures for all tests: one throwaway Prefect server, and an environment without the user's."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

OURS = ("NIGHTWATCH_", "NEW_RELIC_", "GITHUB_", "SLACK_", "ANTHROPIC_")


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the user's settings, and none writes into the checkout's state folder."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NIGHTWATCH_STATE", str(tmp_path / "state"))


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One throwaway Prefect server; its tests carry `pytest.mark.xdist_group("prefect")`."""
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=120):
        yield
