"""Arguments of tool calls, checked against the tool's own schema: a sentence instead of a fault."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nightwatch_core.models.conversation import ToolSpec, ToolValue

_LONGEST = 1_000  # characters of a text
_MOST = 8  # texts of a list
_DIGITS = re.compile(r"-?\d{1,9}", re.ASCII)
_WORDS = {"true": True, "false": False}

# Numbers that are out of bounds are taken for the nearest that is not.
BOUNDS: dict[str, tuple[int, int]] = {
    "start": (1, 10_000_000),
    "end": (1, 10_000_000),
    "context": (0, 10),
    "limit": (1, 10),
    "number": (1, 10),
}
# What an argument was once called, or is called elsewhere.
ALIASES: dict[str, dict[str, str]] = {
    "search_code": {"query": "queries"},
    "blame": {"line": "start"},
    "show_commit": {"sha": "id"},
    "history": {"text": "symbol"},
}
_TYPES: dict[str, tuple[Callable[[object], bool], str]] = {
    "string": (lambda value: isinstance(value, str), "text in quotes"),
    "integer": (
        lambda value: isinstance(value, int) and not isinstance(value, bool),
        "a whole number like 12",
    ),
    "boolean": (lambda value: isinstance(value, bool), "true or false"),
    "array": (
        lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
        "a list of texts",
    ),
}


class ToolAnswer(NamedTuple):
    """A tool's answer: text for the model, value for code."""

    text: str
    value: ToolValue | None = None


class Refusal(Exception):  # noqa: N818 - a sentence for the model, never seen outside the tools
    """Why a call cannot be answered, and what to ask instead."""

    def __init__(self, sentence: str, value: ToolValue | None = None) -> None:
        """`sentence` is all the model is told; `value` is what is known nonetheless."""
        super().__init__(sentence)
        self.value = value


def settled(spec: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Give the arguments that were given, each as its type wants it where it can be read so.

    Servers that do not enforce schemas send numbers in quotes, a text for a list of one, or None
    for what is left out. Numbers out of bounds become the nearest one within.

    >>> spec = ToolSpec(name="t", description="", parameters={"properties": {
    ...     "context": {"type": "integer"}, "queries": {"type": "array"}}, "required": []})
    >>> settled(spec, {"context": "12", "queries": "a"}), settled(spec, {"context": None})
    ({'context': 10, 'queries': ['a']}, {})
    """
    known, other = spec.parameters["properties"], ALIASES.get(spec.name, {})
    given: dict[str, Any] = {}
    for name, value in arguments.items():
        called = other.get(name, name) if name not in known else name
        if value is not None and not (called != name and arguments.get(called) is not None):
            given[called] = _settled(called, value, known.get(called, {}).get("type"))
    return given


def complaint(spec: ToolSpec, arguments: Mapping[str, Any]) -> str:
    """Say what is wrong with the arguments and what to send instead; empty where nothing is.

    >>> spec = ToolSpec(name="t", description="", parameters={
    ...     "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    >>> complaint(spec, {}), complaint(spec, {"n": 1})
    ('argument n is missing', '')
    """
    known, required = spec.parameters["properties"], spec.parameters["required"]
    for name in arguments:
        if name not in known:
            return f"there is no argument {name[:80]!a}; {spec.name} takes {', '.join(known)}"
    for name in required:
        if arguments.get(name) is None:
            return f"argument {name} is missing"
    for name, value in arguments.items():
        if wrong := _unfit(value, known[name]):
            return f"argument {name} {wrong}"
    return ""


def _settled(name: str, value: object, wanted: str | None) -> object:
    if wanted == "integer":
        number = _number(value)
        if isinstance(number, bool) or not isinstance(number, int):
            return number
        least, most = BOUNDS.get(name, (number, number))
        return max(least, min(number, most))
    if wanted == "boolean" and isinstance(value, str):
        return _WORDS.get(value.strip().lower(), value)
    if wanted == "array":
        listed = [value] if isinstance(value, str) else value
        return listed[:_MOST] if isinstance(listed, list) else listed
    return value


def _number(value: object) -> object:
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _unfit(value: object, schema: dict[str, Any]) -> str:
    fits, meant = _TYPES[schema["type"]]
    if not fits(value):
        return f"must be of type {schema['type']} ({meant}), not {type(value).__name__}"
    texts = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not value:
        return "must not be empty"
    for text in texts:
        if isinstance(text, str) and len(text) > _LONGEST:
            return f"must not be longer than {_LONGEST} characters"
    return ""
