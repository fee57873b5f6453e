"""Conversations as requests to the Messages API.

A body only grows at its end from turn to turn: the model's thinking is bound to everything before
it, and the cache holds as far as nothing changes. So what an assistant turn held goes back as it
came, and the tools stay in the body when they are switched off.
"""

import json
from typing import Any

from nightwatch_core.adapters.claude.features import Features, Json, Tuning, context_management
from nightwatch_core.adapters.claude.limits import (
    DECAYED,
    LEAST_DECAYED,
    LEAST_THINKING,
    LOOK_BACK,
    THINKING,
    UNDECAYED,
)
from nightwatch_core.adapters.claude.schemas import complete, strict_schema, tool_params
from nightwatch_core.models.conversation import AssistantTurn, Conversation, ResultsTurn, UserTurn

_CACHED = {"type": "ephemeral"}
_IN_WORDS = (
    "When you have the answer, write it as one JSON object that fits this JSON schema, and write "
    "nothing else:\n{schema}"
)


def request_for(
    conversation: Conversation, features: Features, tuning: Tuning | None = None
) -> Json:
    """The request for the next turn, as keywords of `messages.stream`."""
    tuning = tuning or Tuning()
    most = min(conversation.max_tokens, features.max_output)
    turns = messages(conversation, features.turn_effort)
    is_last = conversation.tools_off or _has_failed_summary(turns)
    request: Json = {
        "model": features.model,
        "max_tokens": most,
        "system": _system(conversation, features),
        "tools": tool_params(conversation.tools, strict=features.structured),
        "messages": _with_marker(turns) if features.caching else turns,
        "thinking": _thinking(conversation, features, tuning, most),
        "output_config": _output(conversation, features),
        "context_management": context_management(features, tuning, is_last),
        "cache_control": _CACHED if features.caching else None,
        "tool_choice": {"type": "none"} if conversation.no_calls and conversation.tools else None,
    }
    encodable: Json = _encodable({name: value for name, value in request.items() if value})
    return encodable


def messages(conversation: Conversation, turn_effort: bool = False) -> list[Json]:
    """The turns; what we said in a row is one message, the results of tools first.

    With `turn_effort` a change of effort is a message of its own, which stays where it is.
    """
    turns: list[Json] = []
    effort: str = conversation.effort
    for turn in conversation.turns:
        if isinstance(turn, AssistantTurn):
            # A turn without content cannot be sent; what follows stays a message of its own.
            turns.append({"role": "assistant", "content": _assistant(turn)})
        elif turns and turns[-1]["role"] == "user":
            turns[-1]["content"].extend(_user(turn))
        else:
            turns.append({"role": "user", "content": _user(turn)})
        if turn_effort and isinstance(turn, UserTurn) and (turn.effort or effort) != effort:
            effort = str(turn.effort)
            change = {"output_config": {"effort": effort}}
            turns.append({"role": "system", "content": [], **change})
    return [one for one in turns if one["content"] or one["role"] == "system"]


def _system(conversation: Conversation, features: Features) -> list[Json]:
    """The prompt; where no schema can be asked for, the schema in words. The last is cached."""
    texts = [conversation.system]
    if conversation.answer_schema and not features.structured:
        schema = json.dumps(complete(conversation.answer_schema))
        texts.append(_IN_WORDS.format(schema=schema))
    blocks: list[Json] = [{"type": "text", "text": text} for text in texts if text.strip()]
    return [*blocks[:-1], {**blocks[-1], "cache_control": _CACHED}] if blocks else []


def _thinking(
    conversation: Conversation, features: Features, tuning: Tuning, most: int
) -> Json | None:
    if features.adaptive:
        return {"type": "adaptive"}
    wanted = conversation.thinking_budget or THINKING[conversation.effort]
    budget = min(_decayed(wanted, conversation, tuning.thinking_decay), most // 2)
    if features.budgeted and budget >= LEAST_THINKING:
        return {"type": "enabled", "budget_tokens": budget}
    return None


def _decayed(budget: int, conversation: Conversation, over: int) -> int:
    """A budget that falls from turn to turn; each change costs the cache of the conversation."""
    turns = sum(isinstance(turn, AssistantTurn) for turn in conversation.turns)
    if over <= UNDECAYED or turns < UNDECAYED:
        return budget
    gone = min((turns - UNDECAYED + 1) / (over - UNDECAYED), 1.0)
    return max(int(budget * (1 - gone * (1 - DECAYED))), min(LEAST_DECAYED, budget))


def _output(conversation: Conversation, features: Features) -> Json:
    output: Json = {}
    wanted: str = conversation.effort
    if not features.turn_effort:  # a change is one for the whole request, and costs the cache
        asked = (turn.effort for turn in conversation.turns if isinstance(turn, UserTurn))
        wanted = next((effort for effort in reversed([*asked]) if effort), wanted)
    if effort := features.effort(wanted):
        output["effort"] = effort
    if conversation.answer_schema and features.structured:
        schema = strict_schema(conversation.answer_schema)
        output["format"] = {"type": "json_schema", "schema": schema}
    return output


def _with_marker(turns: list[Json]) -> list[Json]:
    """With a marker where the last request ended, if too much was said since to look back."""
    replies = [number for number, one in enumerate(turns) if one["role"] == "assistant"]
    asked = [number for number, one in enumerate(turns) if one["role"] == "user"]
    before = [number for number in asked if replies and number < replies[-1]]
    if not before or sum(len(one["content"]) for one in turns[before[-1] + 1 :]) <= LOOK_BACK:
        return turns
    end = before[-1]
    *rest, last = turns[end]["content"]
    marked = {**turns[end], "content": [*rest, {**last, "cache_control": _CACHED}]}
    return [*turns[:end], marked, *turns[end + 1 :]]


def _has_failed_summary(turns: list[Json]) -> bool:
    """Whether the service tried to summarise in vain: it would try again at every request."""
    return any(
        block.get("type") == "compaction" and block.get("content") is None
        for one in turns
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
    text: list[Json] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    return text + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in turn.calls
    ]


def _encodable(value: Any) -> Any:
    """The value with half characters, which no encoder accepts, replaced; always the same."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_encodable(one) for one in value]
    if isinstance(value, dict):
        return {key: _encodable(one) for key, one in value.items()}
    return value
