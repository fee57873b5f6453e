"""Which values of the failing statement may be the None that the message speaks of."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code.definitions import functions_around_bindings as functions_around
from nightwatch_core.code.languages import Language
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.code.syntax import nodes_in, rows_of, statement_at, text_of
from nightwatch_core.code.value_flow import (
    Asked,
    asked_at,
    asked_before,
    origin_of_name,
    unwrapped,
    written,
)

_OPERATORS = re.compile(
    r"operand type\(s\) for (?P<binary>[^:\s]{1,4})=?: '(?P<left>\w+)' and '(?P<right>\w+)'"
    r"|'(?P<compared>[<>=!]{1,2})' not supported between instances of '(?P<first>\w+)' and"
    r" '(?P<second>\w+)'"
)
_TAKERS = frozenset(
    ("list", "tuple", "set", "sorted", "sum", "any", "all", "enumerate", "min", "max", "dict")
)
_VALUES = re.compile(  # types of nodes that are never nothing
    r"string|template|integer|float|number|array$|list$|dictionary|object$|hash|set$|tuple"
    r"|object_creation|new_expression|composite_literal|lambda|arrow_function|regex|literal_value"
    r"|list_comprehension|func_literal|this$|self$|super$|base|array_creation|int_literal"
)
_RUBY_OPERATORS = {"binary": "{}", "operator_assignment": "{}="}
_FRAMEWORK = frozenset(
    ("Console", "Convert", "Math", "String", "Path", "File", "Task", "Guid", "DateTime", "Enum")
)
_TYPED: dict[str, Callable[[str], object]] = {  # names that are types, and no fields
    "java": re.compile(r"[A-Z]\w*[a-z]\w*$").match,
    "csharp": _FRAMEWORK.__contains__,  # its properties begin with capitals, too
}
_SELF = frozenset(("self", "cls", "this", "super", "$this", "base"))
_NIL_SAFE = frozenset(  # what nil, too, answers
    (
        *("nil?", "to_s", "to_a", "to_i", "to_h", "to_f", "inspect", "blank?", "present?", "try"),
        *("presence", "is_a?", "class", "respond_to?", "object_id", "dup", "frozen?", "hash"),
        *("instance_of?", "kind_of?", "then", "tap", "in?", "instance_variable_get", "as_json"),
        *("to_json", "to_param", "to_query", "send", "public_send", "method", "methods", "freeze"),
    )
)


class Candidate(NamedTuple):
    """An expression that may be nothing; `node` is None where the message alone names it."""

    text: str
    node: Node | None


def candidates_for(
    symptom: Symptom, root: Node, line: int, language: Language
) -> tuple[Candidate, ...]:
    """List the expressions of the statement at a line, from 1, that the message may mean."""
    asked = asked_at(root, line - 1)
    if symptom.receiver:
        return _of_receiver(symptom.receiver, asked)
    if symptom.name:
        return _once(_named(symptom.name, asked, root, line))
    statement = statement_at(root, line - 1)
    if statement is None:
        return ()
    if language.name == "python":
        return _once(_used(symptom, asked, statement, line - 1))
    return _once(one.value for one in asked if not (one.how == "called" and _is_method(one, asked)))


def ruled_out(
    candidate: Candidate, root: Node, language: Language, packages: frozenset[str]
) -> str:
    """Say why an expression cannot be nothing; empty where nothing speaks against it."""
    node = candidate.node
    if node is None:
        return ""
    if candidate.text in _SELF or _VALUES.match(node.type):
        return "it is always something"
    if candidate.text in packages or (node.type == "unary_expression" and _is_address(node)):
        return "it is no value that may be missing"
    if node.type not in ("identifier", "variable_name"):
        return ""
    origin = origin_of_name(root, candidate.text, node)
    if language.name in _TYPED and origin is None and _TYPED[language.name](candidate.text):
        return "it is a type"
    if origin and origin.value is not None and origin.position < 0:
        value = unwrapped(origin.value)
        if _VALUES.match(value.type) or _is_address(value):
            return f"line {origin.node.start_point[0] + 1} gives it a value"
    before = next((o for o in asked_before(node, candidate.text) if _proves(o, language)), None)
    if before is not None:
        return f"line {before.node.start_point[0] + 1} uses it before"
    return "it is no pointer" if language.name == "go" and _is_struct(node) else ""


def _of_receiver(receiver: str, asked: tuple[Asked, ...]) -> tuple[Candidate, ...]:
    """What a message names itself, as the statement has it."""
    plain = receiver.removeprefix("this.")
    called = re.split(r"[.]", receiver.split("(", 1)[0])[-1] if "(" in receiver else ""
    for one in asked:
        value = unwrapped(one.value)
        name = value.child_by_field_name("name")
        is_called = value.type == "method_invocation" and name and text_of(name) == called
        if one.text.removeprefix("this.") == plain or (called and is_called):
            return (Candidate(one.text, value),)
    return (Candidate(f"{called}()" if called else receiver, None),)


def _named(name: str, asked: tuple[Asked, ...], root: Node, line: int) -> Iterator[Node]:
    """Values that are asked for a member of this name."""
    if name in ("[]", "[]="):
        yield from (one.value for one in asked if one.how == "element")
        return
    yield from (one.value for one in asked if one.how == "member" and one.member == name)
    statement = statement_at(root, line - 1)
    rows = rows_of(statement, line - 1) if statement else (0, -1)
    for node in nodes_in(root, *rows) if statement else ():
        inside = rows[0] <= node.start_point[0] <= rows[1]
        operator = _RUBY_OPERATORS.get(node.type, "-").format(name)
        if inside and operator == _operator(node):
            yield from _field(node, "left")
        elif inside and node.type == "variable_declarator":
            target = node.child_by_field_name("name")
            if target is not None and target.type == "object_pattern" and _takes(target, name):
                yield from _field(node, "value")


def _used(symptom: Symptom, asked: tuple[Asked, ...], statement: Node, row: int) -> Iterator[Node]:
    """Values of a Python statement that are used in the way the message complains of."""
    start, end = rows_of(statement, row)
    nodes = [n for n in nodes_in(statement, start, end) if start <= n.start_point[0] <= end]
    operation = _OPERATORS.search(symptom.text)
    if operation:
        yield from _operands(operation, nodes)
    elif symptom.use == "subscriptable" or "item assignment" in symptom.text:
        yield from (one.value for one in asked if one.how == "element")
    elif symptom.use == "callable":
        yield from (one.value for one in asked if one.how == "called")
    elif "has no len" in symptom.text:
        yield from _arguments(nodes, frozenset(("len",)))
    elif "argument of type" in symptom.text:
        for node in nodes:
            if node.type == "comparison_operator" and any(c.type == "in" for c in node.children):
                yield node.named_children[-1]
    elif symptom.use == "iterable":
        yield from _arguments(nodes, _TAKERS)
        for node in nodes:
            if node.type in ("for_statement", "for_in_clause"):
                yield from _field(node, "right")
            elif node.type in ("list_splat", "dictionary_splat"):
                yield from node.named_children[:1]
            elif node.type == "assignment" and (left := node.child_by_field_name("left")):
                yield from _field(node, "right") if left.type.endswith(("_list", "pattern")) else ()


def _operands(operation: re.Match[str], nodes: list[Node]) -> Iterator[Node]:
    """The operands that are None, of every use of the operator that the message names."""
    binary = operation["binary"] is not None
    sides = (
        (operation["left"], operation["right"])
        if binary
        else (operation["first"], operation["second"])
    )
    for node in nodes:
        kinds = ("binary_operator", "augmented_assignment") if binary else ("comparison_operator",)
        sign = operation["binary"] or operation["compared"]
        if node.type not in kinds or not any(
            c.type.rstrip("=") == sign.rstrip("=") for c in node.children
        ):
            continue
        operands = (node.named_children[0], node.named_children[-1])
        yield from (one for one, kind in zip(operands, sides, strict=True) if kind == "NoneType")


def _arguments(nodes: list[Node], functions: frozenset[str]) -> Iterator[Node]:
    for node in nodes:
        function = node.child_by_field_name("function")
        given = node.child_by_field_name("arguments")
        if function and given and text_of(function) in functions and given.named_child_count:
            yield given.named_children[0]


def _takes(pattern: Node, name: str) -> bool:
    names = (n for n in pattern.named_children)
    return any(text_of(one.child_by_field_name("key") or one) == name for one in names)


def _is_method(one: Asked, asked: tuple[Asked, ...]) -> bool:
    """Whether what is called is a member, whose value is asked itself."""
    return any(one.value == other.node for other in asked)


def _proves(one: Asked, language: Language) -> bool:
    """Whether asking this of nothing would have failed."""
    if language.name == "ruby":
        return one.member not in _NIL_SAFE
    if language.name in ("go", "csharp"):  # methods of nil pointers; extension methods
        return one.how == "member" and not one.is_call
    if language.name == "php":
        return one.is_call
    return one.how != "called" or language.name != "java"


def _is_address(node: Node) -> bool:
    return node.type == "unary_expression" and text_of(node).startswith("&")


def _is_struct(node: Node) -> bool:
    """Whether a Go parameter is of a plain type and a field is asked of it: then it is a value."""
    above, name = node.parent, text_of(node)
    if above is None or above.type != "selector_expression":
        return False
    is_called = above.parent is not None and above.parent.type == "call_expression"
    function = next(functions_around(node), None)
    parts = nodes_in(function) if function and not is_called else ()

    return any(
        one.type == "parameter_declaration"
        and name in [text_of(part) for part in one.children_by_field_name("name")]
        and (kind := one.child_by_field_name("type")) is not None
        and kind.type == "type_identifier"
        for one in parts
    )


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return text_of(operator) if operator else ""


def _field(node: Node, name: str) -> Iterator[Node]:
    child = node.child_by_field_name(name)
    if child is not None:
        yield child


def _once(nodes: Iterable[Node]) -> tuple[Candidate, ...]:
    by_text: dict[str, Node] = {}
    for node in nodes:
        by_text.setdefault(written(node) or f"\0{node.start_byte}", unwrapped(node))
    return tuple(Candidate(text.lstrip("\0"), node) for text, node in by_text.items())
