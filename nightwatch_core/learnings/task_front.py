"""Lists in the front matter of a task file, added to without touching anything else in it.

People write these files by hand. So a new item is put in where the YAML reader says that the last
one ends: comments, order, quotes and line ends stay as they are, byte for byte.
"""

import re
from collections.abc import Iterable

import yaml

from nightwatch_core.errors import GiveUp
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import line

MOST_ITEMS = 100  # of one list
LONGEST_ITEM = 200  # characters
_OPENING = re.compile(r"---(\r?\n)")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,199}")
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))


def items_in(value: object) -> tuple[str, ...]:
    """The items of a list as people write one: a YAML list, or one text with commas.

    >>> items_in(["a", 7, ""]), items_in("a, b"), items_in(None)
    (('a', '7'), ('a', 'b'), ())
    """
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    texts = (line(str(one), LONGEST_ITEM) for one in value[:MOST_ITEMS] if isinstance(one, _SCALAR))
    return tuple(dict.fromkeys(text for text in texts if text))


_SCALAR = (str, int, float)


def with_items(text: str, key: str, items: Iterable[str]) -> str:
    r"""The document with `items` added to the list `key`, as far as they are not in it yet.

    Front matter is added where there is none. Raises `GiveUp` where it cannot be read, or the list
    is written in a way that cannot be added to.

    >>> with_items("---\nrelated_tasks: [a]  # by hand\n---\n# T\n", "related_tasks", ("a", "b"))
    '---\nrelated_tasks: [a, b]  # by hand\n---\n# T\n'
    >>> with_items("# T\n", "related_tasks", ("v1:c",))
    "---\nrelated_tasks: ['v1:c']\n---\n\n# T\n"
    """
    known = items_in(frontmatter.read(text)[0].get(key))
    wanted = tuple(dict.fromkeys((*known, *items_in(list(items)))))[:MOST_ITEMS]
    new = wanted[len(known) :]
    if not new:
        return text
    changed = _added(text, key, new, wanted)
    if items_in(frontmatter.read(changed)[0].get(key)) != wanted:
        raise GiveUp(f"{key} in the front matter cannot be added to: write it as [one, two]")
    return changed


def _added(text: str, key: str, new: tuple[str, ...], all_of_them: tuple[str, ...]) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    rest = text.removeprefix(mark)
    opening = _OPENING.match(rest)
    if not opening:
        end = "\r\n" if "\r\n" in rest[:10_000] else "\n"
        head = f"---{end}{key}: {_flow(all_of_them)}{end}---{end}"
        return f"{mark}{head}{end if rest.strip() else ''}{rest}"
    start, end = opening.end(), opening[1]
    pair = _pair(rest, start, key)
    if pair is None:
        at = start + _length(rest, start)
        return f"{mark}{rest[:at]}{key}: {_flow(all_of_them)}{end}{rest[at:]}"
    first, last, put = _change(rest, start, pair, (new, all_of_them), end)
    return f"{mark}{rest[:first]}{put}{rest[last:]}"


def _change(
    text: str,
    start: int,
    pair: tuple[yaml.Node, yaml.Node],
    items: tuple[tuple[str, ...], tuple[str, ...]],
    end: str,
) -> tuple[int, int, str]:
    """Where the text changes, and what is put there; positions count from the text's start."""
    name, value = pair
    new, every = items
    if not isinstance(value, yaml.SequenceNode) or not value.value:
        colon = start + name.end_mark.index + 1
        empty = value.start_mark.index == value.end_mark.index
        first, last = start + value.start_mark.index, start + value.end_mark.index
        return (colon, colon, f" {_flow(every)}") if empty else (first, last, _flow(every))
    after = start + value.value[-1].end_mark.index
    if value.flow_style:
        return after, after, "".join(f", {_scalar(item)}" for item in new)
    row = text.find("\n", after)
    at = row + 1 if row >= 0 else len(text)
    pad = " " * (value.start_mark.column)
    return at, at, "".join(f"{pad}- {_scalar(item)}{end}" for item in new)


def _pair(text: str, start: int, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    """The key and its value where the front matter has it; it was read before, so it is sound."""
    source = text[start : start + _length(text, start)]
    loader = frontmatter.StrictLoader(source)
    try:
        node = loader.get_single_node()
    finally:
        loader.dispose()
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next(((name, value) for name, value in pairs if name.value == key), None)


def _length(text: str, start: int) -> int:
    closing = re.compile(r"^---\r?(?:\n|\Z)", re.MULTILINE).search(text, start)
    return closing.start() - start if closing else 0


def _flow(items: Iterable[str]) -> str:
    return f"[{', '.join(map(_scalar, items))}]"


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return "'" + text.replace("'", "''") + "'"
