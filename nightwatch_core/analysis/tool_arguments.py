"""Arguments of tool calls, checked against the tool's own schema: a sentence instead of a fault."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from nightwatch_core.models.conversation import ToolSpec, ToolValue

_PATH_LONGEST = 1_000
_NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)
_TYPES: dict[str, tuple[Callable[[object], bool], str]] = {
    "string": (lambda value: isinstance(value, str), "text in quotes"),
    "integer": (
        lambda value: isinstance(value, int) and not isinstance(value, bool),
        "a whole number like 12",
    ),
}


class ToolAnswer(NamedTuple):
    """What a tool answers: the text it shows, and the value it stands for."""

    text: str
    value: ToolValue


class Refusal(Exception):  # noqa: N818 - a sentence for the model, never seen outside the tools
    """Why a call cannot be answered, and what to ask instead."""

    def __init__(self, sentence: str, value: ToolValue | None = None) -> None:
        """`sentence` is all the model is told; `value` is what is known nonetheless."""
        super().__init__(sentence)
        self.value = value


def settled(spec: ToolSpec, arguments: dict[str, Any]) -> dict[str, Any]:
    """Give the arguments that were given, numbers in quotes or with a zero fraction as numbers.

    Servers that do not enforce schemas send those. None counts as left out.

    >>> spec = ToolSpec(name="t", description="", parameters={
    ...     "properties": {"n": {"type": "integer"}}, "required": []})
    >>> settled(spec, {"n": "12"}), settled(spec, {"n": 3.0}), settled(spec, {"n": None})
    ({'n': 12}, {'n': 3}, {})
    """
    known = spec.parameters["properties"]
    return {
        name: _number(value) if known.get(name, {}).get("type") == "integer" else value
        for name, value in arguments.items()
        if value is not None
    }


def complaint(spec: ToolSpec, arguments: dict[str, Any]) -> str:
    """Say what is wrong with the arguments and what to send instead; empty where nothing is.

    None for an argument that may be left out counts as left out.

    >>> spec = ToolSpec(name="t", description="", parameters={
    ...     "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]})
    >>> complaint(spec, {}), complaint(spec, {"n": 0}), complaint(spec, {"n": 1})
    ('argument n is missing', 'argument n must be at least 1', '')
    """
    known, required = spec.parameters["properties"], spec.parameters["required"]
    for name in arguments:
        if name not in known:
            return f"there is no argument {name[:80]!a}; {spec.name} takes {', '.join(known)}"
    for name in required:
        if arguments.get(name) is None:
            return f"argument {name} is missing"
    for name, value in arguments.items():
        wrong = "" if value is None else _unfit(value, known[name])
        if wrong:
            return f"argument {name} {wrong}"
    return ""


def _number(value: object) -> object:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _unfit(value: object, schema: dict[str, Any]) -> str:
    fits, meant = _TYPES[schema["type"]]
    if not fits(value):
        return f"must be of type {schema['type']} ({meant}), not {type(value).__name__}"
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            return "must not be empty"
        if len(value) > schema.get("maxLength", _PATH_LONGEST):
            return f"must not be longer than {schema.get('maxLength', _PATH_LONGEST)} characters"
        return ""
    if isinstance(value, int) and value < schema.get("minimum", value):
        return f"must be at least {schema['minimum']}"
    if isinstance(value, int) and value > schema.get("maximum", value):
        return f"must be at most {schema['maximum']}"
    return ""
