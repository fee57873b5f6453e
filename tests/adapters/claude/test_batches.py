"""Message Batches over real HTTP: what is sent, what comes back, what it costs."""

from collections import Counter
from datetime import timedelta

import pytest
from batch_worlds import HAIKU, batches_of, items, submitted
from services.anthropic import Anthropic
from twins.batches import MemoryBatchStore
from twins.reading import MemoryClock

from nightwatch_core.errors import GiveUp, MayHaveArrived, StopTheNight, TryLater
from nightwatch_core.models.answer import Usage
from nightwatch_core.triage.batch_triage import settle, submit_once

CLOCK = MemoryClock()


def _create(server):
    path = "/v1/messages/batches"
    return [one for one in server.requests if one.method == "POST" and one.path == path]


def test_a_batch_is_sent_read_and_paid_by_half():
    with Anthropic() as server:
        model, asked = batches_of(server), items(40)
        batch = submitted(model, asked, CLOCK)
        assert model.state(batch).status == "ended"
        results = list(model.results(batch))
        server.batches.fates = {asked[1].key: "standard"}
        again = submitted(model, asked[1:2], CLOCK)
        (full,) = model.results(again)
    assert Counter(one.kind for one in results) == {"answered": 40}
    names = {one.fingerprint: one.key for one in results}
    assert names == {one.fingerprint: one.key for one in asked}
    flagged = {one.fingerprint for one in results if one.first_sight.needs_deep_investigation}
    assert flagged == {f"v1:{number:05}" for number in range(0, 40, 4)}
    half = next(one for one in results if one.key == asked[1].key)
    assert half.usage.cost == pytest.approx(_list_price(half.usage) / 2)
    assert full.usage.cost == pytest.approx(_list_price(full.usage))
    assert half.usage.priced == "2026-10-10"


def _list_price(usage):
    cached = usage.cache_read_tokens * 0.01 + usage.cache_write_5m_tokens * 0.125
    cached += usage.cache_write_1h_tokens * 0.2
    return (usage.input_tokens * 0.10 + usage.output_tokens * 0.50 + cached) / 1_000_000


def test_a_question_is_a_whole_request_whose_prompt_is_kept_for_an_hour():
    with Anthropic() as server:
        model, asked = batches_of(server), items(1)
        submitted(model, asked, CLOCK)
        (created,) = _create(server)
    (request,) = created.body["requests"]
    assert request["custom_id"] == asked[0].key
    assert set(request["params"]) == {
        "model", "max_tokens", "system", "messages", "thinking", "output_config",
    }  # fmt: skip
    assert request["params"]["system"][-1]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert request["params"]["output_config"]["effort"] == "low"
    assert "anthropic-beta" not in created.headers
    assert created.headers["content-type"] == "application/json"


FATES = {
    "errored": "errored", "refusal": "refused", "max_tokens": "unreadable",
    "no json": "unreadable", "no schema": "unreadable", "empty": "unreadable",
    "unknown": "unreadable", "no message": "unreadable", "left out": "missing",
    "torn line": "missing", "no usage": "answered",
}  # fmt: skip


def test_every_way_a_request_can_end_has_its_kind():
    with Anthropic() as server:
        model, asked = batches_of(server), items(12)
        server.batches.fates = dict(zip([one.key for one in asked], FATES, strict=False))
        batch = submitted(model, asked, CLOCK)
        results = {one.key: one for one in model.results(batch)}
    told = {fate: results[one.key] for fate, one in zip(FATES, asked, strict=False)}
    assert {fate: one.kind for fate, one in told.items()} == FATES
    assert results[asked[11].key].kind == "answered"
    assert all(bool(one.first_sight) == (one.kind == "answered") for one in results.values())
    assert all(one.reason for one in results.values() if one.kind != "answered")
    assert "invalid_request_error: something of this request" in told["errored"].reason
    assert told["refusal"].reason == "the model refused: cyber"
    assert "cut off at its greatest length" in told["max_tokens"].reason
    assert "postponed" in told["unknown"].reason
    assert told["max_tokens"].usage.cost > 0
    assert told["errored"].usage == Usage()


@pytest.mark.parametrize("fault", ["cut results", "doubled results", "noise", "endless line"])
def test_results_that_break_off_are_read_again_and_nothing_is_doubled_or_lost(fault):
    with Anthropic() as server:
        model, asked = batches_of(server), items(15)
        batch = submitted(model, asked, CLOCK)
        server.fail(fault, times=2, path=f"/v1/messages/batches/{batch.id}/results")
        results = list(model.results(batch))
    assert Counter(one.key for one in results) == Counter(one.key for one in asked)
    assert {one.kind for one in results} == {"answered"}


@pytest.mark.parametrize("fault", ["500", "529", "drop", "502"])
def test_results_that_cannot_be_read_are_for_later(fault):
    with Anthropic() as server:
        model = batches_of(server)
        batch = submitted(model, items(2), CLOCK)
        server.fail(fault, times=2, path=f"/v1/messages/batches/{batch.id}/results")
        assert len(list(model.results(batch))) == 2
        server.fail(fault, times=99, path=f"/v1/messages/batches/{batch.id}/results")
        with pytest.raises(TryLater, match="later"):
            list(model.results(batch))


def test_a_batch_works_by_the_services_clock_and_expires():
    with Anthropic() as server:
        server.batches.per_item = timedelta(hours=1)
        model = batches_of(server)
        batch = submitted(model, items(30), CLOCK)
        server.batches.pass_by(hours=3)
        state = model.state(batch)
        assert (state.status, state.processing, state.total) == ("in progress", 30, 30)
        assert not state.readable
        with pytest.raises(TryLater, match="has not ended"):
            list(model.results(batch))
        server.batches.pass_by(hours=21)
        state = model.state(batch)
        assert (state.status, state.succeeded, state.expired) == ("ended", 24, 6)
        assert (
            state.expires == batch.expires == server.batches.kept[batch.id].created + timedelta(1)
        )
        results = list(model.results(batch))
        assert Counter(one.kind for one in results) == {"answered": 24, "expired": 6}
        server.batches.per_item = timedelta(hours=25)
        none = submitted(model, items(3), CLOCK)
        server.batches.pass_by(hours=24)
        assert model.state(none).status == "expired"
        assert {one.kind for one in model.results(none)} == {"expired"}


def test_a_batch_that_is_gone_or_too_old_says_so():
    with Anthropic() as server:
        model = batches_of(server)
        batch = submitted(model, items(2), CLOCK)
        server.batches.pass_by(days=29)
        assert (model.state(batch).status, model.state(batch).readable) == ("gone", False)
        with pytest.raises(GiveUp, match="29 days"):
            list(model.results(batch))
        server.batches.kept.clear()
        assert model.state(batch).status == "gone"
        with pytest.raises(GiveUp, match="another workspace"):
            list(model.results(batch))


def test_a_server_without_batches_is_refused_before_anything_is_sent():
    with Anthropic(compatible=True) as server:
        model = batches_of(server)
        with pytest.raises(GiveUp, match="has no Message Batches: run without --batch"):
            model.probe()
        with pytest.raises(GiveUp, match="has no Message Batches"):
            model.intent(items(3), "n1", CLOCK.now())
    assert {one.method for one in server.requests} == {"GET"}


def test_a_probe_says_what_there_is_or_what_is_wrong():
    with Anthropic() as server:
        assert batches_of(server).probe().startswith("Message Batches at http://127.0.0.1")
        server.fail("401", path="/v1/messages/batches")
        with pytest.raises(StopTheNight, match="ANTHROPIC_API_KEY"):
            batches_of(server).probe()


def test_the_newest_batches_are_listed():
    with Anthropic() as server:
        model, start = batches_of(server), server.batches.now
        for _ in range(5):
            server.batches.create({"requests": [{"custom_id": "a", "params": {}}]}, 10)
            server.batches.pass_by(minutes=1)
        listed = model.newest(start + timedelta(minutes=3))
    assert [one.id for one in listed] == ["msgbatch_0005", "msgbatch_0004"]
    assert listed[0].state.total == 1


@pytest.mark.parametrize("fate", ["lost", "lost 500"])
def test_a_batch_whose_answer_was_lost_is_found_and_never_sent_again(fate):
    clock, store = MemoryClock(), MemoryBatchStore()
    with Anthropic() as server:
        clock.time = server.batches.now
        server.batches.create({"requests": [{"custom_id": "x", "params": {}}] * 1}, 9)
        model, asked = batches_of(server, clock), items(9)
        server.fail(fate, path="/v1/messages/batches", after=1)  # after a look at the list
        (batch,) = submit_once(asked, "n1", model, store, clock).batches
        assert batch.id == "msgbatch_0002"
        assert len(submit_once(asked, "n1", model, store, clock).waiting) == 9
        assert settle(model, store, clock).open == (batch,)
        assert len(list(model.results(batch))) == 9
        assert len(_create(server)) == 1


@pytest.mark.parametrize("fault", ["429", "529", "500", "drop", "no json", "slow"])
def test_only_what_certainly_did_not_arrive_is_sent_again(fault):
    with Anthropic() as server:
        model, asked = batches_of(server, silence=1.0), items(3)
        intent = model.intent(asked, "n1", CLOCK.now())
        server.fail(fault, path="/v1/messages/batches")
        if fault == "429":
            assert model.submit(intent, asked).id
        else:
            with pytest.raises(MayHaveArrived, match="not known whether the batch arrived"):
                model.submit(intent, asked)
        assert len(_create(server)) == (2 if fault == "429" else 1)
        server.closing.set()


@pytest.mark.parametrize(
    ("fault", "kind"), [("400", GiveUp), ("401", StopTheNight), ("413", GiveUp), ("429", TryLater)]
)
def test_a_refused_batch_is_certain_and_leaves_no_intent(fault, kind):
    clock, store = MemoryClock(), MemoryBatchStore()
    with Anthropic() as server:
        model = batches_of(server, clock)
        server.fail(fault, path="/v1/messages/batches", times=9, after=1)
        with pytest.raises(kind) as raised:
            submit_once(items(3), "n1", model, store, clock)
    assert not isinstance(raised.value, MayHaveArrived)
    assert server.key not in str(raised.value)
    assert store.batches() == ()


def test_a_model_that_is_not_offered_in_batches_is_refused_before_anything_is_sent():
    with Anthropic() as server:
        info = server.model(HAIKU)
        server.model = lambda name: {
            **info,
            "capabilities": {**info["capabilities"], "batch": {"supported": False}},
        }
        with pytest.raises(GiveUp, match="not offered in batches"):
            batches_of(server).intent(items(2), "n1", CLOCK.now())
        assert not _create(server)
