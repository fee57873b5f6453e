"""How the service makes room in a long conversation: by what the model can do, at what length.

Nothing already sent is edited by us. Clearing and summarising happen on the service's side, and
each of them starts the cache anew from the first place it changes: so they come late, clear much
at once, and summarising never comes just before the last answer.
"""

from typing import Any

from nightwatch_core.adapters.claude.capabilities import (
    CLEAR_RESULTS,
    CLEAR_THINKING,
    COMPACT,
    Able,
)
from nightwatch_core.models.value import Value

Json = dict[str, Any]
EDITING = "context-management-2025-06-27"
COMPACTING = "compact-2026-01-12"
TURN_EFFORT = "mid-conversation-output-config-2026-07-01"
LEAST_COMPACTED = 50_000  # tokens: the service's own bound
ROOM = 0.7  # share of a context that may be full before it is summarised
# Replaces the service's own words, so it has to say again what they say.
INSTRUCTIONS = (
    "Summarize the conversation inside <summary></summary> tags, for an analyst who has to go on "
    "without it. Keep: the error's class and transaction; every file read, with the line numbers "
    "and the exact text of lines that matter; findings; hypotheses with what speaks for and "
    "against each, also those ruled out; what is still to be looked at. Leave out: listings, "
    "searches without a hit, dead ends beyond one line. Do not call any tools; respond with text "
    "only."
)


class Tuning(Value):
    """What is chosen about requests beyond the conversation itself; sizes in tokens of a prompt.

    None, or 0 for `thinking_decay`, switches a feature off. Results are cleared below 100,000
    tokens because a longer prompt costs some models five times as much.
    """

    clear_at: int | None = 80_000  # clear old tool results from this length on …
    clear_at_least: int = 20_000  # … if so much can be cleared at once …
    keep_results: int = 6  # … but for the last ones
    keep_thinking: int | None = None  # turns whose thinking stays; each clearing costs the cache
    compact_at: int | None = 150_000  # summarise from this length on
    instructions: str = INSTRUCTIONS
    thinking_decay: int = 0  # model turns over which a budget for thinking falls to a quarter


def management(able: Able, tuning: Tuning, last: bool) -> Json:
    """The field `context_management`, empty where the model can do none of it.

    `last` is a request after which none is planned, or one after a summary that failed: nothing is
    summarised for it.
    """
    edits = (
        _clear_thinking(able, tuning),
        _clear_results(able, tuning),
        None if last else _compact(able, tuning),
    )
    wanted = [edit for edit in edits if edit]  # clearing thinking has to come first
    return {"edits": wanted} if wanted else {}


def betas(able: Able, tuning: Tuning) -> tuple[str, ...]:
    """What has to be announced; the same for every request of a conversation."""
    edits = [edit["type"] for edit in management(able, tuning, last=False).get("edits", ())]
    wanted = {
        EDITING: bool(edits),
        COMPACTING: COMPACT in edits,
        TURN_EFFORT: able.turn_effort,
    }
    return tuple(name for name, needed in wanted.items() if needed)


def _clear_thinking(able: Able, tuning: Tuning) -> Json | None:
    if CLEAR_THINKING not in able.edits or not tuning.keep_thinking or not able.thinks:
        return None
    keep = {"type": "thinking_turns", "value": tuning.keep_thinking}
    return {"type": CLEAR_THINKING, "keep": keep}


def _clear_results(able: Able, tuning: Tuning) -> Json | None:
    if CLEAR_RESULTS not in able.edits or tuning.clear_at is None:
        return None
    return {
        "type": CLEAR_RESULTS,
        "trigger": {"type": "input_tokens", "value": tuning.clear_at},
        "keep": {"type": "tool_uses", "value": tuning.keep_results},
        "clear_at_least": {"type": "input_tokens", "value": tuning.clear_at_least},
    }


def _compact(able: Able, tuning: Tuning) -> Json | None:
    if COMPACT not in able.edits or tuning.compact_at is None:
        return None
    trigger = min(tuning.compact_at, int(able.context * ROOM))
    if able.context * ROOM < LEAST_COMPACTED:
        return None
    return {
        "type": COMPACT,
        "trigger": {"type": "input_tokens", "value": max(trigger, LEAST_COMPACTED)},
        "pause_after_compaction": True,
        "instructions": tuning.instructions,
    }
