"""The front matter of an agent file: its values with their lines, and one check a field."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import get_args

import yaml

from nightwatch_core.analysis.limits import EXAMPLE, EXAMPLES
from nightwatch_core.models.agent import TOOLS
from nightwatch_core.models.conversation import Effort
from nightwatch_core.models.value import Value
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import line

EFFORTS: tuple[str, ...] = get_args(Effort)
_FIRST = 2  # the line after the opening "---"

Problem = tuple[str, int | None]  # a sentence, and the item of the list it is about


class FrontMatter(Value):
    """What an agent file says in its front matter, and the prompt below it."""

    meta: dict[str, object] = {}
    body: str = ""
    lines: dict[str, int] = {}  # of keys in the file, and of a list's items as "key 0"
    wrong: str = ""  # what is wrong with the YAML; nothing else is known then
    wrong_line: int = 1

    def line(self, key: str, item: int | None = None) -> int:
        """The line of a key, or of an item of its list; the first where it is not known."""
        own = self.lines.get(key, 1)
        return own if item is None else self.lines.get(f"{key} {item}", own)


@lru_cache(maxsize=32)  # YAML is slow, and every analysis reads all agents
def read_front_matter(text: str) -> FrontMatter:
    """Take an agent file apart: a text without front matter is all prompt.

    >>> front = read_front_matter("---\\nname: a\\ntools:\\n- blame\\n---\\nFind it.\\n")
    >>> front.meta["name"], front.line("name"), front.line("tools", 0), front.body
    ('a', 2, 4, 'Find it.\\n')
    >>> read_front_matter("---\\nname: a\\nname: b\\n---\\n").wrong_line
    3
    """
    try:
        meta, body = frontmatter.read(text)
    except frontmatter.BrokenFrontMatter as broken:
        wrong = broken.problem if broken.line else str(broken)
        return FrontMatter(wrong=wrong[:200], wrong_line=broken.line or 1)
    return FrontMatter(meta=meta, body=body, lines=_lines(text.removeprefix("\ufeff")))


def problems(front: FrontMatter) -> Iterator[tuple[str, int, str]]:
    """Yield keys with their line and what is wrong; an empty value counts as not given."""
    for key, value in front.meta.items():
        if key not in CHECKS:
            yield line(key, 60), front.line(key), f"it is not known, only {', '.join(CHECKS)}"
        elif value is not None and (problem := CHECKS[key](value)):
            why, item = problem
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
    most = f"at most {EXAMPLES} texts of at most {EXAMPLE} characters"
    if not isinstance(value, list) or len(value) > EXAMPLES:
        return f"it has to be a list of {most}", None
    for item, one in enumerate(value):
        if not isinstance(one, str) or not 0 < len(one.strip()) <= EXAMPLE:
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
        wanted = f"it has to be a whole number from {smallest} to {largest}"
        return None if fits else (wanted, None)

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


def _lines(text: str) -> dict[str, int]:
    parts = frontmatter.parts_of(text)
    root = frontmatter.composed(text[parts.begin : parts.end])[0] if parts else None
    lines: dict[str, int] = {}
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        lines[key.value] = key.start_mark.line + _FIRST
        for item, one in enumerate(value.value if isinstance(value, yaml.SequenceNode) else ()):
            lines[f"{key.value} {item}"] = one.start_mark.line + _FIRST
    return lines
