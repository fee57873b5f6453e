"""The benchmark's mind answers from evidence only, and its bills are the ones our code counts."""

import json

import pytest
from benchmarks.tokens import invented, mind
from benchmarks.tokens.baselines import seed
from benchmarks.tokens.measuring import play
from benchmarks.tokens.ours import ours
from benchmarks.tokens.returning import lived
from benchmarks.tokens.words import complaints

pytestmark = pytest.mark.slow  # of a benchmark, not of the product
SHOP, CLINIC = invented.nights()
SCENARIOS = (*SHOP.scenarios, *CLINIC.scenarios)
TOOLS = [
    {"name": "read_file", "input_schema": {"properties": {"path": {}}}},
    {"name": "search_code", "input_schema": {"properties": {"query": {}}}},
]


def body(scenario, *told, off=False):
    text = "\n".join((scenario.message, scenario.transaction, scenario.raw, *told))
    said = {"messages": [{"role": "user", "content": text}], "tools": TOOLS, "model": "m"}
    return {**said, "tool_choice": {"type": "none"}} if off else said


def lines_of(facts):
    rows = enumerate(facts, 7)
    return [f"{fact.path} (lines {n}-{n} of 99)\n    {n}| {fact.text}" for n, fact in rows]


@pytest.mark.parametrize("number", range(len(SCENARIOS)))
def test_no_cause_without_every_fact(number):
    scenario = SCENARIOS[number]
    for left_out in scenario.facts:
        shown = lines_of(fact for fact in scenario.facts if fact is not left_out)
        calls, _ = mind.turn(scenario, body(scenario, *shown))
        assert calls
        calls, said = mind.turn(scenario, body(scenario, *shown, off=True))
        answer = json.loads(said)
        assert not calls
        assert scenario.cause not in answer["root_cause"]
        assert left_out.text not in said
        assert (answer["confidence"], answer["file_changes"]) == ("low", [])


@pytest.mark.parametrize("number", range(len(SCENARIOS)))
def test_the_cause_and_its_lines_once_all_are_shown(number):
    scenario = SCENARIOS[number]
    calls, said = mind.turn(scenario, body(scenario, *lines_of(scenario.facts)))
    answer = json.loads(said)
    assert not calls
    assert scenario.cause in answer["root_cause"]
    assert [quote["quote"] for quote in answer["evidence"]] == [f.text for f in scenario.facts]
    expected = list(range(7, 7 + len(scenario.facts)))
    assert [quote["line"] for quote in answer["evidence"]] == expected


def test_words_end_a_conversation_as_a_switch_does():
    scenario = SCENARIOS[0]
    calls, said = mind.turn(scenario, body(scenario, "Time to conclude: no more tools."))
    assert not calls
    assert scenario.cause not in json.loads(said)["root_cause"]


def test_an_error_message_shows_nothing():
    scenario = SCENARIOS[0]
    request = body(scenario, *lines_of(scenario.facts[1:]))
    result = {"type": "tool_result", "content": scenario.facts[0].text, "is_error": True}
    request["messages"] += [
        {"role": "assistant", "content": [{"type": "tool_use", "name": "x", "input": {}}]},
        {"role": "user", "content": [result]},
    ]
    assert mind.turn(scenario, request)[0]


def test_what_it_was_told_of_a_cause_is_no_evidence():
    scenario = SCENARIOS[0]
    told = f"{scenario.cause} ({scenario.facts[-1].path}:132) {scenario.facts[-1].symbol}"
    assert mind.turn(scenario, body(scenario, told))[0]


@pytest.mark.parametrize("design", [seed, ours], ids=lambda design: design.__name__)
def test_bills_are_what_the_design_counted(design):
    for item in play(SHOP, design)[0]:
        assert not item.trouble
        for kind in ("calls", "input_tokens", "output_tokens", "cache_write_tokens",
                     "cache_read_tokens"):  # fmt: skip
            assert getattr(item.usage, kind) == getattr(item.billed, kind), (item.key, kind)
        assert item.usage.cost == pytest.approx(item.billed.cost)


def test_a_night_played_twice_costs_the_same():
    first, second = play(CLINIC, ours)[0], play(CLINIC, ours)[0]
    assert [item.calls for item in first] == [item.calls for item in second]


def test_one_call_of_a_night_writes_the_prompt_that_the_others_read():
    first = {item.key: item.calls[0] for item in play(SHOP, ours)[0]}
    assert [call.read == 0 for call in first.values()].count(True) == 1
    assert first[SHOP.scenarios[0].key].read == 0


def test_what_is_known_costs_nothing_until_the_code_it_cites_changes():
    nights = lived(CLINIC)
    assert [all(item.right for item in night) for night in nights] == [True] * 4
    asked = [sum(bool(item.calls) for item in night) for night in nights]
    assert asked[:3] == [len(CLINIC.scenarios), 0, 0]
    assert 0 < asked[3] <= len(CLINIC.scenarios)


def test_the_invented_nights_can_be_played_and_are_written_the_same_each_time():
    again = invented.nights()
    for night, same in zip((SHOP, CLINIC), again, strict=True):
        assert complaints(night) == []
        assert night.files == same.files
