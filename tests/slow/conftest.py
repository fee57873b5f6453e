"""One real Prefect server for all slow tests of a process."""

from collections.abc import Iterator

import pytest
from connected.prefect_server import prefect_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address, for PREFECT_API_URL."""
    with prefect_server(tmp_path_factory.mktemp("server")) as address:
        yield address
