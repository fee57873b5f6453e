"""Which statement gave a name its value at a place: the only one that can have, or none.

A name that may have got its value in several statements, or in none that is surely run before, is
not told. Names are looked up in the innermost function, then in those around it.
"""

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Literal, NamedTuple

from tree_sitter import Node

from nightwatch_core.code.bindings import ancestors, functions_around, parameter_names, sets_of
from nightwatch_core.code.dereferences import Asked, asked_in, written
from nightwatch_core.code.statements import (
    BODIES,
    names_of,
    nodes_in,
    targets_of,
    text_of,
)

_LOOPS = re.compile(r"(?:for|while|until|do|enhanced_for|foreach)(?:_statement)?$|for_in_")
# Parts of a statement that may not be run, or not to their end, where the statement is run.
_MAYBE = re.compile(
    r"(?:if|unless|conditional|ternary|switch|match|case|try|begin|rescue|while|until|for|foreach"
    r"|enhanced_for|select_statement|boolean_operator|elif|else|except|catch|lambda|arrow_function|do_block"
    r"|func_literal|anonymous|closure|function_de|function_ex|generator|method_de|method$|class"
    r"|singleton_method|block$|list_comprehension|dictionary_comprehension|set_comprehension"
    r"|expression_switch|type_switch|with_statement|synchronized|using|go_statement"
    r"|local_function|communication_case)"
)
_CLOSURES = re.compile(r"lambda|block$|do_block|comprehension|generator_expression")
_EITHER = frozenset(("&&", "||", "??", "and", "or", "?", "&.", "?.", "||=", "&&="))
_CONDITIONS = re.compile(
    r"(?:if|unless|elif|while|until|ternary|conditional|switch|match|case|boolean_op|binary"
    r"|logical|comparison|assert|try|rescue)"
)

Kind = Literal["assigned", "parameter"]


class Origin(NamedTuple):
    """How a name got its value: the statement and what stands at its right; or the function.

    `position` is -1 where the name gets all of the value; else it counts from 0 among the names.
    """

    kind: Kind
    node: Node
    value: Node | None = None
    position: int = -1


def origin_of_name(root: Node, name: str, at: Node) -> Origin | None:
    """Find what gave the name its value where `at` uses it; None where that is not certain."""
    if _is_bound_inside(name, at):
        return None
    for function in (*functions_around(at), root):
        sets = tuple(one for one in sets_of(function, name) if not _is_after(one, at))
        if name in parameter_names(function):
            return None if sets else Origin("parameter", function)
        if sets:
            return _reaching(name, sets, function, at)
    return None


def _is_after(sets: Node, at: Node) -> bool:
    """Whether a plain assignment gives its value only after the place is reached: `x = x.y`."""
    if any(_LOOPS.match(one.type) for one in ancestors(at)):
        return False
    value = sets.child_by_field_name("right") or sets.child_by_field_name("value")
    is_inside = value is not None and value.start_byte <= at.start_byte < value.end_byte
    is_plain = "assignment" in sets.type or "declarator" in sets.type
    return is_plain and (is_inside or sets.start_byte > at.end_byte)


def asked_before(at: Node, name: str) -> Iterator[Asked]:
    """Walk what is asked of the bare name in statements that were surely run to their end before.

    Only where nothing sets the name between the function's beginning and `at`.
    """
    function = next(functions_around(at), None)
    if function is None or any(one.start_byte < at.start_byte for one in sets_of(function, name)):
        return
    for statement in statements_before(at, function):
        yield from (one for one in asked_in(statement) if _is_sure(one, statement, name))


def statements_before(at: Node, function: Node) -> Iterator[Node]:
    """Walk the statements of the function that are surely run before the one of `at`."""
    node = at
    while node.parent is not None and node != function:
        if node.parent.type in BODIES:
            for child in node.parent.named_children:
                if child.end_byte <= node.start_byte and not _MAYBE.match(child.type):
                    yield child
        node = node.parent


def is_tested(name: str, after: Node, at: Node) -> bool:
    """Tell whether a condition between two places, or around the second, speaks of the name."""
    function = next(functions_around(at), None)
    conditions = (
        node
        for node in nodes_in(function or _root(at))
        if _CONDITIONS.match(node.type) and after.end_byte <= node.start_byte <= at.start_byte
    )
    return any(
        text_of(one) == name and one.end_byte <= at.start_byte
        for node in conditions
        for one in nodes_in(node)
        if one.child_count == 0 or one.type == "variable_name"
    )


def _is_sure(asked: Asked, statement: Node, name: str) -> bool:
    if written(asked.value) != name:
        return False
    inside = takewhile(lambda one: one != statement, ancestors(asked.node))
    around = (*inside, statement) if asked.node != statement else ()
    return not any(
        (_MAYBE.match(one.type) and one != statement)
        or any(child.type in _EITHER for child in one.children)
        for one in around
    )


def _reaching(name: str, sets: tuple[Node, ...], function: Node, at: Node) -> Origin | None:
    """The last statement that surely ran, where nothing else may have set the name since."""
    inner = next(functions_around(at), None)
    if len(sets) > 1 and inner is not None and function != inner:
        return None  # whoever called this may have come after any of them
    around = tuple(ancestors(at))
    sure = [one for one in sets if one.end_byte <= at.start_byte and _body(one) in around]
    if not sure:
        return None
    last = max(sure, key=lambda one: one.start_byte)
    loops = [
        (one.start_byte, one.end_byte)
        for one in around
        if _LOOPS.match(one.type) and one.start_byte > last.start_byte
    ]
    for one in sets:
        is_between = last.start_byte < one.start_byte < at.start_byte
        if one != last and (is_between or any(a <= one.start_byte < b for a, b in loops)):
            return None
    return _origin(last, name)


def _is_bound_inside(name: str, at: Node) -> bool:
    """Whether a block or a lambda around the place, in its function, has the name for itself."""
    function = next(functions_around(at), None)
    inside = takewhile(lambda one: one != function, ancestors(at))
    return any(
        name in parameter_names(one) or any(name in names_of(t) for t in _elements(one))
        for one in inside
        if _CLOSURES.search(one.type)
    )


def _elements(node: Node) -> Iterator[Node]:
    """What a comprehension sets in turn."""
    for child in node.named_children:
        if child.type == "for_in_clause":
            yield from targets_of(child)


def _root(node: Node) -> Node:
    return next((one for one in ancestors(node) if one.parent is None), node)


def _body(node: Node) -> Node | None:
    """The body that a setting statement is part of, where it is run whenever the body is."""
    for above in ancestors(node):
        if above.type in BODIES:
            return above
        if _MAYBE.match(above.type) or _LOOPS.match(above.type):
            return None
    return None


def _origin(node: Node, name: str) -> Origin | None:
    value = node.child_by_field_name("right") or node.child_by_field_name("value")
    target = node.child_by_field_name("left") or node.child_by_field_name("name")
    if value is None and node.type == "variable_declarator" and node.named_child_count > 1:
        value = node.named_children[-1]  # C#'s has no field
    plain = re.search(r"assignment|declarator|named_expression|declaration|_spec$", node.type)
    changed = re.match(r"augmented|operator|for|range", node.type)
    if value is None or target is None or not plain or changed:
        return None
    operator = node.child_by_field_name("operator")
    if operator is not None and text_of(operator) not in ("=", ":="):
        return None
    if value.type == "expression_list" and value.named_child_count == 1:
        value = value.named_children[0]
    if target.type == "expression_list" and target.named_child_count == 1:
        target = target.named_children[0]
    is_whole = text_of(target) == name
    return Origin("assigned", node, value, -1 if is_whole else [*names_of(target)].index(name))
