"""Statements of a file's tree: their rows, what they set, the functions around them.

A few kinds of nodes stand for assignments, loops and blocks that are called with each element, in
every language that has a grammar. Rows count from 0.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code.grammars import is_readable, parsed
from nightwatch_core.code.limits import (
    CACHED_FILES,
    FLOW_NODES,
    LONGEST_NAME,
    NAMED_FILE,
    NAMED_LINE,
    QUERY_DEPTH,
    STATEMENT_LINES,
)

BODIES = frozenset(
    (
        *("block", "statement_block", "body_statement", "compound_statement", "do_block", "then"),
        *("class_body", "declaration_list", "module", "program", "source_file", "statement_list"),
        *("compilation_unit", "do", "switch_body", "interface_body", "function_body", "enum_body"),
        *("switch_block", "constructor_body", "else", "elsif", "else_clause", "elif_clause"),
    )
)
FUNCTIONS = re.compile(r"function|method|constructor|accessor|func_literal")
NAMES = frozenset(
    (
        *("identifier", "instance_variable", "class_variable", "global_variable"),
        *("variable_name", "shorthand_property_identifier"),
        "shorthand_property_identifier_pattern",
    )
)
MEMBERS = frozenset(
    (
        *("attribute", "member_expression", "field_access", "selector_expression", "subscript"),
        *("member_access_expression", "element_reference", "element_access_expression"),
        *("subscript_expression", "array_access", "index_expression", "call"),
    )
)
_SETTING = re.compile(
    r"assignment|named_expression|variable_declarator|declaration$|_spec$|range_clause|as_pattern$"
    r"|^for$|^for_\w+|^foreach_\w+|^enhanced_for"
)
_CALLED = frozenset(("block", "do_block", "arrow_function", "function_expression", "lambda"))
_WRAPS = frozenset(("arguments", "argument_list", "argument"))
_CALL = re.compile(r"call|invocation")


class Setting(NamedTuple):
    """Rows, from 0, of a statement that gives names a value."""

    start: int
    end: int
    names: tuple[str, ...]


def root_of(path: str, text: str) -> Node | None:
    """Parse a file; None where no grammar reads it."""
    rows = text[:NAMED_FILE].split("\n")
    root = parsed(path, "\n".join(row if len(row) <= NAMED_LINE else "" for row in rows))
    return root if root is not None and is_readable(root) else None


def statement_at(root: Node, row: int) -> Node | None:
    """Find the statement that a row is part of: the largest node below the body around it."""
    rows = (
        one for one in nodes_in(root, row, row) if one.child_count == 0 and one.type != "comment"
    )
    node = next((one for one in rows if one.start_point[0] == row), None)
    while node and node.parent and node.parent.type not in BODIES:
        is_function = FUNCTIONS.search(node.parent.type) and node.parent.start_point[0] < row
        if is_function and node.parent.child_by_field_name("body"):
            break
        node = node.parent
    return node


def rows_of(node: Node, row: int) -> tuple[int, int]:
    """Give the rows of a statement without the bodies below it, at most a few around `row`."""
    start, end = node.start_point[0], node.end_point[0]
    below = [one.start_point[0] for one in _bodies(node) if one.start_point[0] > row]
    end = max(row, min([end, *(first - 1 for first in below)]))
    if end - start >= STATEMENT_LINES:
        start = max(start, row - STATEMENT_LINES // 2)
        end = min(end, start + STATEMENT_LINES - 1)
    return start, end


def scopes_around(root: Node, row: int) -> tuple[tuple[int, int], ...]:
    """Give the rows of the functions around a row, innermost first; the file's at last."""
    around = (one for one in nodes_in(root, row, row) if FUNCTIONS.search(one.type))
    nodes = (root, *(one for one in around if one.child_by_field_name("body")))
    return tuple((one.start_point[0], one.end_point[0]) for one in reversed(nodes))


@lru_cache(maxsize=CACHED_FILES)
def settings_in(path: str, text: str) -> tuple[Setting, ...]:
    """List every statement of a file that gives names a value."""
    root, found = root_of(path, text), []
    for node in nodes_in(root) if root else ():
        names = tuple(name for target in targets_of(node) for name in names_of(target))
        if names:
            start, end = rows_of(node, node.start_point[0])
            found.append(Setting(start, end, names))
    return tuple(found)


def nodes_in(root: Node, first: int = 0, last: int = 1 << 30) -> Iterator[Node]:
    """Walk the nodes that touch some rows, from the outside to the inside, in their order."""
    waiting, left = [(root, 0)], FLOW_NODES
    while waiting and left:
        node, depth = waiting.pop()
        left -= 1
        yield node
        touching = [
            (one, depth + 1)
            for one in (node.children if depth < QUERY_DEPTH else ())
            if one.end_point[0] >= first and one.start_point[0] <= last
        ]
        waiting += touching[::-1]


def text_of(node: Node) -> str:
    """Give a node's text; empty where it is long."""
    if node.end_byte - node.start_byte > LONGEST_NAME:
        return ""
    return (node.text or b"").decode("utf-8", "replace")


def _bodies(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type in BODIES:
            yield child
        else:
            yield from (one for one in child.named_children if one.type in BODIES)


def targets_of(node: Node) -> tuple[Node, ...]:
    """Give the nodes that hold what a node sets; none where it sets nothing."""
    if node.type in _CALLED:  # the parameters of a block are set by the call that it is given to
        caller = node.parent
        while caller and caller.type in _WRAPS:
            caller = caller.parent
        parameters = node.child_by_field_name("parameters")
        return (parameters,) if parameters and caller and _CALL.search(caller.type) else ()
    if not _SETTING.search(node.type):
        return ()
    fields = (node.child_by_field_name(name) for name in ("left", "name", "alias"))
    target = next((one for one in fields if one), None)
    if target is None and node.type == "foreach_statement":  # PHP's has no fields
        return tuple(one for one in node.named_children[1:] if one.type not in BODIES)
    return (target,) if target else ()


def names_of(target: Node) -> Iterator[str]:
    """Walk the names and members in a pattern."""
    if target.end_byte - target.start_byte > NAMED_LINE:
        return
    if target.type in NAMES or target.type in MEMBERS:
        yield text_of(target)
    elif target.type not in BODIES:
        for child in target.named_children:
            yield from names_of(child)
