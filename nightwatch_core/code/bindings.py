"""Which names functions bind: their parameters, and what sets a name in them."""

from collections.abc import Iterator

from tree_sitter import Node

from nightwatch_core.code.statements import FUNCTIONS, names_of, nodes_in, targets_of, text_of

_NAMED = frozenset(("identifier", "variable_name"))


def functions_around(node: Node) -> Iterator[Node]:
    """Walk the functions that a node is in, the innermost first."""
    return (
        one
        for one in ancestors(node)
        if FUNCTIONS.search(one.type) and one.child_by_field_name("body")
    )


def parameter_names(function: Node) -> tuple[str, ...]:
    """List the names of a function's parameters in their order, Go's receiver last."""
    fields = ("parameters", "parameter", "receiver")
    lists = [one for name in fields if (one := function.child_by_field_name(name))]
    return tuple(dict.fromkeys(name for one in lists for name in _bound_names(one)))


def sets_of(function: Node, name: str) -> Iterator[Node]:
    """Walk what sets the bare name in a function, and in those inside that may set it, too."""
    for node in nodes_in(function):
        targets = () if "parameter" in node.type else targets_of(node)
        if any(name in names_of(target) for target in targets):
            own = next(functions_around(node), None)
            is_own = own == function or (own is None and function.parent is None)
            if is_own or node.type == "assignment_expression" or _is_shared(own, name):
                yield node


def _is_shared(function: Node | None, name: str) -> bool:
    """Whether a Python function says that the name is one of a scope around it."""
    nodes = nodes_in(function) if function else ()
    return any(
        one.type in ("global_statement", "nonlocal_statement")
        and name in map(text_of, one.named_children)
        for one in nodes
    )


def _bound_names(node: Node) -> Iterator[str]:
    """Names that a list of parameters gives, but for types, keys and defaults."""
    own = node.children_by_field_name("name") or node.children_by_field_name("pattern")
    if own:
        for one in own:
            yield from _bound_names(one)
    elif node.type in _NAMED or (node.type.endswith("_pattern") and not node.named_children):
        yield text_of(node)
    else:
        skipped = {node.child_by_field_name(one) for one in ("type", "default_value", "right")}
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
