"""A Retry of a night's run, as the button in Prefect's UI makes it, on a real server."""

from collections.abc import Callable
from typing import Any

import pytest
from flow_runs import Retried
from night_world import CART, PAY, PREFECT, by_case, worlds
from twins.reading import MemoryModel

pytestmark = [pytest.mark.slow, *PREFECT]


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
    night = Retried(world, force=force)
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
    single = Retried(world, error_class=CART.error_class, transaction=CART.transaction)
    first = single.run()
    world.reading.clock.pass_by(3_600)
    assert single.again().analyses == first.analyses
    assert len(world.reading.model.shown) == 1
