"""Find the expression that was None, and the only place that can have made it so."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code.definitions import enclosing_functions as functions_around
from nightwatch_core.code.languages import Language
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.code.syntax import (
    nodes_in,
    receiver_before,
    root_of,
    rows_of,
    statement_at,
    text_of,
)
from nightwatch_core.code.value_flow import (
    Asked,
    NoneExit,
    Origin,
    are_all_told,
    asked_at,
    asked_before,
    function_at,
    is_tested,
    looks_up,
    none_exits,
    origin_of_name,
    own_guard,
    unwrapped,
    written,
)
from nightwatch_core.models.answer import Learning
from nightwatch_core.rules.callees import Call, KnownFunction, call_of, given_from, known_function
from nightwatch_core.rules.findings import (
    CALLERS,
    HEAD_LINES,
    LINE,
    NONE_CANDIDATES,
    Context,
    FailingLine,
    Finding,
    quoted,
)
from nightwatch_core.rules.triage_notes import is_own_field

# Which values of the failing statement may be the None that the message speaks of.

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
    return _once(
        item.value
        for item in asked
        if not (item.how == "called" and any(item.value == other.node for other in asked))
    )


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
    plain = receiver.removeprefix("this.")
    called = re.split(r"[.]", receiver.split("(", 1)[0])[-1] if "(" in receiver else ""
    for item in asked:
        value = unwrapped(item.value)
        name = value.child_by_field_name("name")
        is_called = value.type == "method_invocation" and name and text_of(name) == called
        if item.text.removeprefix("this.") == plain or (called and is_called):
            return (Candidate(item.text, value),)
    return (Candidate(f"{called}()" if called else receiver, None),)


def _named(name: str, asked: tuple[Asked, ...], root: Node, line: int) -> Iterator[Node]:
    if name in ("[]", "[]="):
        yield from (item.value for item in asked if item.how == "element")
        return
    yield from (item.value for item in asked if item.how == "member" and item.member == name)
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
    start, end = rows_of(statement, row)
    nodes = [n for n in nodes_in(statement, start, end) if start <= n.start_point[0] <= end]
    operation = _OPERATORS.search(symptom.text)
    if operation:
        yield from _operands(operation, nodes)
    elif symptom.use == "subscriptable" or "item assignment" in symptom.text:
        yield from (item.value for item in asked if item.how == "element")
    elif symptom.use == "callable":
        yield from (item.value for item in asked if item.how == "called")
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
        yield from (
            operand for operand, kind in zip(operands, sides, strict=True) if kind == "NoneType"
        )


def _arguments(nodes: list[Node], functions: frozenset[str]) -> Iterator[Node]:
    for node in nodes:
        function = node.child_by_field_name("function")
        given = node.child_by_field_name("arguments")
        if function and given and text_of(function) in functions and given.named_child_count:
            yield given.named_children[0]


def _takes(pattern: Node, name: str) -> bool:
    names = (n for n in pattern.named_children)
    return any(text_of(item.child_by_field_name("key") or item) == name for item in names)


def _proves(asked: Asked, language: Language) -> bool:
    """Tell whether asking this of nothing would have failed."""
    if language.name == "ruby":
        return asked.member not in _NIL_SAFE
    if language.name in ("go", "csharp"):  # methods of nil pointers; extension methods
        return asked.how == "member" and not asked.is_call
    if language.name == "php":
        return asked.is_call
    return asked.how != "called" or language.name != "java"


def _is_address(node: Node) -> bool:
    return node.type == "unary_expression" and text_of(node).startswith("&")


def _is_struct(node: Node) -> bool:
    above, name = node.parent, text_of(node)
    if above is None or above.type != "selector_expression":
        return False
    is_called = above.parent is not None and above.parent.type == "call_expression"
    function = next(functions_around(node), None)
    parts = nodes_in(function) if function and not is_called else ()

    return any(
        item.type == "parameter_declaration"
        and name in [text_of(part) for part in item.children_by_field_name("name")]
        and (kind := item.child_by_field_name("type")) is not None
        and kind.type == "type_identifier"
        for item in parts
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


# Why a value is None: a literal, a lookup, a function's exit, a caller.
#
# Every step is the only one that can have given the value; where several can, nothing is said.

_NOTHING = frozenset(("none", "nil", "null", "null_literal", "undefined"))
_UNDEFINED = re.compile(r"\.(?:find|get|pop|shift)\(|process\.env|\?\.")  # of JavaScript's lookups
_KEPT = re.compile(r"@(?:static|class|cached_)|property|lru_cache|@cache\b|wraps|override|final")


def cause_of(
    node: Node, root: Node, failing: FailingLine, context: Context, depth: int = 0
) -> Finding:
    """Find why an expression of the line is None; `explained` where that is proved."""
    node = unwrapped(node)
    if node.type in ("identifier", "variable_name"):
        origin = origin_of_name(root, text_of(node), node)
        if origin is None:
            return Finding()
        if origin.kind == "parameter":
            return _from_caller(text_of(node), origin.node, failing, context, depth)
        if is_tested(text_of(node), origin.node, node):
            return Finding()  # the code asks: how it came here all the same is not known
        return _from_value(text_of(node), origin, root, failing, context)
    call = call_of(node)
    if call is not None:
        source = _from_call(written(node), call, failing.line, root, failing, context)
        if not depth:  # that it gave nothing is what is asked; only a known function says why
            return source if source.evidence else Finding()
        if source.explained or not written(node):
            return source
        return _given_by(written(node), failing.place, failing.language.none, "")
    return Finding()


def _from_value(
    name: str, origin: Origin, root: Node, failing: FailingLine, context: Context
) -> Finding:
    value = unwrapped(origin.value) if origin.value is not None else None
    if value is None:
        return Finding()
    line, none = origin.node.start_point[0] + 1, failing.language.none
    place = f"{failing.path}:{line}"
    text = (context.code.whole(failing.path) or ())[line - 1]
    own = quoted(failing.path, line, text, f"`{name}` gets its value here")
    if value.type in _NOTHING and text_of(value) == none:
        return Finding(
            because=(
                f"{place} sets it to {none}, and nothing in {failing.path} sets it after that.",
            ),
            evidence=(own,),
            explained=True,
        )
    call = call_of(value)
    if call is None:
        return Finding(value=f"`{name}` is {none}; it gets its value in {place}")
    source = _from_call(written(value), call, line, root, failing, context, origin.position)
    here = Finding(evidence=(own,) if line != failing.line else ())
    if source.explained or not written(value) or not here.evidence:
        return here + source
    asks, is_part = ", and no line between asks for that", origin.position >= 0
    return here + _given_by(written(value), place, none, asks, is_part)


def _from_call(
    text: str,
    call: Call,
    line: int,
    root: Node,
    failing: FailingLine,
    context: Context,
    position: int = -1,
) -> Finding:
    is_told = position < 0 or failing.language.name == "go"  # what is unpacked is not
    known = known_function(call, failing.path, root, context) if is_told else None
    if known is not None:
        return _from_function(known, line, failing, context, position)
    none = failing.language.none
    is_lookup = position < 0 and looks_up(call.node, failing.language)
    if not text or not is_lookup or not _gives(none, text, failing):
        return Finding()
    asks = "" if line == failing.line else ", and no line between asks for that"
    given = _given_by(text, f"{failing.path}:{line}", none, asks)
    fact = f"`{text[:120]}` in {failing.path}:{line} can give {none}."
    return given + Finding(learnings=(Learning(fact=fact, path=failing.path, line=line),))


def _given_by(text: str, place: str, none: str, asks: str, is_part: bool = False) -> Finding:
    what = "part of what" if is_part else "what"
    return Finding(
        because=(f"It is {what} `{text[:120]}` gave in {place}{asks}.",),
        explained=True,
        steps=(f"Decide what shall happen where {place} gives {none}.",),
    )


def _gives(none: str, text: str, failing: FailingLine) -> bool:
    if failing.language.name != "javascript":
        return True
    return bool(_UNDEFINED.search(text)) == (none == "undefined")


def _from_function(
    known: KnownFunction, line: int, failing: FailingLine, context: Context, position: int
) -> Finding:
    function = function_at(known.root, known.definition.line - 1)
    if function is None or _is_changed(function):
        return Finding()
    none, name = failing.language.none, known.definition.name
    exits = none_exits(function, failing.language, none, position)
    if not exits:
        return Finding()
    lines = context.code.whole(known.path) or ()
    place = f"{known.path}:{known.definition.line}"
    called = f"{failing.path}:{line}"
    gave = f"`{name}` ({place}), which {called} calls, gave it"
    is_said = any(item.how != "looks up" for item in exits)
    if not is_said and not are_all_told(function, failing.language, none, position):
        step = f"Find out by which way `{name}` gives {none} there."
        return Finding(because=(f"{gave}.",), explained=True, steps=(step,))
    ways = "; ".join(_way(item, known.path, none) for item in exits[:3])
    first = exits[0]
    gives = quoted(known.path, first.line, lines[first.line - 1], f"`{name}` gives {none} here")
    newer = ""
    if len(exits) == 1 and context.added(known.path, first.line, lines[first.line - 1]):
        newer = context.newer(known.path, first.line, failing.path, failing.line)
    because = f"{gave}; {ways}"
    fact = f"`{name}` in {place} can give {none} ({known.path}:{first.line})."
    return Finding(
        because=(because + (f"; {newer}, after its caller was written." if newer else "."),),
        evidence=(gives,),
        fault=gives if newer else None,
        changed=((known.path, first.line),) if newer else (),
        explained=True,
        learnings=(Learning(fact=fact, path=known.path, line=first.line),),
        steps=(f"Decide whether `{name}` may give {none}; if so, {called} has to ask.",),
    )


def _way(item: NoneExit, path: str, none: str) -> str:
    when = f" where `{item.when[:120]}`" if item.when else ""
    place = f"{path}:{item.line}"
    if item.how == "returns":
        return f"{place} returns {none}{when}"
    if item.how == "looks up":
        return f"{place} returns what it looks up, which may be {none}{when}"
    if item.when:
        return f"{place} ends with {none} {item.when[:120]}"
    return f"it ends in {place} without giving anything"


def _is_changed(function: Node) -> bool:
    """Tell whether a decorator may give something else than the function."""
    above = function.parent
    if above is None or above.type != "decorated_definition":
        return False
    marks = [text_of(child) for child in above.named_children if child.type == "decorator"]
    return not all(_KEPT.search(mark) for mark in marks)


def _from_caller(
    name: str, function: Node, failing: FailingLine, context: Context, depth: int
) -> Finding:
    given = given_from(name, function, failing, context)
    if given is None or depth >= CALLERS:
        return Finding()
    none = failing.language.none
    caller, root, node = given
    if node is None:
        return Finding(
            because=(f"{caller.place} leaves out `{name}`, which is {none} then.",),
            evidence=(caller.evidence(f"leaves out `{name}`"),),
            explained=True,
        )
    text, evidence = written(node), (caller.evidence("calls with that value"),)
    if node.type in _NOTHING and text == none:
        return Finding(
            because=(f"{caller.place} gives {none} for `{name}`.",),
            evidence=evidence,
            explained=True,
        )
    source = cause_of(node, root, caller, context, depth + 1)
    if not source.explained:
        shown = f" as `{text[:120]}`" if text else ""
        return Finding(value=f"`{name}` is {none}; {caller.place} gave it{shown}")
    because = f"It is a parameter, for which {caller.place} gave `{text[:120]}`."
    return Finding(because=(because,), evidence=evidence) + source


# Something is None: which expression, proved by elimination, and then why.

_PACKAGES = {  # a line of the file's head that imports a whole package
    "go": re.compile(
        r"\s*(?:import\s+(?:\(\s*)?)?(?:(?P<alias>\w+)\s+)?\"(?P<path>[\w./~-]+)\"\s*(?:[;)]|//|$)"
    ),
    "python": re.compile(r"import\s+(?P<path>[\w.]+)(?:\s+as\s+(?P<alias>\w+))?\s*(?:#.*)?$"),
}


_BOXED = re.compile(  # Java's methods whose results are often objects for numbers
    r"get|find|load|read|fetch|value|remove|put|poll|peek|apply|orElse|next|merge|call|invoke|comput"
)
_HIDDEN = re.compile(  # what fails for nothing without asking it for a member
    r"\b(?:foreach|for|switch|lock|synchronized|throw|using|await)\b|\[|[+*/<>-]"
    r"|\(\s*\w+\s*\)\s*\w"
)


def none_receiver(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the expression that was None where only one can be, and where it got its value."""
    none = "null" if " null" in symptom.text else failing.language.none
    if none != failing.language.none:
        language = failing.language.model_copy(update={"none": none})
        failing = failing.model_copy(update={"language": language})
    place, outside = failing.place, raised_outside(context)
    if outside:
        return _unknown(f"what is {none} in {outside}, which {place} led to", place)
    root = tree_of(failing, context)
    if root is None:
        return _unknown(f"what is {none} in {place}", place)
    packages = imported_packages(failing, context)
    candidates = candidates_for(symptom, root, failing.line, failing.language)
    if len(candidates) > NONE_CANDIDATES:
        return _unknown(f"what is {none} in {place}", place)
    possible = tuple(
        candidate
        for candidate in candidates
        if not ruled_out(candidate, root, failing.language, packages)
    )
    if not possible or any(not item.text for item in possible):
        return _unknown(f"what is {none} in {place}", place)
    guarded = _guarded(possible, failing, context)
    if guarded:
        return guarded
    is_sure = len(possible) == 1 and _is_complete(symptom, root, failing, candidates)
    if not is_sure or not _is_itself(possible[0], root, failing, context):
        names = ", ".join(f"`{item.text}`" for item in possible[:4])
        return _unknown(f"what is {none} in {place}", place, f"what is used there: {names}")
    return _one(possible[0], root, failing, context)


def tree_of(failing: FailingLine, context: Context) -> Node | None:
    """Parse the failing file; None where it is not read in full, or no grammar knows it."""
    lines = context.code.whole(failing.path) if failing.seen else None
    return root_of(failing.path, "\n".join(lines)) if lines else None


def imported_packages(failing: FailingLine, context: Context) -> frozenset[str]:
    """Name by which the file's head imports whole packages, which are never nothing."""
    pattern = _PACKAGES.get(failing.language.name)
    if pattern is None:
        return frozenset()
    head = context.code.lines(failing.path, 1, HEAD_LINES)
    matches = (pattern.match(text[:LINE]) for text in head.values())
    names = (match["alias"] or package_name(match["path"]) for match in matches if match)
    return frozenset(names)


def package_name(path: str) -> str:
    """Give the name under which code knows an imported package, without the path's version.

    >>> [package_name(path) for path in ("net/http", "x.org/mux/v2", "gopkg.in/yaml.v3", "os.path")]
    ['http', 'mux', 'yaml', 'os.path']
    """
    plain = re.sub(r"[/.]v\d+$", "", path)
    return plain.rsplit("/", 1)[-1]


def _one(candidate: Candidate, root: Node, failing: FailingLine, context: Context) -> Finding:
    none, text = failing.language.none, candidate.text
    finding = Finding(
        because=(f"`{text}` is {none} in {failing.place}.",),
        tags=("none-receiver",),
        subject=f"`{text}` is {none}",
        value=f"`{text}` is {none}",
        unknown=f"why `{text}` is {none} in {failing.place}",
    )
    if candidate.node is not None:
        source = cause_of(candidate.node, root, failing, context)
        value = source.value or finding.value  # what is known of its way says more
        finding = finding.model_copy(update={"value": value}) + source
    step = f"Find out when `{text}` may be {none} before {failing.place} uses it."
    return finding if finding.steps else finding + Finding(steps=(step,))


def _guarded(
    possible: tuple[Candidate, ...], failing: FailingLine, context: Context
) -> Finding | None:
    lines = [
        (candidate, own_guard(candidate.node))
        for candidate in possible
        if candidate.node is not None
    ]
    guards = [(item, line) for item, line in lines if line]
    if len(guards) != 1:
        return None
    (one, line), none = guards[0], failing.language.none
    text = (context.code.whole(failing.path) or ())[line - 1]
    return Finding(
        because=(
            f"{failing.path}:{line} asks whether `{one.text}` is {none}, and {failing.place} uses "
            "it where it is.",
        ),
        evidence=(quoted(failing.path, line, text, "is true where there is nothing"),),
        tags=("none-receiver",),
        subject=f"`{one.text}` is {none}",
        steps=(f"Do not use `{one.text}` below {failing.path}:{line}.",),
        explained=True,
    )


def _is_itself(candidate: Candidate, root: Node, failing: FailingLine, context: Context) -> bool:
    if failing.language.name != "go" or candidate.node is None:
        return True
    asked = [asked for asked in asked_at(root, failing.line - 1) if asked.text == candidate.text]
    members = {item.member for item in asked if item.how == "member"}
    return all(
        is_own_field(candidate.node, member, failing.path, root, context) for member in members
    )


def _unknown(what: str, place: str, value: str = "") -> Finding:
    return Finding(
        tags=("none-receiver",),
        unknown=what,
        value=value,
        steps=(f"Log what {place} uses before it does so.",),
    )


def raised_outside(context: Context) -> str:
    """Name what raised the error in a dependency; empty where our own code did."""
    trace = context.case.trace
    first = next(iter(trace.root.frames), None) if trace else None
    if first is None or first.in_app:
        return ""
    return first.path.rsplit("/", 1)[-1][:100] + (
        f" ({first.function[:60]})" if first.function else ""
    )


def _is_complete(
    symptom: Symptom, root: Node, failing: FailingLine, candidates: tuple[Candidate, ...]
) -> bool:
    """Tell whether nothing else of the statement can be meant.

    Where the message names no expression, iterating, unboxing or a called value may be meant, too.
    """
    if symptom.name or symptom.receiver or failing.language.name in ("python", "go"):
        return bool(candidates)
    if failing.language.name == "java" and _may_unbox(root, failing.line):
        return False
    return bool(candidates) and not _HIDDEN.search(re.sub(r"->|=>", "", failing.text))


def _may_unbox(root: Node, line: int) -> bool:
    asked = asked_at(root, line - 1)
    values = [item.value for item in asked]
    results = (
        item.node
        for item in asked
        if item.is_call and item.node not in values and _BOXED.match(item.member)
    )
    return not all(_is_kept(result) for result in results)


def _is_kept(call: Node) -> bool:
    above = call.parent
    if above is None or above.type == "expression_statement":
        return True
    kind = above.parent.child_by_field_name("type") if above.parent is not None else None
    is_object = kind is not None and not re.match(r"integral|floating|boolean", kind.type)
    return above.type == "variable_declarator" and is_object


# A key that is missing: which one, and of what.


def missing_key(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the key and the mapping; a cause only where its builder is known, key by key."""
    if _is_elsewhere(context) or not (symptom.key or "KeyError" in symptom.text[:60]):
        return Finding(tags=("missing-key",))
    key = symptom.key
    mapping = _mapping(key, failing) if failing.seen else ""
    named = f"key `{key}`" if key else "the key asked for"
    what = f"`{mapping}` has no {named}" if mapping else f"{named} is missing"
    finding = Finding(
        tags=("missing-key",),
        value=what,
        unknown=f"why {what}" + (f" in {failing.place}" if failing.place else ""),
    )
    whose = f"`{mapping}`" if mapping else "the mapping"
    step = f"Make {failing.place} and what builds {whose} agree on {named}."
    return finding + Finding(steps=(step,))


def _is_elsewhere(context: Context) -> bool:
    """Tell whether a dependency raised the error itself: then our line need not hold the key."""
    trace = context.case.trace
    first = next(iter(trace.root.frames), None) if trace else None
    return first is not None and not first.in_app


def _mapping(key: str, failing: FailingLine) -> str:
    """Return the expression whose key is read; empty where the line does not show it.

    The key as a literal first, where it stands once; else the one subscript of the line, whose key
    is a variable.
    """
    text = failing.text[:1_000]
    literal = rf"(?:\[\s*|\.fetch\(\s*|\.pop\(\s*)[:\"']?{re.escape(key)}[\"']?\s*[\]),]"
    matches = list(re.finditer(literal, text)) if key else []
    if len(matches) == 1:
        return _bare(receiver_before(text, matches[0].start()))
    subscripts = list(re.finditer(r"(?<=[\w\])])\[(?P<key>[^\]]*)|\.fetch\(|\.pop\(", text))
    is_variable = len(subscripts) == 1 and re.fullmatch(r"\w+", subscripts[0]["key"] or "")
    if not matches and is_variable and not (subscripts[0]["key"] or "").isdigit():
        return _bare(receiver_before(text, subscripts[0].start()))
    return ""


def _bare(expression: str) -> str:
    """Return the expression without a cast before it."""
    return re.sub(r"^\((?:int|string|float|bool|array|object)\)\s*", "", expression)
