"""Finds where code defines and uses names: in a file's tree, or in lines without a grammar."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Literal, NamedTuple

import tree_sitter
from tree_sitter import Node

from nightwatch_core.code import languages, syntax

_NAME = re.compile(r"[A-Za-z_][\w$]*[?!=]?$")  # the last name of what is captured: B of A::B
_INSIDE = re.compile("function|method|lambda|constructor|accessor|func_literal")  # of node types
_TYPES = re.compile(r"\b(?:class|module|interface|struct|enum|trait|record|type|object)\b")
# How a line of any language begins a function or a class: modifiers, a keyword, the name.
_MODIFIERS = (
    "export|default|public|private|protected|internal|static|final|abstract|sealed|override|async"
    "|virtual|open|data|pub|partial|readonly|declare|suspend|inline"
)
_KEYWORDS = (
    "def|class|module|function|func|fun|fn|interface|struct|enum|trait|impl|type|record|object"
    "|namespace|protocol"
)
_KEYWORD = re.compile(
    rf"[ \t]{{0,16}}(?:(?:{_MODIFIERS}) )*(?:{_KEYWORDS})[ (*]{{1,3}}"
    r"(?:self\.|\w{1,80}::){0,5}(?P<name>[A-Za-z_$][\w$]{0,80}[?!]?)"
)
DECORATES = re.compile(r"\s*(?:@|#\[|\[\w)")
DECORATORS = 8  # lines above a definition that may decorate it
_CLOSES = ("end", "}", "};", "});", ")")  # what may stand alone behind a body

Kind = Literal["function", "class", "value"]
_KINDS: dict[bool, tuple[Kind, ...]] = {  # preferred by names that begin with a capital letter
    False: ("function", "value", "class"),
    True: ("class", "function", "value"),
}


class Definition(NamedTuple):
    """A name that a file defines; lines count from 1, `end` is the last of what it stands for."""

    name: str
    kind: Kind
    line: int
    end: int


class NameUse(NamedTuple):
    """A name that code uses; the column counts characters from 0."""

    name: str
    line: int
    column: int
    is_member: bool = False  # of what stands before it


class Names(NamedTuple):
    """Names that a file defines and uses, in the order of its lines."""

    definitions: tuple[Definition, ...]
    uses: tuple[NameUse, ...] = ()
    variables: tuple[NameUse, ...] = ()  # where Ruby gives local ones their values


def definitions_in(path: str, text: str) -> tuple[Definition, ...]:
    """List what a file defines, without the variables of functions."""
    return _names_in(path, text).definitions


def definition_of(name: str, path: str, text: str) -> Definition | None:
    """Find what a name stands for: with a capital letter a class rather than a function.

    >>> definition_of("show", "a.py", "show = 1\\ndef show():\\n    pass\\n").line
    2
    """
    if not name or name not in text:
        return None
    kinds = _KINDS[name[:1].isupper()]
    same = (definition for definition in definitions_in(path, text) if definition.name == name)
    return min(same, key=lambda item: (kinds.index(item.kind), item.line), default=None)


def functions_around(path: str, text: str, line: int) -> tuple[Definition, ...]:
    """List the functions of a whole file that hold a line, the outermost first."""
    enclosing = (item for item in definitions_in(path, text) if item.line <= line <= item.end)
    return tuple(item for item in enclosing if item.kind == "function")


def class_around(path: str, text: str, line: int) -> Definition | None:
    """Find the innermost class that a line is inside of."""
    known = (item for item in definitions_in(path, text) if item.kind == "class")
    enclosing = (item for item in known if item.line < line <= item.end)
    return max(enclosing, default=None, key=lambda item: item.line)


def is_class_at(path: str, text: str, line: int) -> bool:
    """Tell whether a class is defined at this very line."""
    return any(item.line == line and item.kind == "class" for item in definitions_in(path, text))


def decorated_from(lines: Sequence[str], line: int, above: re.Pattern[str] = DECORATES) -> int:
    """Find the first line of what decorates a definition; the definition's own where nothing does.

    >>> decorated_from(("a = 1", "@get(", '    "/a",', ")", "def f():"), 5)
    2
    """
    first, depth = line, syntax.indent(lines[line - 1])
    for number in range(line - 1, max(0, line - 1 - DECORATORS), -1):
        row = lines[number - 1]
        is_beside = syntax.indent(row) == depth and bool(row.strip())
        if is_beside and above.match(row):
            first = number
        elif not row.strip() or (is_beside and row.strip() not in (")", "})")):
            break
    return first


def uses_in(path: str, text: str, first: int, last: int) -> tuple[NameUse, ...]:
    """List the names in lines `first` to `last` that may be defined elsewhere: calls and members.

    In Ruby, where calls need no parentheses, every name that is no variable of these lines.
    """
    names = _names_in(path, text)
    variables = {variable.name for variable in names.variables if first <= variable.line <= last}
    near = (use for use in names.uses if first <= use.line <= last)
    return tuple(item for item in near if item.is_member or item.name not in variables)


def defined_name(row: str, language: languages.Language) -> str:
    """Name what a line alone seems to define; empty where it defines nothing."""
    matches = (re.match(pattern, row[: languages.NAMED_LINE]) for pattern in language.definitions)
    return next((found["name"] for found in matches if found), "")


@lru_cache(maxsize=languages.CACHED_FILES)
def _names_in(path: str, text: str) -> Names:
    """Read a file's names from its tree; from its lines where no grammar knows the file."""
    rows = text[: languages.NAMED_FILE].split("\n")
    text = "\n".join(row if len(row) <= languages.NAMED_LINE else "" for row in rows)
    root = languages.parsed(path, text)
    if root is None or not languages.is_readable(root):
        return Names(definitions=tuple(_by_lines(path, text)))
    nodes, data = languages.captured(path, root), root.text or b""
    values = nodes.get("value", ())
    local = {node.end_byte for node in values if _is_local(node)}
    variables = {node.end_byte: _use(node, data) for node in nodes.get("variable", ())}
    defined = {}
    for kind in _KINDS[True][::-1]:  # what is a function is no value
        for node in nodes.get(kind, ()):
            if node.end_byte not in local and (name := _name(node)):
                row, column = (node.parent or node).end_point
                found = Definition(name, kind, node.start_point[0] + 1, row + (column > 0))
                defined[node.end_byte] = found
    taken = local | defined.keys() | variables.keys()
    used = (node for node in nodes.get("use", ()) if node.end_byte not in taken and _name(node))
    uses = sorted(map(partial(_use, data=data), used), key=lambda use: (use.line, use.column))
    return Names(
        definitions=tuple(sorted(defined.values(), key=lambda item: (item.line, item.name))),
        uses=tuple(uses),
        variables=tuple(variables.values()),
    )


def _name(node: tree_sitter.Node) -> str:
    match = _NAME.search((node.text or b"")[-languages.LONGEST_NAME :].decode("utf-8", "replace"))
    return match[0] if match else ""


def _is_local(node: tree_sitter.Node) -> bool:
    above = node.parent if node.type == "identifier" else None
    while above is not None and not _INSIDE.search(above.type):
        above = above.parent
    return above is not None


def _use(node: tree_sitter.Node, data: bytes) -> NameUse:
    row, column = node.start_point
    before = data[node.start_byte - column : node.start_byte].decode("utf-8", "replace")
    return NameUse(_name(node), row + 1, len(before), before.endswith((".", ":", ">")))


def _by_lines(path: str, text: str) -> Iterator[Definition]:
    language = languages.language_of(path)
    is_known = path.lower().endswith(language.suffixes)
    lines = dict(enumerate(text.split("\n"), start=1))
    for number, row in lines.items():
        match = _KEYWORD.match(row[: languages.NAMED_LINE])
        name = match["name"] if match else ""
        if not name and is_known:
            name = defined_name(row, language)
        if not name:
            continue
        kind: Kind = "function" if match or re.match(language.functions, row) else "value"
        if _TYPES.search(row[: languages.NAMED_LINE].partition("=")[0]):
            kind = "class"
        last = [line for line in syntax.body_of(lines, number) if lines[line].strip()][-1]
        closes = lines.get(last + 1, "").strip() in _CLOSES
        yield Definition(name, kind, number, last + closes)


# Which names functions bind: their parameters, and what sets a name in them.

_NAMED = frozenset(("identifier", "variable_name"))


def enclosing_functions(node: Node) -> Iterator[Node]:
    """Walk the functions that a node is in, the innermost first."""
    functions = (above for above in ancestors(node) if syntax.FUNCTIONS.search(above.type))
    return (function for function in functions if function.child_by_field_name("body"))


def parameter_names(function: Node) -> tuple[str, ...]:
    """List the names of a function's parameters in their order, Go's receiver last."""
    fields = ("parameters", "parameter", "receiver")
    lists = [child for name in fields if (child := function.child_by_field_name(name))]
    return tuple(dict.fromkeys(name for item in lists for name in _bound_names(item)))


def sets_of(function: Node, name: str) -> Iterator[Node]:
    """Walk what sets the bare name in a function, and in those inside that may set it, too."""
    for node in syntax.nodes_in(function):
        targets = () if "parameter" in node.type else syntax.targets_of(node)
        if any(name in syntax.names_of(target) for target in targets):
            own = next(enclosing_functions(node), None)
            is_own = own == function or (own is None and function.parent is None)
            if is_own or node.type == "assignment_expression" or _is_shared(own, name):
                yield node


def _is_shared(function: Node | None, name: str) -> bool:
    nodes = syntax.nodes_in(function) if function else ()
    shared = (item for item in nodes if item.type in ("global_statement", "nonlocal_statement"))
    return any(name in map(syntax.text_of, item.named_children) for item in shared)


def _bound_names(node: Node) -> Iterator[str]:
    own = node.children_by_field_name("name") or node.children_by_field_name("pattern")
    if own:
        for item in own:
            yield from _bound_names(item)
    elif node.type in _NAMED or (node.type.endswith("_pattern") and not node.named_children):
        yield syntax.text_of(node)
    else:
        skipped = {node.child_by_field_name(item) for item in ("type", "default_value", "right")}
        skipped.add(node.child_by_field_name("key" if node.type == "pair_pattern" else "value"))
        for child in node.named_children:
            if child not in skipped and child.type != "type":
                yield from _bound_names(child)


def ancestors(node: Node) -> Iterator[Node]:
    """Walk the nodes that a node is in, the innermost first."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent
