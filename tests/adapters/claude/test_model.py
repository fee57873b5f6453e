"""Claude over real HTTP: conversations that go well."""

import json
import threading

import analysis_shapes
import pytest
from analysis_shapes import trace
from claude_talks import OPUS, claude, opening, results, shown
from services.anthropic import Anthropic

from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.analysis.agent_specs import BUILT_IN
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.conversation import UserTurn


def analysed(model, **may):
    given = {"agent": BUILT_IN, "clock": SystemClock(), "traces": (trace(),)}
    return analysis_shapes.analysed(model, **given, **may)


def test_an_analysis_reads_the_file_and_quotes_it():
    with Anthropic() as server:
        found = analysed(claude(server))
    assert found.evidence[0].quote == "return sum(line.price for line in lines)"
    assert found.evidence[0].verified
    assert found.read == ("shop/cart.py",)
    assert (found.model, found.ending.kind, found.usage.calls) == (OPUS, "answered", 2)


def test_the_second_request_only_grows_at_its_end():
    with Anthropic() as server:
        analysed(claude(server))
        first, second = server.bodies
    same = dict.fromkeys(set(first) - {"messages", "max_tokens"})  # neither is in the cache's key
    assert {name: first[name] for name in same} == {name: second[name] for name in same}
    assert second["messages"][:1] == first["messages"]
    assistant, told = second["messages"][1:]
    assert [block["type"] for block in assistant["content"]] == ["thinking", "text", "tool_use"]
    assert assistant["content"][0]["signature"]
    assert [block["type"] for block in told["content"]] == ["tool_result", "text"]


def test_the_cache_is_read_from_the_second_request_on():
    with Anthropic() as server:
        model = claude(server)
        first = model.reply(opening(), 10)
        second = model.reply(opening().said(first.turn, results(first)), 10)
        other = model.reply(shown(), 10)
    assert first.usage.cache_read_tokens == 0
    assert first.usage.cache_write_tokens > 1_000
    assert second.usage.cache_read_tokens == first.usage.cache_write_tokens
    assert 0 < other.usage.cache_read_tokens < first.usage.cache_write_tokens  # system and tools


def test_wrapping_up_keeps_the_tools_and_the_cache():
    with Anthropic() as server:
        found = analysed(claude(server), iterations=2)
        first, last = server.bodies
    assert found.ending.kind == "wrapped up"
    assert last["tools"] == first["tools"]
    assert "tool_choice" not in first | last
    assert found.usage.cache_read_tokens > 1_000
    assert last["output_config"]["format"] == first["output_config"]["format"]
    assert last["output_config"]["effort"] == "low"
    assert [block["type"] for block in last["messages"][-1]["content"]] == ["tool_result", "text"]


def test_calls_are_forbidden_only_where_asking_was_not_enough():
    with Anthropic() as server:
        model = claude(server)
        first = model.reply(opening(), 10)
        bound = {"tools_off": True, "no_calls": True}
        asked = (results(first), UserTurn(text="Conclude."))
        model.reply(opening(**bound).said(first.turn, *asked), 10)
        last = server.bodies[-1]
    assert last["tool_choice"] == {"type": "none"}
    assert last["tools"] == server.bodies[0]["tools"]


def test_effort_that_changes_in_mid_conversation_is_a_message_where_that_can_be():
    with Anthropic() as server:
        model = claude(server)
        first = model.reply(opening(effort="high"), 10)
        off = {"tools_off": True, "effort": "high"}
        asked = (results(first), UserTurn(text="Conclude.", effort="low"))
        last = model.reply(opening(**off).said(first.turn, *asked), 10)
        again = opening(**off).said(first.turn, *asked, last.turn, UserTurn(text="As JSON."))
        assert model.reply(again, 10).stop == "answer"
        one, two, three = server.bodies
    effort = {"role": "system", "content": [], "output_config": {"effort": "low"}}
    assert two["output_config"] == one["output_config"]
    assert two["messages"][-1] == effort
    assert three["messages"][: len(two["messages"])] == two["messages"]
    assert three["messages"][-1]["role"] == "user"


def test_effort_that_changes_elsewhere_is_a_new_request():
    with Anthropic() as server:
        model = claude(server, "claude-haiku-5-5")
        first = model.reply(opening(effort="high"), 10)
        asked = (results(first), UserTurn(text="Conclude.", effort="low"))
        model.reply(opening(effort="high").said(first.turn, *asked), 10)
        one, two = server.bodies
    assert (one["output_config"]["effort"], two["output_config"]["effort"]) == ("high", "low")
    assert two["messages"][-1]["role"] == "user"


def test_many_calls_at_once_do_not_lose_the_cache():
    with Anthropic(reads=16) as server:
        model = claude(server)
        first = model.reply(opening(), 10)
        second = model.reply(opening().said(first.turn, results(first)), 10)
        one, two = server.bodies
    assert len(first.turn.calls) == 16
    assert second.usage.cache_read_tokens == first.usage.cache_write_tokens > 0
    assert "cache_control" in two["messages"][0]["content"][-1]
    assert "cache_control" not in one["messages"][0]["content"][-1]


def test_a_paused_turn_is_taken_up():
    with Anthropic() as server:
        server.fail("pause_turn")
        found = analysed(claude(server))
        roles = [message["role"] for message in server.bodies[1]["messages"]]
    assert roles == ["user", "assistant"]
    assert found.evidence[0].verified


def test_a_refusal_names_its_category():
    with Anthropic() as server:
        server.fail("refusal")
        reply = claude(server).reply(shown(), 10)
        server.fail("refusal")
        with pytest.raises(GiveUp, match=r"refused to answer \(cyber\)"):
            analysed(claude(server))
    assert (reply.stop, reply.detail) == ("refused", "cyber")


def test_a_full_context_is_said():
    with Anthropic() as server:
        server.fail("model_context_window_exceeded")
        assert claude(server).reply(shown(), 10).stop == "context exceeded"
        for fault in ("too long", "413"):
            server.fail(fault)
            reply = claude(server).reply(shown(), 10)
            assert reply.stop == "context exceeded"
            assert reply.detail
        assert len(server.bodies) == 3


def test_a_cut_answer_is_cut():
    with Anthropic() as server:
        server.fail("max_tokens")
        reply = claude(server).reply(shown(), 10)
    assert reply.stop == "cut"
    with pytest.raises(json.JSONDecodeError):
        json.loads(reply.turn.text)


def test_half_characters_and_empty_turns_can_be_sent():
    with Anthropic() as server:
        server.fail("model_context_window_exceeded")
        model = claude(server)
        empty = model.reply(shown(), 10)
        asked = shown().said(empty.turn, UserTurn(text="half \ud83d of it"), UserTurn(text=" "))
        assert model.reply(asked, 10).stop == "answer"
        sent = server.bodies[-1]["messages"]
    assert [message["role"] for message in sent] == ["user", "user"]
    assert sent[1]["content"] == [{"type": "text", "text": "half ? of it"}]


def test_capabilities_are_asked_for_once_by_all():
    with Anthropic() as server:
        model = claude(server)
        threads = [threading.Thread(target=model.capabilities) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        model.reply(shown(), 10)
        asked = [one.path for one in server.requests]
    assert asked == [f"/v1/models/{OPUS}", "/v1/messages"]


def test_what_the_models_api_says():
    with Anthropic() as server:
        can, said = claude(server).capabilities(), claude(server).probe()
    assert (can.context_tokens, can.max_output_tokens) == (1_000_000, 128_000)
    assert (can.input_price, can.output_price, can.local, can.note) == (4, 20, False, "")
    assert can.priced == "2026-09-25"
    assert said == f"{OPUS} at {server.url}, 1,000,000 tokens of context"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_deprecated_model_works_and_says_when_it_retires():
    with Anthropic() as server:
        model = claude(server, "claude-sonnet-4-5")
        assert model.capabilities().note == "retires 2026-11-30: claude-sonnet-5-5 takes its place"
        assert model.reply(shown(), 10).usage.cost is None


def test_a_retired_model_stops_the_night_and_names_another():
    with Anthropic() as server:
        for ask in (
            lambda m: m.capabilities(),
            lambda m: m.reply(shown(), 10),
            lambda m: m.probe(),
        ):
            with pytest.raises(
                StopTheNight, match="claude-opus-4-1 is retired: choose claude-opus"
            ):
                ask(claude(server, "claude-opus-4-1"))
        assert not server.bodies


def test_an_unknown_model_stops_the_night():
    with Anthropic() as server, pytest.raises(StopTheNight, match="no model 'claude-nine'"):
        claude(server, "claude-nine").reply(shown(), 10)
