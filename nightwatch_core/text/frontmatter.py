"""YAML, and front matter: the YAML between two lines of `---` at the head of a Markdown document.

Documents come from strangers as much as from us, so the YAML read here is a small, strict part of
the language: no anchors, aliases or tags, no duplicate keys, keys are text, nesting is bounded, and
only null, true, false and plain numbers are anything else than text (YAML 1.2's core).
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import yaml
from pydantic_core import ErrorDetails
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.resolver import Resolver

from nightwatch_core.errors import GiveUp
from nightwatch_core.text.plain_text import text_table

LIMIT = 65_536  # characters of front matter, delimiters included
MAX_DEPTH = 20
LIBRARY_ERRORS = (yaml.YAMLError, RecursionError, ValueError)  # of text that is no such YAML
_DELIMITER = re.compile(r"^---\r?(?:\n|\Z)", re.MULTILINE)
_UNPRINTED_BREAKS = re.compile("[\x85\u2028\u2029]")  # YAML readers turn the first into "\n"
_PLAIN = (  # what an unquoted scalar may be besides text; each a part of what the writer quotes
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("tag:yaml.org,2002:int", r"^[-+]?(?:0|[1-9][0-9]*)$", list("-+0123456789")),
    (
        "tag:yaml.org,2002:float",
        r"^[-+]?(?:[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?|\.(?:inf|Inf|INF))$|^\.(?:nan|NaN|NAN)$",
        list("-+.0123456789"),
    ),
)


class BrokenFrontMatter(GiveUp):
    """Front matter that cannot be read: the problem, and its line in the document where known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        """`line` counts from 1; the delimiter is the first."""
        super().__init__(f"front matter: {f'line {line - 1}: ' if line else ''}{problem}")
        self.problem, self.line = problem, line


class Parts(NamedTuple):
    """Where the YAML of a document's front matter begins and ends, and where its body begins."""

    begin: int
    end: int
    body: int


class Refused(yaml.MarkedYAMLError):
    """YAML that is well-formed and still not accepted."""


_Events: Any = yaml.CSafeLoader.__mro__[1] if yaml.__with_libyaml__ else object  # libyaml's parser


class _Strict(Composer, SafeConstructor, Resolver):
    """A stricter safe loader; a parser has to be mixed in."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    depth = 0
    peek_event: Any  # of the parser

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose one node; raises `Refused` for anchors, aliases, tags and deep nesting."""
        event = self.peek_event()
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise Refused(problem="anchors and aliases are refused", problem_mark=mark)
        if getattr(event, "tag", None) is not None:
            raise Refused(problem="tags are refused", problem_mark=mark)
        if self.depth >= MAX_DEPTH:
            raise Refused(problem=f"nested deeper than {MAX_DEPTH}", problem_mark=mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Build a dict; raises `Refused` for keys that are no text, or come twice."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or not key.tag.endswith(":str"):
                raise Refused(problem="a key is not text", problem_mark=key.start_mark)
            if key.value in seen:
                problem = f"key {key.value[:60]!r} comes twice"
                raise Refused(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


class StrictLoader(_Strict, yaml.SafeLoader):
    """The pure Python safe loader, and stricter: its word on what is wrong is the one we give."""


class _QuickLoader(_Strict, _Events):  # type: ignore[misc]  # no stub names libyaml's parser
    """The same over libyaml's parser, six times as quick; its own composer would crash."""

    def __init__(self, text: str) -> None:
        _Events.__init__(self, text)
        for part in (Composer, SafeConstructor, Resolver):
            part.__init__(self)


for _tag, _pattern, _first in _PLAIN:
    _Strict.add_implicit_resolver(_tag, re.compile(_pattern), _first)


class _Writer(yaml.SafeDumper):
    """Writes multi-line text as blocks, and never an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(writer: _Writer, text: str) -> yaml.ScalarNode:
    style = '"' if _UNPRINTED_BREAKS.search(text) else "|" if "\n" in text else None
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


class Quoted(str):
    """Text that is written in double quotes, whatever it says."""


_Writer.add_representer(str, _text)
_Writer.add_representer(
    Quoted, lambda writer, text: writer.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


_HAS_TO_BE = text_table("nightwatch_core.text", "problems.toml")


def problem_text(error: ErrorDetails) -> str:
    """Say in plain words what is wrong with the value of a field.

    >>> problem_text({"type": "list_type", "loc": ("tags",), "msg": "", "input": "a"})
    'it has to be a list, one `- item` a line'
    """
    kinds = (text for kind, text in _HAS_TO_BE.items() if error["type"].startswith(kind))
    if text := next(kinds, ""):
        return f"it has to be {text.format(**error.get('ctx', {}))}"
    return error["msg"].removeprefix("Value error, ")


def problem_of(error: Exception) -> tuple[str, int | None]:
    """Say in a line what is wrong with YAML, and on which of its lines (counted from 1)."""
    if isinstance(error, RecursionError):
        return f"nested deeper than {MAX_DEPTH}", None
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return " ".join(str(problem).split())[:200], mark.line + 1 if mark else None


def composed(source: str) -> tuple[yaml.Node | None, str]:
    """Return the root of a YAML text, with the place of everything in it, or what is wrong with it.

    >>> composed("a: 1\\nb: !x 2")
    (None, 'line 2: tags are refused')
    """
    try:
        return yaml.compose(source, StrictLoader), ""
    except LIBRARY_ERRORS as error:
        problem, line = problem_of(error)
        return None, f"line {line}: {problem}" if line else problem


def parts_of(text: str) -> Parts | None:
    """Find the front matter of a text without byte order mark; None where there is none.

    Raises `BrokenFrontMatter` where it is not closed within 64 KiB.
    """
    opening = _DELIMITER.match(text)
    if not opening:
        return None
    closing = _DELIMITER.search(text, opening.end(), LIMIT)
    if not closing or (closing.end() == LIMIT < len(text) and text[LIMIT - 1] != "\n"):
        raise BrokenFrontMatter(f"no closing line of --- in the first {LIMIT} characters")
    return Parts(opening.end(), closing.start(), closing.end())


def read(text: str) -> tuple[dict[str, object], str]:
    """Split a document into its front matter and its body.

    A text whose first line is not exactly `---` has no front matter: `({}, text)`. Raises
    `BrokenFrontMatter` where it is opened but not closed within 64 KiB, or is not a plain mapping.

    >>> read("---\\ntitle: A\\n---\\n# A\\n")
    ({'title': 'A'}, '# A\\n')
    >>> read("# A\\n")
    ({}, '# A\\n')
    """
    text = text.removeprefix("\ufeff")
    parts = parts_of(text)
    if parts is None:
        return {}, text
    try:
        meta = _loaded(text[parts.begin : parts.end])
    except LIBRARY_ERRORS as error:
        problem, line = problem_of(error)
        raise BrokenFrontMatter(problem, line and line + 1) from error
    if meta is not None and not isinstance(meta, dict):
        raise BrokenFrontMatter(f"a mapping is needed, this is a {type(meta).__name__}")
    return meta or {}, text[parts.body :]


def _loaded(source: str) -> object:
    if yaml.__with_libyaml__:
        with suppress(*LIBRARY_ERRORS):
            return yaml.load(source, _QuickLoader)
    return yaml.load(source, StrictLoader)


def render(meta: Mapping[str, object], body: str) -> str:
    """Write a document that `read` takes apart into the same values.

    Values may be None, bool, int, float, str, and lists and dicts of these; keys keep their order.

    >>> print(render({"title": "A: b", "tags": ["x"]}, "# A"), end="")
    ---
    title: 'A: b'
    tags:
    - x
    ---
    # A
    """
    return f"---\n{dumped(dict(meta)) if meta else ''}---\n{body}"


def dumped(value: object, *, in_line: bool = False) -> str:
    """Return YAML of a dict or list, keys in their order; or all in one line.

    >>> dumped({"a": "x\\ny"}), dumped(["a", "b: c"], in_line=True)
    ('a: |-\\n  x\\n  y\\n', "[a, 'b: c']\\n")
    """
    return yaml.dump(
        value,
        Dumper=_Writer,
        default_flow_style=in_line,
        sort_keys=False,
        allow_unicode=True,
        width=1_000_000,
    )


# Lists in YAML that people write by hand, added to: every other character stays as it is.
#
# Reading and writing the whole text would put a library's spaces and quotes in place of theirs. So
# nodes only say where the list ends. Callers read the result and refuse what they did not expect.

Item = str | Mapping[str, object]

_DASH = 2  # columns from a dash to its item, where there is no other item to look at


def with_items(text: str, key: str, items: Sequence[Item]) -> str:
    r"""Return the YAML with `items` at the end of the list `key`, or of its only list.

    A missing list is made: of texts in one line, of mappings in lines. Lines end with a line feed.
    Raises `GiveUp` where there is no list that could be added to.

    >>> with_items("tags: [a,b]  # ours\n", "tags", ["c: d"])
    "tags: [a,b, 'c: d']  # ours\n"
    >>> with_items("tags:\n  - a # ours\n", "tags", ["c"])
    'tags:\n  - a # ours\n  - c\n'
    """
    root, problem = composed(text)
    if problem:
        raise GiveUp(f"it is no YAML: {problem}")
    name, listed = None, root
    if isinstance(root, MappingNode):
        named = (pair for pair in root.value if pair[0].value == key)
        name, listed = next(named, (None, None))
    is_inline = all(isinstance(item, str) for item in items)
    if listed is None or (is_absent(listed) and name is None):
        made = f" {_in_line(items)}\n" if is_inline else f"\n{rows_of(items, _DASH)}"
        return f"{_ended(text)}{key}:{made}"
    if name is not None and is_absent(listed):
        at = name.end_mark.index + 1  # behind the colon
        if is_inline:
            return f"{text[:at]} {_in_line(items)}{text[at:]}"
        at = _next_line(text, at)
        return f"{_ended(text[:at])}{rows_of(items, _DASH)}{text[at:]}"
    if not isinstance(listed, SequenceNode):
        raise GiveUp(f"there is no list below `{key}:`")
    if listed.flow_style:
        at = listed.value[-1].end_mark.index if listed.value else listed.start_mark.index + 1
        comma = ", " if listed.value else ""
        return f"{text[:at]}{comma}{_in_line(items)[1:-1]}{text[at:]}"
    dash, last = listed.start_mark.column, _last_leaf(listed)
    at = last.end_mark.index
    if last.end_mark.column:
        at = _next_line(text, at)
    rows = rows_of(items, dash, listed.value[-1].start_mark.column - dash)
    return f"{_ended(text[:at])}{rows}{text[at:]}"


def rows_of(items: Sequence[Item], dash: int = 0, to_item: int = _DASH) -> str:
    """Return items as YAML lines; `dash` is the column of dashes, `to_item` the width after it.

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
    """Tell whether nothing is written where a value belongs."""
    return isinstance(node, ScalarNode) and not node.value and node.tag.endswith(":null")


def _in_line(items: Sequence[Item]) -> str:
    return dumped([*items], in_line=True).rstrip("\n")


def _last_leaf(node: Node) -> Node:
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
