"""A Retry of a night's run, as the button in Prefect's UI makes it, on a real server."""

from collections.abc import Callable
from typing import Any

import pytest
from night_world import CART, PAY, PREFECT, by_case, worlds
from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.flow_engine import run_flow
from prefect.states import AwaitingRetry
from twins.reading import MemoryModel

from flows.nightly import nightly
from flows.one_error import one_error
from nightwatch_core.models.report import RunReport
from tasks.dependencies import Dependencies, using

pytestmark = [pytest.mark.slow, *PREFECT]


class Retried:
    """A flow's run, and the same run again."""

    def __init__(self, world: Dependencies, flow: Flow[..., Any], **choices: object) -> None:
        self.world, self.flow, self.choices = world, flow, choices
        with get_client(sync_client=True) as client:
            self.id = client.create_flow_run(flow, parameters=choices).id

    def run(self) -> RunReport:
        """Run it from where its state stands."""
        with get_client(sync_client=True) as client:
            run: FlowRun = client.read_flow_run(self.id)
        with using(self.world):
            report: RunReport = run_flow(self.flow, flow_run=run, parameters=self.choices)
        return report

    def again(self) -> RunReport:
        """What the button does, and then the worker."""
        with get_client(sync_client=True) as client:
            client.set_flow_run_state(self.id, AwaitingRetry(), force=True)
        return self.run()


def weak_for_payments(conversation: Any) -> object:
    """Verdicts that no lesson comes of, which any other night would ask for again."""
    text = by_case(conversation)
    weak = conversation.case.leader == PAY
    return text.replace('"confidence":"medium"', '"confidence":"low"') if weak else text


@pytest.mark.parametrize("answers", [by_case, weak_for_payments])
@pytest.mark.parametrize("force", [False, True])
def test_a_retry_of_a_finished_night_pays_nothing_whatever_it_learned(
    answers: Callable[[Any], object], force: bool
) -> None:
    world = worlds(model=MemoryModel([answers]))
    night = Retried(world, nightly, force=force)
    first = night.run()
    assert len(world.publishing.knowledge.lessons) >= 1
    asked, published = len(world.reading.model.shown), len(world.reading.tracker.published)
    again = night.again()
    assert len(world.reading.model.shown) == asked
    assert len(world.reading.tracker.published) == published
    assert again.night.id == first.night.id
    assert again.analyses == first.analyses
    assert again.usage == first.usage
    assert again.errors == first.errors


def test_a_retry_of_one_error_pays_nothing() -> None:
    world = worlds()
    chosen = {"error_class": CART.error_class, "transaction": CART.transaction}
    single = Retried(world, one_error, **chosen)
    first = single.run()
    world.reading.clock.pass_by(3_600)
    assert single.again().analyses == first.analyses
    assert len(world.reading.model.shown) == 1
