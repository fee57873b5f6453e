import pytest
from analysis_shapes import FIX, allowance, analysed, analysis, answer, asks, case, says
from core.lesson_shapes import lesson
from journal_runs import JournalRuns
from tables import tables_of
from twins.reading import MemoryModel, MemoryRecords

from nightwatch_core.analysis.loop import ending_text
from nightwatch_core.analysis.second_look import (
    NOT_KEPT,
    Choice,
    allowance_of_lead,
    doubt_of,
    has_news,
    seed,
    way_of,
    weakness,
)
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.answer import Edit, Evidence, Hypothesis, Usage
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
    assert (
        "That is not settled: the confidence is low; it quoted no line of the code."
        in goes_on[-1].text
    )
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


SHOWN, INVENTED = (
    Evidence(path="shop/cart.py", line=2, quote="line.price", verified=True),
    Evidence(path="shop/pay.py", line=7, quote="card.expire()"),
)
RULED_OUT = Hypothesis(statement="The card", standing="ruled out", because="it was valid")
CLAIM = "Currencies are mixed"
WRONG = {
    "title": CLAIM,
    "root_cause": f"{CLAIM} before the sum.",
    "confidence": "high",
    "evidence": [SHOWN.model_dump(), INVENTED.model_dump()],
    "hypotheses": [RULED_OUT.model_dump(), {"statement": CLAIM}],
    "suggested_next_steps": [f"Look where {CLAIM}"],
}
REJECTED = says(answer(**{**WRONG, "confidence": "low"}), usage=USAGE)


@pytest.mark.parametrize(("change", "way", "because"), TABLES["ways"])
def test_a_fresh_conversation_where_it_was_wrong_and_the_first_where_it_lacked(
    change, way, because
):
    assert way_of(analysis(**{"confidence": "low", **change})) == (way, because)


def test_a_fresh_look_is_told_what_code_verified_and_no_claim_of_the_first():
    found, model = looked(READ, REJECTED, READ, GOOD, records=MemoryRecords())
    assert (found.title, found.passes, found.second_look.kept) == ("Good", 2, "second")
    assert found.second_look.way == "fresh"
    because = "lines that it quoted are not in the code: shop/pay.py:7"
    assert found.second_look.way_because == because
    assert f"(fresh: {because})" in ending_text(found)
    fresh, first = model.shown[2], model.shown[0]
    assert len(fresh.turns) == 1, "nothing of the first conversation is sent"
    for name in ("system", "tools", "answer_schema"):
        assert getattr(fresh, name) == getattr(first, name), "the service has these in its cache"
    told = fresh.turns[0].text
    assert CLAIM not in told
    assert f"looked at again:\n- {because}" in told
    assert "found in the code:\n- shop/cart.py:2 return sum(line.price for line in lines)\n" in told
    assert "not there:\n- shop/pay.py:7 card.expire()\n" in told
    assert "Explanations that it ruled out; only it says so:\n- The card (it was valid)" in told
    assert "Files that it read:\n- shop/pay.py\n" in told


def test_a_first_look_that_cannot_be_continued_passes_on_what_it_left_open():
    first = analysis(hypotheses=(Hypothesis(statement="A race"),), next_steps=("The job",))
    told = [seed(first, Choice("fresh", because)) for because in (NOT_KEPT, "it found no cause")]
    assert ["left open:\n- A race" in text and "- The job" in text for text in told] == [
        True,
        False,
    ]


def test_a_file_whose_quote_a_fresh_look_is_shown_may_be_changed_by_it():
    quote = {"path": "shop/pay.py", "line": 2, "quote": "return gateway.charge(card)"}
    weak = {**WRONG, "confidence": "low", "evidence": [quote, INVENTED.model_dump()]}
    edit = {"path": "shop/pay.py", "action": "edit", "old": "charge(card)", "new": "charge(0)"}
    fixed = says(answer(title="Good", has_fix=True, file_changes=[edit]), usage=USAGE)
    found, model = looked(says(answer(**weak), usage=USAGE), fixed, records=MemoryRecords())
    assert (found.second_look.way, len(model.shown)) == ("fresh", 2)
    assert [change.path for change in found.fix] == ["shop/pay.py"]


def test_too_little_for_a_new_conversation_continues_the_first():
    found, model = looked(REJECTED, GOOD, records=MemoryRecords(), tokens=18_000)
    assert found.second_look.way == "going on"
    assert found.second_look.way_because.endswith("too little is left for a new conversation")
    assert model.shown[1].turns[: len(model.shown[0].turns)] == model.shown[0].turns
    assert len(model.shown[1].turns) > 2


@pytest.mark.parametrize("weak", [WEAK, REJECTED])
@pytest.mark.parametrize("killed", range(5))
def test_a_night_that_is_taken_up_pays_no_turn_of_either_way_twice(weak, killed):
    script, records, asked = (READ, weak, READ, GOOD), MemoryRecords(), []
    runs = JournalRuns()

    def night(may):
        remote = MemoryModel([lambda shown: paid(shown, may)], able=REMOTE)
        return analysed(runs.model(remote), records=records)

    def paid(shown, may):
        if len(asked) == may:
            raise KeyboardInterrupt
        asked.append(shown)
        return script[len(asked) - 1]

    if killed < len(script):
        with pytest.raises(KeyboardInterrupt):
            night(killed)
    found = night(len(script))
    assert (found.title, found.passes, found.usage.calls) == ("Good", 2, len(script))
    assert found.second_look.way == ("going on" if weak is WEAK else "fresh")
    assert len({shown.model_dump_json() for shown in asked}) == len(asked) == len(script)


@pytest.mark.parametrize("weak", [WEAK, REJECTED])
def test_both_ways_are_told_what_was_found_for_related_errors_since(weak):
    model, records = MemoryModel([weak, GOOD], able=REMOTE), MemoryRecords()
    findings = ResearchContext(
        leader_findings=("No price (high; shop/cart.py): It is called cost.",)
    )
    analysed(model, records=records, research=findings)
    told = model.shown[1].turns[-1].text
    assert "## Found earlier tonight for related errors" in told
    assert "No price (high; shop/cart.py): It is called cost." in told


def test_what_was_wrong_is_worth_a_fresh_look_without_any_news():
    assert has_news(analysis(confidence="low", hypotheses=(RULED_OUT,)))


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
