"""Messages of the Messages API as replies, and what each took: everything that is billed."""

import json
from collections.abc import Mapping
from typing import Any

from nightwatch_core.adapters.claude.features import Json, inside, number
from nightwatch_core.adapters.claude.prices import priced
from nightwatch_core.models.conversation import AssistantTurn, Reply, ToolCall
from nightwatch_core.models.usage import Usage

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
# Parts of a message that the totals leave out, each billed at its own model's price.
BILLED_APART = ("compaction", "advisor_message", "fallback_message")


def reply_of(message: Mapping[str, Any], usage: Usage) -> Reply:
    """A finished message of the service as our word for it."""
    blocks = [_echo(block) for block in message["content"] if not _is_empty(block)]
    calls = tuple(
        ToolCall(id=block["id"], name=block["name"], arguments=block["input"])
        for block in blocks
        if block.get("type") == "tool_use"
    )
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


def usage_of(message: Mapping[str, Any], model: str) -> Usage:
    """One request's tokens and cost; whatever a careless server leaves out counts as nothing."""
    counted = inside(message, "usage")
    entries = [one for one in _objects(counted, "iterations") if one.get("type") in BILLED_APART]
    apart = [_usage(one, str(one.get("model") or model)) for one in entries]
    kinds = [str(one["type"]) for one in entries]
    summaries = [one for one, kind in zip(apart, kinds, strict=True) if kind == "compaction"]
    edits = _objects(inside(message, "context_management"), "applied_edits")
    counts = {
        "calls": 1,
        "compactions": len(summaries),
        "compaction_tokens": sum(one.prompt_tokens + one.output_tokens for one in summaries),
        "cleared_tokens": sum(number(edit, "cleared_input_tokens") for edit in edits),
    }
    used = sum(apart, _usage(counted, model)).model_copy(update=counts)
    before = used.prompt_tokens + used.cleared_tokens if used.cleared_tokens else 0
    return used.model_copy(update={"uncleared_tokens": before})


def _usage(counted: Mapping[str, Any], model: str) -> Usage:
    output = number(counted, "output_tokens")
    written = number(counted, "cache_creation_input_tokens")
    hour = number(inside(counted, "cache_creation"), "ephemeral_1h_input_tokens")
    thinking = number(inside(counted, "output_tokens_details"), "thinking_tokens")
    usage = Usage(
        input_tokens=number(counted, "input_tokens"),
        output_tokens=output,
        thinking_tokens=min(thinking, output),
        cache_write_tokens=written,
        cache_write_1h_tokens=min(hour, written),
        cache_read_tokens=number(counted, "cache_read_input_tokens"),
    )
    return priced(model, usage)


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


def _detail(message: Mapping[str, Any]) -> str:
    """Why a model refused, or that the service made room."""
    if message.get("stop_reason") == "refusal":
        details = message.get("stop_details") or {}
        return str(details.get("category") or details.get("explanation") or "")[:300]
    summaries = [one for one in message["content"] if one.get("type") == "compaction"]
    failed = any(one.get("content") is None for one in summaries)
    return ("a summary failed" if failed else "summarised") if summaries else ""


def _objects(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    listed = value.get(name)
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
