"""Lists in YAML that people write by hand, added to: every other character stays as it is.

Reading and writing the whole text would put a library's spaces and quotes in place of theirs. So
nodes only tell where the list ends, and new items are put there in the style of the others.
"""

from collections.abc import Mapping, Sequence

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from nightwatch_core.errors import GiveUp
from nightwatch_core.text.frontmatter import composed, dumped

Item = str | Mapping[str, object]

_DASH = 2  # columns from a dash to its item, where there is no other item to look at


def with_items(text: str, key: str, items: Sequence[Item], before: Sequence[str] = ()) -> str:
    r"""The YAML with `items` at the end of the list `key`, or of the list that it is as a whole.

    A list that is not there yet is made: of texts in one line, of mappings in lines. `before` is
    what a text in the list's place stands for; without it that is an error. Lines end with a line
    feed. Raises `GiveUp` where there is no list that could be added to.

    >>> with_items("tags: [a,b]  # ours\n", "tags", ["c: d"])
    "tags: [a,b, 'c: d']  # ours\n"
    >>> with_items("tags:\n  - a # ours\n", "tags", ["c"])
    'tags:\n  - a # ours\n  - c\n'
    """
    root, problem = composed(text)
    if problem:
        raise GiveUp(f"it is no YAML: {problem}")
    pair = _pair(root, key)
    listed = pair[1] if pair else None if root is None or isinstance(root, MappingNode) else root
    if listed is None or (listed is root and is_absent(listed)):
        return _ended(text) + _made(key, items)
    if isinstance(listed, SequenceNode) and listed.flow_style:
        return _into_line(text, listed, items)
    if isinstance(listed, SequenceNode):
        return _below(text, listed, items)
    if pair and is_absent(listed):
        return _into_nothing(text, root, pair, items)
    if before and pair:
        begin, end = listed.start_mark.index, listed.end_mark.index
        return f"{text[:begin]}{_in_line([*before, *items])}{text[end:]}"
    raise GiveUp(f"there is no list below `{key}:`")


def list_items(root: Node | None, key: str) -> list[Node]:
    """The items of the list `key`, or of the list that the YAML is as a whole; none without one."""
    pair = _pair(root, key)
    listed = pair[1] if pair else root
    return list(listed.value) if isinstance(listed, SequenceNode) else []


def rows_of(items: Sequence[Item], dash: int = 0, to_item: int = _DASH) -> str:
    """Items in lines of their own; `dash` is the column of dashes, `to_item` what follows it.

    >>> rows_of([{"a": 1, "b": "x"}], 2)
    '  - a: 1\\n    b: x\\n'
    """
    rows = []
    for item in items:
        written = _in_line([item])[1:-1] if isinstance(item, str) else dumped(dict(item))
        first, *rest = written.rstrip("\n").split("\n")
        rows += [f"{' ' * dash}-{' ' * (to_item - 1)}{first}\n"]
        rows += [f"{' ' * (dash + to_item)}{row}\n" for row in rest]
    return "".join(rows)


def is_absent(node: Node) -> bool:
    """Whether nothing is written where a value belongs."""
    return isinstance(node, ScalarNode) and not node.value and node.tag.endswith(":null")


def _pair(root: Node | None, key: str) -> tuple[Node, Node] | None:
    pairs = root.value if isinstance(root, MappingNode) else ()
    return next(((name, value) for name, value in pairs if name.value == key), None)


def _in_line(items: Sequence[Item]) -> str:
    return dumped([*items], in_line=True).rstrip("\n")


def _made(key: str, items: Sequence[Item]) -> str:
    if all(isinstance(item, str) for item in items):
        return f"{key}: {_in_line(items)}\n"
    return f"{key}:\n{rows_of(items, _DASH)}"


def _into_line(text: str, listed: SequenceNode, items: Sequence[Item]) -> str:
    at = listed.value[-1].end_mark.index if listed.value else listed.start_mark.index + 1
    comma = ", " if listed.value else ""
    return f"{text[:at]}{comma}{_in_line(items)[1:-1]}{text[at:]}"


def _below(text: str, listed: SequenceNode, items: Sequence[Item]) -> str:
    at, dash = _after(text, listed), listed.start_mark.column
    rows = rows_of(items, dash, listed.value[-1].start_mark.column - dash)
    return f"{_ended(text[:at])}{rows}{text[at:]}"


def _into_nothing(
    text: str, root: Node | None, pair: tuple[Node, Node], items: Sequence[Item]
) -> str:
    """Behind, or below, a key without a value."""
    key = pair[0]
    if all(isinstance(item, str) for item in items):
        at = key.end_mark.index + 1
        return f"{text[:at]} {_in_line(items)}{text[at:]}"
    if getattr(root, "flow_style", False):
        raise GiveUp(f"`{key.value}` has no list: write `{key.value}:` on a line of its own")
    at = _next_line(text, key.end_mark.index)
    return f"{_ended(text[:at])}{rows_of(items, _DASH)}{text[at:]}"


def _after(text: str, listed: SequenceNode) -> int:
    """Where the line after a list in lines begins, comments of its last item included."""
    last = _last_leaf(listed)
    at: int = last.end_mark.index
    if last.end_mark.column:
        at = _next_line(text, at)
    while True:
        line = text[at : _next_line(text, at)]
        indent = len(line) - len(line.lstrip(" "))
        if not line.lstrip(" ").startswith("#") or indent <= listed.start_mark.column:
            return at
        at += len(line)


def _last_leaf(node: Node) -> Node:
    """The last thing that is written; a key where its value is left out."""
    if getattr(node, "flow_style", None) or isinstance(node, ScalarNode) or not node.value:
        return node
    if isinstance(node, MappingNode):
        key, value = node.value[-1]
        return key if is_absent(value) else _last_leaf(value)
    return _last_leaf(node.value[-1])


def _next_line(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
