"""The front matter of an agent file, with the lines its keys and items stand on."""

from functools import lru_cache

import yaml

from nightwatch_core.models.value import Value
from nightwatch_core.text import frontmatter

_FIRST = 2  # the line after the opening "---"


class Front(Value):
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
def read(text: str) -> Front:
    """Take an agent file apart; a text without front matter is all prompt.

    >>> front = read("---\\nname: a\\ntools:\\n- blame\\n---\\nFind it.\\n")
    >>> front.meta["name"], front.line("name"), front.line("tools", 0), front.body
    ('a', 2, 4, 'Find it.\\n')
    >>> read("---\\nname: a\\nname: b\\n---\\n").wrong_line
    3
    """
    try:
        meta, body = frontmatter.read(text)
    except frontmatter.BrokenFrontMatter as broken:
        wrong = broken.problem if broken.line else str(broken)
        return Front(wrong=wrong[:200], wrong_line=broken.line or 1)
    return Front(meta=meta, body=body, lines=_lines(text.removeprefix("\ufeff")))


def _lines(text: str) -> dict[str, int]:
    parts = frontmatter.parts_of(text)
    root = frontmatter.composed(text[parts.begin : parts.end])[0] if parts else None
    lines: dict[str, int] = {}
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        lines[key.value] = key.start_mark.line + _FIRST
        for item, one in enumerate(value.value if isinstance(value, yaml.SequenceNode) else ()):
            lines[f"{key.value} {item}"] = one.start_mark.line + _FIRST
    return lines
