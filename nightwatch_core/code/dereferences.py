"""What a statement asks of its values: members, elements, calls; of all languages with a grammar.

Asking nothing (None, nil, null, undefined) for one of these is what fails; what is asked safely
(`?.`, `&.`, `?->`) is no such place.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from tree_sitter import Node

from nightwatch_core.code.limits import QUERY_DEPTH
from nightwatch_core.code.statements import rows_of, statement_at, text_of

How = Literal["member", "element", "called"]

# Types of nodes that ask something of a value: fields of the value and of the member's name.
_ASKS: dict[str, tuple[tuple[str, ...], str]] = {
    "attribute": (("object",), "attribute"),
    "member_expression": (("object",), "property"),
    "selector_expression": (("operand",), "field"),
    "method_invocation": (("object",), "name"),
    "field_access": (("object",), "field"),
    "member_access_expression": (("expression", "object"), "name"),
    "member_call_expression": (("object",), "name"),
}
_ELEMENTS: dict[str, tuple[str, ...]] = {
    "subscript": ("value",),
    "element_reference": ("object",),
    "subscript_expression": ("object",),
    "index_expression": ("operand",),
    "array_access": ("array",),
    "element_access_expression": ("expression",),
}
_CALLS = frozenset(("call", "call_expression", "invocation_expression", "new_expression"))
_CALLING = frozenset(("method_invocation", "member_call_expression", "call"))
_TYPES = frozenset(("type", "type_annotation", "type_arguments", "type_parameters", "decorator"))
_WRAPS = frozenset(("parenthesized_expression", "non_null_expression", "postfix_unary_expression"))


class Asked(NamedTuple):
    """A value of which something is asked, and what; `member` is empty for elements and calls."""

    value: Node
    how: How
    member: str
    node: Node
    is_call: bool  # the member is called

    @property
    def text(self) -> str:
        """The value as it is written, in one line."""
        return written(self.value)


def asked_at(root: Node, row: int) -> tuple[Asked, ...]:
    """List what the statement at a row, from 0, asks of its values, in the order of the code."""
    statement = statement_at(root, row)
    if statement is None:
        return ()
    start, end = rows_of(statement, row)
    return tuple(one for one in asked_in(statement) if start <= one.node.end_point[0] <= end)


def asked_in(node: Node, depth: int = 0) -> Iterator[Asked]:
    """Walk what a node, and those in it, ask of their values; written types ask nothing."""
    if node.type in _TYPES or depth > QUERY_DEPTH:
        return
    for child in node.children:
        yield from asked_in(child, depth + 1)
    own = _asked_by(node)
    if own:
        yield own


def written(node: Node) -> str:
    """Give an expression in one line, without brackets and marks around it."""
    return " ".join(text_of(unwrapped(node)).split())


def unwrapped(node: Node) -> Node:
    """Give the expression in brackets, or marked as never null.

    What is awaited is another value than what it is awaited of.
    """
    while node.type in _WRAPS and node.named_child_count == 1:
        node = node.named_children[0]
    return node


def _asked_by(node: Node) -> Asked | None:
    if node.child_by_field_name("optional_chain") or _is_safe(node):
        return None
    if node.type in _ASKS:
        fields, name = _ASKS[node.type]
        return _asked(node, fields, "member", _text(node.child_by_field_name(name)))
    if node.type == "call" and node.child_by_field_name("receiver"):  # Ruby's
        return _asked(node, ("receiver",), "member", _text(node.child_by_field_name("method")))
    if node.type in _ELEMENTS:
        fields = _ELEMENTS[node.type]
        first = () if any(map(node.child_by_field_name, fields)) else node.named_children[:1]
        if first:  # PHP's has no fields
            return Asked(first[0], "element", "", node, False)
        return _asked(node, fields, "element", "")
    if node.type in _CALLS:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        return Asked(function, "called", "", node, True) if function else None
    if node.type == "unary_expression" and node.children and node.children[0].type == "*":
        return _asked(node, ("operand",), "element", "")  # Go's
    return None


def _asked(node: Node, fields: tuple[str, ...], how: How, member: str) -> Asked | None:
    value = next((one for name in fields if (one := node.child_by_field_name(name))), None)
    if value is None:
        return None
    above, is_call = node.parent, node.type in _CALLING
    if above is not None and above.type in _CALLS:
        functions = map(above.child_by_field_name, ("function", "constructor"))
        is_call = is_call or node in tuple(functions)
    return Asked(value, how, member, node, is_call)


def _is_safe(node: Node) -> bool:
    return any(child.type in ("&.", "?.", "?->") for child in node.children)


def _text(node: Node | None) -> str:
    return text_of(node) if node else ""
