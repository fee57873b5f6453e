"""Code that asks whether a value is nothing, and uses it where the answer was yes."""

import re

from tree_sitter import Node

from nightwatch_core.code.bindings import functions_around, sets_of
from nightwatch_core.code.dereferences import written
from nightwatch_core.code.statements import text_of

_NOTHING = r"(?:null|nil|None|undefined)"


def own_guard(node: Node) -> int:
    """Find the line, from 1, of an `if` that is true where the value is nothing, around its use.

    0 where there is none, or where something may set the value between.
    """
    name, child, above = written(node), node, node.parent
    while above is not None:
        condition = above.child_by_field_name("condition")
        taken = above.child_by_field_name("consequence") or above.child_by_field_name("body")
        is_inside = taken is not None and taken.start_byte <= child.start_byte < taken.end_byte
        is_if = condition is not None and is_inside and above.type.startswith(("if", "elif"))
        if is_if and condition and _asks(" ".join(text_of(condition).split()), name):
            return 0 if _is_set(name, above, node) else condition.start_point[0] + 1
        child, above = above, above.parent
    return 0


def _asks(condition: str, name: str) -> bool:
    """Whether the whole condition is true only where the value is nothing."""
    own = re.escape(name)
    plain = condition[1:-1].strip() if condition.startswith("(") else condition
    return bool(
        re.fullmatch(
            rf"{own} (?:is|===?) {_NOTHING}|{_NOTHING} ===? {own}|{own}\.nil\?|is_null\({own}\)",
            plain,
        )
    )


def _is_set(name: str, guard: Node, node: Node) -> bool:
    function = next(functions_around(node), None)
    sets = sets_of(function, name) if function is not None else ()
    return any(guard.start_byte < one.start_byte < node.start_byte for one in sets)
