"""What the service cleared from a request, where its answer does not say so itself.

An answer that tells which edits were applied is all there is to ask. Where a request was long
enough to be cleared and the answer is silent, the service's token counting says what the prompt was
before and after; a server that cannot count leaves it untold.
"""

from collections.abc import Mapping
from typing import Any

from nightwatch_core.adapters.claude.features import CLEAR_RESULTS, Json, inside, number
from nightwatch_core.models.usage import Usage
from nightwatch_core.text.units import estimated_tokens

UNTOLD = Usage(untold_clearings=1)
_COUNTED = (
    "betas",
    "cache_control",
    "context_management",
    "messages",
    "model",
    "output_config",
    "system",
    "thinking",
    "tool_choice",
    "tools",
)


def is_told(message: Mapping[str, Any]) -> bool:
    """Whether an answer says which edits were applied."""
    return isinstance(message.get("context_management"), Mapping)


def is_silent(request: Json, message: Mapping[str, Any]) -> bool:
    """Whether something may have been cleared from the request, and its answer does not say."""
    if is_told(message):
        return False
    edits = inside(request, "context_management").get("edits", ())
    return any(_may_clear(edit, request["messages"]) for edit in edits)


def count_request(request: Json) -> Json:
    """The request as keywords of `messages.count_tokens`."""
    return {name: request[name] for name in _COUNTED if name in request}


def _may_clear(edit: Json, messages: list[Json]) -> bool:
    """Whether this edit finds a prompt that is long enough, and enough to clear in it."""
    if edit["type"] != CLEAR_RESULTS:
        return False
    blocks = [block for one in messages for block in one["content"]]
    results = [str(block["content"]) for block in blocks if block["type"] == "tool_result"]
    old = estimated_tokens("".join(results[: -number(edit["keep"], "value") or None]))
    is_long = estimated_tokens(str(messages)) > number(edit["trigger"], "value")
    return is_long and old >= max(number(edit["clear_at_least"], "value"), 1)


def counted(answer: Mapping[str, Any]) -> Usage:
    """Read what was counted: a prompt before and after clearing; untold where it is not there.

    >>> told = counted({"input_tokens": 70, "context_management": {"original_input_tokens": 90}})
    >>> told.cleared_tokens, told.uncleared_tokens
    (20, 90)
    """
    before = number(inside(answer, "context_management"), "original_input_tokens")
    if not before:
        return UNTOLD
    cleared = max(before - number(answer, "input_tokens"), 0)
    return Usage(cleared_tokens=cleared, uncleared_tokens=before if cleared else 0)
