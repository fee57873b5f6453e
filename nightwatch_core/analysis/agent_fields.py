"""What the front matter of an agent file may say: one check a field, each with its sentence."""

from collections.abc import Callable, Iterator, Mapping
from typing import get_args

from nightwatch_core.analysis.front_matter import Front
from nightwatch_core.models.agent import TOOLS
from nightwatch_core.models.conversation import Effort
from nightwatch_core.text.escaping import line

EFFORTS: tuple[str, ...] = get_args(Effort)
MOST_EXAMPLES = 10
_LONGEST_EXAMPLE = 10_000  # characters

Problem = tuple[str, int | None]  # a sentence, and the item of the list it is about


def problems(front: Front) -> Iterator[tuple[str, int, str]]:
    """Keys with their line and what is wrong with them; an empty value counts as not given."""
    for key, value in front.meta.items():
        if key not in CHECKS:
            yield line(key, 60), front.line(key), f"it is not known, only {', '.join(CHECKS)}"
        elif value is not None and (found := CHECKS[key](value)):
            why, item = found
            yield key, front.line(key, item), why


def _text(value: object) -> Problem | None:
    return None if isinstance(value, str) and value.strip() else ("it has to be text", None)


def _list_of(
    allowed: Callable[[object], bool], sentence: str
) -> Callable[[object], Problem | None]:
    def check(value: object) -> Problem | None:
        if not isinstance(value, list):
            return sentence, None
        wrong = next((n for n, one in enumerate(value) if not allowed(one)), None)
        return None if wrong is None else (f"{_shown(value[wrong])}: {sentence}", wrong)

    return check


def _is_language(one: object) -> bool:
    return isinstance(one, str) and bool(one.strip()) and one == one.lower()


def _examples(value: object) -> Problem | None:
    most = f"at most {MOST_EXAMPLES} texts of at most {_LONGEST_EXAMPLE} characters"
    if not isinstance(value, list) or len(value) > MOST_EXAMPLES:
        return f"it has to be a list of {most}", None
    for item, one in enumerate(value):
        if not isinstance(one, str) or not 0 < len(one.strip()) <= _LONGEST_EXAMPLE:
            return f"every example has to be text, {most}", item
        if "</example>" in one:
            return "an example holds no </example>", item
    return None


def _effort(value: object) -> Problem | None:
    is_one = isinstance(value, str) and value in EFFORTS
    return None if is_one else (f"{_shown(value)} is not one of {', '.join(EFFORTS)}", None)


def _number(smallest: int, largest: int) -> Callable[[object], Problem | None]:
    def check(value: object) -> Problem | None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        fits = whole and smallest <= int(str(value)) <= largest
        said = f"it has to be a whole number from {smallest} to {largest}"
        return None if fits else (said, None)

    return check


CHECKS: Mapping[str, Callable[[object], Problem | None]] = {
    "name": _text,
    "description": _text,
    "extends": _text,
    "languages": _list_of(
        _is_language, "it has to be a list of languages in small letters: [ruby]"
    ),
    "model": _text,
    "effort": _effort,
    "thinking_budget": _number(1_024, 128_000),
    "max_iterations": _number(1, 100),
    "max_tokens": _number(1_000, 128_000),
    "tools": _list_of(lambda one: one in TOOLS, f"it has to be a list of {', '.join(TOOLS)}"),
    "examples": _examples,
}


def _shown(value: object) -> str:
    return repr(line(str(value)[:200], 60))
