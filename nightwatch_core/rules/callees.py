"""Find the function that a call means, by definitions and imports, and what a caller passes."""

import re
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code.definitions import (
    Definition,
    defined_name,
    definitions_in,
    parameter_names,
)
from nightwatch_core.code.definitions import enclosing_functions as functions_around
from nightwatch_core.code.languages import BULK, has_grammar, kind_of, language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.syntax import (
    masked,
    nodes_in,
    root_of,
    rows_of,
    statement_at,
    text_of,
    uses,
)
from nightwatch_core.code.value_flow import origin_of_name, unwrapped
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import (
    DEFINING_FILES,
    HEAD_LINES,
    LINE,
    Context,
    FailingLine,
    KnownCode,
    line_of_frame,
    quoted,
)

# Lines that import: which ones do, and how other files import a name.


def is_import(text: str) -> bool:
    """Tell whether a line imports something.

    >>> is_import("from a import b"), is_import("const a = require('a')"), is_import("important()")
    (True, True, False)
    """
    return bool(re.match(r"\s*(?:import|from|require|use)\b|.*\brequire\(", text[:1_000]))


def binds(name: str, text: str) -> bool:
    """Tell whether a line imports the name itself, not only something out of what it names.

    >>> binds("a", "from b import c, a"), binds("a", "from a import b"), binds("a", "x = f(a)")
    (True, False, False)
    >>> binds("a", "const { a } = require('./b');"), binds("a", "require('./b')(a);")
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


def importers(
    name: str, failing: FailingLine, context: Context
) -> tuple[str, tuple[Evidence, ...]]:
    """Say how other files import the name, and quote the first that does; nothing where none do."""
    rows = [
        hit
        for hit in context.code.search(name).hits
        if binds(name, hit.text)
        and hit.path != failing.path
        and not TEST.search(hit.path)
        and language_of(hit.path) == failing.language
    ]
    if not rows:
        return "", ()
    first = rows[0]
    import_text = f"; {first.path}:{first.line} has `{first.text.strip()[:120]}`"
    return import_text, (quoted(first.path, first.line, first.text, "how another file imports it"),)


# Whether an import of a file leads to another file of the repository.

_FROM = re.compile(r"\s*from\s+(?P<dots>\.*)(?P<module>[\w.]*)\s+import\s+(?P<names>[^#]+)")
_IMPORT = re.compile(r"\s*import\s+(?P<module>[\w.]+)(?:\s+as\s+(?P<alias>\w+))?\s*(?:#.*)?$")
_SUFFIX = re.compile(r"(?:\.d)?\.\w+$")


def imports_from(name: str, path: str, target: str, context: Context) -> bool:
    """Tell whether the head of the file at `path` imports the name from the file `target`."""
    rows = context.code.lines(path, 1, HEAD_LINES)
    language = language_of(path).name
    if language == "python":
        return any(_python(name, row, path, target) for row in _joined(rows))
    if language == "javascript":
        return any(_relative(name, row, path, target) for row in _joined(rows) if is_import(row))
    if language == "go":
        return any(_go(name, row[:LINE], target) for row in rows.values())
    return False


def leads_to(module: str, dots: int, path: str, target: str) -> bool:
    """Tell whether a Python module, of an import in the file at `path`, is the file `target`.

    >>> leads_to("shop.store", 0, "app/views.py", "shop/store.py")
    True
    >>> leads_to("forms", 0, "shop/views.py", "other/forms.py")
    False
    >>> leads_to("store", 1, "shop/views.py", "shop/store.py")
    True
    """
    expected = _SUFFIX.sub("", target).removesuffix("/__init__").split("/")
    parts = [part for part in module.split(".") if part]
    own = path.split("/")[:-1]
    if dots:
        return expected == [*own[: len(own) - dots + 1], *parts]
    if not parts or expected[-len(parts) :] != parts:
        return False
    root = expected[: -len(parts)]
    return own[: len(root)] == root or root in (["src"], ["lib"])


def _joined(rows: dict[int, str]) -> list[str]:
    """Rows of the file's head, an import of several rows as one."""
    text = "\n".join(row[:LINE] for row in rows.values())
    text = re.sub(r"\(([^()]{0,3000})\)", lambda m: " ".join(m[1].split()), text)
    text = re.sub(r"\{([^{}]{0,3000})\}", lambda m: "{" + " ".join(m[1].split()) + "}", text)
    return text.split("\n")


def _python(name: str, row: str, path: str, target: str) -> bool:
    match = _FROM.match(row)
    if match:
        given = (re.split(r"\s+as\s+", part.strip()) for part in match["names"].split(","))
        real = next((part[0] for part in given if part[-1] == name), "")
        dots = len(match["dots"])
        modules = (match["module"], f"{match['module']}.{real}")
        return bool(real) and any(leads_to(item, dots, path, target) for item in modules)
    plain = _IMPORT.match(row)
    if plain and (plain["alias"] or plain["module"]) == name:
        return leads_to(plain["module"], 0, path, target)
    return False


def _relative(name: str, row: str, path: str, target: str) -> bool:
    match = re.search(r"['\"](?P<module>(?:\.{1,2}|@|~|src)/[^'\"]{1,200})['\"]", row)
    if not match or not uses(name, row[: match.start()]):
        return False
    stem = _SUFFIX.sub("", target)
    stems = (stem, stem.removesuffix("/index"))
    module = re.sub(r"\.(?:[cm]?[jt]sx?)$", "", match["module"])
    if not module.startswith("."):
        return any(item.endswith("/" + module.split("/", 1)[1]) for item in stems)
    parts = path.split("/")[:-1]
    for step in module.split("/"):
        parts = parts[:-1] if step == ".." else parts if step == "." else [*parts, step]
    return "/".join(parts) in stems


def _go(name: str, row: str, target: str) -> bool:
    match = re.match(r"\s*(?:import\s+)?(?:(\w+)\s+)?\"([\w./~-]+)\"", row)
    folder = target.rpartition("/")[0]
    if not match or not folder or (match[1] or match[2].rsplit("/", 1)[-1]) != name:
        return False
    return match[2] == folder or match[2].endswith(f"/{folder}")


_OWN = frozenset(("self", "this", "cls", "$this", "static"))
_IS_USE = re.compile(r"(?:\.|->|::|&\.)\s*$")
_GIVES = re.compile(r"\s*(?::[^=]+)?=(?![=>])")
_AFTER = re.compile(r"\s*[(<:=]|\s*$|\s+[{(=]")
_BEFORE = re.compile(
    r"(?:\b(?:return|new|await|throw|not|in|and|or|yield|else|raise)|[=(,!&|?+\[-])\s*$"
)
_GENERATED = re.compile(r"DO NOT EDIT|@generated|[Aa]uto-?generated|Generated by|generated code")
_MAKES = re.compile(  # what defines names without saying so
    r"\b(?:define_method|method_missing|__getattr__|__getattribute__|setattr|attr_\w+|delegate"
    r"|alias_method|alias|scope|class_attribute|cattr_\w+|mattr_\w+|Object\.assign|__call|__get)\b"
)


class KnownFunction(NamedTuple):
    """A function of the repository: its file, the file's tree and the definition."""

    path: str
    root: Node
    definition: Definition


class Call(NamedTuple):
    """A call as it is written: the receiver's node (None: there is none) and the bare name."""

    node: Node
    receiver: Node | None
    name: str


def call_of(node: Node) -> Call | None:
    """Read a call in any language; None where it is another expression, or a call of no name."""
    if node.type in ("await_expression", "await"):
        inner = node.named_children[-1] if node.named_children else None
        return call_of(inner) if inner is not None else None
    if node.type == "call" and node.child_by_field_name("method"):  # Ruby's
        method = node.child_by_field_name("method")
        return Call(node, node.child_by_field_name("receiver"), text_of(method)) if method else None
    name = node.child_by_field_name("name")
    if node.type in ("method_invocation", "member_call_expression") and name:
        return Call(node, node.child_by_field_name("object"), text_of(name))
    if node.type == "scoped_call_expression" and name:
        return Call(node, node.child_by_field_name("scope"), text_of(name))
    function = node.child_by_field_name("function")
    if function is None:
        return None
    if function.type in ("identifier", "name"):
        return Call(node, None, text_of(function))
    fields = ("attribute", "property", "field", "name")
    member = next((item for f in fields if (item := function.child_by_field_name(f))), None)
    values = ("object", "operand", "expression")
    owner = next((item for f in values if (item := function.child_by_field_name(f))), None)
    return Call(node, owner, text_of(member)) if member and owner else None


def known_function(call: Call, path: str, root: Node, context: Context) -> KnownFunction | None:
    """Find the function that a call in a file means."""
    if len(call.name) < 2:
        return None
    places = defining(call.name, path, context.code)
    if places is None or len(places) != 1:
        return None
    target, definition = places[0]
    text = "\n".join(context.code.whole(target) or ())
    tree = root_of(target, text)
    is_made = kind_of(target) in BULK or any(map(_GENERATED.search, text.split("\n")[:8]))
    if tree is None or definition.kind == "class" or is_made:
        return None
    function = KnownFunction(target, tree, definition)
    return function if _is_meant(call, path, root, function, context) else None


def defining(name: str, like: str, code: KnownCode) -> tuple[tuple[str, Definition], ...] | None:
    """List every definition of a name outside tests; None where one may be overlooked.

    Files of another language do not count.
    """
    result = code.search(name)
    language = language_of(like)
    hits = [
        hit
        for hit in result.hits
        if uses(name, hit.text) and language_of(hit.path) == language and not TEST.search(hit.path)
    ]
    hits = [hit for hit in hits if may_define(hit, name)]
    paths = tuple(dict.fromkeys(hit.path for hit in hits))
    if not result.complete or len(paths) > DEFINING_FILES:
        return None
    known: list[tuple[str, Definition]] = []
    for path in paths:
        lines = code.whole(path)
        if lines is None or not has_grammar(path):
            return None
        own = [item for item in definitions_in(path, "\n".join(lines)) if item.name == name]
        own_lines = {item.line for item in own}
        if any(_MAKES.search(h.text) for h in hits if h.path == path and h.line not in own_lines):
            return None
        known += [(path, item) for item in own]
    return tuple(known)


def may_define(hit: SearchHit, name: str) -> bool:
    """Tell whether a line may define a name, and does not only use it.

    >>> [may_define(SearchHit(path="a.py", line=1, text=text), "load") for text in (
    ...     "def load(a):", "x = a.load(b)", "a.load = b", "y = load(1)", "delegate :load, to: :a")]
    [True, False, True, False, True]
    """
    text = hit.text[:1_000]
    if _MAKES.search(text) or defined_name(text, language_of(hit.path)) == name:
        return True
    code = masked(text, language_of(hit.path))
    for at in uses(name, code):
        before, after = code[:at], code[at + len(name) :]
        if _GIVES.match(after):
            return True
        if not _IS_USE.search(before) and not _BEFORE.search(before) and _AFTER.match(after):
            return True
    return bool(re.search(rf"\bself\.{re.escape(name)}\b", code)) and "def " in code


def _is_meant(call: Call, path: str, root: Node, known: KnownFunction, context: Context) -> bool:
    language = language_of(path).name
    inside = _class_of(known.path, known.definition, context)
    if call.receiver is None:
        origin = origin_of_name(root, call.name, call.node)
        is_own = origin and known.path == path and _row(origin.node) == known.definition.line
        if (origin and not is_own) or _is_local(call):
            return False
        if known.path == path:
            in_class = language in ("ruby", "java", "csharp")
            return not inside or (in_class and inside in _classes_at(call, path, context))

        if language == "go":
            return path.rpartition("/")[0] == known.path.rpartition("/")[0]
        return not inside and imports_from(call.name, path, known.path, context)
    owner = text_of(call.receiver).lstrip("*&")
    if owner in _OWN:
        return known.path == path and inside in _classes_at(call, path, context)
    if owner == inside and owner[:1].isupper():
        return origin_of_name(root, owner, call.node) is None
    if re.fullmatch(r"\w+", owner) and not inside:
        free = origin_of_name(root, owner, call.node) is None and not _is_local(call, owner)
        return free and imports_from(owner, path, known.path, context)
    return bool(inside) and inside == type_of(call.receiver, root)


def type_of(value: Node, root: Node) -> str:
    """Name the type that a local value surely has, by its declaration or constructor; or nothing.

    Pointers count as what they point to; a type that may be null as the type.
    """
    name = text_of(value)
    origin = origin_of_name(root, name, value)
    if origin is None:
        return ""
    if origin.kind == "parameter":
        function = origin.node
        for node in nodes_in(function):
            if "parameter" in node.type and name in parameter_names_of(node):
                kind = node.child_by_field_name("type")
                plain = re.fullmatch(r"[:?*\s]*(?:\w+\.)?(\w+)\??", text_of(kind)) if kind else None
                return plain[1] if plain else ""
        return ""
    made = re.match(
        r"(?:await\s+)?(?:new\s+([A-Z]\w*)\s*\(|&?([A-Z]\w*)\{|([A-Z]\w*)(?:\.new)?\s*\()",
        text_of(origin.value) if origin.value else "",
    )
    return next(filter(None, made.groups()), "") if made else ""


def parameter_names_of(node: Node) -> tuple[str, ...]:
    """List the names that one parameter, or a few of one type, give."""
    own = node.children_by_field_name("name") or node.children_by_field_name("pattern")
    own = own or [item for item in node.named_children[:1] if item.type == "identifier"]
    return tuple(text_of(item) for item in own)


def _class_of(path: str, definition: Definition, context: Context) -> str:
    """Return the class that a function belongs to; in Go, its receiver's type."""
    lines = context.code.whole(path) or ()
    head = lines[definition.line - 1] if definition.line <= len(lines) else ""
    receiver = re.match(r"func\s*\(\s*\w*\s*\*?\s*(\w+)", head)
    if receiver:
        return receiver[1]
    around = [
        item
        for item in definitions_in(path, "\n".join(lines))
        if item.kind == "class" and item.line < definition.line <= item.end
    ]
    return max(around, key=lambda item: item.line).name if around else ""


def _classes_at(call: Call, path: str, context: Context) -> tuple[str, ...]:
    lines, row = context.code.whole(path) or (), _row(call.node)
    around = [
        item
        for item in definitions_in(path, "\n".join(lines))
        if item.kind == "class" and item.line <= row <= item.end
    ]
    inner = max(around, key=lambda item: item.line, default=None)
    bases = re.findall(r"[A-Z]\w*", lines[inner.line - 1][:LINE]) if inner else []
    return (inner.name, *bases) if inner else ()


def _row(node: Node) -> int:
    return node.start_point[0] + 1


def _is_local(call: Call, name: str = "") -> bool:
    expected = name or call.name
    return any(expected in parameter_names(item) for item in functions_around(call.node))


# What the calling frame of a trace gave for a parameter, where its line shows one such call.

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
    names = parameter_names(function)
    receiver = function.child_by_field_name("receiver")
    if receiver is not None:  # Go's stands last
        names = names[: len(names) - receiver.named_child_count]
    is_method = bool(names) and names[0] in ("self", "cls") and call and call.receiver is not None
    parameters = names[1:] if is_method else names
    if call is None or name not in parameters:
        return None
    arguments = call.node.child_by_field_name("arguments")
    given = (
        [item for item in arguments.named_children if item.type != "comment"] if arguments else []
    )
    if any(_SPLATS.search(item.type) for item in (*given, *_written(function))):
        return None
    return _picked(name, parameters, given, function, Given(caller, root, None))


def _picked(
    name: str, parameters: tuple[str, ...], given: list[Node], function: Node, rest: Given
) -> Given | None:
    for item in given:
        key = item.child_by_field_name("name") or item.child_by_field_name("key")
        if item.type in _NAMED and key is not None and text_of(key).strip(":") == name:
            return rest._replace(node=unwrapped(item.child_by_field_name("value") or item))
    plain = [item for item in given if item.type not in _NAMED]
    if any(item.type == "argument" and item.named_child_count != 1 for item in plain):
        return None  # named ones of C# and PHP
    at = parameters.index(name)
    if at < len(plain):
        node = plain[at].named_children[0] if plain[at].type == "argument" else plain[at]
        return rest._replace(node=unwrapped(node))
    return rest if _is_nothing_without(name, function) else None


def _name_of(function: Node) -> str:
    """Return the name under which a function is called; that of what it is assigned to."""
    own, above = function.child_by_field_name("name"), function.parent
    if own is None and above is not None and above.type in _GIVES_NAMES:
        fields = ("left", "name", "key")
        own = next((item for field in fields if (item := above.child_by_field_name(field))), None)
    property_ = own.child_by_field_name("property") if own is not None else None
    return text_of(property_ or own) if own is not None else ""


def _caller(failing: FailingLine, context: Context) -> FailingLine | None:
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


def _written(function: Node) -> tuple[Node, ...]:
    parameters = function.child_by_field_name("parameters")
    return tuple(parameters.named_children) if parameters else ()


def _is_nothing_without(name: str, function: Node) -> bool:
    for item in _written(function):
        own = item.child_by_field_name("name") or item.child_by_field_name("pattern") or item
        if text_of(own) != name:
            continue
        value = item.child_by_field_name("value") or item.child_by_field_name("default_value")
        if value is not None:
            return text_of(value) in ("None", "nil", "null", "undefined")
        return function.type in _LENIENT and item.type in _OPTIONAL
    return False
