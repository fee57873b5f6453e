"""Causes that the failing line and what is around it show: loops, divisors, constants."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from nightwatch_core.code.bindings import functions_around
from nightwatch_core.code.dereferences import asked_in, unwrapped, written
from nightwatch_core.code.reaching import origin_of_name
from nightwatch_core.code.statements import nodes_in, rows_of, statement_at, text_of
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.rules.findings import FailingLine, Finding, quoted
from nightwatch_core.rules.kinds import general
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.none_receivers import raised_outside, tree_of

_LOOPS = frozenset(("for_statement", "enhanced_for_statement", "foreach_statement"))
_CHANGES = frozenset(
    (
        *("add", "addAll", "remove", "removeAll", "put", "putAll", "clear", "Add", "Remove"),
        *("pop", "popitem", "update", "setdefault", "discard", "Clear", "RemoveAt", "Insert"),
    )
)
_DIVISIONS = frozenset(("binary_operator", "binary_expression", "binary"))
_SIZES = re.compile(
    r"len\((?P<len>[\w.\[\]']+)\)|(?P<of>[\w.@$\[\]']+?)(?:\.|->)(?:length|size|count|Count|Length|size\(\)"
    r"|count\(\)|Count\(\)|length\(\))"
)
_VIEW = re.compile(r"\.(?:items|keys|values|keySet|entrySet|Keys|Values)(?:\(\))?$")
_SETS = re.compile(r"augmented|operator_assign|assignment_ex|assignment_st")
_NUMBERS = frozenset(("integer", "float", "int_literal", "number", "decimal_integer_literal"))


def changed_while_used(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain a collection that changes while it is gone through, where the loop itself does so."""
    rest = general(symptom, failing, context)
    root = tree_of(failing, context)
    loop = _loop(root, failing.line) if root else None
    gone_through = _iterated(loop) if loop else ""
    if loop is None or not gone_through:
        return rest
    body = loop.child_by_field_name("body")
    changes = [one for one in _changes(body, gone_through)] if body else []
    lines = context.code.whole(failing.path) or ()
    if not changes:
        return rest
    at, head = changes[0], loop.start_point[0] + 1
    return Finding(
        because=(
            f"The loop in {failing.path}:{head} goes through `{gone_through}`, and its own line "
            f"{at} changes that.",
        ),
        evidence=(quoted(failing.path, at, lines[at - 1], f"changes `{gone_through}`"),),
        steps=(f"Go through a copy of `{gone_through}`, or collect the changes first.",),
        tags=("changed-while-used",),
        subject=f"`{gone_through}` changes while it is gone through",
        explained=True,
    )


def divided_by_zero(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the only divisor of the line, and whether it is the size of something."""
    rest = general(symptom, failing, context)
    root = None if raised_outside(context) else tree_of(failing, context)
    statement = statement_at(root, failing.line - 1) if root else None
    if root is None or statement is None:
        return rest
    divisors = tuple(dict.fromkeys(map(written, _divisors(statement, failing.line - 1))))
    if len(divisors) != 1 or not divisors[0]:
        return rest
    divisor, node = divisors[0], next(_divisors(statement, failing.line - 1))
    size, line = divisor, failing.line
    node = unwrapped(node)
    if node.type in ("identifier", "variable_name"):
        origin = origin_of_name(root, divisor, node)
        if origin is not None and origin.value is not None and origin.position < 0:
            size, line = written(origin.value), origin.node.start_point[0] + 1
    known = Finding(
        value=f"`{divisor}` is 0",
        unknown=f"why `{divisor}` is 0 in {failing.place}",
        steps=rest.steps,
        tags=rest.tags,
    )
    match = _SIZES.fullmatch(size)
    if not match:
        return known
    whose = match["len"] or match["of"]
    where = "" if line == failing.line else f" in {failing.path}:{line}"
    return (
        Finding(
            because=(
                f"`{whose}` is empty: {failing.place} divides by its size (`{size}`{where}).",
            ),
            subject=f"`{whose}` is empty, and its size divides",
            explained=True,
        )
        + known
    )


def constant_assigned(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the JavaScript constant that the line assigns, and where it is declared."""
    rest = general(symptom, failing, context)
    root = tree_of(failing, context) if "Assignment to constant" in symptom.text else None
    statement = statement_at(root, failing.line - 1) if root else None
    lines = context.code.whole(failing.path) or ()
    if root is None or statement is None:
        return rest
    names = {
        text_of(left)
        for one in nodes_in(statement, failing.line - 1, failing.line - 1)
        if re.search(r"assignment_expression|update_expression", one.type)
        and (left := one.child_by_field_name("left") or one.child_by_field_name("argument"))
        and left.type == "identifier"
    }
    if len(names) != 1:
        return rest
    name = names.pop()
    declares = re.compile(rf"\s*(?:export\s+)?const\s+{re.escape(name)}\b")
    places = [n for n, row in enumerate(lines, start=1) if declares.match(row)]
    if len(places) != 1:
        return rest
    return Finding(
        because=(
            f"{failing.place} assigns `{name}`, a constant since {failing.path}:{places[0]}.",
        ),
        evidence=(
            quoted(failing.path, places[0], lines[places[0] - 1], f"makes `{name}` constant"),
        ),
        subject=f"the constant `{name}` is assigned",
        steps=(f"Declare `{name}` with let, or set another name.",),
        explained=True,
    ) + rest.model_copy(update={"steps": ()})


def _loop(root: Node, line: int) -> Node | None:
    """The loop that begins in a line, or the innermost one around it."""
    around = [one for one in nodes_in(root, line - 1, line - 1) if one.type in _LOOPS]
    begins = [one for one in around if one.start_point[0] + 1 == line]
    return next(iter([*begins[-1:], *around[-1:]]), None)


def _iterated(loop: Node) -> str:
    for field in ("right", "value"):
        node = loop.child_by_field_name(field)
        if node is not None:
            text = _VIEW.sub("", written(node))
            return text if re.fullmatch(r"[\w.$>-]+", text) else ""
    return ""


def _changes(body: Node, name: str) -> Iterator[int]:
    """Lines, from 1, of a loop's body, not of functions in it, that change what it goes through."""
    outer = next(functions_around(body), None)
    for one in asked_in(body):
        if next(functions_around(one.node), None) != outer or one.text != name:
            continue
        above = one.node.parent
        is_deleted = above is not None and above.type == "delete_statement"
        is_change = (one.is_call and one.member in _CHANGES) or (
            one.how == "element" and is_deleted
        )
        if is_change and not _leaves(one.node):
            yield one.node.start_point[0] + 1


def _leaves(node: Node) -> bool:
    """Whether the loop is left right after the statement of a node."""
    above: Node | None = node
    while above is not None and not above.type.endswith(("_statement", "statement_list", "block")):
        above = above.parent
    after = above.next_named_sibling if above is not None else None
    return after is not None and after.type in ("break_statement", "return_statement")


def _divisors(statement: Node, row: int) -> Iterator[Node]:
    start, end = rows_of(statement, row)
    for one in nodes_in(statement, start, end):
        operator = one.child_by_field_name("operator")
        sign = text_of(operator) if operator else ""
        is_inside = start <= one.start_point[0] <= end
        if is_inside and one.type in _DIVISIONS and sign in ("/", "//", "%"):
            right = one.child_by_field_name("right")
            if right is not None and right.type not in _NUMBERS:
                yield unwrapped(right)
        elif is_inside and _SETS.match(one.type):
            right = one.child_by_field_name("right")
            if right is not None and sign in ("/=", "//=", "%="):
                yield unwrapped(right)
