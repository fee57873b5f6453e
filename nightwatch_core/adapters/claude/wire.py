"""Conversations as bodies of the Messages API, and its messages as replies.

A body only grows at its end from turn to turn: the model's thinking is bound to everything before
it, and the cache holds as far as nothing changes. So what an assistant turn held goes back as it
came, and the tools stay in the body when they are switched off.
"""

import json
from collections.abc import Mapping
from typing import Any

from nightwatch_core.adapters.claude.capabilities import Able
from nightwatch_core.adapters.claude.context import Tuning, management
from nightwatch_core.adapters.claude.schemas import complete, strict_schema, tool_params
from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.conversation import (
    AssistantTurn,
    Conversation,
    Reply,
    ResultsTurn,
    ToolCall,
    UserTurn,
)

Json = dict[str, Any]
# Tokens by the effort a conversation begins with, for models that want a number.
THINKING: Mapping[str, int] = {"low": 4_000, "medium": 8_000, "high": 12_000}
_LEAST_THINKING = 1_024  # the service's own bound
_LEAST_DECAYED = 2_000
_DECAYED = 0.25  # share of the budget that is left at the end
_UNDECAYED = 2  # first turns with the whole budget
LOOK_BACK = 18  # blocks; the cache is found up to 20 blocks before a marker
_CACHED = {"type": "ephemeral"}
_IN_WORDS = (
    "When you have the answer, write it as one JSON object that fits this JSON schema, and write "
    "nothing else:\n{schema}"
)
STOPS: Mapping[str, str] = {
    "end_turn": "answer",
    "stop_sequence": "answer",
    "tool_use": "tools",
    "max_tokens": "cut",
    "pause_turn": "paused",
    "compaction": "paused",
    "refusal": "refused",
    "model_context_window_exceeded": "context exceeded",
}


def body(conversation: Conversation, able: Able, tuning: Tuning | None = None) -> Json:
    """The request for the next turn, as keywords of `messages.stream`."""
    chosen = tuning or Tuning()
    most = min(conversation.max_tokens, able.max_output)
    said = messages(conversation, able.turn_effort)
    request: Json = {
        "model": able.model,
        "max_tokens": most,
        "system": _system(conversation, able),
        "tools": tool_params(conversation.tools, strict=able.structured),
        "messages": _found_again(said) if able.caching else said,
        "thinking": _thinking(conversation, able, chosen, most),
        "output_config": _output(conversation, able),
        "context_management": management(
            able, chosen, last=conversation.tools_off or _has_failed_summary(said)
        ),
        "cache_control": _CACHED if able.caching else None,
        "tool_choice": {"type": "none"} if conversation.no_calls and conversation.tools else None,
    }
    kept = {name: value for name, value in request.items() if value}
    whole: Json = _whole(kept)
    return whole


def messages(conversation: Conversation, turn_effort: bool = False) -> list[Json]:
    """The turns; what we said in a row is one message, the results of tools first.

    With `turn_effort` a change of effort is a message of its own, which stays where it is.
    """
    said: list[Json] = []
    effort: str = conversation.effort
    for turn in conversation.turns:
        if isinstance(turn, AssistantTurn):
            # A turn without content cannot be sent; what follows stays a message of its own.
            said.append({"role": "assistant", "content": _assistant(turn)})
        elif said and said[-1]["role"] == "user":
            said[-1]["content"].extend(_user(turn))
        else:
            said.append({"role": "user", "content": _user(turn)})
        if turn_effort and isinstance(turn, UserTurn) and (turn.effort or effort) != effort:
            effort = str(turn.effort)
            change = {"output_config": {"effort": effort}}
            said.append({"role": "system", "content": [], **change})
    return [one for one in said if one["content"] or one["role"] == "system"]


def reply(message: Mapping[str, Any], usage: Usage) -> Reply:
    """A finished message of the service as our word for it."""
    blocks = [_echo(block) for block in message["content"] if not _is_empty(block)]
    calls = tuple(_call(block) for block in blocks if block.get("type") == "tool_use")
    text = "".join(str(b.get("text", "")) for b in blocks if b.get("type") == "text")
    stop = STOPS.get(str(message.get("stop_reason")), "answer")
    if stop in ("answer", "tools"):
        stop = "tools" if calls else "answer"
    return Reply.model_validate(
        {
            "turn": AssistantTurn(text=text, calls=calls, opaque=json.dumps(blocks)),
            "stop": stop,
            "usage": usage,
            "detail": _detail(message),
        }
    )


def _system(conversation: Conversation, able: Able) -> list[Json]:
    """The prompt; where no schema can be asked for, the schema in words. The last is cached."""
    texts = [conversation.system]
    if conversation.answer_schema and not able.structured:
        schema = json.dumps(complete(conversation.answer_schema))
        texts.append(_IN_WORDS.format(schema=schema))
    blocks: list[Json] = [{"type": "text", "text": text} for text in texts if text.strip()]
    return [*blocks[:-1], {**blocks[-1], "cache_control": _CACHED}] if blocks else []


def _thinking(conversation: Conversation, able: Able, tuning: Tuning, most: int) -> Json | None:
    if able.adaptive:
        return {"type": "adaptive"}
    wanted = conversation.thinking_budget or THINKING[conversation.effort]
    budget = min(_decayed(wanted, conversation, tuning.thinking_decay), most // 2)
    if able.budgeted and budget >= _LEAST_THINKING:
        return {"type": "enabled", "budget_tokens": budget}
    return None


def _decayed(budget: int, conversation: Conversation, over: int) -> int:
    """A budget that falls from turn to turn; each change costs the cache of the conversation."""
    turns = sum(isinstance(turn, AssistantTurn) for turn in conversation.turns)
    if over <= _UNDECAYED or turns < _UNDECAYED:
        return budget
    gone = min((turns - _UNDECAYED + 1) / (over - _UNDECAYED), 1.0)
    return max(int(budget * (1 - gone * (1 - _DECAYED))), min(_LEAST_DECAYED, budget))


def _output(conversation: Conversation, able: Able) -> Json:
    output: Json = {}
    wanted: str = conversation.effort
    if not able.turn_effort:  # a change is one for the whole request, and costs the cache
        asked = (turn.effort for turn in conversation.turns if isinstance(turn, UserTurn))
        wanted = next((effort for effort in reversed([*asked]) if effort), wanted)
    if effort := able.effort(wanted):
        output["effort"] = effort
    if conversation.answer_schema and able.structured:
        schema = strict_schema(conversation.answer_schema)
        output["format"] = {"type": "json_schema", "schema": schema}
    return output


def _found_again(said: list[Json]) -> list[Json]:
    """With a marker where the last request ended, if too much has been said since to look back."""
    replies = [number for number, one in enumerate(said) if one["role"] == "assistant"]
    asked = [number for number, one in enumerate(said) if one["role"] == "user"]
    before = [number for number in asked if replies and number < replies[-1]]
    if not before or sum(len(one["content"]) for one in said[before[-1] + 1 :]) <= LOOK_BACK:
        return said
    end = before[-1]
    *rest, last = said[end]["content"]
    marked = {**said[end], "content": [*rest, {**last, "cache_control": _CACHED}]}
    return [*said[:end], marked, *said[end + 1 :]]


def _has_failed_summary(said: list[Json]) -> bool:
    """Whether the service tried to summarise in vain: it would try again at every request."""
    return any(
        block.get("type") == "compaction" and block.get("content") is None
        for one in said
        if one["role"] == "assistant"
        for block in one["content"]
    )


def _user(turn: UserTurn | ResultsTurn) -> list[Json]:
    if isinstance(turn, UserTurn):
        return [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    return [
        {
            "type": "tool_result",
            "tool_use_id": result.id,
            "content": result.text or "(nothing)",
            **({"is_error": True} if result.is_error else {}),
        }
        for result in turn.results
    ]


def _assistant(turn: AssistantTurn) -> list[Json]:
    echoed = json.loads(turn.opaque) if turn.opaque.startswith("[") else None
    if isinstance(echoed, list):
        return echoed
    said: list[Json] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    return said + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in turn.calls
    ]


def _echo(block: Mapping[str, Any]) -> Json:
    """A block as it has to go back: the SDK's own reading of it left out."""
    kept = {name: value for name, value in block.items() if name != "parsed_output"}
    if kept.get("type") == "tool_use":
        given = kept.get("input")  # no object where it was cut off before its first argument
        kept["input"] = given if isinstance(given, dict) else {}
        kept |= {name: str(kept.get(name) or "unknown") for name in ("id", "name")}
    return kept


def _is_empty(block: Mapping[str, Any]) -> bool:
    """Whether it is a text without text, which the service sends but does not take."""
    return block.get("type") == "text" and not str(block.get("text") or "")


def _call(block: Json) -> ToolCall:
    return ToolCall(id=block["id"], name=block["name"], arguments=block["input"])


def _detail(message: Mapping[str, Any]) -> str:
    """Why a model refused, or that the service made room."""
    if message.get("stop_reason") == "refusal":
        told = message.get("stop_details") or {}
        return str(told.get("category") or told.get("explanation") or "")[:300]
    summaries = [one for one in message["content"] if one.get("type") == "compaction"]
    failed = any(one.get("content") is None for one in summaries)
    return ("a summary failed" if failed else "summarised") if summaries else ""


def _whole(value: Any) -> Any:
    """Half characters, which no encoder accepts, replaced; the same ones each time."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {key: _whole(one) for key, one in value.items()}
    return value
