"""Which window a night gets, and when a Prefect run counts as scheduled."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from night_world import PREFECT, worlds
from prefect import Flow, flow
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.schedules import CronSchedule
from prefect.context import FlowRunContext
from prefect.flow_engine import run_flow
from twins.reading import MemoryClock, MemoryErrors
from world import World

from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.windows import RESUMABLE
from nightwatch_core.models.errors import Fetched, Selection, Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, NightKind
from nightwatch_core.report import builder
from nightwatch_core.settings import settings
from tasks.night import begin_night, nights_options

pytestmark = PREFECT
LIVE = NightOptions(source="newrelic")
KEY = "newrelic|||17|Shop"
SCHEDULED, BY_HAND = NightKind(key=KEY, scheduled=True), NightKind(key=KEY)


@dataclass
class LiveErrors(MemoryErrors):
    """A source that goes on: it remembers how far back it was asked to look."""

    asked: list[timedelta | None] = field(default_factory=list)

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        self.asked.append(lookback)
        return super().window(lookback, now)


@pytest.fixture(autouse=True)
def one_application(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEW_RELIC_ACCOUNT_ID", "17")
    monkeypatch.setenv("NEW_RELIC_APP_NAME", "Shop")


def opening(world: World) -> Flow[Any, Night]:
    """A flow that begins a night of the world, and does nothing else."""

    @flow(name="opening")
    def begun() -> Night:
        return begin_night(world.open(source="newrelic"))

    return begun


@pytest.fixture
def world() -> World:
    made = worlds()
    return replace(made, reading=replace(made.reading, errors=LiveErrors(), clock=MemoryClock()))


def by_the_scheduler(client: SyncPrefectClient, deployment: Any) -> FlowRun:
    """What the scheduler's loop does, asked for over HTTP."""
    (schedule,) = client.read_deployment_schedules(deployment)
    client.update_deployment_schedule(deployment, schedule.id, active=True)
    since = (datetime.now(UTC) - timedelta(days=2)).isoformat()  # late, so that it runs at once
    told = {"start_time": since, "max_runs": 1, "min_runs": 1}
    client._client.post(f"/deployments/{deployment}/schedule", json=told).raise_for_status()
    runs = client.read_flow_runs(limit=200)
    (run,) = [run for run in runs if run.deployment_id == deployment]
    return client.read_flow_run(run.id)


def by_prefect_deployment_run(client: SyncPrefectClient, deployment: Any) -> FlowRun:
    return client.create_flow_run_from_deployment(deployment)


def run_of(trigger: Callable[[SyncPrefectClient, Any], FlowRun]) -> FlowRun:
    with get_client(sync_client=True) as client:
        schedule = DeploymentScheduleCreate(schedule=CronSchedule(cron="0 5 * * *"), active=False)
        deployment = client.create_deployment(
            client.create_flow(opening(worlds())), name=trigger.__name__, schedules=[schedule]
        )
        return trigger(client, deployment)


@pytest.fixture(scope="module")
def night_run(prefect_server: None) -> FlowRun:
    """A run as the scheduler makes them."""
    return run_of(by_the_scheduler)


def by_hand(world: World) -> Night:
    return begin_night.fn(world.open(source="newrelic"))


def scheduled(world: World, run: FlowRun) -> Night:
    """Open a night within that run, without the seconds that its engine takes."""
    night = world.open(source="newrelic")
    with FlowRunContext.model_construct(flow=opening(world), flow_run=run):
        return begin_night.fn(night)


@pytest.mark.slow
def test_a_run_that_the_scheduler_made_is_scheduled_and_no_other(
    world: World, night_run: FlowRun
) -> None:
    began = opening(world)
    assert run_flow(began, flow_run=night_run).kind == SCHEDULED
    manual = run_flow(began, flow_run=run_of(by_prefect_deployment_run))
    assert manual.kind == BY_HAND
    assert began().id == manual.id
    assert world.reading.errors.asked == [None, timedelta(days=1)]


def later(world: World, **time: float) -> None:
    world.reading.clock.pass_by(timedelta(**time).total_seconds())


def test_an_unfinished_night_is_taken_up_with_its_window(world: World) -> None:
    first = by_hand(world)
    later(world, hours=3)
    again = by_hand(world)
    assert (again.id, again.window, again.resumed) == (first.id, first.window, True)
    later(world, hours=RESUMABLE / timedelta(hours=1))
    fresh = by_hand(world)
    assert not fresh.resumed
    assert fresh.window.until > first.window.until


def finish(world: World, night: Night, **more: Any) -> None:
    clock = world.reading.clock
    report = builder.start_report(night, LIVE, (), clock.now())
    fetched = Fetched(window=night.window, **more)
    world.publishing.nights.finish(builder.add_errors(report, fetched, Selection()))


def test_only_whole_scheduled_nights_move_the_watermark(world: World, night_run: FlowRun) -> None:
    nights = world.publishing.nights
    finish(world, by_hand(world))
    later(world, hours=1)
    finish(world, scheduled(world, night_run), whole=False, partial=("b: 503",))
    assert nights.watermark(KEY) is None
    later(world, hours=1)
    night = scheduled(world, night_run)
    finish(world, night)
    assert nights.watermark(KEY) == night.window.until


def test_what_a_capped_window_leaves_out_is_in_the_report(world: World, night_run: FlowRun) -> None:
    finish(world, scheduled(world, night_run))
    later(world, days=9)
    night = scheduled(world, night_run)
    assert night.left_out.startswith("errors from 2026-11-21 02:00 to 2026-11-29 02:00 UTC were")
    report = builder.start_report(night, LIVE, (), datetime(2026, 11, 30, tzinfo=UTC))
    assert report.status == "degraded"
    finish(world, night)
    assert world.publishing.nights.watermark(KEY) == night.window.until
    assert by_hand(world).left_out == ""


@pytest.mark.parametrize("model", ["rules", "claude-opus-5-5"])
def test_an_agent_that_is_not_there_stops_the_night_before_anything_is_read(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-none")
    chosen = {"agent": "missing", "model": model, "source": "sample"}
    with pytest.raises(StopTheNight, match="there is no agent 'missing': choose"):
        nights_options(chosen, settings())
