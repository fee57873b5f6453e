"""Follows the value that fails: the failing statement, and those that set what it reads.

Read from a file's tree, in every language that has a grammar: a few kinds of nodes stand for
assignments, loops and blocks that are called with each element.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Literal, NamedTuple

from tree_sitter import Node

from nightwatch_core.code import syntax
from nightwatch_core.code.definitions import (
    ancestors,
    enclosing_functions,
    parameter_names,
    sets_of,
)
from nightwatch_core.code.languages import QUERY_DEPTH, RULES

FLOW_DEPTH, FLOW_STEPS, SETS_OF_ONE = 2, 12, 2  # assignments back; statements; of one name
FLOW_READS = 24  # names of a statement that are followed


class Step(NamedTuple):
    """A statement on the value's way; lines from 1, `end` included.

    `depth` is 0 for the failing one; `sets` is what the others set, as written.
    """

    line: int
    end: int
    depth: int = 0
    sets: str = ""


def value_flow(path: str, text: str, line: int, members: tuple[str, ...] = ()) -> tuple[Step, ...]:
    """List the failing statement, then those that set what it reads, nearest first.

    Names are followed within the function, members of objects in the whole file; `members` are
    those that the message names. Without a tree there is the failing line alone.
    """
    root = syntax.root_of(path, text)
    node = syntax.statement_at(root, line - 1) if root else None
    if root is None or node is None:
        return (Step(line, line),)
    start, end = syntax.rows_of(node, line - 1)
    latest = [Step(start + 1, end + 1)]
    steps = {step.line: step for step in latest}
    settings = syntax.settings_in(path, text)
    for depth in range(1, FLOW_DEPTH + 1):
        found = [item for step in latest for item in _setting(root, settings, step, line, depth)]
        if depth == 1:
            found += _setting_named(root, settings, latest[0], members)
        latest = [item for item in dict.fromkeys(found) if item.line not in steps]
        steps |= {item.line: item for item in latest}
    nearest = sorted(steps.values(), key=lambda item: (item.depth, abs(item.line - line)))
    return tuple(nearest)[:FLOW_STEPS]


def _setting(
    root: Node, settings: tuple[syntax.Setting, ...], step: Step, line: int, depth: int
) -> Iterator[Step]:
    scopes = syntax.scopes_around(root, step.line - 1)
    nodes = tuple(syntax.nodes_in(root, step.line - 1, step.end - 1))
    names = (syntax.text_of(node) for node in nodes if node.type in syntax.NAMES)
    members = (syntax.text_of(node) for node in nodes if node.type in syntax.MEMBERS)
    plain = (text for text in members if "(" not in text and "\n" not in text)
    reads = dict.fromkeys((*plain, *names))
    for name in tuple(read for read in reads if read and read != step.sets)[:FLOW_READS]:
        is_member = not name.lstrip("$").isidentifier()
        others = [setting for setting in settings if not step.line <= setting.start + 1 <= step.end]
        near = [other for other in others if name in other.names]
        if len(near) < sum(name in setting.names for setting in settings):
            continue  # the statement sets it
        if not is_member:
            inner = (_inside(near, scope) for scope in scopes[:-1])
            near = next(filter(None, inner), []) or [
                item for item in near if len(syntax.scopes_around(root, item.start)) == 1
            ]
        yield from _steps(near, line, step, depth, name)


def _setting_named(
    root: Node, settings: tuple[syntax.Setting, ...], failing: Step, names: tuple[str, ...]
) -> Iterator[Step]:
    inside = _inside(settings, syntax.scopes_around(root, failing.line - 1)[0])
    for name in names:
        ends = re.compile(rf"\W{re.escape(name)}$")
        same = [item for item in inside if any(map(ends.search, item.names))]
        yield from _steps(same, failing.line, failing, 1, name)


def _steps(
    near: list[syntax.Setting], line: int, step: Step, depth: int, name: str
) -> Iterator[Step]:
    near.sort(key=lambda item: (item.start >= line, abs(item.start + 1 - step.line)))
    for setting in near[:SETS_OF_ONE]:
        yield Step(setting.start + 1, setting.end + 1, depth, name)


def _inside(settings: Iterable[syntax.Setting], scope: tuple[int, int]) -> list[syntax.Setting]:
    return [setting for setting in settings if scope[0] <= setting.start <= scope[1]]


# What a statement asks of its values: members, elements, calls; of all languages with a grammar.
#
# Asking nothing (None, nil, null, undefined) for one of these is what fails; what is asked safely
# (`?.`, `&.`, `?->`) is no such place.

How = Literal["member", "element", "called"]

_ASKS = {rule.node: rule for rule in RULES.asks}
_CALLS = frozenset(("call", "call_expression", "invocation_expression", "new_expression"))
_CALLING = frozenset(("method_invocation", "member_call_expression", "call"))
_TYPES = frozenset(("type", "type_annotation", "type_arguments", "type_parameters", "decorator"))
_WRAPS = re.compile(r"parenthesized_(?:expression|statements)$|non_null_expr|postfix_unary_expr")


class Asked(NamedTuple):
    """A value of which something is asked, and what; `member` is empty for elements and calls."""

    value: Node
    how: How
    member: str
    node: Node
    is_call: bool  # the member is called


def asked_at(root: Node, row: int, *, safely: bool = False) -> tuple[Asked, ...]:
    """List what the statement at a row, from 0, asks of its values, with `safely` also by `?.`."""
    statement = syntax.statement_at(root, row)
    if statement is None:
        return ()
    start, end = syntax.rows_of(statement, row)
    names = (  # a block may follow a call of Ruby
        (item.node.child_by_field_name("method") or item.node, item)
        for item in _asked_in(statement, safely)
    )
    return tuple(item for name, item in names if start <= name.end_point[0] <= end)


def _asked_in(node: Node, safely: bool, depth: int = 0) -> Iterator[Asked]:
    if node.type in _TYPES or depth > QUERY_DEPTH:
        return
    for child in node.children:
        yield from _asked_in(child, safely, depth + 1)
    own = asked_by(node, safely=safely)
    if own:
        yield own


def written(node: Node) -> str:
    """Return an expression in one line, without brackets and marks around it."""
    return " ".join(syntax.text_of(unwrapped(node)).split())


def unwrapped(node: Node) -> Node:
    """Return the expression in brackets, or marked as never null; an awaited one stays."""
    while _WRAPS.match(node.type) and node.named_child_count == 1:
        node = node.named_children[0]
    return node


def asked_by(node: Node, *, safely: bool = False) -> Asked | None:
    """Return what a node asks of a value; None where it asks nothing, or safely."""
    marks = (child.type in ("&.", "?.", "?->") for child in node.children)
    if not safely and (node.child_by_field_name("optional_chain") or any(marks)):
        return None
    if node.type == "call" and node.child_by_field_name("receiver"):  # Ruby's
        return _asked(node, ("receiver",), "member", _text(node.child_by_field_name("method")))
    if rule := _ASKS.get(node.type):
        if rule.member:
            member = _text(node.child_by_field_name(rule.member))
            return _asked(node, rule.value, "member", member)
        if any(map(node.child_by_field_name, rule.value)) or not node.named_children:
            return _asked(node, rule.value, "element", "")
        return Asked(node.named_children[0], "element", "", node, False)  # PHP's has no fields
    if node.type in _CALLS:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        return Asked(function, "called", "", node, True) if function else None
    return None


def _asked(node: Node, fields: tuple[str, ...], how: How, member: str) -> Asked | None:
    value = next((child for name in fields if (child := node.child_by_field_name(name))), None)
    if value is None:
        return None
    above, is_call = node.parent, node.type in _CALLING
    if above is not None and above.type in _CALLS:
        functions = map(above.child_by_field_name, ("function", "constructor"))
        is_call = is_call or node in tuple(functions)
    return Asked(value, how, member, node, is_call)


def _text(node: Node | None) -> str:
    return syntax.text_of(node) if node else ""


# Where a Python function returns None.

_NESTED = re.compile(r"lambda|generator_expression")


class NoneExit(NamedTuple):
    """A line, from 1, that returns None; `when` is the condition of the `if` around it."""

    line: int
    when: str = ""


def none_exits(function: Node) -> tuple[NoneExit, ...]:
    """List the `return` lines of a Python function that surely give None; none for a generator."""

    def is_own(node: Node) -> bool:
        inside = takewhile(lambda above: above != function, ancestors(node))
        is_direct = next(enclosing_functions(node), None) == function
        return is_direct and not any(_NESTED.match(above.type) for above in inside)

    own = [node for node in syntax.nodes_in(function) if node != function and is_own(node)]
    if any(node.type.startswith("yield") for node in own):
        return ()
    exits = set()
    for node in own:
        values = [child for child in node.named_children if child.type != "comment"]
        is_none = not values or unwrapped(values[0]).type == "none"
        if node.type == "return_statement" and is_none:
            exits.add(NoneExit(node.start_point[0] + 1, _condition(node)))
    return tuple(sorted(exits))


def _condition(statement: Node) -> str:
    branch = statement.parent
    test = branch.parent if branch is not None else None
    if test is None or test.child_by_field_name("consequence") != branch:
        return ""
    return " ".join(syntax.text_of(test.child_by_field_name("condition") or test).split())


_NULL = r"(?:null|nil|None|undefined)"


def own_guard(node: Node) -> int:
    """Find the line, from 1, of an `if` that is true where the value is nothing, around its use.

    0 where there is none, or where something may set the value between.
    """
    name, function = written(node), next(enclosing_functions(node), None)
    own = re.escape(name)
    asks = re.compile(
        rf"{own} (?:is|===?) {_NULL}|{_NULL} ===? {own}|{own}\.nil\?|is_null\({own}\)"
    )
    for branch, test in zip((node, *ancestors(node)), ancestors(node), strict=False):
        condition = test.child_by_field_name("condition")
        is_branch = branch in map(test.child_by_field_name, ("consequence", "body"))
        if condition and is_branch and asks.fullmatch(written(condition)):
            sets = sets_of(function, name) if function else ()
            is_set = any(test.start_byte < item.start_byte < node.start_byte for item in sets)
            return 0 if is_set else condition.start_point[0] + 1
    return 0


# Which statement gave a name its value at a place: the only one that can have, or none.
#
# A name that may have got its value in several statements, or in none that is surely run before, is
# not told. Names are looked up in the innermost function, then in those around it.

LOOPS, CONDITIONS = RULES.node_patterns["loops"], RULES.node_patterns["conditions"]


class Origin(NamedTuple):
    """The statement that gave a name its value, and the value; None for a function's parameter.

    Where `is_part`, the name is one of several that the value is taken apart into.
    """

    node: Node
    value: Node | None = None
    is_part: bool = False


def origin_of_name(root: Node, name: str, at: Node) -> Origin | None:
    """Find what gave the name its value where `at` uses it; None where that is not certain."""
    if _is_bound_inside(name, at):
        return None
    for function in (*enclosing_functions(at), root):
        sets = tuple(node for node in sets_of(function, name) if not _is_after(node, at))
        if name in parameter_names(function):
            return None if sets else Origin(function)
        if sets:
            return _reaching(name, sets, function, at)
    return None


def _is_after(sets: Node, at: Node) -> bool:
    if any(LOOPS.match(ancestor.type) for ancestor in ancestors(at)):
        return False
    value = sets.child_by_field_name("right") or sets.child_by_field_name("value")
    is_inside = value is not None and value.start_byte <= at.start_byte < value.end_byte
    is_plain = "assignment" in sets.type or "declarator" in sets.type
    return is_plain and (is_inside or sets.start_byte > at.end_byte)


def is_tested(name: str, after: Node, at: Node) -> bool:
    """Return whether a condition between two places, or around the second, speaks of the name."""
    function = next(enclosing_functions(at), None)
    conditions = (
        node
        for node in syntax.nodes_in(function or [at, *ancestors(at)][-1])
        if CONDITIONS.match(node.type) and after.end_byte <= node.start_byte <= at.start_byte
    )
    return any(
        syntax.text_of(item) == name and item.end_byte <= at.start_byte
        for node in conditions
        for item in syntax.nodes_in(node)
        if item.child_count == 0 or item.type == "variable_name"
    )


def _reaching(name: str, sets: tuple[Node, ...], function: Node, at: Node) -> Origin | None:
    inner = next(enclosing_functions(at), None)
    if len(sets) > 1 and inner is not None and function != inner:
        return None  # whoever called this may have come after any of them
    enclosing = tuple(ancestors(at))
    sure = [item for item in sets if item.end_byte <= at.start_byte and _body(item) in enclosing]
    if not sure:
        return None
    last = max(sure, key=lambda item: item.start_byte)
    loops = [
        (item.start_byte, item.end_byte)
        for item in enclosing
        if LOOPS.match(item.type) and item.start_byte > last.start_byte
    ]
    for item in sets:
        is_between = last.start_byte < item.start_byte < at.start_byte
        if item != last and (is_between or any(a <= item.start_byte < b for a, b in loops)):
            return None
    return _origin(last, name)


def _is_bound_inside(name: str, at: Node) -> bool:
    function = next(enclosing_functions(at), None)
    inside = takewhile(lambda ancestor: ancestor != function, ancestors(at))
    for closure in (item for item in inside if RULES.node_patterns["closures"].search(item.type)):
        loops = (child for child in closure.named_children if child.type == "for_in_clause")
        targets = (target for loop in loops for target in syntax.targets_of(loop))
        if name in parameter_names(closure) or any(
            name in syntax.names_of(item) for item in targets
        ):
            return True
    return False


def _body(node: Node) -> Node | None:
    for above in ancestors(node):
        if above.type in syntax.BODIES:
            return above
        if RULES.node_patterns["maybe"].match(above.type) or LOOPS.match(above.type):
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
    if operator is not None and syntax.text_of(operator) not in ("=", ":="):
        return None
    return Origin(node, value, syntax.text_of(target) != name)
