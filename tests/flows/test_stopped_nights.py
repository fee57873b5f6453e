"""Nights that end early: what was found, paid and published stands in the report all the same."""

from dataclasses import replace

import pytest
from night_world import CART, CART_API, PAY, PREFECT, by_case, night, worlds
from twins.reading import MemoryModel
from twins.writing import MemoryNotifier, MemoryOutbox
from world import World

from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.errors import ErrorGroup
from nightwatch_core.models.proposals import Proposal, Receipt
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.view import as_markdown

pytestmark = [pytest.mark.slow, *PREFECT]
NO_KEY = "401: the key is not accepted: set ANTHROPIC_API_KEY"


class RevokedKey(MemoryModel):
    """A model whose key is taken away before it comes to the payment."""

    def __init__(self) -> None:
        super().__init__([self._answer])
        self.accepted = False

    def _answer(self, conversation: object) -> object:
        if conversation.case.leader == PAY and not self.accepted:
            trouble = StopTheNight(NO_KEY)
            trouble.usage = Usage(calls=2, input_tokens=70, cost=0.002)
            return trouble
        return by_case(conversation)


class NarrowOutbox(MemoryOutbox):
    """An outbox that takes one proposal and then raises."""

    def __init__(self, trouble: Exception) -> None:
        super().__init__()
        self.trouble: Exception | None = trouble

    def publish(self, proposal: Proposal) -> Receipt:
        if self.published and self.trouble:
            raise self.trouble
        return super().publish(proposal)


def stopped(world: World, trouble: type[Exception] = StopTheNight) -> RunReport:
    """The report of a night that fails."""
    with pytest.raises(trouble):
        night(world)
    (report,) = world.publishing.notifier.told
    assert report.status == "failed"
    assert report.night.id in world.publishing.nights.kept
    return report


def through(outbox: MemoryOutbox, world: World) -> World:
    return World(
        reading=replace(world.reading, tracker=outbox),
        publishing=replace(world.publishing, outbox=lambda night: outbox),
    )


def test_a_key_that_is_refused_in_mid_night_loses_nothing_that_was_paid() -> None:
    world = worlds(model=RevokedKey())
    report = stopped(world)
    assert [analysis.case.leader for analysis in report.analyses] == [CART]
    assert [(failure.case.leader, failure.reason) for failure in report.failures] == [(PAY, NO_KEY)]
    assert report.usage == Usage(calls=3, input_tokens=170, output_tokens=10, cost=0.003)
    assert report.accounts.usage == report.usage
    which = f"1 of 2 analyses failed: TypeError in cart/pay ({NO_KEY})"
    assert report.degraded == (which, NO_KEY)
    assert report.commit is not None
    shown = as_markdown(report)
    for text in ("`shop/cart.py` breaks", "401: the key is not accepted", "180 tokens in 3 calls"):
        assert text in shown
    assert [receipt.status for receipt in report.receipts] == ["done", "done"], (
        "an issue and its fix"
    )
    assert report.learned.new == 1


def test_errors_that_the_night_never_came_to_are_listed() -> None:
    world = worlds()

    def gone(group: ErrorGroup, limit: int = 3) -> object:
        raise StopTheNight("no key")

    world.reading.errors.traces = gone
    report = stopped(world)
    assert report.errors == 3
    assert {dropped.group for dropped in report.dropped} == {CART, CART_API, PAY}
    assert {dropped.kind for dropped in report.dropped} == {"ended"}
    assert "the night ended before" in as_markdown(report)


@pytest.mark.parametrize("trouble", [StopTheNight("401"), KeyError("a bug of ours")])
def test_what_was_published_before_the_night_stopped_is_in_its_report(trouble: Exception) -> None:
    world = through(NarrowOutbox(trouble), worlds())
    report = stopped(world, type(trouble))
    assert bool(report.learned.new) == isinstance(trouble, StopTheNight), "what was paid is kept"
    assert [(receipt.kind, receipt.status) for receipt in report.receipts] == [("issue", "done")]
    assert [analysis.case.leader for analysis in report.analyses] == [CART, PAY]


class Muted(MemoryNotifier):
    """A channel that cannot be reached `times` times."""

    def __init__(self, trouble: Exception, times: int) -> None:
        super().__init__()
        self.trouble, self.times = trouble, times

    def publish(self, report: RunReport) -> str:
        self.times -= 1
        if self.times >= 0:
            raise self.trouble
        return super().publish(report)


def muted(world: World, trouble: Exception, times: int) -> World:
    notifier = Muted(trouble, times)
    return replace(world, publishing=replace(world.publishing, notifier=notifier))


def test_what_could_not_be_told_is_told_by_the_next_night() -> None:
    world = muted(worlds(), GiveUp("no such channel"), times=1)
    first = night(world)
    assert first.unsent
    assert "notifying the team: no such channel" in first.degraded
    second = night(world)
    told = world.publishing.notifier.told
    assert [item.night.id for item in told] == [first.night.id, second.night.id]
    third = night(world)
    assert [item.night.id for item in told[2:]] == [third.night.id]
