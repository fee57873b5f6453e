"""Conversations as requests to the Messages API.

A body only grows at its end from turn to turn: the model's thinking is bound to everything before
it, and the cache holds as far as nothing changes. So what an assistant turn held goes back as it
came, and the tools stay in the body when they are switched off.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from anthropic import transform_schema

from nightwatch_core.adapters.claude.features import Features, Json, context_management
from nightwatch_core.models import conversation as chat

PATIENCE = 15.0  # seconds that a call waits for another one's response to begin
WARM = 240.0  # the service keeps for 300 what was not used, anew with every use
THINKING = {"low": 4_000, "medium": 8_000, "high": 12_000}  # by effort
LOOK_BACK = 18  # blocks; the cache is found up to 20 blocks before a marker
LEAST_THINKING = 1_024  # the service's own bound
SHARE = 0.5  # of the time a call has that it may wait: the rest is for the call itself

# System prompt and tools are the same for all errors of an agent. What one call writes into the
# service's cache can be read only by calls that are sent after its response began: so the first
# call goes ahead, and the others wait until its response begins, it fails, or they waited enough.

Ended = Callable[[bool], None]  # True: the response begins; False: it or the call has ended


@dataclass(eq=False)
class Gate:
    """Beginnings of prompts that were written lately, or are being written; for many threads."""

    patience: float = PATIENCE
    clock: Callable[[], float] = time.monotonic  # in seconds
    event: Callable[[], threading.Event] = threading.Event  # makes what calls wait for
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # by beginning: warm until; has begun
    _first: dict[str, tuple[float, threading.Event]] = field(default_factory=dict)

    @contextmanager
    def entered(self, beginning: str, seconds: float) -> Iterator[Ended]:
        """Wait for the first call with this beginning, at most half of `seconds`.

        A call whose `beginning` is empty keeps nothing and waits for nobody.
        """
        with self._lock:
            until, begun = self._first.get(beginning, (0.0, self.event()))
            is_first = until <= self.clock()
            if is_first and beginning:
                begun = self.event()
                self._first[beginning] = (self.clock() + WARM, begun)
        if not is_first:
            begun.wait(max(0.0, min(self.patience, seconds * SHARE)))

        def ended(began: bool) -> None:
            with self._lock:
                if began and beginning:
                    self._first[beginning] = (self.clock() + WARM, begun)
                elif is_first and not begun.is_set():
                    self._first.pop(beginning, None)
            if began or is_first:
                begun.set()

        try:
            yield ended
        finally:
            ended(False)


GATE = Gate()  # what one process sends goes through one gate


def beginning(request: Mapping[str, Any], whose: tuple[str, ...]) -> str:
    """Return a name for the cached system prompt and tools; empty where nothing is cached.

    `whose` are the address and the key: nobody reads what was written with another one.

    >>> beginning({"model": "m", "system": "s"}, ())
    ''
    """
    if not request.get("cache_control") or not request.get("system"):
        return ""
    covered = [*whose, *(request.get(name) for name in ("model", "tools", "system"))]
    return hashlib.sha256(json.dumps(covered, sort_keys=True).encode()).hexdigest()


# Schemas as the Messages API wants them: of the answer, and of what tools take.


def strict_schema(schema: Mapping[str, Any]) -> Json:
    """Return the schema with closed objects, every field required, and no defaults.

    >>> strict_schema({"type": "object", "properties": {"a": {"type": "string", "default": ""}}})
    {'type': 'object', 'properties': {'a': {'type': 'string'}}, 'additionalProperties': False, \
'required': ['a']}
    """
    plain = _without_defaults(schema)
    strict: Json = _all_required(transform_schema(plain))
    return strict


def tool_params(specs: tuple[chat.ToolSpec, ...], *, strict: bool) -> list[Json]:
    """Return the tools; `strict` where the service compiles their schemas.

    >>> spec = chat.ToolSpec(name="look", description="Look.", parameters={"type": "object"})
    >>> tool_params((spec,), strict=False)[0]["input_schema"]
    {'type': 'object'}
    """
    plain = [
        {"name": spec.name, "description": spec.description, "input_schema": spec.parameters}
        for spec in specs
    ]
    if not strict:
        return plain
    schemas = [transform_schema(_without_defaults(tool["input_schema"])) for tool in plain]
    tools = zip(plain, schemas, strict=True)
    return [{**tool, "input_schema": schema, "strict": True} for tool, schema in tools]


def _without_defaults(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_defaults(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        name: {key: _without_defaults(item) for key, item in value.items()}
        if name in ("properties", "$defs")
        else _without_defaults(value)
        for name, value in schema.items()
        if not (name == "default" or (name == "title" and isinstance(value, str)))
    }


def _all_required(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_all_required(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    inner = {name: _all_required(value) for name, value in schema.items()}
    if isinstance(inner.get("properties"), dict) and inner.get("type") == "object":
        inner["required"] = list(inner["properties"])
    return inner


_CACHED = {"type": "ephemeral"}
_IN_WORDS = (
    "When you have the answer, write it as one JSON object that fits this JSON schema, and write "
    "nothing else:\n{schema}"
)


def request_for(conversation: chat.Conversation, features: Features) -> Json:
    """Return the request for the next turn, as keywords of `messages.stream`."""
    most = min(conversation.max_tokens, features.max_output)
    turns = messages(conversation, features.turn_effort)
    is_last = conversation.tools_off or _has_failed_summary(turns)
    # the prompt, and the schema in words where none can be asked for; the last is cached
    texts = [conversation.system]
    if conversation.answer_schema and not features.structured:
        schema = json.dumps(strict_schema(conversation.answer_schema))
        texts.append(_IN_WORDS.format(schema=schema))
    blocks: list[Json] = [{"type": "text", "text": text} for text in texts if text.strip()]
    system = [*blocks[:-1], {**blocks[-1], "cache_control": _CACHED}] if blocks else []
    request: Json = {
        "model": features.model,
        "max_tokens": most,
        "system": system,
        "tools": tool_params(conversation.tools, strict=features.structured),
        "messages": _with_marker(turns) if features.caching else turns,
        "thinking": _thinking(conversation, features, most),
        "output_config": _output(conversation, features),
        "context_management": context_management(features, is_last),
        "cache_control": _CACHED if features.caching else None,
        "tool_choice": {"type": "none"} if conversation.no_calls and conversation.tools else None,
    }
    encodable: Json = _encodable({name: value for name, value in request.items() if value})
    return encodable


def messages(conversation: chat.Conversation, turn_effort: bool = False) -> list[Json]:
    """Return the turns; consecutive ones of ours are one message, results of tools first.

    With `turn_effort` a change of effort is a message of its own, which stays where it is.
    """
    turns: list[Json] = []
    effort: str = conversation.effort
    for turn in conversation.turns:
        if isinstance(turn, chat.AssistantTurn):
            # A turn without content cannot be sent; what follows stays a message of its own.
            turns.append({"role": "assistant", "content": _assistant(turn)})
        elif turns and turns[-1]["role"] == "user":
            turns[-1]["content"].extend(_user(turn))
        else:
            turns.append({"role": "user", "content": _user(turn)})
        if turn_effort and isinstance(turn, chat.UserTurn) and (turn.effort or effort) != effort:
            effort = str(turn.effort)
            change = {"output_config": {"effort": effort}}
            turns.append({"role": "system", "content": [], **change})
    return [turn for turn in turns if turn["content"] or turn["role"] == "system"]


def _thinking(conversation: chat.Conversation, features: Features, most: int) -> Json | None:
    if features.adaptive:
        return {"type": "adaptive"}
    tokens = conversation.thinking_budget or THINKING[conversation.effort]
    budget = min(tokens, most // 2)
    if features.budgeted and budget >= LEAST_THINKING:
        return {"type": "enabled", "budget_tokens": budget}
    return None


def _output(conversation: chat.Conversation, features: Features) -> Json:
    output: Json = {}
    effort: str = conversation.effort
    if not features.turn_effort:  # a change is one for the whole request, and costs the cache
        asked = (turn.effort for turn in conversation.turns if isinstance(turn, chat.UserTurn))
        effort = next((item for item in reversed([*asked]) if item), effort)
    if supported := features.effort(effort):
        output["effort"] = supported
    if conversation.answer_schema and features.structured:
        schema = strict_schema(conversation.answer_schema)
        output["format"] = {"type": "json_schema", "schema": schema}
    return output


def _with_marker(turns: list[Json]) -> list[Json]:
    """Mark where the last request ended, if too much was said since for the cache to look back."""
    replies = [number for number, turn in enumerate(turns) if turn["role"] == "assistant"]
    asked = [number for number, turn in enumerate(turns) if turn["role"] == "user"]
    before = [number for number in asked if replies and number < replies[-1]]
    if not before or sum(len(turn["content"]) for turn in turns[before[-1] + 1 :]) <= LOOK_BACK:
        return turns
    end = before[-1]
    *rest, last = turns[end]["content"]
    marked = {**turns[end], "content": [*rest, {**last, "cache_control": _CACHED}]}
    return [*turns[:end], marked, *turns[end + 1 :]]


def _has_failed_summary(turns: list[Json]) -> bool:
    return any(
        block.get("type") == "compaction" and block.get("content") is None
        for turn in turns
        if turn["role"] == "assistant"
        for block in turn["content"]
    )


def _user(turn: chat.UserTurn | chat.ResultsTurn) -> list[Json]:
    if isinstance(turn, chat.UserTurn):
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


def _assistant(turn: chat.AssistantTurn) -> list[Json]:
    echoed = json.loads(turn.opaque) if turn.opaque.startswith("[") else None
    if isinstance(echoed, list):
        return echoed
    text: list[Json] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    return text + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in turn.calls
    ]


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {key: _encodable(item) for key, item in value.items()}
    return value
