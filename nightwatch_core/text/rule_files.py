"""Reads tables of patterns: TOML files in `rules/` of a room, validated when they are loaded."""

import re
import tomllib
from importlib.resources import files
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator

_FRAGMENT = re.compile(r"\{\{(\w+)\}\}")
T = TypeVar("T", bound=BaseModel)


def pattern_text(value: str | list[str]) -> str:
    r"""Return one pattern: a list means any of its items, line breaks only wrap.

    >>> pattern_text([" a", "  b\n  |c"])
    ' a|b|c'
    """
    items = value if isinstance(value, list) else [value]
    return "|".join(re.sub(r"(?m)^\s+|\n", "", item) if "\n" in item else item for item in items)


PatternText = Annotated[str, BeforeValidator(pattern_text)]
Pattern = Annotated[re.Pattern[str], BeforeValidator(pattern_text)]


def load_rules(name: str, shape: type[T], room: str = "code") -> T:
    """Read a room's `rules/<name>.toml`; `{{x}}` stands for `x` in its table of fragments.

    Raises `ValidationError` where the file does not have the shape.
    """
    file = files("nightwatch_core") / room / "rules" / f"{name}.toml"
    table = tomllib.loads(file.read_text("utf-8"))
    fragments: dict[str, str] = {}
    for key, value in table.pop("fragments", {}).items():
        fragments[key] = f"(?:{pattern_text(_filled(value, fragments))})"
    return shape.model_validate(_filled(table, fragments) if fragments else table)


def _filled(value: Any, fragments: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, fragments) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, fragments) for item in value]
    if isinstance(value, str):
        return _FRAGMENT.sub(lambda match: fragments[match[1]], value)
    return value
