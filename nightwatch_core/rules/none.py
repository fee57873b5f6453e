"""Find the expression that was None, and the only place that can have made it so."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tree_sitter import Node

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
    Origin,
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
    raised_in_dependency,
)

_NOTHING = frozenset(("none", "nil", "null", "null_literal", "undefined"))
_VALUES = re.compile(  # types of nodes that are never nothing
    r"string|template|integer|float|number|array$|list$|dictionary|object$|hash|set$|tuple"
    r"|object_creation|new_expression|composite_literal|lambda|arrow_function|regex|literal_value"
    r"|list_comprehension|func_literal|this$|self$|super$|base|array_creation|int_literal"
)
_PACKAGE = re.compile(r"import\s+(?P<path>[\w.]+)(?:\s+as\s+(?P<alias>\w+))?\s*(?:#.*)?$")
_SELF = frozenset(("self", "cls", "this", "super", "$this", "base"))
_JAVA_TYPE = re.compile(r"[A-Z]\w*[a-z]\w*$")
_CSHARP_TYPES = frozenset(  # its properties begin with capitals, too
    ("Console", "Convert", "Math", "String", "Path", "File", "Task", "Guid", "DateTime", "Enum")
)
_NIL_SAFE = frozenset(  # what nil, too, answers
    (
        *("nil?", "to_s", "to_a", "to_i", "to_h", "to_f", "inspect", "blank?", "present?", "try"),
        *("presence", "is_a?", "class", "respond_to?", "object_id", "dup", "frozen?", "hash"),
        *("instance_of?", "kind_of?", "then", "tap", "in?", "instance_variable_get", "as_json"),
        *("to_json", "to_param", "to_query", "send", "public_send", "method", "methods", "freeze"),
    )
)
_HIDDEN = re.compile(  # what fails for nothing without asking it for a member
    r"\b(?:foreach|for|switch|lock|synchronized|throw|using|await)\b|\[|[+*/<>-]"
    r"|\(\s*\w+\s*\)\s*\w"
)
_BOXED = re.compile(  # Java's methods whose results are often objects for numbers
    r"get|find|load|read|fetch|value|remove|put|poll|peek|apply|orElse|next|merge|call|invoke|comput"
)


class Candidate(NamedTuple):
    """An expression that may be nothing; `node` is None where the message alone names it."""

    text: str
    node: Node | None


def none_receiver(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the expression that was None where only one can be, and where it got its value."""
    none = "null" if " null" in symptom.text else failing.language.none
    if none != failing.language.none:
        language = failing.language.model_copy(update={"none": none})
        failing = failing.model_copy(update={"language": language})
    place, outside = failing.place, raised_in_dependency(context)
    root = tree_of(failing, context)
    if outside or root is None or failing.language.name == "go":  # Go's message names nothing
        what = f"{outside}, which {place} led to" if outside else place
        return _unknown(f"what is {none} in {what}", place)
    candidates = candidates_for(symptom, root, failing.line, failing.language)
    packages = _packages(failing, context)
    possible = [
        item for item in candidates if not ruled_out(item, root, failing.language, packages)
    ]
    if len(candidates) > NONE_CANDIDATES or not possible or not all(i.text for i in possible):
        return _unknown(f"what is {none} in {place}", place)
    if guarded := _guarded(possible, failing, context):
        return guarded
    if len(possible) > 1 or not _is_complete(symptom, root, failing):
        names = ", ".join(f"`{item.text}`" for item in possible[:4])
        return _unknown(f"what is {none} in {place}", place, f"what is used there: {names}")
    text, node = possible[0]
    finding = Finding(
        because=(f"`{text}` is {none} in {place}.",),
        tags=("none-receiver",),
        subject=f"`{text}` is {none}",
        unknown=f"why `{text}` is {none} in {place}",
    )
    source = cause_of(node, root, failing, context) if node is not None else Finding()
    finding += source + Finding(value=f"`{text}` is {none}")  # its own way says more
    step = f"Find out when `{text}` may be {none} before {place} uses it."
    return finding if finding.steps else finding + Finding(steps=(step,))


def _unknown(what: str, place: str, value: str = "") -> Finding:
    step = f"Log what {place} uses before it does so."
    return Finding(tags=("none-receiver",), unknown=what, value=value, steps=(step,))


def tree_of(failing: FailingLine, context: Context) -> Node | None:
    """Parse the failing file; None where it is not read in full, or no grammar knows it."""
    lines = context.code.whole(failing.path) if failing.seen else None
    return root_of(failing.path, "\n".join(lines)) if lines else None


def _packages(failing: FailingLine, context: Context) -> frozenset[str]:
    """Return the names by which a Python file imports whole packages, which are never None."""
    if failing.language.name != "python":
        return frozenset()
    head = context.code.lines(failing.path, 1, HEAD_LINES).values()
    matches = (_PACKAGE.match(text[:LINE]) for text in head)
    return frozenset(match["alias"] or match["path"] for match in matches if match)


# Which values of the failing statement may be the None that the message speaks of.


def candidates_for(
    symptom: Symptom, root: Node, line: int, language: Language
) -> tuple[Candidate, ...]:
    """List the expressions of the statement at a line, from 1, that the message may mean."""
    asked = asked_at(root, line - 1)
    if symptom.receiver:
        return _of_receiver(symptom.receiver, asked)
    if symptom.name:
        return _once(_named(symptom.name, asked, root, line))
    if language.name == "python":
        is_element = symptom.use == "subscriptable" or "item assignment" in symptom.text
        how = "element" if is_element else "called" if symptom.use == "callable" else ""
        return _once(item.value for item in asked if item.how == how)
    nodes = [item.node for item in asked]
    return _once(i.value for i in asked if i.how != "called" or i.value not in nodes)


def _of_receiver(receiver: str, asked: tuple[Asked, ...]) -> tuple[Candidate, ...]:
    plain = receiver.removeprefix("this.")
    called = receiver.split("(", 1)[0].rpartition(".")[2] if "(" in receiver else ""
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
    start, end = rows_of(statement, line - 1) if statement else (0, -1)
    for node in nodes_in(root, start, end) if statement else ():
        operator, target = node.child_by_field_name("operator"), node.child_by_field_name("name")
        sign = text_of(operator) if operator else ""
        value = None
        if node.type in ("binary", "operator_assignment") and sign.removesuffix("=") == name:
            value = node.child_by_field_name("left")
        elif node.type == "variable_declarator" and target and target.type == "object_pattern":
            keys = (n.child_by_field_name("key") or n for n in target.named_children)
            value = node.child_by_field_name("value") if name in map(text_of, keys) else None
        if value is not None and start <= node.start_point[0] <= end:
            yield value


def _once(nodes: Iterable[Node]) -> tuple[Candidate, ...]:
    by_text: dict[str, Node] = {}
    for node in nodes:
        by_text.setdefault(written(node) or f"\0{node.start_byte}", unwrapped(node))
    return tuple(Candidate("" if text[0] == "\0" else text, node) for text, node in by_text.items())


def ruled_out(
    candidate: Candidate, root: Node, language: Language, packages: frozenset[str]
) -> str:
    """Return the reason an expression cannot be nothing; empty where there is none."""
    node, text = candidate.node, candidate.text
    if node is None:
        return ""
    if text in _SELF or text in packages or _VALUES.match(node.type):
        return "it is always something"
    if node.type not in ("identifier", "variable_name"):
        return ""
    origin = origin_of_name(root, text, node)
    is_java_type = language.name == "java" and bool(_JAVA_TYPE.match(text))
    if origin is None and (is_java_type or (language.name == "csharp" and text in _CSHARP_TYPES)):
        return "it is a type"
    value = unwrapped(origin.value) if origin and origin.value and origin.position < 0 else None
    if origin and value and _VALUES.match(value.type):
        return f"line {origin.node.start_point[0] + 1} gives it a value"
    used = (asked for asked in asked_before(node, text) if _proves(asked, language))
    before = next(used, None)
    return f"line {before.node.start_point[0] + 1} uses it before" if before else ""


def _proves(asked: Asked, language: Language) -> bool:
    """Return whether asking this of nothing would have failed."""
    if language.name == "ruby":
        return asked.member not in _NIL_SAFE
    if language.name == "csharp":  # extension methods
        return asked.how == "member" and not asked.is_call
    if language.name == "php":
        return asked.is_call
    return asked.how != "called" or language.name != "java"


def _guarded(possible: list[Candidate], failing: FailingLine, context: Context) -> Finding | None:
    lines = [(item.text, own_guard(item.node)) for item in possible if item.node is not None]
    guards = [(text, line) for text, line in lines if line]
    if len(guards) != 1:
        return None
    (name, line), none = guards[0], failing.language.none
    text = (context.code.whole(failing.path) or ())[line - 1]
    return Finding(
        because=(
            f"{failing.path}:{line} asks whether `{name}` is {none}, and {failing.place} uses "
            "it where it is.",
        ),
        evidence=(quoted(failing.path, line, text, "is true where there is nothing"),),
        tags=("none-receiver",),
        subject=f"`{name}` is {none}",
        steps=(f"Do not use `{name}` below {failing.path}:{line}.",),
        explained=True,
    )


def _is_complete(symptom: Symptom, root: Node, failing: FailingLine) -> bool:
    """Return whether nothing else of the statement can be meant.

    Where the message names no expression, iterating, unboxing or a called value may be meant, too.
    """
    if symptom.name or symptom.receiver or failing.language.name == "python":
        return True
    if _HIDDEN.search(re.sub(r"->|=>", "", failing.text)):
        return False
    asked = asked_at(root, failing.line - 1) if failing.language.name == "java" else ()
    values = [item.value for item in asked]
    return all(
        _is_object(item.node)
        for item in asked
        if item.is_call and item.node not in values and _BOXED.match(item.member)
    )


def _is_object(call: Node) -> bool:
    """Return whether the result of a Java call is dropped, or kept in a variable of an object."""
    above = call.parent
    if above is None or above.type == "expression_statement":
        return True
    kind = above.parent.child_by_field_name("type") if above.parent is not None else None
    is_object = kind is not None and not re.match(r"integral|floating|boolean", kind.type)
    return above.type == "variable_declarator" and is_object


# Why a value is None: a literal, a lookup, a function's exit, a caller. Every step is the only one
# that can have given the value; where several can, nothing is claimed.

_UNDEFINED = re.compile(r"\.(?:find|get|pop|shift)\(|process\.env|\?\.")  # of JavaScript's lookups
_KEPT = re.compile(r"@(?:static|class|cached_)|property|lru_cache|@cache\b|wraps|override|final")


def cause_of(
    node: Node, root: Node, failing: FailingLine, context: Context, depth: int = 0
) -> Finding:
    """Find why an expression of the line is None; `explained` where that is proved."""
    node = unwrapped(node)
    if node.type in ("identifier", "variable_name"):
        name = text_of(node)
        origin = origin_of_name(root, name, node)
        if origin and origin.kind == "parameter":
            return _from_caller(name, origin.node, failing, context, depth)
        if origin is None or is_tested(name, origin.node, node):
            return Finding()  # where the code asks, nobody knows how None came here all the same
        return _from_value(name, origin, root, failing, context)
    call = call_of(node)
    if call is None:
        return Finding()
    source = _from_call(written(node), call, failing.line, root, failing, context)
    if not depth:  # only a known function says why the call that is asked gave nothing
        return source if source.evidence else Finding()
    if source.explained or not written(node):
        return source
    return _given_by(written(node), failing.place, failing.language.none)


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
        because = f"{place} sets it to {none}, and nothing in {failing.path} sets it after that."
        return Finding(because=(because,), evidence=(own,), explained=True)
    call = call_of(value)
    if call is None:
        return Finding(value=f"`{name}` is {none}; it gets its value in {place}")
    is_part = origin.position >= 0
    source = Finding()
    if not is_part:
        source = _from_call(written(value), call, line, root, failing, context)
    here = Finding(evidence=(own,) if line != failing.line else ())
    if source.explained or not written(value) or not here.evidence:
        return here + source
    return here + _given_by(
        written(value), place, none, ", and no line between asks for that", is_part
    )


def _from_call(
    text: str, call: Call, line: int, root: Node, failing: FailingLine, context: Context
) -> Finding:
    known = known_function(call, failing.path, root, context)
    if known is not None:
        return _from_function(known, line, failing, context)
    language = failing.language
    is_lookup = bool(text) and looks_up(call.node, language)
    if is_lookup and language.name == "javascript":
        is_lookup = bool(_UNDEFINED.search(text)) == (language.none == "undefined")
    if not is_lookup:
        return Finding()
    place = f"{failing.path}:{line}"
    asks = "" if line == failing.line else ", and no line between asks for that"
    fact = f"`{text[:120]}` in {place} can give {language.none}."
    learned = Finding(learnings=(Learning(fact=fact, path=failing.path, line=line),))
    return _given_by(text, place, language.none, asks) + learned


def _given_by(text: str, place: str, none: str, asks: str = "", is_part: bool = False) -> Finding:
    what = "part of what" if is_part else "what"
    return Finding(
        because=(f"It is {what} `{text[:120]}` gave in {place}{asks}.",),
        explained=True,
        steps=(f"Decide what shall happen where {place} gives {none}.",),
    )


def _from_function(
    known: KnownFunction, line: int, failing: FailingLine, context: Context
) -> Finding:
    function = function_at(known.root, known.definition.line - 1)
    exits = none_exits(function) if function is not None else ()
    if function is None or not exits or _is_decorated(function):
        return Finding()
    none, name = failing.language.none, known.definition.name
    lines = context.code.whole(known.path) or ()
    place, called = f"{known.path}:{known.definition.line}", f"{failing.path}:{line}"
    first = exits[0].line
    newer = ""
    if len(exits) == 1 and context.added(known.path, first, lines[first - 1]):
        newer = context.newer(known.path, first, failing.path, failing.line)
    ways = "; ".join(
        f"{known.path}:{item.line} returns {none}"
        + (f" where `{item.when[:120]}`" * bool(item.when))
        if item.is_return
        else f"it ends in {known.path}:{item.line} without giving anything"
        for item in exits[:3]
    )
    gives = quoted(known.path, first, lines[first - 1], f"`{name}` gives {none} here")
    fact = f"`{name}` in {place} can give {none} ({known.path}:{first})."
    because = f"`{name}` ({place}), which {called} calls, gave it; {ways}"
    return Finding(
        because=(because + (f"; {newer}, after its caller was written." if newer else "."),),
        evidence=(gives,),
        fault=gives if newer else None,
        changed=((known.path, first),) if newer else (),
        explained=True,
        learnings=(Learning(fact=fact, path=known.path, line=first),),
        steps=(f"Decide whether `{name}` may give {none}; if so, {called} has to ask.",),
    )


def _is_decorated(function: Node) -> bool:
    """Return whether a decorator may give something else than the function."""
    above = function.parent
    marks = above.named_children if above and above.type == "decorated_definition" else []
    return any(item.type == "decorator" and not _KEPT.search(text_of(item)) for item in marks)


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
        because = f"{caller.place} gives {none} for `{name}`."
        return Finding(because=(because,), evidence=evidence, explained=True)
    source = cause_of(node, root, caller, context, depth + 1)
    if not source.explained:
        shown = f" as `{text[:120]}`" if text else ""
        return Finding(value=f"`{name}` is {none}; {caller.place} gave it{shown}")
    because = f"It is a parameter, for which {caller.place} gave `{text[:120]}`."
    return Finding(because=(because,), evidence=evidence) + source


# A key that is missing: which one, and of what.


def missing_key(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the key and the mapping that lacks it."""
    key = symptom.key
    if raised_in_dependency(context) or not (key or "KeyError" in symptom.text[:60]):
        return Finding(tags=("missing-key",))
    mapping = _mapping(key, failing.text[:1_000]) if failing.seen else ""
    named = f"key `{key}`" if key else "the key asked for"
    what = f"`{mapping}` has no {named}" if mapping else f"{named} is missing"
    builder = f"`{mapping}`" if mapping else "the mapping"
    return Finding(
        tags=("missing-key",),
        value=what,
        unknown=f"why {what}" + (f" in {failing.place}" if failing.place else ""),
        steps=(f"Make {failing.place} and what builds {builder} agree on {named}.",),
    )


def _mapping(key: str, text: str) -> str:
    """Return the expression whose key is read: by the literal key, else by the only subscript."""
    literal = rf"(?:\[\s*|\.fetch\(\s*|\.pop\(\s*)[:\"']?{re.escape(key)}[\"']?\s*[\]),]"
    matches = list(re.finditer(literal, text)) if key else []
    subscripts = list(re.finditer(r"(?<=[\w\])])\[(?P<key>[^\]]*)|\.fetch\(|\.pop\(", text))
    is_variable = len(subscripts) == 1 and re.fullmatch(r"(?!\d+$)\w+", subscripts[0]["key"] or "")
    if len(matches) != 1 and (matches or not is_variable):
        return ""
    expression = receiver_before(text, (matches or subscripts)[0].start())
    return re.sub(r"^\((?:int|string|float|bool|array|object)\)\s*", "", expression)  # a cast
