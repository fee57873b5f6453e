"""Each service failing in several ways, each a whole night: told, bounded, and the rest still done."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from connected.matrix import CELLS, Cell, run
from connected.prefect_server import prefect_server

pytestmark = pytest.mark.slow
BOUND = 300.0  # seconds: no service is waited for all night


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with prefect_server(tmp_path_factory.mktemp("prefect")) as address:
        yield address


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_a_failing_service_is_told_and_stops_only_what_needs_it(
    cell: Cell, tmp_path: Path, server: str
) -> None:
    found = run(cell, tmp_path, server)
    night = found.night
    assert night.report, night.output
    assert (night.code, found.published) == (cell.code, cell.published), night.told
    assert re.search(cell.says, night.told), night.told
    assert night.report["status"] == {0: "complete", 1: "failed", 3: "degraded"}[cell.code]
    assert "Traceback" not in night.output
    assert night.seconds < BOUND
