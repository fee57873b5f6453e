"""Lists in the front matter of a task file, added to without touching anything else in it."""

from collections.abc import Iterable

from nightwatch_core.errors import GiveUp
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import line
from nightwatch_core.text.yaml_lists import with_items as with_list

MOST_ITEMS = 100  # of one list
LONGEST_ITEM = 200  # characters
_SCALAR = (str, int, float)


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
    changed = _added(text, key, new, known)
    if items_in(frontmatter.read(changed)[0].get(key)) != wanted:
        raise GiveUp(f"{key} in the front matter cannot be added to: write it as [one, two]")
    return changed


def _added(text: str, key: str, new: tuple[str, ...], known: tuple[str, ...]) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    rest = text.removeprefix(mark)
    parts = frontmatter.parts_of(rest)
    if parts is None:
        end = "\r\n" if "\r\n" in rest[:10_000] else "\n"
        front = with_list("", key, new).replace("\n", end)
        return f"{mark}---{end}{front}---{end}{end if rest.strip() else ''}{rest}"
    front, source = rest[: parts.begin], rest[parts.begin : parts.end]
    windows = front.endswith("\r\n") and source.count("\r\n") == source.count("\n")
    source = source.replace("\r\n", "\n") if windows else source
    changed = with_list(source, key, new, known)
    return (
        mark + front + (changed.replace("\n", "\r\n") if windows else changed) + rest[parts.end :]
    )
