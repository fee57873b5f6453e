"""Where a function gives nothing (None, nil, null, undefined) to whoever calls it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code.bindings import functions_around
from nightwatch_core.code.dereferences import unwrapped
from nightwatch_core.code.languages import Language
from nightwatch_core.code.statements import nodes_in, text_of

_RETURNS = frozenset(("return_statement", "return"))
_LEAVES = frozenset(("return_statement", "raise_statement", "throw_statement", "return"))
_PLAIN = frozenset(("expression_statement", "lexical_declaration", "pass_statement", "assignment"))
_NOTHING = frozenset(("none", "nil", "null", "null_literal", "undefined"))
_CHOICES = frozenset(("conditional_expression", "ternary_expression", "conditional"))
_BLOCKS = frozenset(("block", "statement_block"))
_GENERATES = re.compile(r"yield")
# Values that are something, whatever they hold; a name or a call may be nothing.
_SOMETHING = re.compile(
    r"(?:template_|interpreted_|raw_|encapsed_)?string|int|float|number|integer|decimal|true|false"
    r"|boolean|list|array|dictionary|hash|object|tuple|set$|.*(?:_literal|comprehension)$|symbol"
    r"|comparison_|lambda|arrow_function|new_expression|object_creation|composite_literal"
    r"|simple_symbol|regex"
)


class NoneExit(NamedTuple):
    """A line, from 1, that ends a function with nothing; `when` is the condition around it.

    `how` is "returns" (it says so), "looks up" (what it returns may be nothing) or "ends" (the
    function ends there without giving anything).
    """

    line: int
    how: str
    when: str = ""


def none_exits(
    function: Node, language: Language, none: str, position: int = -1
) -> tuple[NoneExit, ...]:
    """List the exits of a function that give nothing; of several values, at a position from 0."""
    body = function.child_by_field_name("body")
    if body is None or any(_GENERATES.match(one.type) for one in _own(function)):
        return ()
    exits = [one for node in _own(function) if (one := _exit(node, language, none, position))]
    last = _last(body)
    if language.name == "ruby" and last is not None:
        exits += _ruby_end(last)
    is_plain = language.name in ("python", "javascript") and body.type in _BLOCKS
    if is_plain and none != "null" and not _is_declared(function) and _falls(body):
        exits.append(NoneExit((last or body).end_point[0] + 1, "ends"))
    return tuple(sorted(dict.fromkeys(exits)))


def are_all_told(function: Node, language: Language, none: str, position: int = -1) -> bool:
    """Tell whether every other exit surely gives something, so that `none_exits` lists the way."""
    told = {one.line for one in none_exits(function, language, none, position)}
    values = [
        value
        for node in _own(function)
        if node.type in _RETURNS and node.is_named and node.start_point[0] + 1 not in told
        for value in node.named_children[:1]
    ]
    body = function.child_by_field_name("body")
    last = _last(body) if language.name == "ruby" and body is not None else None
    if last is not None and last.type not in _LEAVES and last.start_point[0] + 1 not in told:
        values.append(last)
    return all(_SOMETHING.match(unwrapped(value).type) for value in values)


def looks_up(node: Node, language: Language) -> bool:
    """Tell whether an expression is a lookup, which gives nothing where it finds nothing."""
    text, inner = text_of(node), node.child_by_field_name("function") or node
    fields = ("receiver", "object", "operand", "expression")
    owner = next((one for name in fields if (one := inner.child_by_field_name(name))), None)
    tail = (
        text[owner.end_byte - node.start_byte :] if owner is not None and text.isascii() else text
    )
    return bool(text) and any(re.match(rf"\s*(?:{language.lookups})", one) for one in (tail, text))


def function_at(root: Node, row: int) -> Node | None:
    """Find the function that begins in a row, from 0."""
    for node in nodes_in(root, row, row):
        if node.start_point[0] <= row and node.child_by_field_name("body") is not None:
            name = node.child_by_field_name("name")
            begins = (name or node).start_point[0] == row
            if begins and re.search(r"function|method|constructor", node.type):
                return node
        if node.type == "variable_declarator" and node.start_point[0] == row:
            value = node.child_by_field_name("value")
            if value is not None and value.child_by_field_name("body") is not None:
                return value
    return None


def _own(function: Node) -> Iterator[Node]:
    """The nodes of a function but those of functions inside it."""
    for node in nodes_in(function):
        is_own = node != function and next(functions_around(node), None) == function
        if is_own and not _is_in_block(node, function):
            yield node


def _is_in_block(node: Node, function: Node) -> bool:
    """Whether a node stands in a lambda: a return there leaves that."""
    above = node.parent
    while above is not None and above != function:
        if re.match(r"lambda|anonymous|closure", above.type):
            return True
        above = above.parent
    return False


def _exit(node: Node, language: Language, none: str, position: int) -> NoneExit | None:
    if node.type not in _RETURNS or not node.is_named:
        return None
    value = next((one for one in node.named_children if one.type != "comment"), None)
    line = node.start_point[0] + 1
    if value is not None and value.type in ("expression_list", "argument_list"):
        given = value.named_children
        value = given[max(position, 0)] if len(given) > max(position, 0) else None
        if value is None:
            return None
    elif position >= 0:
        return None
    if value is None:
        is_said = none != "null" and language.name in ("python", "javascript", "ruby")
        return NoneExit(line, "returns", _condition(node)) if is_said else None
    value = unwrapped(value)
    if _is_nothing(value, none):
        return NoneExit(line, "returns", _condition(node))
    if value.type in _CHOICES and any(_is_nothing(one, none) for one in value.named_children[1:]):
        return NoneExit(line, "returns", "")
    if position < 0 and looks_up(value, language):
        return NoneExit(line, "looks up", _condition(node))
    return None


def _is_nothing(node: Node, none: str) -> bool:
    if none in ("null", "undefined") and node.type in ("null", "undefined"):
        return node.type == none or text_of(node) == none
    return node.type in _NOTHING or (text_of(node) == none)


def _condition(node: Node) -> str:
    """The condition of the branch that a statement stands in; empty where it is another one."""
    child, above = node, node.parent
    while above is not None and above.child_by_field_name("condition") is None:
        if re.search(r"else|except|catch|rescue|function|method|case", above.type):
            return ""
        child, above = above, above.parent
    if above is None or not above.type.startswith(("if", "elif", "unless")):
        return ""
    taken = above.child_by_field_name("consequence") or above.child_by_field_name("body")
    if taken is None or not taken.start_byte <= child.start_byte < taken.end_byte:
        return ""
    text = " ".join(text_of(above.child_by_field_name("condition") or above).split())
    text = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    return f"unless {text}" if above.type.startswith("unless") and text else text


def _last(body: Node) -> Node | None:
    rows = [one for one in body.named_children if one.type not in ("comment", "rescue", "ensure")]
    return rows[-1] if rows else None


def _ruby_end(last: Node) -> list[NoneExit]:
    """What a Ruby method gives at its end, where that says nothing."""
    if last.type == "nil":
        return [NoneExit(last.start_point[0] + 1, "returns")]
    if last.type in ("if", "unless") and last.child_by_field_name("alternative") is None:
        condition = text_of(last.child_by_field_name("condition") or last)
        word = "unless" if last.type == "if" else "where"
        return [NoneExit(last.start_point[0] + 1, "ends", f"{word} `{condition}`")]
    return []


def _is_declared(function: Node) -> bool:
    """Whether a function is only declared: a stub, or abstract."""
    return bool(re.search(r"signature|abstract", function.type)) or "NotImplemented" in text_of(
        function
    )


def _falls(body: Node) -> bool:
    """Whether a body surely has a way to its end, where it gives nothing."""
    last = _last(body)
    if last is None or last.type in _LEAVES:
        return False
    if last.type == "if_statement":
        branches = [one for one in last.named_children if one.type.startswith(("else", "elif"))]
        taken = last.child_by_field_name("consequence")
        has_else = any(one.type.startswith("else") for one in branches)
        bodies = [one.child_by_field_name("body") or _last(one) for one in branches]
        ends = [one for one in (taken, *bodies) if one is not None]
        return not has_else or any(_falls(one) for one in ends if one.type.endswith("block"))
    return last.type in _PLAIN or last.type in ("for_statement", "for_in_statement")
