"""The stand-in's context management: what it refuses, clears, and summarises.

Its summary carries over only what the stand-in's model can use: the frame and the numbered lines.
"""

import json

from services.anthropic_models import EFFORTS, TURN_EFFORT

EDITING = "context-management-2025-06-27"
COMPACTING = "compact-2026-01-12"
TURNING = "mid-conversation-output-config-2026-07-01"
BETAS = (EDITING, COMPACTING, TURNING, "compact-2026-09-04", "token-counting-2024-11-01")
THINKING, RESULTS, COMPACT = (
    "clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112",
)  # fmt: skip
LEAST_COMPACTED = 50_000
CLEARED = "[Old tool result content cleared]"
_FIELDS = {
    THINKING: {"type", "keep"},
    RESULTS: {"type", "trigger", "keep", "clear_at_least", "exclude_tools", "clear_tool_inputs"},
    COMPACT: {"type", "trigger", "pause_after_compaction", "instructions"},
}


def complaint(body, model, betas):
    """What is wrong with the context management that is asked for; empty where nothing is."""
    for name in betas:
        if name not in BETAS:
            return f"Unexpected value(s) `{name}` for the `anthropic-beta` header"
    config = body.get("context_management")
    if config is None:
        return ""
    if EDITING not in betas or set(config) - {"edits"}:
        return "context_management: Extra inputs are not permitted"
    kinds = [edit.get("type") for edit in config.get("edits", ())]
    if len(kinds) != len(set(kinds)) or THINKING in kinds[1:]:
        return f"context_management.edits: {THINKING} must be the first, each at most once"
    for edit in config.get("edits", ()):
        if wrong := _edit(edit, body, model, betas):
            return f"context_management.edits: {wrong}"
    return ""


def _edit(edit, body, model, betas):
    kind = edit.get("type")
    if kind not in _FIELDS or set(edit) - _FIELDS[kind]:
        return f"{kind}: Extra inputs are not permitted"
    if not model["capabilities"]["context_management"][kind]["supported"]:
        return f"{kind} is not supported by {model['id']}"
    if kind == COMPACT and COMPACTING not in betas:
        return f"{kind} needs the beta {COMPACTING}"
    if kind == THINKING and not body.get("thinking"):
        return f"{kind} requires `thinking` to be enabled or adaptive"
    if kind == THINKING and not (edit.get("keep") == "all" or _is_amount(edit["keep"], kind)):
        return f"{kind}.keep"
    if kind == COMPACT and edit["trigger"].get("value", 0) < LEAST_COMPACTED:
        return f"{kind}.trigger.value: Input should be at least {LEAST_COMPACTED}"
    amounts = ("trigger", "clear_at_least") + (("keep",) if kind == RESULTS else ())
    wrong = [name for name in amounts if name in edit and not _is_amount(edit[name], kind)]
    return f"{kind}.{wrong[0]}: not an amount" if wrong else ""


def _is_amount(value, kind):
    kinds = {"input_tokens", "thinking_turns" if kind == THINKING else "tool_uses"}
    whole = isinstance(value.get("value"), int) and value["value"] > 0
    return set(value) == {"type", "value"} and value["type"] in kinds and whole


def turn_effort_complaint(message, before, model, betas):
    """What is wrong with a system message among the others."""
    if TURNING not in betas or model["id"] not in TURN_EFFORT:
        return (
            "output_config.effort requires a model that supports per-turn effort; this model does "
            "not"
        )
    if set(message) != {"role", "content", "output_config"} or message["content"]:
        return "system messages of this stand-in hold an effort and nothing else"
    if set(message["output_config"]) != {"effort"}:
        return "output_config: Extra inputs are not permitted"
    if message["output_config"]["effort"] not in EFFORTS:
        return "output_config.effort: not an effort"
    if before is None or before["role"] != "user":
        return "a system message has to follow a user message"
    return ""


def shown(body):
    """The body as the model is shown it, and the edits that were applied."""
    body, applied = {**body, "messages": _since_summary(body["messages"])}, []
    for edit in body.get("context_management", {}).get("edits", ()):
        if edit["type"] != RESULTS or tokens(body) <= edit["trigger"]["value"]:
            continue
        messages, cleared, uses = _without_results(body["messages"], edit)
        if cleared:
            body = {**body, "messages": messages}
            told = {"cleared_input_tokens": cleared, "cleared_tool_uses": uses}
            applied.append({"type": RESULTS, **told})
    return body, applied


def due(body):
    """The compaction that is due for what is shown, if any."""
    edits = body.get("context_management", {}).get("edits", ())
    asked = [edit for edit in edits if edit["type"] == COMPACT]
    return next((edit for edit in asked if tokens(body) >= edit["trigger"]["value"]), None)


def tokens(value):
    return len(json.dumps(value)) // 4


def _since_summary(messages):
    """What follows the last summary that came about, which stands for everything before it."""
    for number in reversed(range(len(messages))):
        content = messages[number]["content"]
        for block in content if messages[number]["role"] == "assistant" else ():
            if block.get("type") != "compaction" or block["content"] is None:
                continue
            summary = {"role": "user", "content": [{"type": "text", "text": block["content"]}]}
            rest = [one for one in content if one["type"] != "compaction"]
            kept = [{"role": "assistant", "content": rest}] if rest else []
            return [summary, *kept, *messages[number + 1 :]]
    return messages


def _without_results(messages, edit):
    """The messages with old results cleared; nothing where too little would be."""
    found = [
        (number, at)
        for number, message in enumerate(messages)
        for at, block in enumerate(message["content"])
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]
    old = found[: -edit["keep"]["value"]] if "keep" in edit else found[:-3]
    changed, cleared = [{**one, "content": list(one["content"])} for one in messages], 0
    for number, at in old:
        block = changed[number]["content"][at]
        changed[number]["content"][at] = {**block, "content": CLEARED}
        cleared += tokens(block["content"]) - tokens(CLEARED)
    if cleared <= 0 or cleared < edit.get("clear_at_least", {}).get("value", 0):
        return messages, 0, 0
    return changed, cleared, len(old)
