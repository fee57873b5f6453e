"""What the stand-in refuses, as the service does: a request's faults as status, type and words."""

import json
import re

from services import anthropic_context
from services.anthropic_models import EFFORTS, UNFORCED

FIELDS = {
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "stream",
    "output_config", "cache_control", "metadata", "stop_sequences", "service_tier",
    "context_management",
}  # fmt: skip
NOT_PLAIN = {"thinking", "output_config", "cache_control", "context_management"}
LARGEST_UNSTREAMED = 21_333
_BLOCKS = {
    "assistant": {
        "text": {"type", "text", "citations"},
        "thinking": {"type", "thinking", "signature"},
        "redacted_thinking": {"type", "data"},
        "tool_use": {"type", "id", "name", "input", "caller"},
        "compaction": {"type", "content", "encrypted_content", "signature", "tool_changes"},
    },
    "user": {
        "text": {"type", "text"},
        "tool_result": {"type", "tool_use_id", "content", "is_error"},
    },
}
_KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
    "allOf", "$ref", "$defs", "description", "title", "format", "default", "minItems",
}  # fmt: skip
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


class Refused(Exception):  # noqa: N818 - an answer of the service
    """Status, type and words of an error."""

    def __init__(self, status, kind, words, **details):
        super().__init__(words)
        self.status, self.kind, self.words, self.details = status, kind, words, details


def bad(words):
    return Refused(400, "invalid_request_error", words)


def check(body, model, betas, plain=False):
    """Raise `Refused` for the first fault; `plain` servers know neither thinking nor formats."""
    told = [name.strip() for name in betas.split(",") if name.strip()]
    if wrong := anthropic_context.complaint(body, model, told):
        raise bad(wrong)
    for name in sorted(set(body) - FIELDS):
        raise bad(f"{name}: Extra inputs are not permitted")
    if plain and betas:
        raise bad(f"anthropic-beta: {betas} is not known here")
    if plain and (extra := NOT_PLAIN & set(body)):
        raise bad(f"{', '.join(sorted(extra))}: not supported by this server")
    for look in (_size, _thinking, _output, _choice, _tools, _markers):
        look(body, model)
    _messages(body, model, told)


def _size(body, model):
    most = body.get("max_tokens")
    if not isinstance(most, int) or most < 1:
        raise bad("max_tokens: Input should be greater than or equal to 1")
    if most > model["max_tokens"]:
        raise bad(f"max_tokens: {most} > {model['max_tokens']}, the maximum for {model['id']}")
    if not body.get("stream") and most > LARGEST_UNSTREAMED:
        raise bad("max_tokens: Streaming is required for operations that may take this long")
    tokens = len(json.dumps(body)) // 4
    if tokens > model["max_input_tokens"]:
        raise bad(f"prompt is too long: {tokens} tokens > {model['max_input_tokens']} maximum")


def _thinking(body, model):
    thinking = body.get("thinking")
    if thinking is None:
        return
    kind = thinking.get("type")
    if not model["capabilities"]["thinking"]["types"].get(kind, {}).get("supported"):
        raise bad(f'"thinking.type.{kind}" is not supported for this model.')
    budget = thinking.get("budget_tokens", 0)
    if kind == "enabled" and not 1_024 <= budget < body["max_tokens"]:
        raise bad("thinking.budget_tokens: at least 1024 and less than max_tokens")
    if kind == "adaptive" and set(thinking) - {"type", "display"}:
        raise bad("thinking.adaptive: Extra inputs are not permitted")


def _output(body, model):
    output = body.get("output_config", {})
    for name in sorted(set(output) - {"effort", "format"}):
        raise bad(f"output_config.{name}: Extra inputs are not permitted")
    effort = output.get("effort", "")
    if effort and effort not in EFFORTS:
        raise bad("output_config.effort: not one of low, medium, high, xhigh, max")
    if effort and not model["capabilities"]["effort"][effort]["supported"]:
        raise bad(f"output_config.effort {effort!r} is not supported for this model")
    if "format" not in output:
        return
    if output["format"].get("type") != "json_schema":
        raise bad("output_config.format.type: Input should be 'json_schema'")
    optional, unions = _schema(output["format"]["schema"], "schema")
    if optional > 24 or unions > 16:
        raise bad("Schema is too complex for compilation")


def _schema(schema, at):
    """Optional properties and unions below; raises where a keyword or an open object is found."""
    for keyword in sorted(set(schema) - _KEYWORDS):
        raise bad(f"output_config.format.{at}: keyword {keyword!r} is not supported")
    optional, unions = 0, int("anyOf" in schema)
    below = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    below += [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            raise bad(f"output_config.format.{at}: 'additionalProperties' must be false")
        optional += len(set(schema.get("properties", {})) - set(schema.get("required", ())))
    for one in below:
        more = _schema(one, f"{at}.…")
        optional, unions = optional + more[0], unions + more[1]
    return optional, unions


def _choice(body, model):
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not body.get("tools"):
        raise bad("tool_choice: may only be specified while providing tools")
    forced = choice.get("type") in ("any", "tool")
    if forced and model["id"] in UNFORCED:
        raise bad('tool_choice: type "tool" and "any" are not supported for this model.')
    if forced and body.get("thinking", {}).get("type") == "enabled":
        raise bad("Thinking may not be enabled when tool_choice forces tool use.")


def _tools(body, model):
    names = [tool.get("name", "") for tool in body.get("tools", ())]
    for tool in body.get("tools", ()):
        if not _NAME.fullmatch(tool["name"]) or tool["input_schema"].get("type") != "object":
            raise bad(f"tools: {tool['name']!r} is not a tool with an object as input_schema")
        if set(tool) - {"name", "description", "input_schema", "strict", "cache_control"}:
            raise bad(f"tools: {tool['name']!r}: Extra inputs are not permitted")
    if len(names) != len(set(names)):
        raise bad("tools: Tool names must be unique.")
    strict = [tool for tool in body.get("tools", ()) if tool.get("strict")]
    if strict and not model["capabilities"]["structured_outputs"]["supported"]:
        raise bad("tools: strict is not supported by this model")
    sizes = [_schema(tool["input_schema"], "input_schema") for tool in strict]
    if len(strict) > 20 or sum(one[0] for one in sizes) > 24 or sum(one[1] for one in sizes) > 16:
        raise bad("Schema is too complex for compilation")


def _markers(body, model):
    marked = json.dumps([body.get("system"), body.get("tools"), body["messages"]])
    if marked.count('"cache_control"') + ("cache_control" in body) > 4:
        raise bad("A maximum of 4 blocks with cache_control may be provided.")


def _messages(body, model, betas):
    messages = body.get("messages")
    if not messages or messages[0]["role"] != "user":
        raise bad("messages: first message must use the user role")
    waiting = []
    for number, message in enumerate(messages):
        at = f"messages.{number}"
        if message["role"] == "system":
            before = messages[number - 1] if number else None
            if wrong := anthropic_context.turn_effort_complaint(message, before, model, betas):
                raise bad(f"{at}: {wrong}")
            continue
        blocks = _content(message, at)
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if sorted(results) != sorted(waiting):
            raise bad(f"{at}: `tool_use` ids need exactly one `tool_result` each: {waiting}")
        if any(block["type"] != "tool_result" for block in blocks[: len(results)]):
            raise bad(f"{at}: `tool_result` blocks must come first")
        waiting = [b["id"] for b in blocks if b["type"] == "tool_use"]
        if waiting and not body.get("tools"):
            raise bad("tools: required while messages hold tool_use blocks")
    if waiting:
        raise bad("messages: the last `tool_use` has no `tool_result`")


def _content(message, at):
    """The blocks of a message; raises where one is unknown or empty."""
    if message["role"] not in _BLOCKS or set(message) != {"role", "content"}:
        raise bad(f"{at}: not a message")
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not blocks:
        raise bad(f"{at}: content must not be empty")
    known = _BLOCKS[message["role"]]
    for block in blocks:
        allowed = known.get(block.get("type"))
        if allowed is None or set(block) - allowed - {"cache_control"}:
            raise bad(f"{at}: block {block.get('type')!r} with {sorted(block)} is not permitted")
        if block["type"] == "text" and not block["text"].strip():
            raise bad(f"{at}: text content blocks must contain non-whitespace text")
    return blocks
