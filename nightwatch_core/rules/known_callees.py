"""The one function that a call surely means; None where another may be meant.

A name that several places define, also generated ones, or that the receiver's type, an import or
the class around the call does not lead to, is not told.
"""

import re
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code.definitions import Definition, defined_name, definitions_in
from nightwatch_core.code.grammars import has_grammar
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.line_reading import masked, uses
from nightwatch_core.code.reaching import functions_around, origin_of_name, parameter_names
from nightwatch_core.code.statements import nodes_in, root_of, text_of
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.import_targets import imports_from
from nightwatch_core.rules.known_code import Context, KnownCode
from nightwatch_core.rules.limits import DEFINING_FILES

_OWN = frozenset(("self", "this", "cls", "$this", "static"))
_IS_USE = re.compile(r"(?:\.|->|::|&\.)\s*$")
_GIVES = re.compile(r"\s*(?::[^=]+)?=(?![=>])")
_AFTER = re.compile(r"\s*[(<:=]|\s*$|\s+[{(=]")
_BEFORE = re.compile(
    r"(?:\b(?:return|new|await|throw|not|in|and|or|yield|else|raise)|[=(,!&|?+\[-])\s*$"
)
_MAKES = re.compile(  # what defines names without saying so
    r"\b(?:define_method|method_missing|__getattr__|__getattribute__|setattr|attr_\w+|delegate"
    r"|alias_method|alias|scope|class_attribute|cattr_\w+|mattr_\w+|Object\.assign|__call|__get)\b"
)


class KnownFunction(NamedTuple):
    """A function of the repository: its file, the file's tree and the definition."""

    path: str
    root: Node
    definition: Definition


class Call(NamedTuple):
    """A call as it is written: the receiver's node (None: there is none) and the bare name."""

    node: Node
    receiver: Node | None
    name: str


def call_of(node: Node) -> Call | None:
    """Read a call in any language; None where it is another expression, or a call of no name."""
    if node.type in ("await_expression", "await"):
        inner = node.named_children[-1] if node.named_children else None
        return call_of(inner) if inner is not None else None
    if node.type == "call" and node.child_by_field_name("method"):  # Ruby's
        method = node.child_by_field_name("method")
        return Call(node, node.child_by_field_name("receiver"), text_of(method)) if method else None
    name = node.child_by_field_name("name")
    if node.type in ("method_invocation", "member_call_expression") and name:
        return Call(node, node.child_by_field_name("object"), text_of(name))
    if node.type == "scoped_call_expression" and name:
        return Call(node, node.child_by_field_name("scope"), text_of(name))
    function = node.child_by_field_name("function")
    if function is None:
        return None
    if function.type in ("identifier", "name"):
        return Call(node, None, text_of(function))
    fields = ("attribute", "property", "field", "name")
    member = next((one for f in fields if (one := function.child_by_field_name(f))), None)
    values = ("object", "operand", "expression")
    owner = next((one for f in values if (one := function.child_by_field_name(f))), None)
    return Call(node, owner, text_of(member)) if member and owner else None


def known_function(call: Call, path: str, root: Node, context: Context) -> KnownFunction | None:
    """Find the function that a call in a file means."""
    if len(call.name) < 2:
        return None
    places = defining(call.name, path, context.code)
    if places is None or len(places) != 1:
        return None
    target, definition = places[0]
    text = "\n".join(context.code.whole(target) or ())
    tree = root_of(target, text)
    if tree is None or definition.kind == "class":
        return None
    function = KnownFunction(target, tree, definition)
    return function if _is_meant(call, path, root, function, context) else None


def defining(name: str, like: str, code: KnownCode) -> tuple[tuple[str, Definition], ...] | None:
    """List every definition of a name outside tests; None where one may be overlooked.

    Files of another language do not count.
    """
    result = code.search(name)
    language = language_of(like)
    hits = [
        hit
        for hit in result.hits
        if uses(name, hit.text) and language_of(hit.path) == language and not TEST.search(hit.path)
    ]
    hits = [hit for hit in hits if may_define(hit, name)]
    paths = tuple(dict.fromkeys(hit.path for hit in hits))
    if not result.complete or len(paths) > DEFINING_FILES:
        return None
    found: list[tuple[str, Definition]] = []
    for path in paths:
        lines = code.whole(path)
        if lines is None or not has_grammar(path):
            return None
        own = [one for one in definitions_in(path, "\n".join(lines)) if one.name == name]
        told = {one.line for one in own}
        if any(_MAKES.search(h.text) for h in hits if h.path == path and h.line not in told):
            return None
        found += [(path, one) for one in own]
    return tuple(found)


def may_define(hit: SearchHit, name: str) -> bool:
    """Tell whether a line may define a name, and does not only use it.

    >>> [may_define(SearchHit(path="a.py", line=1, text=text), "load") for text in (
    ...     "def load(a):", "x = a.load(b)", "a.load = b", "y = load(1)", "delegate :load, to: :a")]
    [True, False, True, False, True]
    """
    text = hit.text[:1_000]
    if _MAKES.search(text) or defined_name(text, language_of(hit.path)) == name:
        return True
    code = masked(text, language_of(hit.path))
    for at in uses(name, code):
        before, after = code[:at], code[at + len(name) :]
        if _GIVES.match(after):
            return True
        if not _IS_USE.search(before) and not _BEFORE.search(before) and _AFTER.match(after):
            return True
    return bool(re.search(rf"\bself\.{re.escape(name)}\b", code)) and "def " in code


def _is_meant(call: Call, path: str, root: Node, known: KnownFunction, context: Context) -> bool:
    """Whether the receiver, an import or the place of the call leads to the function."""
    language = language_of(path).name
    inside = _class_of(known.path, known.definition, context)
    if call.receiver is None:
        origin = origin_of_name(root, call.name, call.node)
        is_own = origin and known.path == path and _row(origin.node) == known.definition.line
        if (origin and not is_own) or _is_local(call):
            return False
        if known.path == path:
            return True

        if language == "go":
            return path.rpartition("/")[0] == known.path.rpartition("/")[0]
        return not inside and imports_from(call.name, path, known.path, context)
    owner = text_of(call.receiver).lstrip("*&")
    if owner in _OWN:
        return known.path == path and bool(inside)
    if owner == inside and owner[:1].isupper():
        return origin_of_name(root, owner, call.node) is None
    if re.fullmatch(r"\w+", owner) and not inside:
        free = origin_of_name(root, owner, call.node) is None and not _is_local(call, owner)
        return free and imports_from(owner, path, known.path, context)
    return bool(inside) and inside == type_of(call.receiver, root)


def type_of(value: Node, root: Node) -> str:
    """Name the type that a local value surely has, by its declaration or constructor; or nothing.

    Pointers count as what they point to; a type that may be null as the type.
    """
    name = text_of(value)
    origin = origin_of_name(root, name, value)
    if origin is None:
        return ""
    if origin.kind == "parameter":
        return _declared(origin.node, name)
    made = re.match(
        r"(?:await\s+)?(?:new\s+([A-Z]\w*)\s*\(|&?([A-Z]\w*)\{|([A-Z]\w*)(?:\.new)?\s*\()",
        text_of(origin.value) if origin.value else "",
    )
    return next(filter(None, made.groups()), "") if made else ""


def _declared(function: Node, name: str) -> str:
    for node in nodes_in(function):
        if "parameter" in node.type and name in parameter_names_of(node):
            kind = node.child_by_field_name("type")
            plain = re.fullmatch(r"[:?*\s]*(?:\w+\.)?(\w+)\??", text_of(kind)) if kind else None
            return plain[1] if plain else ""
    return ""


def parameter_names_of(node: Node) -> tuple[str, ...]:
    """List the names that one parameter, or a few of one type, give."""
    own = node.children_by_field_name("name") or node.children_by_field_name("pattern")
    own = own or [one for one in node.named_children[:1] if one.type == "identifier"]
    return tuple(text_of(one) for one in own)


def _class_of(path: str, definition: Definition, context: Context) -> str:
    """The class that a function belongs to; in Go, its receiver's type."""
    lines = context.code.whole(path) or ()
    head = lines[definition.line - 1] if definition.line <= len(lines) else ""
    receiver = re.match(r"func\s*\(\s*\w*\s*\*?\s*(\w+)", head)
    if receiver:
        return receiver[1]
    around = [
        one
        for one in definitions_in(path, "\n".join(lines))
        if one.kind == "class" and one.line < definition.line <= one.end
    ]
    return max(around, key=lambda one: one.line).name if around else ""


def _row(node: Node) -> int:
    return node.start_point[0] + 1


def _is_local(call: Call, name: str = "") -> bool:
    wanted = name or call.name
    return any(wanted in parameter_names(one) for one in functions_around(call.node))
