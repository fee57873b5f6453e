"""How many transactions a window had: known where New Relic says so, and never in the way."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from services.nerdgraph import ACCOUNT, KEY, NOW, NerdGraphService, entity
from twins.reading import MemoryClock

from nightwatch_core.adapters.new_relic.nerdgraph import NerdGraph
from nightwatch_core.adapters.new_relic.source import NewRelic
from nightwatch_core.models.error import Fetched, Window

HOUR = timedelta(hours=1)
WINDOW = Window(since=NOW - 24 * HOUR, until=NOW)
QUICK = httpx.Timeout(connect=5.0, read=2.0, write=5.0, pool=10.0)
PATH = ["actor", "account", "traffic"]


@pytest.fixture
def service() -> Iterator[NerdGraphService]:
    with NerdGraphService() as started:
        yield started


def fetched(service: NerdGraphService, window: Window = WINDOW) -> Fetched:
    client = NerdGraph(KEY, service.url, times=QUICK, deadline=5.0, pause=lambda _: None)
    source = NewRelic(KEY, ACCOUNT, "shop", service.url, None, MemoryClock(NOW), client=client)
    return source.error_groups(window)


def test_all_transactions_of_the_window_are_counted(service: NerdGraphService) -> None:
    service.entities += [entity("GUID-two", "shop", "ruby"), entity("GUID-x", "other", "go")]
    service.error("KeyError")
    service.traffic(40_000)
    service.traffic(2_000, 23 * HOUR, guid="GUID-two")
    service.traffic(7, guid="GUID-x")
    service.traffic(7, 25 * HOUR)
    service.traffic(7, timedelta())
    found = fetched(service)
    assert (found.traffic, found.partial) == (42_000, ())
    assert found.groups[0].occurrences == 1


def test_a_quiet_night_has_its_traffic_too(service: NerdGraphService) -> None:
    service.traffic(500)
    assert (fetched(service).groups, fetched(service).traffic) == ((), 500)


def test_an_application_without_transactions_has_none_that_are_known(
    service: NerdGraphService,
) -> None:
    service.error("KeyError")
    assert fetched(service).traffic is None


def test_it_costs_no_request_of_its_own(service: NerdGraphService) -> None:
    service.error("KeyError")
    service.traffic(10)
    fetched(service)
    asked = [each for each in service.requests if any("Transaction " in q for q in each.nrql)]
    assert len(asked) == 1
    assert set(asked[0].variables) == {
        "account",
        "timeout",
        "whole",
        "classes",
        "detail",
        "traffic",
    }


@pytest.mark.parametrize(
    "code", ["TIMEOUT", "SERVER_ERROR", "TOO_MANY_REQUESTS", "ACCESS_DENIED", "INVALID_INPUT"]
)
def test_without_it_the_night_is_whole(service: NerdGraphService, code: str) -> None:
    service.error("KeyError")
    service.traffic(10)
    service.fail("errors", match="$traffic", times=9, code=code, path=PATH)
    found = fetched(service)
    assert (found.traffic, found.partial, found.whole) == (None, (), True)
    assert [group.occurrences for group in found.groups] == [1]


@pytest.mark.parametrize(
    "part",
    [
        None,
        {"results": None},
        {"results": []},
        {"results": [None]},
        {"results": [{"n": None}]},
        {"results": [{"n": "many"}]},
        {"results": [{"n": -3}]},
        {"results": [{"n": True}]},
        {"results": [{"count": 3}]},
    ],
)
def test_what_is_no_number_is_not_known(service: NerdGraphService, part: Any) -> None:
    rows = [{"facet": ["KeyError", "x"], "n": 3.0}]
    errors = {"results": rows, "totalResult": {"n": 3.0}, "otherResult": None}
    account = {"whole": errors, "classes": {"results": []}, "detail": {"results": []}}
    account["traffic"] = part
    service.fail("answer", match="$whole", document={"data": {"actor": {"account": account}}})
    found = fetched(service)
    assert (found.traffic, found.partial) == (None, ())
    assert [group.occurrences for group in found.groups] == [3]


def test_a_window_read_in_parts_has_the_sum_of_all(service: NerdGraphService) -> None:
    service.error("KeyError", ago=HOUR)
    service.traffic(30, 20 * HOUR)
    service.traffic(12, 2 * HOUR)
    slow = {"code": "TIMEOUT", "path": ["actor", "account", "whole"]}
    service.fail("errors", match="$whole", times=1, **slow)
    assert fetched(service).traffic == 42


def test_half_of_a_windows_traffic_is_not_taken_for_all(service: NerdGraphService) -> None:
    service.error("KeyError", ago=HOUR)
    service.traffic(30, 20 * HOUR)
    service.traffic(12, 2 * HOUR)
    for part in ("whole", "traffic"):  # of the day, then of its first half
        path = ["actor", "account", part]
        service.fail("errors", match="$whole", times=1, code="TIMEOUT", path=path)
    found = fetched(service)
    assert (found.traffic, found.partial) == (None, ())
    assert found.groups[0].occurrences == 1


def test_half_a_window_may_be_without_any(service: NerdGraphService) -> None:
    service.error("KeyError", ago=HOUR)
    service.traffic(30, 20 * HOUR)
    path = ["actor", "account", "whole"]
    service.fail("errors", match="$whole", times=1, code="TIMEOUT", path=path)
    assert fetched(service).traffic == 30
