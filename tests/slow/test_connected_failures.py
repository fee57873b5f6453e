"""Each service failing in several ways, each a whole night: told, bounded, the rest still done.

All nights are run first, several at once; the tests look at what came of them. A night that waited
for a service all night is killed by the world it runs in, and tells nothing.
"""

import re

import pytest
from connected.matrix import CELLS, Cell, Outcome, run_all

pytestmark = [pytest.mark.slow, pytest.mark.faults, pytest.mark.xdist_group("failures")]
STATUSES = {0: "complete", 1: "failed", 3: "degraded"}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory, server: str) -> dict[str, Outcome]:
    return run_all(CELLS, tmp_path_factory.mktemp("nights"), server)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_a_failing_service_is_told_and_stops_only_what_needs_it(
    cell: Cell, outcomes: dict[str, Outcome]
) -> None:
    found = outcomes[cell.name]
    night = found.night
    assert night.report, night.output
    assert (night.code, found.published) == (cell.code, cell.published), night.told
    assert re.search(cell.says, night.told), night.told
    assert night.report["status"] == STATUSES[cell.code]
    assert "Traceback" not in night.output
    assert not found.twice


def test_every_service_fails_in_three_ways() -> None:
    ways = [cell.service for cell in CELLS]
    assert all(ways.count(name) >= 3 for name in ("New Relic", "GitHub", "Claude", "Slack"))


def test_a_failed_night_blames_who_failed(outcomes: dict[str, Outcome]) -> None:
    failed = [cell for cell in CELLS if outcomes[cell.name].night.code == 1]
    wrong = [
        cell.name
        for cell in failed
        if cell.service != "New Relic" and "error source" in outcomes[cell.name].headline
    ]
    assert failed
    assert not wrong


def test_errors_that_were_fetched_are_counted_though_the_night_failed(
    outcomes: dict[str, Outcome],
) -> None:
    assert outcomes["GitHub · 502 all along"].night.report["errors"] == 3
