"""Follow calls: the Python function that a call means, and the value that a caller passes."""

import re
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code.definitions import (
    Definition,
    definitions_in,
    enclosing_functions,
    parameter_names,
)
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.syntax import nodes_in, root_of, rows_of, statement_at, text_of, uses
from nightwatch_core.code.value_flow import origin_of_name, unwrapped
from nightwatch_core.models.answer import Evidence
from nightwatch_core.rules.findings import (
    DEFINING_FILES,
    HEAD_LINES,
    LINE,
    Context,
    FailingLine,
    line_of_frame,
    quoted,
)

# Imports: which lines import, and whether one leads to a file of the repository.

_FROM = re.compile(r"\s*from\s+(?P<dots>\.*)(?P<module>[\w.]*)\s+import\s+(?P<names>[^#]+)")
_IMPORT = re.compile(r"\s*import\s+(?P<module>[\w.]+)(?:\s+as\s+(?P<alias>\w+))?\s*(?:#.*)?$")


def is_import(text: str) -> bool:
    """Return whether a line imports something.

    >>> is_import("from a import b"), is_import("const a = require('a')"), is_import("important()")
    (True, True, False)
    """
    return bool(re.match(r"\s*(?:import|from|require|use)\b|.*\brequire\(", text[:1_000]))


def importers(
    name: str, failing: FailingLine, context: Context
) -> tuple[str, tuple[Evidence, ...]]:
    """Quote the first other file that imports the name; nothing where none does."""
    for hit in context.code.search(name).hits:
        is_other = hit.path != failing.path and not TEST.search(hit.path)
        if is_other and language_of(hit.path) == failing.language and _binds(name, hit.text):
            text = f"; {hit.path}:{hit.line} has `{hit.text.strip()[:120]}`"
            return text, (quoted(hit.path, hit.line, hit.text, "how another file imports it"),)
    return "", ()


def _binds(name: str, text: str) -> bool:
    """Return whether a line imports the name itself, not only something out of it.

    >>> _binds("a", "from b import c, a"), _binds("a", "from a import b"), _binds("a", "x = f(a)")
    (True, False, False)
    >>> _binds("a", "const { a } = require('./b');"), _binds("a", "require('./b')(a);")
    (True, False)
    """
    own = rf"(?<![\w$.]){re.escape(name)}(?![\w$])"
    python = re.match(r"\s*(?:from\s+\S+\s+)?import\s+([^'\"#]{1,300})(?:#.*)?$", text[:1_000])
    if python:
        return any(re.search(own, part.split(" as ")[-1]) for part in python[1].split(","))
    head = re.match(
        r"\s*(?:import\s+(?P<esm>.{1,300}?)\s+from\b|(?:const|let|var)\s+(?P<names>.{1,300}?)\s*="
        r"\s*require\()",
        text[:1_000],
    )
    return bool(head and re.search(own, head["esm"] or head["names"]))


def _imports_from(name: str, path: str, target: str, context: Context) -> bool:
    """Return whether the head of a Python file imports the name from the file `target`."""
    text = "\n".join(row[:LINE] for row in context.code.lines(path, 1, HEAD_LINES).values())
    text = re.sub(r"\(([^()]{0,3000})\)", lambda match: " ".join(match[1].split()), text)
    for row in text.split("\n"):
        if match := _FROM.match(row):
            given = (re.split(r"\s+as\s+", part.strip()) for part in match["names"].split(","))
            real = next((part[0] for part in given if part[-1] == name), "")
            modules = (match["module"], f"{match['module']}.{real}") if real else ()
            if any(leads_to(module, len(match["dots"]), path, target) for module in modules):
                return True
        elif (plain := _IMPORT.match(row)) and (plain["alias"] or plain["module"]) == name:
            return leads_to(plain["module"], 0, path, target)
    return False


def leads_to(module: str, dots: int, path: str, target: str) -> bool:
    """Return whether a Python module, of an import in the file at `path`, is the file `target`.

    >>> leads_to("shop.store", 0, "app/views.py", "shop/store.py")
    True
    >>> leads_to("forms", 0, "shop/views.py", "other/forms.py")
    False
    >>> leads_to("store", 1, "shop/views.py", "shop/store.py")
    True
    """
    expected = target.removesuffix(".py").removesuffix("/__init__").split("/")
    parts = [part for part in module.split(".") if part]
    own = path.split("/")[:-1]
    if dots:
        return expected == [*own[: len(own) - dots + 1], *parts]
    if not parts or expected[-len(parts) :] != parts:
        return False
    root = expected[: -len(parts)]
    return own[: len(root)] == root or root in (["src"], ["lib"])


# Calls, and the function of the repository that one means.

_DYNAMIC = re.compile(r"\b(?:__getattr__|__getattribute__|setattr)\b")  # defines names unseen


class Call(NamedTuple):
    """A call as it is written: the receiver's node (None: there is none) and the bare name."""

    node: Node
    receiver: Node | None
    name: str


class KnownFunction(NamedTuple):
    """A function of the repository: its file, the file's tree and the definition."""

    path: str
    root: Node
    definition: Definition


def call_of(node: Node) -> Call | None:
    """Read a call in any language; None where it is another expression, or a call of no name."""
    if node.type in ("await_expression", "await"):
        return call_of(node.named_children[-1]) if node.named_children else None
    method, name = node.child_by_field_name("method"), node.child_by_field_name("name")
    if node.type == "call" and method:  # Ruby's
        return Call(node, node.child_by_field_name("receiver"), text_of(method))
    owner = {
        "method_invocation": "object",
        "member_call_expression": "object",
        "scoped_call_expression": "scope",
    }.get(node.type)
    if owner and name:
        return Call(node, node.child_by_field_name(owner), text_of(name))
    function = node.child_by_field_name("function")
    if function is None:
        return None
    if function.type in ("identifier", "name"):
        return Call(node, None, text_of(function))
    fields = ("attribute", "property", "field", "name")
    member = next((item for f in fields if (item := function.child_by_field_name(f))), None)
    values = ("object", "operand", "expression")
    receiver = next((item for f in values if (item := function.child_by_field_name(f))), None)
    return Call(node, receiver, text_of(member)) if member and receiver else None


def known_function(call: Call, path: str, root: Node, context: Context) -> KnownFunction | None:
    """Find the only Python function that a call in a file can mean."""
    if len(call.name) < 2 or language_of(path).name != "python":
        return None
    found = context.code.search(call.name)
    name = re.escape(call.name)
    head = re.compile(rf"\b(?:def|class)\s+{name}\b|\b{name}\s*(?::[^=]+)?=(?!=)")
    hits = [
        hit
        for hit in found.hits
        if language_of(hit.path).name == "python"
        and not TEST.search(hit.path)
        and uses(call.name, hit.text)
        and (head.search(hit.text[:1_000]) or _DYNAMIC.search(hit.text))
    ]
    files = {hit.path: context.code.whole(hit.path) for hit in hits[: DEFINING_FILES + 1]}
    is_sure = found.complete and len(files) <= DEFINING_FILES and all(files.values())
    if not is_sure or any(_DYNAMIC.search(hit.text) for hit in hits):
        return None
    places = [
        (target, definition)
        for target, lines in files.items()
        for definition in definitions_in(target, "\n".join(lines or ()))
        if definition.name == call.name
    ]
    if len(places) != 1 or places[0][1].kind == "class":
        return None
    target, definition = places[0]
    tree = root_of(target, "\n".join(files[target] or ()))
    if tree is None or not _is_meant(call, path, root, target, definition, context):
        return None
    return KnownFunction(target, tree, definition)


def _is_meant(
    call: Call, path: str, root: Node, target: str, definition: Definition, context: Context
) -> bool:
    inside = _class_at(target, definition.line, context)
    owner = text_of(call.receiver) if call.receiver else ""
    if owner in ("self", "cls"):
        lines = context.code.whole(path) or ()
        own = _class_at(path, call.node.start_point[0] + 1, context)
        bases = re.findall(r"[A-Z]\w*", lines[own.line - 1][:LINE]) if own else []
        names = (own.name, *bases) if own else ()
        return path == target and inside is not None and inside.name in names
    name = owner or call.name
    origin = origin_of_name(root, name, call.node)
    is_own = origin and path == target and origin.node.start_point[0] + 1 == definition.line
    functions = enclosing_functions(call.node)
    is_local = any(name in parameter_names(function) for function in functions)
    if inside or (origin and not is_own) or is_local or not re.fullmatch(r"\w+", name):
        return False
    return (not owner and path == target) or _imports_from(name, path, target, context)


def _class_at(path: str, line: int, context: Context) -> Definition | None:
    lines = context.code.whole(path) or ()
    defined = definitions_in(path, "\n".join(lines))
    around = (item for item in defined if item.kind == "class" and item.line < line <= item.end)
    return max(around, key=lambda item: item.line, default=None)


# The value that the calling frame of a trace passes for a parameter, where its line has one call.

_SPLATS = re.compile(r"splat|spread|variadic|unpack|block_argument|forward")
_LENIENT = frozenset(  # JavaScript's functions, of which arguments may be left out
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
    """Find the value that the calling frame passes for a parameter; None where unclear."""
    caller = _caller(failing, context)
    called = _name_of(function)
    lines = context.code.whole(caller.path) if caller and caller.seen else None
    root = root_of(caller.path, "\n".join(lines)) if caller and lines else None
    if caller is None or root is None or not called:
        return None
    call = _only_call(called, root, caller.line)
    parameters = parameter_names(function)
    if parameters[:1] in (("self",), ("cls",)) and call and call.receiver is not None:
        parameters = parameters[1:]
    if call is None or name not in parameters:
        return None
    arguments = call.node.child_by_field_name("arguments")
    given = (
        [item for item in arguments.named_children if item.type != "comment"] if arguments else []
    )
    if any(_SPLATS.search(item.type) for item in (*given, *_written(function))):
        return None
    for item in given:
        key = item.child_by_field_name("name") or item.child_by_field_name("key")
        if item.type in _NAMED and key is not None and text_of(key).strip(":") == name:
            return Given(caller, root, unwrapped(item.child_by_field_name("value") or item))
    plain = [item for item in given if item.type not in _NAMED]
    if any(item.type == "argument" and item.named_child_count != 1 for item in plain):
        return None  # named ones of C# and PHP
    at = parameters.index(name)
    if at < len(plain):
        node = plain[at].named_children[0] if plain[at].type == "argument" else plain[at]
        return Given(caller, root, unwrapped(node))
    return Given(caller, root, None) if _is_nothing_without(name, function) else None


def _caller(failing: FailingLine, context: Context) -> FailingLine | None:
    trace = context.case.trace
    frames = trace.root.frames if trace else ()
    for inner, outer in zip(frames, frames[1:], strict=False):
        path = context.code.resolved(inner.repo_path or inner.path)
        if path == failing.path and inner.function == failing.function:
            is_ours = outer.in_app and bool(outer.line)
            return line_of_frame(outer, context) if is_ours else None
    return None


def _name_of(function: Node) -> str:
    """Return the name under which a function is called: its own, or what it is assigned to."""
    own, above = function.child_by_field_name("name"), function.parent
    if own is None and above is not None and above.type in _GIVES_NAMES:
        fields = ("left", "name", "key")
        own = next((item for field in fields if (item := above.child_by_field_name(field))), None)
    property_ = own.child_by_field_name("property") if own is not None else None
    return text_of(property_ or own) if own is not None else ""


def _only_call(name: str, root: Node, line: int) -> Call | None:
    statement = statement_at(root, line - 1)
    rows = rows_of(statement, line - 1) if statement else (0, -1)
    nodes = nodes_in(statement, *rows) if statement else ()
    calls = [call for node in nodes if (call := call_of(node)) and call.name == name]
    once = {call.node.id: call for call in calls}
    return next(iter(once.values())) if len(once) == 1 else None


def _written(function: Node) -> tuple[Node, ...]:
    parameters = function.child_by_field_name("parameters")
    return tuple(parameters.named_children) if parameters else ()


def _is_nothing_without(name: str, function: Node) -> bool:
    for item in _written(function):
        own = item.child_by_field_name("name") or item.child_by_field_name("pattern") or item
        if text_of(own) == name:
            value = item.child_by_field_name("value") or item.child_by_field_name("default_value")
            if value is not None:
                return text_of(value) in ("None", "nil", "null", "undefined")
            return function.type in _LENIENT and item.type in _OPTIONAL
    return False
