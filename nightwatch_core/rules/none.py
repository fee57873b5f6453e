"""Find the expression that was None, and the only place that can have made it so."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code import syntax, value_flow
from nightwatch_core.code.definitions import enclosing_functions, parameter_names
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.answer import Learning
from nightwatch_core.rules.findings import (
    HEAD_LINES,
    LINE,
    NONE_CANDIDATES,
    Context,
    FailingLine,
    Finding,
    definitions,
    is_import,
    line_of_frame,
    quoted,
    raised_in_dependency,
    tree_of,
)

_NOTHING_WORDS = frozenset(("None", "nil", "null", "undefined"))
_NOTHING = frozenset(("none", "nil", "null", "null_literal", "undefined"))
_VALUES = re.compile(  # types of nodes that are never nothing
    r"string|template|integer|float|number|array$|list$|dictionary|object$|hash|set$|tuple"
    r"|object_creation|new_expression|composite_literal|lambda|arrow_function|regex|literal_value"
    r"|list_comprehension|func_literal|this$|self$|super$|base|array_creation|int_literal"
)
_SELF = frozenset(("self", "cls", "this", "super", "$this", "base"))
_CALLS = re.compile(r"call|invocation|await")  # types of nodes


class Candidate(NamedTuple):
    """An expression that may be nothing; `node` is None where the message alone names it."""

    text: str
    node: Node | None


def none_receiver(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the expression that was None where only one can be, and where it got its value."""
    none = "null" if " null" in symptom.text else failing.language.none
    language = failing.language.model_copy(update={"none": none})
    failing = failing.model_copy(update={"language": language})
    place, outside = failing.place, raised_in_dependency(context)
    root = tree_of(failing, context)
    if outside or root is None or failing.language.name == "go":  # Go's message names nothing
        what = f"{outside}, which {place} led to" if outside else place
        return _unknown(f"what is {none} in {what}")
    candidates = _candidates(symptom, value_flow.asked_at(root, failing.line - 1), failing)
    possible = [item for item in candidates if not _is_something(item, root)]
    if len(candidates) > NONE_CANDIDATES or not possible or not all(i.text for i in possible):
        return _unknown(f"what is {none} in {place}")
    if guarded := _guarded(possible, failing, context):
        return guarded
    is_named = symptom.name or symptom.receiver or failing.language.name == "python"
    if len(possible) > 1 or not is_named:  # else what the line does besides may be meant, too
        names = ", ".join(f"`{item.text}`" for item in possible[:4])
        return _unknown(f"what is {none} in {place}", f"what is used there: {names}")
    text, node = possible[0]
    finding = Finding(
        because=(f"`{text}` is {none} in {place}.",),
        tags=("none-receiver",),
        subject=f"`{text}` is {none}",
        unknown=f"why `{text}` is {none} in {place}",
    )
    source = _cause_of(node, root, failing, context) if node is not None else Finding()
    given = given_at(node, failing, context) if node is not None else ""
    return finding + source + Finding(value=f"`{text}` is {none}{given}")


def given_at(node: Node, failing: FailingLine, context: Context) -> str:
    """Tell which statement gave a name its value; empty where that is not certain."""
    root, name = tree_of(failing, context), syntax.text_of(node)
    origin = value_flow.origin_of_name(root, name, node) if root and _is_name(node) else None
    if origin is None or origin.value is None:
        return ""
    value, line = value_flow.written(origin.value)[:80], origin.node.start_point[0] + 1
    return f"; {failing.path}:{line} takes it from `{value}`" if value else ""


def _unknown(what: str, value: str = "") -> Finding:
    return Finding(tags=("none-receiver",), unknown=what, value=value)


# Which values of the failing statement may be the None that the message speaks of.


def _candidates(
    symptom: Symptom, asked: tuple[value_flow.Asked, ...], failing: FailingLine
) -> tuple[Candidate, ...]:
    """List the expressions that the message may mean."""
    if symptom.receiver:
        plain = symptom.receiver.removeprefix("this.")
        values = (item.value for item in asked)
        same = (v for v in values if value_flow.written(v).removeprefix("this.") == plain)
        return _once(same) or (Candidate(symptom.receiver, None),)
    if symptom.name in ("[]", "[]="):
        return _once(item.value for item in asked if item.how == "element")
    if symptom.name:
        return _once(item.value for item in asked if item.member == symptom.name)
    if failing.language.name != "python":
        return _once(item.value for item in asked)
    is_element = symptom.use == "subscriptable" or "item assignment" in symptom.text
    how = "element" if is_element else "called" if symptom.use == "callable" else ""
    return _once(item.value for item in asked if item.how == how)


def _guarded(possible: list[Candidate], failing: FailingLine, context: Context) -> Finding | None:
    nodes = ((item.text, item.node) for item in possible if item.node is not None)
    guards = [(text, line) for text, node in nodes if (line := value_flow.own_guard(node))]
    if len(guards) != 1:
        return None
    (name, line), none = guards[0], failing.language.none
    text = (context.code.whole(failing.path) or ())[line - 1]
    return Finding(
        because=(
            f"{failing.path}:{line} checks whether `{name}` is {none}, and {failing.place} uses "
            "it where it is.",
        ),
        evidence=(quoted(failing.path, line, text, "true if the value is missing"),),
        tags=("none-receiver",),
        subject=f"`{name}` is {none}",
        steps=(f"Do not use `{name}` below {failing.path}:{line}.",),
        explained=True,
    )


def _once(nodes: Iterable[Node]) -> tuple[Candidate, ...]:
    by_text: dict[str, Node] = {}
    for node in nodes:
        text = value_flow.written(node) or f"\0{node.start_byte}"
        by_text.setdefault(text, value_flow.unwrapped(node))
    return tuple(Candidate("" if text[0] == "\0" else text, node) for text, node in by_text.items())


def _is_something(candidate: Candidate, root: Node) -> bool:
    """Return whether an expression is never nothing."""
    node, text = candidate.node, candidate.text
    if node is None:
        return False
    if text in _SELF or _VALUES.match(node.type):
        return True
    origin = value_flow.origin_of_name(root, text, node) if _is_name(node) else None
    if origin is None or origin.value is None or origin.is_part:
        return False
    return bool(_VALUES.match(value_flow.unwrapped(origin.value).type))


def _is_name(node: Node) -> bool:
    return node.type in ("identifier", "variable_name")


# Why a value is None: a literal, a call, a function's exit. Nothing is claimed where several
# statements can have given the value.


def _cause_of(node: Node, root: Node, failing: FailingLine, context: Context) -> Finding:
    """Find why an expression of the line is None; `explained` where that is proved."""
    node = value_flow.unwrapped(node)
    if not _is_name(node):
        return _from_function(node, failing.line, root, failing, context)
    origin = value_flow.origin_of_name(root, syntax.text_of(node), node)
    if origin and origin.value is None:
        return _from_caller(syntax.text_of(node), origin.node, failing, context)
    # where the code asks, nobody knows how None came here all the same
    if origin is None or value_flow.is_tested(syntax.text_of(node), origin.node, node):
        return Finding()
    return _from_value(syntax.text_of(node), origin, root, failing, context)


def _from_value(
    name: str, origin: value_flow.Origin, root: Node, failing: FailingLine, context: Context
) -> Finding:
    value = value_flow.unwrapped(origin.value or origin.node)
    line, none = origin.node.start_point[0] + 1, failing.language.none
    place, text = f"{failing.path}:{line}", value_flow.written(value)
    row = (context.code.whole(failing.path) or ())[line - 1]
    own = quoted(failing.path, line, row, f"`{name}` is assigned here")
    if value.type in _NOTHING and text == none:
        because = f"{place} sets it to {none}, and nothing in {failing.path} sets it after that."
        return Finding(because=(because,), evidence=(own,), explained=True)
    if not _CALLS.search(value.type) or line == failing.line or not text:
        return Finding()
    here = Finding(evidence=(own,))
    what = "part of what" if origin.is_part else "what"
    source = None if origin.is_part else _from_function(value, line, root, failing, context)
    if source and source.explained:
        return here + source
    return here + Finding(
        because=(
            f"It is {what} `{text[:120]}` returned in {place}, and no line in between checks it.",
        ),
        explained=True,
        steps=(f"Decide what to do where {place} returns {none}.",),
    )


# A parameter that the caller leaves out.

_NAMED_OR_MORE = re.compile(r"splat|spread|variadic|unpack|block_argument|forward|keyword|pair")
_LENIENT = frozenset(  # JavaScript's functions, of which arguments may be left out
    ("function_declaration", "function_expression", "method_definition", "arrow_function")
)


def _from_caller(name: str, function: Node, failing: FailingLine, context: Context) -> Finding:
    caller, none = caller_of(failing, context), failing.language.none
    given = _given(function, caller, context) if _may_lack(name, function) else None
    if caller is None or given is None or len(given) > _position(name, function):
        return Finding()
    if any(_NAMED_OR_MORE.search(item.type) for item in given):
        return Finding()
    return Finding(
        because=(f"{caller.place} omits `{name}`, so it is {none}.",),
        evidence=(caller.evidence(f"omits `{name}`"),),
        explained=True,
    )


def argument_of(
    name: str, function: Node, caller: FailingLine | None, context: Context
) -> Node | None:
    """Return what the caller's line passes as a parameter, in its only call of the function."""
    given, at = _given(function, caller, context) or [], _position(name, function)
    for item in given:
        key = item.child_by_field_name("name") or item.child_by_field_name("key")
        if key and syntax.text_of(key) == name:
            return item.child_by_field_name("value")
    is_sure = not any(_NAMED_OR_MORE.search(item.type) for item in given[: at + 1])
    return given[at] if is_sure and at < len(given) else None


def _position(name: str, function: Node) -> int:
    own = (own for own in parameter_names(function) if own not in ("self", "cls"))
    return (*own, name).index(name)


def _given(function: Node, caller: FailingLine | None, context: Context) -> list[Node] | None:
    """Return the arguments of the only call of a function in a line; None for no such call."""
    called = _name_of(function)
    root = tree_of(caller, context) if caller and called else None
    statement = syntax.statement_at(root, caller.line - 1) if root and caller else None
    nodes = syntax.nodes_in(statement) if statement else ()
    calls = [found for node in nodes if (found := _arguments_for(called, node))]
    return [i for i in calls[0].named_children if i.type != "comment"] if len(calls) == 1 else None


def caller_of(failing: FailingLine, context: Context) -> FailingLine | None:
    """Read the line that called the function of a frame."""
    trace = context.case.trace
    frames = trace.root.frames if trace else ()
    name = failing.function
    for inner, outer in zip(frames, frames[1:], strict=False):
        path = context.code.resolved(inner.repo_path or inner.path)
        if path == failing.path and inner.function == name:
            if (
                outer.path == inner.path
                and outer.function
                and name.endswith(f" in {outer.function}")
            ):
                name = outer.function  # Ruby prints a frame of its own for a method's `rescue`
                continue
            caller = line_of_frame(outer, context) if outer.in_app and outer.line else None
            return None if caller and caller.place == failing.place else caller
    return None


def _name_of(function: Node) -> str:
    """Return the name under which a function is called: its own, or what it is assigned to."""
    own, above = function.child_by_field_name("name"), function.parent
    if own is None and above is not None:
        own = above.child_by_field_name("left") or above.child_by_field_name("name")
    return re.split(r"\W", syntax.text_of(own))[-1] if own is not None else ""


def _arguments_for(name: str, node: Node) -> Node | None:
    """Return the argument list of a node that calls the name."""
    fields = map(node.child_by_field_name, ("function", "method", "name"))
    own = next(filter(None, fields), None)
    is_named = own is not None and re.split(r"\W", syntax.text_of(own))[-1] == name
    return node.child_by_field_name("arguments") if is_named else None


def _may_lack(name: str, function: Node) -> bool:
    """Return whether a parameter is nothing where it is left out."""
    parameters = function.child_by_field_name("parameters")
    for item in parameters.named_children if parameters else ():
        own = item.child_by_field_name("name") or item.child_by_field_name("pattern") or item
        if syntax.text_of(own) == name:
            value = item.child_by_field_name("value")
            return syntax.text_of(value) in _NOTHING_WORDS if value else function.type in _LENIENT
    return False


# The Python function of the repository that a call means, and where it returns None.

_DYNAMIC = re.compile(r"\b(?:__getattr__|__getattribute__|setattr)\b")  # defines names unseen
_KEPT = re.compile(r"@(?:static|class|cached_)|property|lru_cache|@cache\b|wraps|override|final")


class KnownFunction(NamedTuple):
    """A function of the repository: its file, name, line and node."""

    path: str
    name: str
    line: int
    node: Node


def _known_function(
    call: Node, root: Node, failing: FailingLine, context: Context
) -> KnownFunction | None:
    """Find the only function, at the top of a Python file, that a call can mean."""
    function = call.child_by_field_name("function")
    if function is None or failing.language.name != "python":
        return None
    owner, _, name = syntax.text_of(function).rpartition(".")
    if len(name) < 2 or not re.fullmatch(r"\w*", owner):
        return None
    defined = definitions(name, failing.language, context.code)
    is_dynamic = any(_DYNAMIC.search(hit.text) for hit in context.code.search(name).hits)
    if len(defined.hits) != 1 or not defined.complete or is_dynamic:
        return None
    path, line, text = defined.hits[0].path, defined.hits[0].line, defined.hits[0].text
    lines = context.code.whole(path)
    tree = syntax.root_of(path, "\n".join(lines)) if lines else None
    if tree is None or language_of(path).name != "python" or text[:1].isspace():
        return None
    origin = value_flow.origin_of_name(root, owner or name, call)
    is_own = not owner and path == failing.path
    is_local = any(
        (owner or name) in parameter_names(item) for item in enclosing_functions(call)
    ) or (origin is not None and not (is_own and origin.node.start_point[0] + 1 == line))
    if is_local or not (is_own or _is_imported(owner or name, path, failing, context)):
        return None
    for node in syntax.nodes_in(tree, line - 1, line - 1):
        if node.type == "function_definition" and not _is_decorated(node):
            return KnownFunction(path, name, line, node)
    return None


def _is_imported(name: str, target: str, failing: FailingLine, context: Context) -> bool:
    """Return whether a row imports the name and names the module in the file `target`."""
    module = target.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]
    head = "\n".join(row[:LINE] for row in context.code.lines(failing.path, 1, HEAD_LINES).values())
    head = re.sub(r"\(([^()]{0,3000})\)", lambda match: " ".join(match[1].split()), head)
    rows = (row for row in head.split("\n") if is_import(row))
    return any(syntax.uses(name, row) and syntax.uses(module, row) for row in rows)


def _is_decorated(function: Node) -> bool:
    """Return whether a decorator may give something else than the function."""
    above = function.parent
    marks = above.named_children if above and above.type == "decorated_definition" else []
    decorators = (syntax.text_of(item) for item in marks if item.type == "decorator")
    return not all(map(_KEPT.search, decorators))


def _from_function(
    call: Node, line: int, root: Node, failing: FailingLine, context: Context
) -> Finding:
    callee = _known_function(call, root, failing, context)
    exits = value_flow.none_exits(callee.node) if callee else ()
    if callee is None or not exits:
        return Finding()
    none, name, first = failing.language.none, callee.name, exits[0].line
    lines = context.code.whole(callee.path) or ()
    place, called = f"{callee.path}:{callee.line}", f"{failing.path}:{line}"
    newer = ""
    if len(exits) == 1 and context.added(callee.path, first, lines[first - 1]):
        newer = context.newer(callee.path, first, failing.path, failing.line)
    ways = "; ".join(
        f"{callee.path}:{item.line} returns {none}"
        + (f" where `{item.when[:120]}`" * bool(item.when))
        for item in exits[:3]
    )
    gives = quoted(callee.path, first, lines[first - 1], f"`{name}` returns {none} here")
    fact = f"`{name}` in {place} can return {none} ({callee.path}:{first})."
    because = f"{called} calls `{name}` ({place}), which returned it: {ways}"
    return Finding(
        because=(because + (f"; {newer}, after its caller was written." if newer else "."),),
        evidence=(gives,),
        fault=gives if newer else None,
        changed=((callee.path, first),) if newer else (),
        explained=True,
        learnings=(Learning(fact=fact, path=callee.path, line=first),),
        steps=(f"Decide whether `{name}` may return {none}; if so, check for it in {called}.",),
    )
