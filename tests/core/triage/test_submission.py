"""A batch is submitted once, whatever happens between the intent and the answer."""

from datetime import timedelta

import pytest
from twins.batches import MemoryBatches, MemoryBatchStore
from twins.reading import MemoryClock

from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.batch import Submission
from nightwatch_core.models.conversation import Conversation, UserTurn
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.triage.batch_triage import SETTLING, item_of, settle, submit_once


class Killed(BaseException):
    """The process ends here."""


class World:
    """A model, a store and a clock that a killed night leaves behind."""

    def __init__(self, *fails):
        self.clock = MemoryClock()
        self.model = MemoryBatches(now=self.clock.now(), fails=[*fails])
        self.store = MemoryBatchStore()

    def submit(self, items, night="n1"):
        self.model.now = self.clock.now()
        return submit_once(items, night, self.model, self.store, self.clock)

    def killed(self):
        with pytest.raises(Killed):
            self.submit(_items(3))
        return self


def _items(count, night="n1"):
    groups = [
        ErrorGroup(fingerprint=f"v1:{number}", source="file", error_class="E")
        for number in range(count)
    ]
    talks = [
        Conversation(system="s", case=Case(leader=group), turns=(UserTurn(text="Look."),))
        for group in groups
    ]
    return tuple(item_of(night, group, talk) for group, talk in zip(groups, talks, strict=True))


def test_keys_name_night_and_error_and_are_the_same_again():
    keys = {item.key for item in _items(3)}
    assert keys == {item.key for item in _items(3)}
    assert len(keys) == 3
    assert not keys & {item.key for item in _items(3, night="n2")}


def test_what_is_waiting_is_not_submitted_again():
    world = World()
    assert world.submit(()) == Submission()
    (batch,) = world.submit(_items(4)).batches
    assert world.store.batches() == (batch,)
    world.clock.pass_by(86_400)
    again = world.submit(_items(6, night="n2"), night="n2")
    assert sorted(again.waiting) == ["v1:0", "v1:1", "v1:2", "v1:3"]
    assert again.batches[0].fingerprints == {"v1:4", "v1:5"}
    for kept in world.store.batches():
        world.store.keep(kept.model_copy(update={"collected_by": "n3"}))
    assert world.submit(_items(6, night="n4"), night="n4").waiting == ()


def test_a_night_killed_before_the_service_has_it_submits_again_when_that_is_sure():
    world = World(Killed()).killed()
    early = world.submit(_items(3))
    assert (early.batches, len(early.waiting)) == ((), 3)
    assert "does not list it so far" in early.unsure[0]
    world.clock.pass_by(SETTLING.total_seconds() + 1)
    (batch,) = world.submit(_items(3)).batches
    assert list(world.model.sent) == [batch.id]


def test_batches_of_other_sizes_times_and_names_are_not_taken_for_ours():
    world = World(Killed())
    now = world.clock.now()
    for count, created in ((3, now - timedelta(hours=2)), (2, now)):
        world.model.now, fails, world.model.fails = created, world.model.fails, []
        world.model.submit(world.model.intent(_items(count), "x", now), _items(count))
        world.model.fails = fails
    world.killed()
    settled = settle(world.model, world.store, world.clock)
    assert (settled.open, len(settled.intents), len(settled.unsure)) == ((), 1, 1)


def test_a_refusal_leaves_no_intent():
    world = World(TryLater("429"))
    with pytest.raises(TryLater):
        world.submit(_items(3))
    assert world.store.batches() == ()
    assert len(world.submit(_items(3)).batches) == 1


def test_nothing_is_submitted_while_a_kept_batch_cannot_be_read():
    world = World()
    world.store.unreadable = ("/state/batches/x.json: it is not whole JSON",)
    with pytest.raises(GiveUp, match=r"x\.json: it is not whole JSON"):
        world.submit(_items(3))
    assert world.model.sent == {}
