"""Arguments of tool calls, checked against the tool's own schema: a sentence instead of a fault."""

from collections.abc import Callable
from typing import Any

from nightwatch_core.models.conversation import ToolSpec

_PATH_LONGEST = 1_000
_TYPES: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
}


def complaint(spec: ToolSpec, arguments: dict[str, Any]) -> str:
    """What is wrong with the arguments and what to send instead; empty where nothing is.

    None for an argument that may be left out counts as left out.

    >>> spec = ToolSpec(name="t", description="", parameters={
    ...     "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]})
    >>> complaint(spec, {}), complaint(spec, {"n": 0}), complaint(spec, {"n": 1})
    ('argument n is missing', 'argument n must be at least 1', '')
    """
    known, required = spec.parameters["properties"], spec.parameters["required"]
    for name in required:
        if arguments.get(name) is None:
            return f"argument {name} is missing"
    for name, value in arguments.items():
        if name not in known:
            return f"there is no argument {name[:80]!r}; {spec.name} takes {', '.join(known)}"
        wrong = "" if value is None else _unfit(value, known[name])
        if wrong:
            return f"argument {name} {wrong}"
    return ""


def _unfit(value: object, schema: dict[str, Any]) -> str:
    if not _TYPES[schema["type"]](value):
        return f"must be of type {schema['type']}, not {type(value).__name__}"
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


def inside(path: str) -> str | None:
    """The path as the code reader knows it; None where it would leave the repository.

    >>> inside("./app//a.py"), inside("a/../../b"), inside("/etc/passwd"), inside("")
    ('app/a.py', None, None, '')
    """
    if path.startswith("/") or "\\" in path or not path.isprintable():
        return None
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return None if ".." in parts else "/".join(parts)
