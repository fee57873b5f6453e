"""What Claude is sent: held against the SDK's own types, for every kind of model."""

import json
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import (
    Annotated,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import pytest
from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming
from claude_talks import OPUS, SHOWN, claude, opening, results, shown
from services.anthropic import Anthropic
from tables import tables_of
from typing_extensions import is_typeddict

from nightwatch_core.adapters.claude.features import Features
from nightwatch_core.adapters.claude.model import reply_of, usage_of
from nightwatch_core.adapters.claude.request import messages, request_for, strict_schema
from nightwatch_core.analysis.tools import SPECS
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.conversation import (
    AssistantTurn,
    ResultsTurn,
    ToolCall,
    ToolResult,
    UserTurn,
)

TABLES = tables_of(__file__)

MODELS = [OPUS, "claude-sonnet-5-5", "claude-haiku-5-5", "claude-haiku-4-5", "claude-opus-4-5"]


def fits(value, kind):
    """Whether a JSON value is one of a parameter's type, no field too many and none missing."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Required, NotRequired, Annotated):
        return fits(value, args[0])
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in args)
    if origin is Literal:
        return value in args
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        needed = {name for name, one in hints.items() if get_origin(one) is Required}
        needed |= kind.__required_keys__
        here = isinstance(value, dict) and needed <= set(value) <= set(hints)
        return here and all(fits(one, hints[name]) for name, one in value.items())
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, dict)
    if origin is Iterable or (isinstance(origin, type) and issubclass(origin, Sequence)):
        return isinstance(value, list) and all(fits(one, args[0]) for one in value)
    if kind in (object, None, type(None)):
        return kind is object or value is None
    return isinstance(kind, type) and isinstance(value, kind)


@pytest.mark.parametrize("model", MODELS)
def test_bodies_are_what_the_sdk_takes(model):
    with Anthropic(reads=2) as server:
        able_one = claude(server, model)
        first = able_one.reply(shown(), 10)
        off = shown(tools_off=True, effort="low").said(first.turn, results(first))
        last = able_one.reply(off.said(UserTurn(text="Conclude.")), 10)
        bodies = server.bodies
    assert (first.stop, last.stop) == ("tools", "answer")
    assert len(bodies) == 2
    for body in bodies:
        assert fits(body, MessageCreateParamsStreaming), json.dumps(body)[:2_000]


@pytest.mark.parametrize(
    ("model", "thinking", "output"),
    [
        (OPUS, {"type": "adaptive"}, {"effort", "format"}),
        ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 12_000}, {"format"}),
        ("claude-opus-4-5", {"type": "enabled", "budget_tokens": 12_000}, {"effort", "format"}),
    ],
)
def test_thinking_and_effort_as_the_model_takes_them(model, thinking, output):
    with Anthropic() as server:
        claude(server, model).reply(shown(effort="high"), 10)
        (body,) = server.bodies
    assert body["thinking"] == thinking
    assert set(body["output_config"]) == output
    assert body["output_config"].get("effort", "high") == "high"
    assert body["max_tokens"] == 32_000
    assert body["cache_control"] == {"type": "ephemeral"}
    assert body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert "temperature" not in body


def test_a_compatible_server_is_sent_nothing_it_may_not_know():
    with Anthropic(compatible=True) as server:
        model = claude(server, "qwen")
        assert model.capabilities().input_price is None
        first = model.reply(opening(), 10)
        said = model.reply(opening().said(first.turn, results(first)), 10)
        assert "no Models API" in model.probe()
        assert {path.path for path in server.requests} == {"/v1/models/qwen", "/v1/messages"}
        body = server.bodies[-1]
    assert set(body) == {"model", "max_tokens", "messages", "system", "tools", "stream"}
    assert body["max_tokens"] == 8_192
    assert '"root_cause"' in body["system"][-1]["text"]  # the schema, in words
    assert said.stop == "answer"
    assert said.usage.cost is None


def test_the_schema_is_strict_everywhere():
    schema = strict_schema(Answer.model_json_schema())
    objects = [schema, *schema["$defs"].values()]
    assert len(objects) == 5
    for one in objects:
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])
    assert "title" in schema["properties"]
    assert "default" not in json.dumps(schema)
    assert schema["properties"]["confidence"] == {"enum": ["high", "medium", "low"]}


BUDGETED = Features(model="m", budgeted=True, max_output=64_000)


@pytest.mark.parametrize(("more", "budget"), TABLES["test_a_budget_for_thinking"])
def test_a_budget_for_thinking(more, budget):
    body = request_for(opening(**more), BUDGETED)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": budget}


def test_tools_are_strict_where_schemas_are():
    strict = request_for(opening(), Features(model="m", structured=True))["tools"]
    assert all(tool["strict"] for tool in strict)
    assert strict[0]["input_schema"]["properties"]["start"]["type"] == "integer"
    assert "minimum" not in strict[0]["input_schema"]["properties"]["start"]
    plain = request_for(opening(), Features(model="m"))["tools"]
    assert plain[0]["input_schema"] == SPECS[0].parameters
    assert not any("strict" in tool for tool in plain)


def test_tools_without_thinking_room():
    few = request_for(opening(max_tokens=1_500), Features(model="m", budgeted=True))
    assert "thinking" not in few
    assert few["max_tokens"] == 1_500


def test_turns_of_others_and_failed_tools():
    call = ToolCall(id="t1", name="read_file", arguments={"path": "a.py"})
    bad = ToolResult(id="t1", name="read_file", text="", is_error=True)
    said = messages(
        opening().said(AssistantTurn(text="Hm.", calls=(call,)), ResultsTurn(results=(bad,)))
    )
    assert said[1]["content"] == [
        {"type": "text", "text": "Hm."},
        {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a.py"}},
    ]
    assert said[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "t1", "content": "(nothing)", "is_error": True}
    ]


def test_a_call_that_was_cut_before_its_arguments():
    cut = {"type": "tool_use", "id": "t1", "name": "read_file", "input": ""}
    message = {"content": [{"type": "text", "text": ""}, cut], "stop_reason": "max_tokens"}
    reply = reply_of(message, usage_of({}, "m"))
    assert (reply.stop, reply.turn.calls[0].arguments) == ("cut", {})
    assert json.loads(reply.turn.opaque) == [{**cut, "input": {}}]


def test_blocks_nobody_knows_go_back_as_they_came():
    blocks = [
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": SHOWN, "citations": None},
        {"type": "something_new", "data": {"a": [1]}},
    ]
    turn = reply_of({"content": blocks, "stop_reason": "end_turn"}, usage_of({}, "m"))
    sent = messages(opening().said(turn.turn, UserTurn(text="And?")))
    assert sent[1]["content"] == blocks
    assert turn.turn.text == SHOWN


def test_what_a_careless_server_leaves_out():
    message = {"content": [{"type": "tool_use"}, {"type": "text"}], "stop_reason": None}
    reply = reply_of(message, usage_of({"usage": {"input_tokens": "many"}}, "m"))
    assert reply.turn.calls == (ToolCall(id="unknown", name="unknown"),)
    assert (reply.stop, reply.usage.calls, reply.usage.input_tokens) == ("tools", 1, 0)


def test_what_another_model_wants_echoed_is_not_sent():
    turn = AssistantTurn(text="Hm.", opaque='{"fell back": "away"}')
    assert messages(opening().said(turn))[1]["content"] == [{"type": "text", "text": "Hm."}]
