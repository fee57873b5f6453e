"""Runs of flows on a real server that are retried, and what Prefect's page shows of them."""

import time
from typing import Any

from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import FlowRun
from prefect.flow_engine import run_flow
from prefect.states import AwaitingRetry
from world import World

from nightwatch_core.models.report import RunReport

PATIENCE = 60.0  # seconds: the server writes task runs down some time after they ended


class Retried:
    """A flow's run, and the same run again."""

    def __init__(self, world: World, **choices: object) -> None:
        """A night of the world; with `error_class` a run of one error."""
        self.world, self.choices = world, choices
        self.is_single = "error_class" in choices
        with get_client(sync_client=True) as client:
            self.id = client.create_flow_run(self._flow, parameters=choices).id

    @property
    def _flow(self) -> Flow[Any, RunReport]:
        return self.world.single_flow() if self.is_single else self.world.flow()

    def run(self) -> RunReport:
        """Run it from where its state stands."""
        with get_client(sync_client=True) as client:
            run: FlowRun = client.read_flow_run(self.id)
        report: RunReport = run_flow(self._flow, flow_run=run, parameters=self.choices)
        return report

    def again(self) -> RunReport:
        """What the button does, and then the worker."""
        with get_client(sync_client=True) as client:
            client.set_flow_run_state(self.id, AwaitingRetry(), force=True)
        return self.run()

    def states(self, step: str, count: int) -> list[str]:
        """The states of that many runs of a step, as the page names them, the first run first."""
        only = FlowRunFilter(id=FlowRunFilterId(any_=[self.id]))
        end = time.monotonic() + PATIENCE
        while True:
            with get_client(sync_client=True) as client:
                runs = client.read_task_runs(flow_run_filter=only, limit=200)
            named = [run for run in runs if run.name.partition(" · ")[0] == step]
            ended = [run for run in named if run.state and run.state.is_final()]
            if len(ended) >= count or time.monotonic() > end:
                ended.sort(key=lambda run: (run.expected_start_time, str(run.id)))
                return [run.state.name for run in ended if run.state]
            time.sleep(0.2)
