"""What one message took, to the token: everything that is billed, summarising included."""

from collections.abc import Mapping
from typing import Any

from nightwatch_core.analysis.model_facts import priced
from nightwatch_core.models.analysis import Usage

# Parts of a message that the totals leave out, each billed at its own model's price.
APART = ("compaction", "advisor_message", "fallback_message")


def usage(message: Mapping[str, Any], model: str) -> Usage:
    """One request's tokens and cost; whatever a careless server leaves out counts as nothing."""
    counted = _inside(message, "usage")
    entries = [one for one in _listed(counted, "iterations") if one.get("type") in APART]
    apart = [_priced(one, str(one.get("model") or model)) for one in entries]
    summaries = [
        one for one, entry in zip(apart, entries, strict=True) if entry["type"] == "compaction"
    ]
    told = {
        "calls": 1,
        "compactions": len(summaries),
        "compaction_tokens": sum(one.prompt_tokens + one.output_tokens for one in summaries),
        "cleared_tokens": sum(
            _number(edit, "cleared_input_tokens")
            for edit in _listed(_inside(message, "context_management"), "applied_edits")
        ),
    }
    return sum(apart, _priced(counted, model)).model_copy(update=told)


def _priced(counted: Mapping[str, Any], model: str) -> Usage:
    written = _number(counted, "cache_creation_input_tokens")
    hour = _number(_inside(counted, "cache_creation"), "ephemeral_1h_input_tokens")
    output = _number(counted, "output_tokens")
    thought = _number(_inside(counted, "output_tokens_details"), "thinking_tokens")
    return priced(
        model,
        Usage(
            input_tokens=_number(counted, "input_tokens"),
            output_tokens=output,
            thinking_tokens=min(thought, output),
            cache_write_tokens=written,
            cache_write_1h_tokens=min(hour, written),
            cache_read_tokens=_number(counted, "cache_read_input_tokens"),
        ),
    )


def _number(of: Mapping[str, Any], name: str) -> int:
    value = of.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def _inside(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = of.get(name)
    return value if isinstance(value, Mapping) else {}


def _listed(of: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = of.get(name)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
