"""Follow the failing value back to outside input: only where nothing else can have given it."""

import re
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code import definitions as names
from nightwatch_core.code import syntax, value_flow
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.code.value_flow import written
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.value import Value
from nightwatch_core.rules import findings
from nightwatch_core.rules.findings import FailingLine, quoted, tree_of
from nightwatch_core.rules.none import argument_of, caller_of
from nightwatch_core.text.plain_text import data_table
from nightwatch_core.text.rule_files import Pattern

_STEPS, _HEAD = 20, 2_000  # of one way; bytes in which the head of a function or class stands

# Parameters that are more or less than an argument.
_NOT_ALONE = re.compile(r"[*&.{\[]|self\b|cls\b")


class OutsideRules(Value):
    """`outside.toml`."""

    reads: Pattern
    decides: Pattern
    checks: Pattern
    harmless: Pattern
    passing: dict[str, frozenset[str]]
    inputs: tuple[dict[str, str], ...]
    faults: tuple[dict[str, str], ...]


RULES = data_table(__package__, "outside.toml", OutsideRules)


def outside_input(
    symptom: Symptom, failing: FailingLine, context: findings.Context
) -> findings.Finding:
    """Name the outside input that reaches the failing line; a step where it may be another."""
    root, is_foreign = tree_of(failing, context), findings.raised_in_dependency(context)
    alone = []
    for fault in RULES.faults if root else ():
        message = fault.get("message", "")
        is_meant = fault["kind"] == symptom.kind and re.search(message, symptom.text)
        if root and is_meant and (fault["part"] == "argument" or not is_foreign):
            parts = _parts(fault["part"], symptom, failing, root)
            alone += [(parts[0], fault["says"])] if len({*map(written, parts)}) == 1 else []
    for node, says in alone:
        if source := _followed(node, failing, context):
            return _explained(source, node, says, symptom, failing)
    for node, _ in alone:
        if source := _followed(node, failing, context, may=True):
            place = f"{source.way[0].path}:{source.way[0].line}"
            where = f": {place} reads `{source.read[:80]}`" if place != failing.place else ""
            step = f"`{written(node)[:80]}` may come from {source.what}{where}."
            return findings.Finding(steps=(step,))
    return findings.Finding()


def missing_key(
    symptom: Symptom, failing: FailingLine, context: findings.Context
) -> findings.Finding:
    """Name the key and the mapping that lacks it."""
    root, is_foreign = tree_of(failing, context), findings.raised_in_dependency(context)
    is_read = (symptom.key or "KeyError" in symptom.text[:60]) and not is_foreign
    parts = _parts("element", symptom, failing, root) if root and is_read else []
    if len({*map(written, parts)}) != 1:
        return findings.Finding(tags=("missing-key",))
    named = f"key `{symptom.key}`" if symptom.key else "such key"
    what = f"`{written(parts[0])}` has no {named}"
    why = f"why {what} in {failing.place}"
    return findings.Finding(tags=("missing-key",), value=what, unknown=why)


def _parts(part: str, symptom: Symptom, failing: FailingLine, root: Node) -> list[Node]:
    """List what of the failing statement can be at fault."""
    is_safe = symptom.kind != "none receiver"
    asked = value_flow.asked_at(root, failing.line - 1, safely=is_safe)
    elements = [(i.value, i.node.named_children[-1]) for i in asked if i.how == "element"]
    statement = syntax.statement_at(root, failing.line - 1) or root
    start, end = syntax.rows_of(statement, failing.line - 1)
    nodes = [n for n in syntax.nodes_in(statement, start, end) if start <= n.start_point[0] <= end]
    if part == "receiver":
        return [item.value for item in asked if item.member == symptom.name]
    if part == "element":
        fetching = (node for node in nodes if re.search(r"(?:fetch|pop)$", _call(node)[0]))
        fetched = ((_whole(node), _call(node)[1]) for node in fetching)
        elements += [(value, keys[0]) for value, keys in fetched if value and keys]
        key_of = rf"\[?[:'\"]*{re.escape(symptom.key)}['\"]?\]?" if symptom.key else "(?s:.*)"
        named = [value for value, key in elements if re.fullmatch(key_of, written(key))]
        is_variable = len(elements) == 1 and elements[0][1].type in syntax.NAMES
        return named or [value for value, _ in elements if is_variable]
    if part == "key":
        return [key for _, key in elements]
    if part == "argument":
        calls, readers = map(_call, nodes), RULES.passing["readers"]
        return [arguments[0] for name, arguments in calls if arguments and name in readers]
    types = re.search(r"'(\w+)' and '(\w+)'", symptom.text)
    side = 0 if types and types[1] == "str" != types[2] else -1
    return [item.named_children[side] for item in nodes if re.match("binary|comparison", item.type)]


def _explained(
    source: "_Input", node: Node, says: str, symptom: Symptom, failing: FailingLine
) -> findings.Finding:
    text, place = written(node)[:120], f"{source.way[0].path}:{source.way[0].line}"
    way = f" ({source.what}), and no line of its function before checks it."
    if place != failing.place:
        taken = f"takes it from {source.what} (`{source.read[:120]}`)"
        way = f": {place} {taken}, and no line in between checks it."
    words = {
        **symptom.model_dump(),
        "none": failing.language.none,
        "message": symptom.text.split(": ", 1)[-1][:160],
        "lacks": f"of type `{symptom.owner}`" if symptom.owner else f"without `{symptom.name}`",
    }
    broken = f"The line breaks where that is {says.format(**words)}."
    return findings.Finding(
        because=(f"`{text}` in {failing.place} is outside input{way}", broken),
        evidence=source.way,
        tags=("outside-input",),
        subject=f"{f'`{text}`' if len(text) < 30 else 'a value'} from {source.what}",
        steps=(f"Decide in {place} what to answer to such a value.",),
        explained=True,
    )


# The way of the value. Nothing on it may mention the value other than to read a part of it or to
# log it: what else is done there may check it.


class _Input(NamedTuple):
    """The input, the expression that reads it, and the lines from there on."""

    what: str
    read: str
    way: tuple[Evidence, ...]


def _followed(
    node: Node,
    here: FailingLine,
    context: findings.Context,
    way: tuple[Evidence, ...] = (),
    read: Node | None = None,
    *,
    may: bool = False,
) -> _Input | None:
    """Find the input that is the value; with `may` one that can be, checked or not."""
    root, lines = tree_of(here, context), context.code.whole(here.path)
    if root is None or lines is None or len(way) > _STEPS:
        return None
    node = value_flow.unwrapped(node)
    read, text = read or node, written(node)
    what = _input(node, root, lines, here.language.name, may=may)
    is_name = not what and node.type in syntax.NAMES
    origin = value_flow.origin_of_name(root, text, node) if is_name else None
    if not what and origin is None:
        whole = _whole(node)
        values = _choices(node, root) if may and not whole else ()
        ways = [(whole, read)] if whole else [(value, value) for value in values]
        inputs = (_followed(i, here, context, way, of, may=may) for i, of in ways)
        return next(filter(None, inputs), None)
    if origin and not may and _is_checked(text, "", origin.node, node, lines):
        return None
    if origin and origin.value is None:
        read, what = _filled(text, origin.node, here.language.name)
    row = (origin.node if origin and origin.value else read).start_point[0]
    further = (quoted(here.path, row + 1, lines[row], "on the value's way"), *way)
    if what:
        return _Input(what, written(read), further)
    if origin and origin.value:
        target = origin.node.child_by_field_name("left") or origin.node.child_by_field_name("name")
        may_differ = origin.is_part and (target is None or "=" in syntax.text_of(target))
        return None if may_differ else _followed(origin.value, here, context, further, may=may)
    caller = caller_of(here, context)
    passed = argument_of(text, origin.node, caller, context) if origin else None
    if default := None if passed or not may else read.child_by_field_name("value"):
        return _followed(default, here, context, further, may=True)
    if caller is None or passed is None or _NOT_ALONE.match(written(read)):
        return None
    further = (caller.evidence("passes the value"), *way)
    return _followed(passed, caller, context, further, may=may)


def _choices(node: Node, root: Node) -> list[Node]:
    """List what can be a value: the sides of an "or", what sets a name before, the last first."""
    operator = node.child_by_field_name("operator")
    if operator and syntax.text_of(operator) in ("||", "or", "??"):
        return node.named_children
    functions = (*names.enclosing_functions(node), root) if node.type in syntax.NAMES else ()
    sets = (i for function in functions for i in names.sets_of(function, written(node)))
    before = (i for i in sets if i.end_byte <= node.start_byte)
    values = (i.child_by_field_name("right") or i.child_by_field_name("value") for i in before)
    return [value for value in values if value][::-1]


def _listed(role: str, language: str, text: str, head: str, name: str = "") -> str:
    for item in RULES.inputs:
        needs = item.get("needs", "").replace("{name}", re.escape(name))
        is_its = (item.get("role", "global"), item["language"]) == (role, language)
        if is_its and re.fullmatch(item["read"], text) and re.search(needs, head):
            return item["what"]
    return ""


def _input(
    node: Node, root: Node, lines: tuple[str, ...], language: str, *, may: bool = False
) -> str:
    """Name the outside input that an expression reads, where nothing before looked at it."""
    text, functions = written(node), (*names.enclosing_functions(node), root)
    first = (re.match(r"\$?\w*", text) or [""])[0]
    is_given = any(first in names.parameter_names(function) for function in functions[:-1])
    what = _listed("object" if is_given else "global", language, text, "\n".join(lines))
    if may:
        return what
    sets = (i for function in functions if what for i in names.sets_of(function, first))
    is_set = any(not syntax.FUNCTIONS.search(item.type) for item in sets)
    return "" if is_set or _is_checked(text, first, functions[0], node, lines) else what


def _filled(name: str, function: Node, language: str) -> tuple[Node, str]:
    """Return a parameter and what a framework fills it with; empty where it does not."""
    parameters = function.child_by_field_name("parameters") or function
    own = (i for i in parameters.named_children if name in re.split(r"[^\w$]", written(i)))
    node = next(own, function)
    outwards = (function, *names.ancestors(function))
    heads = (i for i in outwards if re.match("class|decorated|assign|variable_decl|method", i.type))
    texts = [(i.text or b"")[:_HEAD].decode("utf-8", "replace") for i in heads]
    return node, _listed("parameter", language, written(node), "\n".join(texts[::-1]), name)


def _call(node: Node) -> tuple[str, tuple[Node, ...]]:
    """Return the function of a call as written, and its arguments; empty for other nodes."""
    if not re.search(r"call|creation|new_exp", node.type) or node.child_by_field_name("block"):
        return "", ()
    arguments = next((i for i in node.named_children if i.type.startswith("argument")), None)
    end = arguments.start_byte if arguments else node.end_byte
    name = (node.text or b"")[: end - node.start_byte].decode("utf-8", "replace")
    items = arguments.named_children if arguments else ()
    values = (item.named_children[-1] if item.type == "argument" else item for item in items)
    return name.removeprefix("new ").strip(), tuple(values)


def _whole(node: Node) -> Node | None:
    """Return the value of which a node gives a part or another form; None for other values."""
    if node.type.startswith("await"):
        return node.named_children[0]
    (name, arguments), asked, passing = _call(node), value_flow.asked_by(node), RULES.passing
    if name in passing["functions"] and arguments:
        return arguments[0]
    if asked and asked.how == "called":
        asked = value_flow.asked_by(asked.value)
    member = re.split(r"\W+", name)[-1]
    passes = member in passing["methods"] or (member in passing["lookups"] and len(arguments) == 1)
    is_part = asked and not name and (asked.how == "element" or node.type == "member_expression")
    return asked.value if asked and (is_part or passes) else None


def _is_checked(text: str, first: str, after: Node, at: Node, lines: tuple[str, ...]) -> bool:
    """Return whether a line after a statement, or in a function, may check or change the value."""
    own = re.compile(rf"(?<![\w$.>@:'\"]){re.escape(text)}(?![\w$])")
    passed = re.compile(rf"\(\s*{re.escape(first)}\s*[,)]" if first else "(?!)")
    row, start = at.start_point[0], after.end_point[0] + 1
    if after.start_byte <= at.start_byte < after.end_byte:
        head = after.child_by_field_name("parameters") or after
        start = (head.end_point if head != after else head.start_point)[0] + bool(after.parent)
        is_decorated = after.parent and after.parent.type.startswith("dec")
        top = after.parent if after.parent and is_decorated else after
        if RULES.checks.search("\n".join(lines[top.start_point[0] : after.start_point[0]])):
            return True
    loops = (i for i in names.ancestors(at) if value_flow.LOOPS.match(i.type))
    ends = (i.end_point[0] for i in loops if i.start_byte >= after.start_byte)
    for number in range(start, max([row, *ends]) + 1):
        line = lines[number]
        mentions, decides = [*own.finditer(line)], bool(RULES.decides.search(line))
        is_read = not decides and all(RULES.reads.match(line, item.end()) for item in mentions)
        if number == row:
            is_read, is_passed = not decides or len(mentions) < 2, False
        else:
            is_passed = bool(passed.search(line) or RULES.checks.search(line))
        if is_passed or (mentions and not is_read and not RULES.harmless.search(line)):
            return True
    return False
