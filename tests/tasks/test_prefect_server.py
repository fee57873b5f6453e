"""Prefect's server goes away: what was done all the same is told, and nobody waits for it."""

from typing import Any

import httpx
import pytest
from night_world import worlds

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.errors import Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.report import builder
from tasks.dependencies import Dependencies, using
from tasks.runner import attempt, run_flow, run_subflow

GONE = httpx.ConnectError("All connection attempts failed")


def report_of(world: Dependencies, id: str = "2026-11-21-aa") -> RunReport:
    now = world.reading.clock.now()
    night = Night(id=id, window=Window(since=now, until=now), now=now)
    return builder.start_report(night, NightOptions(), (), now)


def test_a_night_whose_end_nobody_heard_of_has_its_report() -> None:
    with using(worlds()) as world:

        def night() -> RunReport:
            world.publishing.nights.keep(report_of(world))
            raise GONE

        report, gone = run_flow(night)
        (kept,) = world.publishing.nights.reports()
    assert report == kept
    assert report.status == "degraded"
    assert "ConnectError" in gone
    assert gone in report.degraded[0]


def test_an_earlier_nights_report_is_not_taken_for_it() -> None:
    with using(worlds()) as world:
        world.publishing.nights.keep(report_of(world))

        def night() -> RunReport:
            raise GONE

        report, gone = run_flow(night)
    assert report is None
    assert "PREFECT_API_URL" in gone


def test_whatever_else_goes_wrong_is_raised() -> None:
    def night() -> RunReport:
        raise KeyError("a bug of ours")

    with using(worlds()), pytest.raises(KeyError):
        run_flow(night)


def test_a_night_can_do_without_what_only_the_server_shows() -> None:
    def shown() -> str:
        raise GONE

    ended = attempt("showing it", shown, otherwise="")
    assert (ended.value, ended.trouble[:10]) == ("", "showing it")


class Unheard:
    """A subflow that cannot be begun, or of whose end nobody hears."""

    def __init__(self, trouble: Exception) -> None:
        self.trouble = trouble

    def __call__(self, **parameters: Any) -> Any:
        raise self.trouble

    def fn(self, **parameters: Any) -> Any:
        return parameters


def test_a_subflow_is_done_all_the_same() -> None:
    assert run_subflow(Unheard(GONE), night="aa") == {"night": "aa"}  # type: ignore[arg-type]
    with pytest.raises(GiveUp):
        run_subflow(Unheard(GiveUp("no room")))  # type: ignore[arg-type]
