"""First sight: what is asked, of whom again, whose turn it is, what it costs, what came of it."""

import json
from datetime import timedelta

import pytest
from core.report_fixture import NOW, group, trace
from twins.reading import MemoryAgents

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.assignment import BatchTriage
from nightwatch_core.models.batch import (
    Batch,
    BatchState,
    FirstSight,
    ItemResult,
    Submission,
    TokenPrice,
)
from nightwatch_core.models.errors import Triage, Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, NightKind, NightRecord
from nightwatch_core.text.plain_text import estimated_tokens
from nightwatch_core.triage import batch_triage as asking
from nightwatch_core.triage.batch_triage import (
    BUILT_IN,
    Questions,
    check_batch_mode,
    model_of,
    question,
    triage_agent,
)

DAY = timedelta(days=1)
PRICE = TokenPrice(
    up_to=100_000, input=0.1, output=0.5, cache_read=0, cache_write=0, cache_write_1h=0
)


def sight(severity="low", flagged=False):
    return FirstSight(
        severity=severity, likely_cause="Who knows.", needs_deep_investigation=flagged
    )


def items(*groups):
    return tuple(asking.item_of("n", one, question(one, None, BUILT_IN)) for one in groups)


def intent(some, night="n", **more):
    return Batch.intent(some, night=night, model="m", submitted=NOW, **more)


def batch(*groups, night="n", **results):
    """A batch of these errors; `results` by the last digit of the name: a sight, or a kind."""
    made, told = intent(items(*groups), night, prices=(PRICE,)), []
    for one in made.items:
        said = results.get(f"e{one.fingerprint[-1]}")
        first = said if isinstance(said, FirstSight) else None
        kind = "answered" if first else said
        if said:
            told.append(
                ItemResult(key=one.key, fingerprint=one.fingerprint, kind=kind, first_sight=first)
            )
    return made.model_copy(update={"id": "msgbatch_1", "results": tuple(told)})


def test_a_question_says_what_a_glance_takes_and_is_short():
    text = question(group(), trace(), BUILT_IN).turns[0].text
    for part in ("KeyError", "bookings/confirm", "1,204", "users: 45", "2026.11.3", "<- ours"):
        assert part in text
    long = group(message="x" * 1_000_000, error_class="E" * 100_000)
    assert estimated_tokens(question(long, trace(), BUILT_IN).turns[0].text) < 3_000
    assert "no stack trace is known" in question(group(), None, BUILT_IN).turns[0].text


def test_a_broken_or_missing_agent_file_is_told_and_the_built_in_asks():
    class Broken(MemoryAgents):
        def names(self):
            return ("triage",)

        def agent(self, name):
            raise StopTheNight("agents/triage.md:3: effort: low, medium or high")

    assert triage_agent(MemoryAgents()) == (BUILT_IN, "")
    agent, complaint = triage_agent(Broken())
    assert agent == BUILT_IN
    assert "agents/triage.md:3" in complaint


def test_a_model_named_for_the_run_wins_over_the_agent_file():
    options = NightOptions(model="qwen")
    assert model_of(BUILT_IN, options, ("model",)) == "qwen"
    assert model_of(BUILT_IN.model_copy(update={"model": None}), options) == "qwen"


AGAIN = ("errored", "expired", "canceled", "unreadable", "missing")


@pytest.mark.parametrize(
    ("result", "asked_again"),
    [*((None, False), (sight(), False), ("refused", False)), *((kind, True) for kind in AGAIN)],
    ids=("waits", "judged", "refused", *AGAIN),
)
def test_who_is_asked_about_again(result, asked_again):
    kept = batch(group(1), e1=result) if result else batch(group(1))
    ask, held = asking.to_ask([group(1)], [kept], NOW + DAY, 90)
    assert (bool(ask), bool(held)) == (asked_again, not asked_again)


def test_what_was_judged_is_asked_again_when_it_is_old_or_another_error_by_now():
    one = group(1, occurrences=5)
    kept = [batch(one, e1=sight())]
    assert asking.to_ask([one], kept, NOW + 91 * DAY, 90)[0]
    assert not asking.to_ask([one], kept, NOW + 91 * DAY, 0)[0], "0 is for ever"
    assert asking.to_ask([group(1, occurrences=50)], kept, NOW, 90)[0]
    back = group(1, occurrences=5, triage=Triage(state="regressed"))
    assert asking.to_ask([back], kept, NOW, 90)[0]


def prompt_of(item):
    talk = item.conversation
    texts = (talk.system, json.dumps(talk.answer_schema), talk.turns[0].text)
    return sum(map(estimated_tokens, texts))


def test_as_many_are_asked_about_as_can_be_paid_for_in_any_case():
    some = items(*map(group, range(1, 6)))
    prices = intent(some, prices=(PRICE,))
    one = (prompt_of(some[0]) * 0.1 + 2_000 * 0.5) / 2e6
    plan = asking.plan(some, prices, 2.5 * one)
    assert len(plan.items) == 2
    assert plan.over.startswith("3 errors were not asked about")
    assert plan.cost.startswith("at most")
    assert len(asking.plan(some, prices, None).items) == 5
    unpriced = intent(some)
    assert not asking.plan(some, unpriced, 6.0).items, "an unknown price may be any"
    assert asking.plan(some, unpriced, None).cost == "price unknown"


def test_what_is_collected_is_counted_and_what_was_taken_does_not_wait():
    paid = Usage(calls=1, cost=0.25)
    read = batch(group(1), e1=sight("high", True))
    results = tuple(one.model_copy(update={"usage": paid}) for one in read.results)
    read = read.model_copy(update={"results": results})
    before = batch(group(2), group(3), night="b", e2=sight("low", True), e3=sight("low", True))
    before = before.model_copy(
        update={"collected_by": "x", "taken": (group(3).fingerprint,), "submitted": NOW - DAY}
    )
    triage = asking.collected([asking.ReadBatch(batch=read)], [before, read], NOW)
    assert triage.usage.cost == 0.25
    assert [one.group for one in triage.flagged] == [group(2), group(1)]
    assert not asking.collected([], [before], NOW + 40 * DAY).waiting, "not for ever"
    names = frozenset({group(2).fingerprint})
    assert asking.taken(before, names) == (group(3).fingerprint, group(2).fingerprint)


def test_batches_belong_to_nights_over_the_same_sources():
    night = Night(id="n", window=Window(since=NOW, until=NOW), now=NOW, kind=NightKind(key="a"))
    history = [NightRecord(id="n", status="complete", started=NOW, night=night)]
    kept = [batch(group(1)), batch(group(2), night="unknown")]
    assert asking.of_sources(kept, history, "a") == (kept[0],)
    assert not asking.of_sources(kept, history, "b")


def test_a_tail_that_could_not_be_read_says_when_to_come_back():
    state = BatchState(status="in progress", processing=1)
    assert "--collect" in asking.running_text(batch(group(1)), state)


def test_what_was_submitted_stands_beside_earlier_words():
    held = asking.sightings(batch(group(1), group(2), e1=sight()))
    sent = Submission(batches=(batch(group(3)),), unsure=("who knows",))
    triage = asking.with_submission(BatchTriage(), sent, "$1", Questions(kept=held))
    assert ([one.group for one in triage.kept], triage.awaited, triage.cost) == (
        [group(1)],
        1,
        "$1",
    )
    assert asking.with_complaints(triage, "who knows", "").complaints == ("who knows",)


def test_without_a_model_a_batch_is_refused():
    with pytest.raises(StopTheNight, match="ANTHROPIC_API_KEY") as refused:
        check_batch_mode(NightOptions(model="rules", source="sample", batch_mode=True))
    assert "--errors" in str(refused.value)


def test_a_batch_whose_results_are_gone_says_so_of_every_error():
    results = asking.without_results(batch(group(1), group(2)), BatchState(status="gone"))
    assert [(one.kind, bool(one.reason)) for one in results] == [("missing", True)] * 2
