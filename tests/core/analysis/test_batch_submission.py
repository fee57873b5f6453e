"""A request set is submitted once, whatever happens between the intent and the answer."""

from datetime import timedelta

import pytest
from twins.batches import MemoryBatches, MemoryBatchStore
from twins.reading import MemoryClock

from nightwatch_core.analysis.model_wrappers import KEPT, SETTLING, request_set, settle, submit_once
from nightwatch_core.errors import GiveUp, MayHaveArrived, TryLater
from nightwatch_core.models.batch import BatchState, Submission, TriageItem
from nightwatch_core.models.conversation import Conversation, UserTurn
from nightwatch_core.models.errors import Case, ErrorGroup


class Killed(BaseException):
    """The process ends here."""


class World:
    """A model, a store and a clock that a killed night leaves behind."""

    def __init__(self, **model: object) -> None:
        self.clock = MemoryClock()
        self.model = MemoryBatches(now=self.clock.now(), **model)  # type: ignore[arg-type]
        self.store = MemoryBatchStore()

    def submit(self, items: tuple[TriageItem, ...], night: str = "n1") -> Submission:
        self.model.now = self.clock.now()
        return submit_once(items, night, self.model, self.store, self.clock, 60)

    def later(self, hours: float = 0.0, **time: float) -> None:
        self.clock.pass_by(timedelta(hours=hours, **time).total_seconds())


def _items(count: int, night: str = "n1", start: int = 0) -> tuple[TriageItem, ...]:
    groups = [
        ErrorGroup(fingerprint=f"v1:{number}", source="file", error_class="E")
        for number in range(start, start + count)
    ]
    return request_set(night, [(one, _talk(one)) for one in groups])


def _talk(group: ErrorGroup) -> Conversation:
    turn = UserTurn(text=f"Look at {group.fingerprint}")
    return Conversation(system="triage", case=Case(leader=group), turns=(turn,))


def test_keys_name_set_and_item_and_are_the_same_again() -> None:
    one, other = _items(3), _items(3, night="n2")
    assert [item.key for item in one] == [item.key for item in _items(3)]
    assert not {item.key for item in one} & {item.key for item in other}
    assert len({item.key.partition("-")[0] for item in one}) == 1
    assert request_set("n", [(one[0].group, one[0].conversation)] * 2)[1:] == ()  # type: ignore[list-item]


def test_the_first_is_asked_alone_and_its_answer_is_used() -> None:
    world = World()
    (batch,) = world.submit(_items(5)).batches
    assert [item.fingerprint for item in world.model.asked] == ["v1:0"]
    assert [one.fingerprint for one in batch.answered] == ["v1:0"]
    assert [one.fingerprint for one in batch.items] == ["v1:1", "v1:2", "v1:3", "v1:4"]
    assert world.store.batches() == (batch,)
    assert world.model.sent[batch.id] == _items(5)[1:]


def test_one_error_needs_no_trial() -> None:
    world = World()
    (batch,) = world.submit(_items(1)).batches
    assert (world.model.asked, len(batch.items)) == ([], 1)
    assert world.submit(()) == Submission()


def test_a_refused_trial_submits_nothing_and_keeps_nothing() -> None:
    def refuse(item: TriageItem) -> object:
        raise GiveUp("temperature: not permitted")

    world = World(answer=refuse)
    with pytest.raises(GiveUp, match="temperature"):
        world.submit(_items(3))
    assert (world.model.sent, world.store.batches()) == ({}, ())


def test_what_is_waiting_is_not_submitted_again() -> None:
    world = World()
    world.submit(_items(4))
    world.later(24)
    again = world.submit(_items(6, night="n2"), night="n2")
    assert sorted(again.waiting) == ["v1:0", "v1:1", "v1:2", "v1:3"]
    assert again.batches[0].fingerprints == {"v1:4", "v1:5"}
    for batch in world.store.batches():
        world.store.keep(batch.model_copy(update={"collected_by": "n3"}))
    assert world.submit(_items(6, night="n4"), night="n4").waiting == ()


def test_a_set_larger_than_a_batch_becomes_several() -> None:
    world = World(most=4)
    batches = world.submit(_items(11)).batches
    assert [len(one.items) for one in batches] == [4, 4, 2]
    assert [len(one.answered) for one in batches] == [1, 0, 0]
    assert len({one.digest for one in batches}) == 3


def test_a_night_killed_before_the_service_has_it_submits_again_when_that_is_sure() -> None:
    world = World(fails=[Killed()])
    with pytest.raises(Killed):
        world.submit(_items(3))
    early = world.submit(_items(3))
    assert early.batches == ()
    assert len(early.waiting) == 3
    assert "does not list it so far" in early.unsure[0]
    world.later(hours=0, seconds=SETTLING.total_seconds() + 1)
    (batch,) = world.submit(_items(3)).batches
    assert list(world.model.sent) == [batch.id]


def test_a_night_killed_before_it_knew_the_id_finds_the_batch_and_submits_none() -> None:
    world = World(fails=[MayHaveArrived("cut off")])
    first = world.submit(_items(3))
    assert first.batches == ()
    assert "may be msgbatch_0001" in first.unsure[0]
    world.later(5)
    waiting = world.submit(_items(3))
    assert (waiting.batches, len(waiting.waiting)) == ((), 3)
    world.model.end()
    settled = settle(world.model, world.store, world.clock)
    assert [one.id for one in settled.open] == ["msgbatch_0001"]
    assert (settled.intents, settled.unsure) == ((), ())
    assert [one.fingerprint for one in settled.open[0].answered] == ["v1:0"]
    assert len(world.model.sent) == 1
    assert world.store.batches() == settled.open


def test_of_batches_of_the_same_size_the_one_with_our_keys_is_taken() -> None:
    world = World(fails=[MayHaveArrived("cut off")])
    world.submit(_items(3))
    strangers = _items(3, night="somebody else's")
    for items in (strangers[1:], strangers):
        intent = world.model.intents(items, "x", world.clock.now())[0]
        world.model.submit(intent, items)
    world.model.end("msgbatch_0002")
    settled = settle(world.model, world.store, world.clock)
    assert settled.open == ()
    assert "msgbatch_0001" in settled.unsure[0]
    assert "msgbatch_0002" not in settled.unsure[0]  # it has ended, and is not ours
    assert "msgbatch_0003" not in settled.unsure[0]  # it has more items
    world.model.end("msgbatch_0001")
    assert [one.id for one in settle(world.model, world.store, world.clock).open] == [
        "msgbatch_0001"
    ]


def test_a_refusal_leaves_no_intent_and_keeps_what_was_submitted_before() -> None:
    world = World(most=2)
    items = _items(5)
    world.submit(items[:3])
    world.model.fails = [TryLater("429")]
    with pytest.raises(TryLater):
        world.submit(items)
    assert [one.is_intent for one in world.store.batches()] == [False]
    world.later(1)
    assert len(world.submit(items).batches) == 1
    assert len(world.model.sent) == 2


def test_nothing_is_submitted_while_a_kept_batch_cannot_be_read() -> None:
    world = World()
    world.store.unreadable = ("/state/batches/x.json: it is not whole JSON",)
    with pytest.raises(GiveUp, match=r"x\.json: it is not whole JSON"):
        world.submit(_items(3))
    assert (world.model.sent, world.model.asked) == ({}, [])


def test_with_another_key_nobody_says_that_nothing_came_of_it() -> None:
    world = World(fails=[Killed()])
    with pytest.raises(Killed):
        world.submit(_items(3))
    (intent,) = world.store.batches()
    world.store.keep(intent.model_copy(update={"account": "another"}))
    world.later(24)
    again = world.submit(_items(3))
    assert again.batches == ()
    assert "address or key are not those" in again.unsure[0]
    world.later(seconds=KEPT.total_seconds())
    assert len(world.submit(_items(3)).batches) == 1


def test_a_batch_whose_results_are_no_longer_kept_is_not_waited_for() -> None:
    world = World(fails=[MayHaveArrived("cut off")])
    world.submit(_items(3))
    world.model.states["msgbatch_0001"] = BatchState(status="gone", succeeded=2)
    world.later(20)
    assert len(world.submit(_items(3)).batches) == 1
