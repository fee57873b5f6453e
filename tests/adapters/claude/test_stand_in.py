"""The stand-in refuses what the service refuses; without this, nothing above would mean much."""

import json

import httpx
import pytest
from claude_talks import OPUS, claude, opening, results, shown
from services.anthropic import Anthropic
from services.anthropic_billing import unmarked

from nightwatch_core.adapters.claude.features import betas, features_of
from nightwatch_core.adapters.claude.request import request_for
from nightwatch_core.errors import GiveUp

FORMAT = {"type": "json_schema", "schema": {"type": "object", "properties": {}}}
CALL = {"type": "tool_use", "id": "t", "name": "read_file", "input": {}}
PREFILL = {"role": "assistant", "content": [{"type": "text", "text": "{"}]}
OPEN_TOOL = {"name": "look", "strict": True, "input_schema": {"type": "object"}}
EFFORT = {"role": "system", "content": [], "output_config": {"effort": "low"}}


def tokens(value):
    return {"type": "input_tokens", "value": value}


def managed(*edits):
    return {"context_management": {"edits": list(edits)}}


CLEAR = {"type": "clear_tool_uses_20250919", "trigger": tokens(9_000)}
COMPACT = {"type": "compact_20260112", "trigger": tokens(50_000), "pause_after_compaction": True}
WRONG = {
    "temperature": ({"temperature": 0.2}, "Extra inputs"),
    "old thinking": ({"thinking": {"type": "enabled", "budget_tokens": 2_000}}, "not supported"),
    "no thinking": ({"thinking": {"type": "disabled"}}, "not supported"),
    "forced": ({"tool_choice": {"type": "any"}}, "not supported for this model"),
    "open schema": ({"output_config": {"format": FORMAT}}, "additionalProperties"),
    "too much": ({"max_tokens": 200_000}, "max_tokens"),
    "unstreamed": ({"max_tokens": 30_000, "stream": False}, "Streaming is required"),
    "nothing said": ({"messages": []}, "user role"),
    "prefill": ({"messages": [{"role": "user", "content": "x"}, PREFILL]}, "prefill"),
    "empty text": ({"messages": [{"role": "user", "content": " "}]}, "non-whitespace"),
    "no results": (
        {
            "messages": [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": [CALL]},
                {"role": "user", "content": "go on"},
            ]
        },
        "tool_result",
    ),
    "invented turn": (
        {"messages": [{"role": "user", "content": "x"}, PREFILL, {"role": "user", "content": "y"}]},
        "different conversation",
    ),
    "no tools": ({"tools": [], "tool_choice": {"type": "none"}}, "providing tools"),
    "effort": ({"output_config": {"effort": "utmost"}}, "effort"),
    "open tool": ({"tools": [OPEN_TOOL]}, "additionalProperties"),
    "odd edit": (managed({"type": "forget"}), "forget: Extra inputs"),
    "small summary": (managed(COMPACT | {"trigger": tokens(9_000)}), "at least 50000"),
    "thinking last": (managed(COMPACT, {"type": "clear_thinking_20251015"}), "must be the first"),
    "edit twice": (managed(COMPACT, COMPACT), "at most once"),
    "odd trigger": (managed(CLEAR | {"trigger": {"value": 9}}), "trigger: not an amount"),
    "odd field": (managed(CLEAR | {"keep_all": True}), "Extra inputs"),
    "effort out of place": (
        {"messages": [{"role": "user", "content": "x"}, EFFORT, EFFORT]},
        "follow a user message",
    ),
}


BETAS = ",".join(betas(features_of(OPUS, Anthropic().model(OPUS))))


def post(server, body, path="/v1/messages", **headers):
    told = {"x-api-key": server.key, "anthropic-version": "2026-10-21", "anthropic-beta": BETAS}
    told |= headers
    return httpx.post(server.url + path, json=body, headers=told)


def plain(**more):
    body = request_for(shown(max_tokens=4_000), features_of(OPUS, Anthropic().model(OPUS)))
    return {**body, **more}


@pytest.mark.parametrize("wrong", WRONG)
def test_requests_the_service_would_refuse(wrong):
    change, words = WRONG[wrong]
    with Anthropic() as server:
        assert post(server, plain()).status_code == 200
        answer = post(server, plain(**change))
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


def test_keys_versions_betas_and_models():
    with Anthropic() as server:
        assert post(server, plain(), **{"x-api-key": "other"}).status_code == 401
        assert post(server, plain(), **{"anthropic-beta": "made-up-2026"}).status_code == 400
        for beta in ("", "compact-2026-01-12"):  # context_management has to be announced
            assert post(server, plain(), **{"anthropic-beta": beta}).status_code == 400
        assert post(server, plain(model="claude-nine")).status_code == 404
        assert post(server, plain(model="claude-opus-4-1")).status_code == 404
        bare = httpx.post(f"{server.url}/v1/messages", json={}, headers={"x-api-key": server.key})
        assert bare.status_code == 400


@pytest.mark.parametrize("edit", ["system", "tools", "question", "thinking", "text"])
def test_history_cannot_be_edited(edit):
    with Anthropic() as server:
        model = claude(server)
        first = model.reply(opening(), 10)
        said = opening().said(first.turn, results(first))
        blocks = json.loads(first.turn.opaque)
        turns = {
            "thinking": json.dumps(blocks[1:]),
            "text": json.dumps([blocks[0], {**blocks[1], "text": "Other"}, *blocks[2:]]),
        }
        if edit in turns:
            turn = first.turn.model_copy(update={"opaque": turns[edit]})
            said = opening().said(turn, results(first))
        elif edit == "question":
            said = shown().said(first.turn, results(first))
        else:
            change = {"system": "Today is Sunday."} if edit == "system" else {"tools": ()}
            said = said.model_copy(update=change)
        with pytest.raises(GiveUp, match="thinking|tools"):
            model.reply(said, 10)


def test_what_older_models_do_not_take():
    with Anthropic() as server:
        body = plain(model="claude-haiku-4-5", thinking=None, output_config={})
        del body["thinking"]
        assert "compact_20260112 is not supported" in post(server, body).json()["error"]["message"]
        talk = [{"role": "user", "content": "x"}, EFFORT]
        body |= {"messages": talk, **managed(CLEAR)}
        assert "per-turn effort" in post(server, body).json()["error"]["message"]


def test_the_cache_looks_back_twenty_blocks_and_no_further():
    with Anthropic(reads=14) as server:
        model = claude(server)
        first = model.reply(opening(), 10)
        said = opening().said(first.turn, results(first))
        body = request_for(said, features_of(OPUS, server.model(OPUS)))
        body = {**body, "messages": unmarked(body["messages"]), "stream": False, "max_tokens": 99}
        far = post(server, body).json()["usage"]
        near = model.reply(said, 10).usage
    assert far["cache_read_input_tokens"] < near.cache_read_tokens
