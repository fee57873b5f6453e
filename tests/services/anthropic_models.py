"""The stand-in's catalogue: what the Models API says, and what it does not say."""

EDITS = ("clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
OLDER = ("claude-haiku-4-5", "claude-opus-4-5", "claude-opus-4-1")
SMALLEST_CACHED = {"": 512, **dict.fromkeys(OLDER, 4_096), "claude-sonnet-4-5": 1_024}  # tokens
TURN_EFFORT = ("claude-opus-5-5", "claude-sonnet-5-5")  # it can change in mid-conversation


def _yes(value):
    return {"supported": value}


def _capabilities(thinking, efforts, structured, edits):
    types = ("adaptive", "between_tools", "disabled", "enabled")
    plain = ("batch", "citations", "code_execution", "image_input", "pdf_input")
    return {
        **{name: _yes(True) for name in plain},
        "structured_outputs": _yes(structured),
        "server_tools": {**_yes(True), "web_search": _yes(True), "code_execution": _yes(True)},
        "thinking": {**_yes(True), "types": {name: _yes(name in thinking) for name in types}},
        "effort": {**_yes(bool(efforts)), **{name: _yes(name in efforts) for name in EFFORTS}},
        "context_management": {
            **_yes(bool(edits)), **{name: _yes(name in edits) for name in EDITS},
        },
    }  # fmt: skip


def model(
    name, line, thinking=("adaptive",), efforts=EFFORTS, structured=True, window=1_000_000,
    most=128_000, lifecycle="active", retires=None, edits=EDITS,
):  # fmt: skip
    """One entry as `GET /v1/models/{id}` answers it."""
    return {
        "type": "model",
        "id": name,
        "display_name": name,
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": lifecycle,
        "deprecated_at": None if lifecycle == "active" else "2026-06-01T00:00:00Z",
        "retires_at": retires,
        "line": line,
        "max_input_tokens": window,
        "max_tokens": most,
        "capabilities": _capabilities(thinking, efforts, structured, edits),
    }


_OLD = {
    "thinking": ("enabled", "disabled"), "window": 200_000, "most": 64_000, "edits": EDITS[:2],
}  # fmt: skip
CATALOGUE = {
    one["id"]: one
    for one in (
        model("claude-opus-5-5", "opus"),
        model("claude-sonnet-5-5", "sonnet", thinking=("adaptive", "between_tools")),
        model("claude-haiku-5-5", "haiku", thinking=("adaptive", "disabled")),
        model("claude-haiku-4-5", "haiku", efforts=(), **_OLD),
        model("claude-opus-4-5", "opus", efforts=EFFORTS[:3], **_OLD),
        model(
            "claude-sonnet-4-5", "sonnet", efforts=(), lifecycle="deprecated",
            retires="2026-11-30T00:00:00Z", **_OLD,
        ),
        model(
            "claude-opus-4-1", "opus", efforts=(), lifecycle="retired",
            retires="2026-08-05T00:00:00Z", **_OLD,
        ),
    )
}  # fmt: skip
UNFORCED = ("claude-opus-5-5", "claude-sonnet-5-5")  # refuse a tool_choice that forces a call
