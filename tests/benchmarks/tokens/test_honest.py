"""The benchmark's mind answers from evidence only, and its bills are the ones our code counts."""

import json
from pathlib import Path
from threading import Barrier, Thread

import pytest
from benchmarks.tokens import invented, mind, real
from benchmarks.tokens.baselines import seed
from benchmarks.tokens.measuring import play
from benchmarks.tokens.ours import ours
from benchmarks.tokens.returning import lived
from benchmarks.tokens.rounds import Held, Rounds
from benchmarks.tokens.service import Service, _prefixes, tokens
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


def request(*texts, effort="low", marked=True):
    blocks = [{"type": "text", "text": text * 600} for text in texts]
    said = {
        "model": "m",
        "system": [{"type": "text", "text": "s" * 3_000, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": [block]} for block in blocks],
        "output_config": {"effort": effort},
    }
    return {**said, "cache_control": {"type": "ephemeral"}} if marked else said


def billed(*requests):
    service = Service(SHOP.scenarios)
    rows = []
    for item in requests:
        service.rounds.arrive()
        rows.append(service.bill(SHOP.scenarios[0], item, [{"type": "text", "text": "x"}]))
    return [
        (row["input_tokens"], row["cache_creation_input_tokens"], row["cache_read_input_tokens"])
        for row in rows
    ]


def test_the_cache_reads_what_was_marked_before():
    head, block = 1_000 + 2 * 4 + 2, 200 + 6
    bills = billed(request("a"), request("a", "b"), request("a", "b", "c", marked=False))
    sizes = [sum(bill) for bill in bills]
    assert bills[0] == (0, sizes[0], 0)
    assert bills[1] == (0, sizes[1] - sizes[0], sizes[0])
    assert bills[2][1] == 0
    assert 0.9 * head < bills[2][2] < 1.1 * head  # only the system prompt is marked there
    assert sizes[1] - sizes[0] == pytest.approx(block, abs=10)


def test_another_effort_begins_the_messages_anew_but_not_the_system_prompt():
    first, second = billed(request("a"), request("a", effort="high"))
    assert 0 < second[2] < first[1]
    assert second[1] == first[1] - second[2]


def test_calls_under_way_at_once_do_not_share_what_they_write():
    rounds = Rounds(busy=2)
    rounds.fresh.add("entry")
    rounds.waiting = 1
    assert "entry" not in rounds.seen
    rounds.arrive()
    assert "entry" in rounds.seen


def test_a_call_that_is_kept_back_asks_in_the_round_after_the_one_it_waited_for():
    rounds, asked = Rounds(), []
    first = Held(rounds)

    def waits():
        with rounds:
            ready.wait()
            first.wait(20)
            rounds.arrive()
            asked.append(("second", rounds.number, "entry" in rounds.seen))

    ready = Barrier(2)
    thread = Thread(target=waits)
    thread.start()
    with rounds:
        ready.wait()
        rounds.wait_for(1, since=0)
        rounds.fresh.add("entry")  # written in this round
        rounds.arrive()
        asked.append(("first", rounds.number, True))
        first.set()
        rounds.arrive()  # not before the other one asks too
        asked.append(("first", rounds.number, True))
    thread.join(20)
    assert asked[0][:2] == ("first", 1)
    assert sorted(asked[1:]) == [("first", 2, True), ("second", 2, True)]


def test_a_call_that_has_waited_long_enough_is_counted_again():
    rounds = Rounds()
    held = Held(rounds)
    with rounds:
        assert not held.wait(0.01)
        assert rounds.held == 0
        held.set()
        assert rounds.held == 0
        assert held.wait()


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


def test_every_block_of_a_request_counts():
    prefixes, marked = _prefixes(request("a", "b"))
    assert [size for _, size in prefixes] == sorted(size for _, size in prefixes)
    assert marked == [0, 2]
    assert tokens([{"type": "text", "text": "x" * 300}]) == 4 + (300 + len("text")) // 3 + 1


def test_the_invented_nights_can_be_played_and_are_written_the_same_each_time():
    again = invented.nights()
    for night, same in zip((SHOP, CLINIC), again, strict=True):
        assert complaints(night) == []
        assert night.files == same.files


def test_real_nights_say_why_they_are_skipped(tmp_path: Path):
    nights = real.nights(tmp_path / "gone")
    assert len(nights) == 3
    assert all("there is no evaluation data" in night.skipped for night in nights)


@pytest.mark.skipif(not real.EVAL.is_dir(), reason="needs the evaluation data beside the checkout")
def test_real_nights_can_be_played():
    nights = real.nights()
    assert [complaint for night in nights for complaint in complaints(night)] == []
    assert sum(len(night.scenarios) for night in nights) >= 8
