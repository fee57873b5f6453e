"""Fixtures for all tests: one throwaway Prefect server, and an environment without the user's."""

import os
import re
from collections.abc import Iterator
from itertools import count

import hypothesis
import pytest
from machine import needs

from flows.commands.night import STARTUP_SECONDS

# Of every server that a test or its programs start, as of a night's: Prefect's own 20 s are too few
# on a busy machine. Prefect reads it when it is imported.
os.environ["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"] = STARTUP_SECONDS

# The same examples every time, however slow the machine; `make fuzz` looks for new ones.
hypothesis.settings.register_profile(
    "nightwatch", deadline=None, derandomize=True, database=None, max_examples=50
)
hypothesis.settings.register_profile("fuzz", deadline=None, max_examples=1_000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "nightwatch"))

OURS = ("NIGHTWATCH_", "NEW_RELIC_", "SENTRY_", "GITHUB_", "GITLAB_", "SLACK_", "ANTHROPIC_")
NUMBERS = count()
LONGEST_NAME = 60  # characters of a parameter


def pytest_itemcollected(item: pytest.Item) -> None:
    """No name of a test holds an address: two processes would collect different tests."""
    if re.search(r" at 0x[0-9a-f]{8,}>", item.nodeid):
        raise pytest.UsageError(f"{item.nodeid}: give its parameters ids")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this machine cannot run; `machine.py` says why."""
    for marker in item.iter_markers("needs"):
        needs(*marker.args)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Of long texts a name holds the beginning: names go from process to process and to logs."""
    if isinstance(val, str | bytes) and len(val) > LONGEST_NAME:
        return f"{ascii(val[:LONGEST_NAME])[1:-1]} and {len(val) - LONGEST_NAME} more"
    return None


@pytest.fixture(autouse=True)
def own_environment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """No test sees the user's settings, and none writes into the checkout's state folder.

    What a command sets for its own process, as `init` and `--config` do, ends with the test. A
    folder is made for those alone that ask for one: it takes longer than most tests.
    """
    before = {**os.environ}
    if "tmp_path" in request.fixturenames:
        place = request.getfixturevalue("tmp_path")
    else:
        place = tmp_path_factory.getbasetemp() / f"test-{next(NUMBERS)}"
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ["NIGHTWATCH_STATE"] = str(place / "state")
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One throwaway Prefect server; its tests carry `pytest.mark.xdist_group("prefect")`.

    Flow runs send no heartbeats: ending one waits up to a second for its heartbeat's thread. The
    server keeps task runs by the second and does nothing that no test asks of it: where two of its
    parts write at once it answers 503, and its client waits 2, 4, 8 … seconds.
    """
    from prefect import settings
    from prefect.testing.utilities import prefect_test_harness

    quiet = {
        settings.PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None,
        settings.PREFECT_SERVER_ANALYTICS_ENABLED: False,
        settings.PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE: 500,
        settings.PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE: 500,
        settings.PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL: 1,
        settings.PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED: False,
        settings.PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED: False,
        settings.PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED: False,
        settings.PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED: False,
        settings.PREFECT_SERVER_SERVICES_FOREMAN_ENABLED: False,
        settings.PREFECT_SERVER_SERVICES_PAUSE_EXPIRATIONS_ENABLED: False,
        settings.PREFECT_SERVER_SERVICES_CANCELLATION_CLEANUP_ENABLED: False,
    }
    limit = int(STARTUP_SECONDS)
    with settings.temporary_settings(quiet), prefect_test_harness(server_startup_timeout=limit):
        yield
