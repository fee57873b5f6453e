"""Prefect made ready for a night that is started by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prefect.logging.configuration import setup_logging
from prefect.settings import (
    PREFECT_LOGGING_EXTRA_LOGGERS,
    PREFECT_LOGGING_LEVEL,
    PREFECT_RESULTS_LOCAL_STORAGE_PATH,
    PREFECT_SERVER_ANALYTICS_ENABLED,
    PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS,
    temporary_settings,
)

EXTRA_LOGGERS = "nightwatch_core,tasks"
STARTUP_SECONDS = 120  # the default 20 is too short for a busy machine's first start


@contextmanager
def prefect_ready(state: Path, level: str = "WARNING") -> Iterator[None]:
    """Results below the state folder, time for the embedded server to start, our logs at `level`.

    What the user has set for Prefect wins.
    """
    with temporary_settings(
        set_defaults={
            PREFECT_RESULTS_LOCAL_STORAGE_PATH: str(state / "results"),
            PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS: STARTUP_SECONDS,
            PREFECT_SERVER_ANALYTICS_ENABLED: False,
            PREFECT_LOGGING_EXTRA_LOGGERS: EXTRA_LOGGERS,
            PREFECT_LOGGING_LEVEL: level,
        }
    ):
        setup_logging()
        yield
