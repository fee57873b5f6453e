"""Conversations as bodies of the Messages API, and its messages as replies.

A body only grows at its end from turn to turn: the model's thinking is bound to everything before
it, and the cache holds as far as nothing changes. So what an assistant turn held goes back as it
came, and the tools stay in the body when they are switched off.
"""

import json
from collections.abc import Mapping
from typing import Any

from anthropic import transform_schema

from nightwatch_core.adapters.claude_models import Able
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
THINKING = 8_000  # tokens, for models that want a number: one for a whole conversation
_LEAST_THINKING = 1_024  # the service's own bound
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
    "refusal": "refused",
    "model_context_window_exceeded": "context exceeded",
}


def body(conversation: Conversation, able: Able) -> Json:
    """The request for the next turn, as keywords of `messages.stream`."""
    most = min(conversation.max_tokens, able.max_output)
    request: Json = {
        "model": able.model,
        "max_tokens": most,
        "system": _system(conversation, able),
        "tools": [
            _tool(spec.name, spec.description, spec.parameters) for spec in conversation.tools
        ],
        "messages": messages(conversation),
        "thinking": _thinking(able, most),
        "output_config": _output(conversation, able),
        "cache_control": _CACHED if able.caching else None,
        "tool_choice": {"type": "none"} if conversation.tools_off and conversation.tools else None,
    }
    kept = {name: value for name, value in request.items() if value}
    whole: Json = _whole(kept)
    return whole


def messages(conversation: Conversation) -> list[Json]:
    """The turns; what we said in a row is one message, the results of tools first."""
    said: list[Json] = []
    for turn in conversation.turns:
        if isinstance(turn, AssistantTurn):
            # A turn without content cannot be sent; what follows stays a message of its own.
            said.append({"role": "assistant", "content": _assistant(turn)})
        elif said and said[-1]["role"] == "user":
            said[-1]["content"].extend(_user(turn))
        else:
            said.append({"role": "user", "content": _user(turn)})
    return [message for message in said if message["content"]]


def strict_schema(schema: Mapping[str, Any]) -> Json:
    """The schema as the service wants it: closed objects, every field required, no defaults.

    >>> strict_schema({"type": "object", "properties": {"a": {"type": "string", "default": ""}}})
    {'type': 'object', 'properties': {'a': {'type': 'string'}}, 'additionalProperties': False, \
'required': ['a']}
    """
    plain = _without_defaults(schema)
    strict: Json = _all_required(transform_schema(plain))
    return strict


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
            "detail": _detail(message) if stop == "refused" else "",
        }
    )


def usage(counted: Mapping[str, Any]) -> Usage:
    """One request's tokens as the service counts them; the cost is not known here."""
    return Usage(
        calls=1,
        input_tokens=_number(counted.get("input_tokens")),
        output_tokens=_number(counted.get("output_tokens")),
        cache_write_tokens=_number(counted.get("cache_creation_input_tokens")),
        cache_read_tokens=_number(counted.get("cache_read_input_tokens")),
        cost=None,
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _system(conversation: Conversation, able: Able) -> list[Json]:
    """The prompt; where no schema can be asked for, the schema in words. The last is cached."""
    texts = [conversation.system]
    if conversation.answer_schema and not able.structured:
        schema = json.dumps(_all_required(_without_defaults(conversation.answer_schema)))
        texts.append(_IN_WORDS.format(schema=schema))
    blocks: list[Json] = [{"type": "text", "text": text} for text in texts if text.strip()]
    return [*blocks[:-1], {**blocks[-1], "cache_control": _CACHED}] if blocks else []


def _tool(name: str, description: str, parameters: Json) -> Json:
    return {"name": name, "description": description, "input_schema": parameters}


def _thinking(able: Able, most: int) -> Json | None:
    if able.adaptive:
        return {"type": "adaptive"}
    budget = min(THINKING, most // 2)
    if able.budgeted and budget >= _LEAST_THINKING:
        return {"type": "enabled", "budget_tokens": budget}
    return None


def _output(conversation: Conversation, able: Able) -> Json:
    output: Json = {}
    if effort := able.effort(conversation.effort):
        output["effort"] = effort
    if conversation.answer_schema and able.structured:
        schema = strict_schema(conversation.answer_schema)
        output["format"] = {"type": "json_schema", "schema": schema}
    return output


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
    told = message.get("stop_details") or {}
    return str(told.get("category") or told.get("explanation") or "")[:300]


def _without_defaults(schema: Any) -> Any:
    """The schema without defaults and titles; properties that are called so stay."""
    if isinstance(schema, list):
        return [_without_defaults(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        name: {key: _without_defaults(one) for key, one in value.items()}
        if name in ("properties", "$defs")
        else _without_defaults(value)
        for name, value in schema.items()
        if not (name == "default" or (name == "title" and isinstance(value, str)))
    }


def _all_required(schema: Any) -> Any:
    """The same with every property of every object required."""
    if isinstance(schema, list):
        return [_all_required(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    inner = {name: _all_required(value) for name, value in schema.items()}
    if isinstance(inner.get("properties"), dict) and inner.get("type") == "object":
        inner["required"] = list(inner["properties"])
    return inner


def _whole(value: Any) -> Any:
    """Half characters, which no encoder accepts, replaced; the same ones each time."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {key: _whole(one) for key, one in value.items()}
    return value
