"""Front matter: the YAML block between two lines of `---` at the head of a Markdown document.

Documents come from strangers as much as from us, so the YAML read here is a small, strict part of
the language: no anchors, aliases or tags, no duplicate keys, keys are text, nesting is bounded, and
only null, true, false and plain numbers are anything else than text (YAML 1.2's core).
"""

import re
from collections.abc import Hashable, Mapping
from contextlib import suppress
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from nightwatch_core.errors import GiveUp

LIMIT = 65_536  # characters of front matter, delimiters included
MAX_DEPTH = 20
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


class Refused(yaml.MarkedYAMLError):
    """YAML that is well-formed and still not accepted."""


_Events: Any = yaml.CSafeLoader.__mro__[1] if yaml.__with_libyaml__ else object  # libyaml's parser


class _Strict(Composer, SafeConstructor, Resolver):
    """What is stricter than a safe loader; a parser has to be mixed in."""

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
                said = f"key {key.value[:60]!r} comes twice"
                raise Refused(problem=said, problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


class StrictLoader(_Strict, yaml.SafeLoader):
    """The pure Python safe loader, and stricter: its word on what is wrong is the one we give."""


class _QuickLoader(_Strict, _Events):  # type: ignore[misc]  # no stub names libyaml's parser
    """The same over libyaml's parser, six times as quick; its own composer would crash."""

    def __init__(self, text: str) -> None:
        """Read one text."""
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


_Writer.add_representer(str, _text)


def why(error: Exception) -> str:
    """Say in a line what is wrong with YAML, with its line (counted from 1) where known.

    >>> why(Refused(problem="tags are refused"))
    'tags are refused'
    """
    if isinstance(error, RecursionError):
        return f"nested deeper than {MAX_DEPTH}"
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    said = " ".join(str(problem).split())[:200]
    return f"line {mark.line + 1}: {said}" if mark else said


def read(text: str) -> tuple[dict[str, object], str]:
    """Split a document into its front matter and its body.

    A text whose first line is not exactly `---` has no front matter: `({}, text)`. Raises `GiveUp`
    with the reason where front matter is opened but not closed within 64 KiB, or is not a plain
    mapping.

    >>> read("---\\ntitle: A\\n---\\n# A\\n")
    ({'title': 'A'}, '# A\\n')
    >>> read("# A\\n")
    ({}, '# A\\n')
    """
    text = text.removeprefix("\ufeff")
    opening = _DELIMITER.match(text)
    if not opening:
        return {}, text
    closing = _DELIMITER.search(text, opening.end(), LIMIT)
    if not closing or (closing.end() == LIMIT < len(text) and text[LIMIT - 1] != "\n"):
        raise GiveUp(f"front matter: no closing line of --- in the first {LIMIT} characters")
    return _mapping(text[opening.end() : closing.start()]), text[closing.end() :]


def _mapping(source: str) -> dict[str, object]:
    try:
        meta = _loaded(source)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise GiveUp(f"front matter: {why(error)}") from error
    if meta is None:
        return {}
    if not isinstance(meta, dict):
        raise GiveUp(f"front matter: a mapping is needed, this is a {type(meta).__name__}")
    return meta


def _loaded(source: str) -> object:
    if yaml.__with_libyaml__:
        with suppress(yaml.YAMLError, RecursionError, ValueError):
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
    return f"---\n{dumped(meta)}---\n{body}"


def dumped(meta: Mapping[str, object]) -> str:
    """YAML of a mapping, keys in their order, long lines left whole.

    >>> dumped({"a": "x\\ny"})
    'a: |-\\n  x\\n  y\\n'
    """
    if not meta:
        return ""
    return yaml.dump(
        dict(meta), Dumper=_Writer, sort_keys=False, allow_unicode=True, width=1_000_000
    )
