"""What the calling frame of a trace gave for a parameter, where its line shows one such call."""

import re
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code.bindings import parameter_names
from nightwatch_core.code.dereferences import unwrapped
from nightwatch_core.code.statements import nodes_in, root_of, rows_of, statement_at, text_of
from nightwatch_core.rules.findings import FailingLine, line_of_frame
from nightwatch_core.rules.known_callees import Call, call_of
from nightwatch_core.rules.known_code import Context

_SPLATS = re.compile(r"splat|spread|variadic|unpack|block_argument|forward")
# JavaScript's, of which arguments may be left out
_LENIENT = frozenset(
    ("function_declaration", "function_expression", "method_definition", "arrow_function")
)
_OPTIONAL = frozenset(("identifier", "optional_parameter", "required_parameter"))
_GIVES_NAMES = frozenset(("variable_declarator", "assignment_expression", "pair"))
_NAMED = frozenset(("keyword_argument", "pair"))


class Given(NamedTuple):
    """The caller's line, its file's tree, and the argument; None: it was left out."""

    caller: FailingLine
    root: Node
    node: Node | None


def given_from(name: str, function: Node, failing: FailingLine, context: Context) -> Given | None:
    """Find what the frame around the failing one gave for a parameter; None where unclear."""
    caller = _caller(failing, context)
    called = _name_of(function)
    lines = context.code.whole(caller.path) if caller and caller.seen else None
    root = root_of(caller.path, "\n".join(lines)) if caller and lines else None
    if caller is None or root is None or not called:
        return None
    call = _only_call(called, root, caller.line)
    parameters = _parameters(function, call)
    if call is None or name not in parameters:
        return None
    arguments = call.node.child_by_field_name("arguments")
    given = [one for one in arguments.named_children if one.type != "comment"] if arguments else []
    if any(_SPLATS.search(one.type) for one in (*given, *_written(function))):
        return None
    return _picked(name, parameters, given, function, Given(caller, root, None))


def _picked(
    name: str, parameters: tuple[str, ...], given: list[Node], function: Node, rest: Given
) -> Given | None:
    for one in given:
        key = one.child_by_field_name("name") or one.child_by_field_name("key")
        if one.type in _NAMED and key is not None and text_of(key).strip(":") == name:
            return rest._replace(node=unwrapped(one.child_by_field_name("value") or one))
    plain = [one for one in given if one.type not in _NAMED]
    if any(one.type == "argument" and one.named_child_count != 1 for one in plain):
        return None  # named ones of C# and PHP
    at = parameters.index(name)
    if at < len(plain):
        node = plain[at].named_children[0] if plain[at].type == "argument" else plain[at]
        return rest._replace(node=unwrapped(node))
    return rest if _is_nothing_without(name, function) else None


def _name_of(function: Node) -> str:
    """The name under which a function is called; that of what it is assigned to."""
    own, above = function.child_by_field_name("name"), function.parent
    if own is None and above is not None and above.type in _GIVES_NAMES:
        fields = ("left", "name", "key")
        own = next((one for field in fields if (one := above.child_by_field_name(field))), None)
    property_ = own.child_by_field_name("property") if own is not None else None
    return text_of(property_ or own) if own is not None else ""


def _caller(failing: FailingLine, context: Context) -> FailingLine | None:
    """The frame that stands next to the failing one, where that is one of ours."""
    trace = context.case.trace
    frames = trace.root.frames if trace else ()
    for inner, outer in zip(frames, frames[1:], strict=False):
        path = context.code.resolved(inner.repo_path or inner.path)
        if path == failing.path and inner.function == failing.function:
            is_ours = outer.in_app and bool(outer.line)
            return line_of_frame(outer, context) if is_ours else None
    return None


def _only_call(name: str, root: Node, line: int) -> Call | None:
    statement = statement_at(root, line - 1)
    start, end = rows_of(statement, line - 1) if statement else (0, -1)
    nodes = nodes_in(statement, start, end) if statement else ()
    calls = [call for node in nodes if (call := call_of(node)) and call.name == name]
    nodes_of = {call.node.id: call for call in calls}
    return next(iter(nodes_of.values())) if len(nodes_of) == 1 else None


def _parameters(function: Node, call: Call | None) -> tuple[str, ...]:
    names = parameter_names(function)
    receiver = function.child_by_field_name("receiver")
    if receiver is not None:  # Go's stands last
        names = names[: len(names) - receiver.named_child_count]
    is_method = bool(names) and names[0] in ("self", "cls") and call and call.receiver is not None
    return names[1:] if is_method else names


def _written(function: Node) -> tuple[Node, ...]:
    parameters = function.child_by_field_name("parameters")
    return tuple(parameters.named_children) if parameters else ()


def _is_nothing_without(name: str, function: Node) -> bool:
    """Whether a parameter that is left out is nothing."""
    for one in _written(function):
        own = one.child_by_field_name("name") or one.child_by_field_name("pattern") or one
        if text_of(own) != name:
            continue
        value = one.child_by_field_name("value") or one.child_by_field_name("default_value")
        if value is not None:
            return text_of(value) in ("None", "nil", "null", "undefined")
        return function.type in _LENIENT and one.type in _OPTIONAL
    return False
