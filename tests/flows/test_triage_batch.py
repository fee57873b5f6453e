"""First sight in batches, in memory: submitted once, collected by whoever comes, gone on from."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from night_world import CART, PAY, PREFECT, TRACES, group, trace, worlds
from twins.batches import MemoryBatches, MemoryBatchStore, unremarkable
from world import World

from nightwatch_core.errors import GiveUp, NotTonight, StopTheNight
from nightwatch_core.models.batch import FirstSight, ItemResult, TriageItem
from nightwatch_core.models.errors import ErrorGroup, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import RunReport
from nightwatch_core.settings import settings
from tasks.night import nights_options
from tasks.triage import nothing_to_collect, overruled

pytestmark = PREFECT
TAIL = tuple(
    group("KeyError", f"tail/{name}", 4 - at)
    for at, name in enumerate(("ant", "bee", "cow", "dog"))
)
Answer = Callable[[TriageItem], ItemResult]


def flagging(*transactions: str) -> Answer:
    """Answers that ask for an analysis of errors in these transactions."""

    def answer(item: TriageItem) -> ItemResult:
        assert item.group
        plain = unremarkable(item)
        if item.group.transaction not in transactions:
            return plain
        sight = FirstSight(severity="critical", likely_cause="Lost.", needs_deep_investigation=True)
        return plain.model_copy(update={"first_sight": sight})

    return answer


def traced(error: ErrorGroup) -> tuple[Trace, ...]:
    """A trace of its own, so that each is a case of its own."""
    return (trace("KeyError", f"shop/{error.transaction.partition('/')[2]}.py", "find"),)


def with_batches(world: World, answer: Answer = unremarkable) -> World:
    clock, own = world.reading.clock, {item.fingerprint: traced(item) for item in TAIL}
    world.reading.errors.known_traces = {**TRACES, **own}
    desk = MemoryBatches(answer=answer, now=clock.now())
    reading = replace(world.reading, batches=desk)
    publishing = replace(world.publishing, batch_store=MemoryBatchStore())
    return World(reading=reading, publishing=publishing)


def night(world: World, **choices: object) -> RunReport:
    given = {"model": "memory", "cost_per_night": 0.0, **choices}
    if given.pop("collect", False):
        return world.collect(**given)
    return world.night_on_prefect(**given)


def asked(world: World) -> list[str]:
    """Transactions of everything that was asked, in any way."""
    desk = world.reading.batches
    sent = [item for batch in desk.sent.values() for item in batch]
    return sorted(item.group.transaction for item in sent)


@pytest.mark.slow
def test_a_batch_night_submits_everything_and_collecting_goes_on_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = with_batches(worlds((CART, PAY, *TAIL)), flagging("cart/pay", "tail/dog"))
    first = night(world, batch_mode=True, max_errors=1)
    assert first.status == "complete"
    assert not first.analyses
    assert len(asked(world)) == 6
    assert not world.publishing.notifier.told, "that something was asked is no news"

    again = night(world, batch_mode=True)
    assert (again.batch_triage.awaited, again.batch_triage.kept) == (6, ())
    assert len(asked(world)) == 6

    early = night(world, collect=True, collect_minutes=0)
    assert early.status == "degraded"
    assert "nightwatch night --collect" in early.degraded[0]
    world.reading.batches.end()
    monkeypatch.setenv("NIGHTWATCH_MAX_ISSUES", "7")
    done = night(world, collect=True, collect_minutes=0)
    assert done.advice == (
        "max_issues is 3, as in the night that submitted the batch, and not 7, as set here: "
        "--max-issues changes it.",
    )
    assert done.status == "complete"
    assert [a.case.leader for a in done.analyses] == [PAY]
    assert len(done.batch_triage.judged) == 6
    assert done.receipts
    assert done.learned.lessons
    assert [item.night.id for item in world.publishing.notifier.told] == [done.night.id]
    store = world.publishing.batch_store
    assert nothing_to_collect(store), "by its schedule a batch is collected once"
    rest = night(world, collect=True)
    assert [a.case.leader.transaction for a in rest.analyses] == ["tail/dog"]
    with pytest.raises(NotTonight, match="no batch to collect"):
        night(world, collect=True)


def test_a_setting_that_a_batch_overrules_is_named_and_a_flag_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = NightOptions(max_issues=1, concurrency=2, max_errors=5)
    assert not overruled(worlds().over(kept))
    for name, value in (("MAX_ISSUES", "7"), ("CONCURRENCY", "2"), ("MAX_ERRORS", "9")):
        monkeypatch.setenv(f"NIGHTWATCH_{name}", value)
    (line,) = overruled(worlds().over(kept, max_errors=5))
    assert line.startswith("max_issues is 1, as in the night that submitted the batch, and not 7")


def test_without_a_model_a_batch_is_refused_before_any_work() -> None:
    chosen = {"batch_mode": True, "model": "rules", "source": "sample"}
    with pytest.raises(StopTheNight, match="ANTHROPIC_API_KEY"):
        nights_options(chosen, settings())


def test_a_service_without_batches_fails_before_any_work() -> None:
    world = with_batches(worlds((CART,)))

    def none_here() -> str:
        raise GiveUp("the server takes no batches")

    world.reading.batches.probe = none_here
    with pytest.raises(GiveUp, match="takes no batches"):
        night(world, batch_mode=True)
    assert not asked(world)
    (told,) = world.publishing.notifier.told
    assert told.status == "failed"
