"""Failures that only their class tells of: words for whoever looks next, no cause."""

import re
import tomllib
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from nightwatch_core.code.symptoms import Symptom, neighbour
from nightwatch_core.code.syntax import masked
from nightwatch_core.models.value import Value
from nightwatch_core.rules.findings import FailingLine, Finding
from nightwatch_core.rules.known_code import Context


class Category(Value):
    """What a category of failures tells by itself; words in braces are filled in."""

    value: str = ""  # what failed, as far as the class tells it
    tags: tuple[str, ...]
    steps: tuple[str, ...]


@cache
def categories() -> dict[str, Category]:
    """Read categories.toml; raises `ValidationError` where it does not hold what it should."""
    text = (files(__package__) / "categories.toml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, Category]).validate_python(tomllib.loads(text))


_CALL = re.compile(r"((?:[\w@$]+(?:\.|::|->))+[\w?!]+)\s*(?:\(|$| )")


def general(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Say what the class and the message give away, and what to look at: that is no cause."""
    category = categories().get(symptom.kind, categories()["unknown"])
    call = _call(failing)
    words = {
        "place": failing.place or "the code",
        "call": call,
        "who": neighbour(symptom) or (f"the neighbour behind `{call}`" if call else "a neighbour"),
        "name": f"`{symptom.module or symptom.owner or symptom.name}`",
        "relation": f"`{symptom.relation}`" if symptom.relation else "",
    }
    return Finding(
        value=category.value.format(**words),
        tags=category.tags,
        steps=tuple(step.format(**words) for step in category.steps),
    )


def _call(failing: FailingLine) -> str:
    """The call of the failing line that most likely leaves the process."""
    match = _CALL.search(masked(failing.text, failing.language))
    return match[1] if match else ""
