import pytest
from analysis_shapes import FIX, allowance, analysed, analysis, answer, asks, case, says
from core.lesson_shapes import lesson
from tables import tables_of
from twins.reading import MemoryModel, MemoryRecords

from nightwatch_core.analysis.second_look import (
    allowance_of_lead,
    doubt_of,
    has_news,
    seed,
    weakness,
)
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.answer import Edit, Hypothesis, Usage
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.knowledge import Match, PriorAnalysis
from nightwatch_core.models.research import ResearchContext

TABLES = tables_of(__file__)
REMOTE = Capabilities(model="remote", input_price=5.0, output_price=25.0)
USAGE = Usage(calls=1, input_tokens=400, output_tokens=50, cost=0.05)
WEAK = says(answer(title="Weak", evidence=[], confidence="high"), usage=USAGE)
GOOD = says(answer(title="Good"), usage=USAGE)
READ = asks(("read_file", {"path": "shop/pay.py"}), usage=USAGE)
MISSED = asks(("read_file", {"path": "gone.py"}), usage=USAGE)


def looked(*script, able=REMOTE, **more):
    model = MemoryModel(script, able=able)
    return analysed(model, **more), model


def test_a_sound_verdict_is_left_at_that():
    found, model = looked(GOOD)
    assert (found.passes, found.second_look, len(model.shown)) == (1, None, 1)


def test_a_weak_one_gets_a_fresh_conversation_that_is_told_what_was_found():
    found, model = looked(READ, MISSED, WEAK, READ, GOOD)
    assert (found.title, found.passes, found.iterations) == ("Good", 2, 5)
    look = found.second_look
    assert (look.reason, look.kept) == ("the confidence is low", "second")
    assert look.because == "the second is better by confidence"
    assert found.usage.calls == 5
    assert look.usage.calls == 2
    assert found.read == ("shop/pay.py",)
    fresh = model.shown[3]
    assert len(fresh.turns) == 1
    assert "An earlier look" in fresh.turns[0].text
    assert "- shop/pay.py" in fresh.turns[0].text
    assert fresh.system == model.shown[0].system


def test_a_weak_one_goes_on_where_it_was_kept_and_pays_for_what_is_new():
    records = MemoryRecords()
    cart = asks(("read_file", {"path": "shop/cart.py"}), usage=USAGE)
    found, model = looked(READ, WEAK, READ, cart, GOOD, records=records)
    assert (found.title, found.passes, found.usage.calls) == ("Good", 2, 5)
    first, goes_on, after = (model.shown[n].turns for n in (1, 2, 3))
    assert str(goes_on[: len(first)]) == str(first), (
        "what the service has in its cache is as it was"
    )
    assert goes_on[-1].effort
    assert "That is not settled: the confidence is low." in goes_on[-1].text
    assert "An earlier look" not in goes_on[-1].text
    assert "You asked this in your turn 1" in str(after[len(goes_on) :])
    for name in ("system", "tools", "answer_schema", "effort"):
        assert getattr(model.shown[2], name) == getattr(model.shown[0], name)
    assert found.read == ("shop/pay.py", "shop/cart.py")


@pytest.mark.parametrize(("able", "cached"), [("another", 0), ("remote", 150_000)])
def test_a_talk_that_cannot_go_on_is_told_anew(able, cached):
    records = MemoryRecords()

    class Changing(MemoryModel):
        def capabilities(self):
            return self.able.model_copy(update={"model": able} if records.kept else {})

    long = WEAK.model_copy(update={"usage": USAGE.model_copy(update={"cache_read_tokens": cached})})
    model = Changing([READ, long, READ, GOOD], able=REMOTE)
    assert analysed(model, records=records).title == "Good"
    assert "An earlier look" in model.shown[2].turns[0].text


def test_a_tie_keeps_the_first_and_there_is_no_third_look():
    found, model = looked(WEAK, says(answer(title="As weak", evidence=[]), usage=USAGE))
    assert (found.title, found.second_look.kept, found.passes) == ("Weak", "first", 2)
    assert found.second_look.because == "the second is not better"
    assert found.usage.calls == len(model.shown) == 2


@pytest.mark.parametrize(
    "trouble",
    [
        GiveUp("it cannot"), TryLater("it is away"), StopTheNight("bad key"),
        says("", stop="refused", detail="cyber"), says("", stop="context exceeded"),
    ],
)  # fmt: skip
def test_a_second_look_that_fails_loses_nothing(trouble):
    found, _ = looked(WEAK, READ, trouble)
    assert (found.title, found.passes, found.ending.kind) == ("Weak", 2, "answered")
    assert found.second_look.kept == "first"
    assert "came to no verdict" in found.second_look.because
    assert found.usage.calls >= 2, "what it used counts"
    assert found.usage == USAGE + found.second_look.usage


def test_rules_would_see_the_same_again():
    local = MemoryModel([]).able
    found, model = looked(WEAK, GOOD, able=local)
    assert (found.passes, len(model.shown)) == (1, 1)
    assert found.second_look.skipped == "the rules would see the same again"


def test_what_counts_as_weak():
    assert not weakness(analysis(score=0.5, confidence="medium"))
    assert weakness(analysis(score=0.49, confidence="high"))
    assert weakness(analysis(score=0.9, confidence="low"))
    assert not weakness(analysis(score=0.1, confidence="low", passes=2))


@pytest.mark.parametrize(
    ("first", "is_new"),
    [
        ({}, False),
        ({"ending": Ending(kind="wrapped up", detail="iterations")}, True),
        ({"evidence": ()}, True),
        ({"hypotheses": (Hypothesis(statement="A race"),)}, True),
        ({"next_steps": ("Look at the job",)}, True),
    ],
)
def test_what_a_second_look_could_see_that_the_first_did_not(first, is_new):
    assert has_news(analysis(confidence="low", **first)) is is_new


def test_the_seed_tells_what_was_ruled_out_and_what_was_not():
    told = seed(
        analysis(
            hypotheses=(
                Hypothesis(statement="The card", standing="ruled out", because="it was valid"),
                Hypothesis(statement="A race"),
            ),
            next_steps=("Look at the job",),
        )
    )
    assert "Explanations it ruled out:\n- The card (it was valid)" in told
    assert "Explanations it left open:\n- A race" in told
    assert "Files it read:\n- shop/cart.py" in told
    assert "- Look at the job" in told


def test_a_fix_of_the_first_is_not_given_up_for_confidence():
    sure = answer(title="Sure", confidence="high")
    fix = FIX.model_dump(exclude={"description"})
    fixed = answer(title="Fixed", confidence="low", has_fix=True, file_changes=[fix])
    found, _ = looked(says(fixed, usage=USAGE), says(sure, usage=USAGE))
    assert (found.title, found.fix[0].new) == ("Fixed", Edit(**fix).new)


@pytest.mark.parametrize(("change", "doubt"), TABLES["leads"])
def test_a_lead_stands_only_where_nothing_speaks_against_it(change, doubt):
    assert doubt_of(analysis(**{"fix": (FIX,), "score": 0.8, **change})) == doubt


@pytest.mark.parametrize(("kind", "misfit", "tokens", "may"), TABLES["lead_allowances"])
def test_a_lead_gets_half_and_no_error_that_nights_met_before(kind, misfit, tokens, may):
    prior = PriorAnalysis(lesson=lesson("a"), match=Match(score=1.0, because=(), kind=kind))
    research = ResearchContext(priors=(prior,), misfit=misfit)
    given = allowance(tokens=int(tokens), cost=1.0)
    half = allowance_of_lead(case(message="key not found: a"), research, given)
    assert (half and (half.tokens, half.cost)) == (may and (int(may), 0.5))


@pytest.mark.parametrize("trouble", [GiveUp("it cannot"), TryLater("it is away")])
def test_a_lead_that_comes_to_nothing_costs_what_it_took(trouble):
    found, _ = looked(GOOD, lead=MemoryModel([READ, trouble], able=REMOTE))
    assert (found.title, found.lead.doubt) == ("Good", str(trouble))
    assert (found.usage, found.lead.cost) == (USAGE + USAGE, USAGE.cost)
