"""Calls that do not fit the function they call: renamed keywords and wrong numbers of arguments."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from nightwatch_core.code.definitions import defined_name, definitions_in
from nightwatch_core.code.definitions import functions_around_bindings as functions_around
from nightwatch_core.code.edits import edits_for
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.code.syntax import (
    arguments,
    masked,
    nodes_in,
    parameters,
    rows_of,
    statement_at,
    text_of,
    uses,
)
from nightwatch_core.code.value_flow import asked_in, origin_of_name, unwrapped, written
from nightwatch_core.models.answer import Edit, Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import (
    FailingLine,
    Finding,
    can_be_of,
    complaint_of,
    hypothesis,
    line_of_frame,
    plain_name,
    quoted,
)
from nightwatch_core.rules.kinds import general
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.names import replaced
from nightwatch_core.rules.none import raised_outside, tree_of
from nightwatch_core.rules.similar_names import (
    ALIKE,
    callers,
    definitions,
    likeness,
    means_something_else,
    slip,
)

_INITS = ("__init__", "initialize", "constructor", "__construct")
_MARK = {"python": "=", "ruby": ":", "php": ":"}  # between a keyword and its value


def wrong_arguments(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Compare the call with the signature it meets, and mends a renamed keyword."""
    reported = failing
    failing, function = _call_and_function(symptom, failing, context)
    definition = _definition(function, failing, context) if function else None
    if definition is None:
        return _unknown(symptom, failing, function)
    start = definition.line
    lines = context.code.lines(definition.path, start, start + 20)
    written = parameters(lines, start)
    takes = tuple(filter(None, map(plain_name, written)))
    place = f"{definition.path}:{definition.line}"
    if not (
        uses(function, failing.text)
        and can_be_of(symptom, written, takes, failing.language.name == "ruby")
    ):
        return _unknown(symptom, failing, function)
    finding = Finding(
        because=(
            f"{failing.place} calls `{function}` in a way its signature in {place} does not take "
            f"({complaint_of(symptom)}); it takes {', '.join(takes) or 'nothing'}.",
        ),
        evidence=(quoted(definition.path, start, definition.text, "the signature"),),
        fault=failing.evidence("the call") if failing.seen and failing is not reported else None,
        learnings=(
            Learning(
                fact=f"`{function}` in {place} takes {', '.join(takes) or 'no arguments'}.",
                path=definition.path,
                line=start,
            ),
        ),
        steps=(f"Make the call in {failing.place} fit the signature in {place}.",),
        subject=f"call of `{function}` does not fit its signature",
        explained=True,
    )
    if symptom.keyword:
        finding = finding + _renamed(symptom.keyword, function, definition, failing, context)
    return finding


def _unknown(symptom: Symptom, failing: FailingLine, function: str) -> Finding:
    """What the message says, where the function that is meant is not proved."""
    what = f"`{function}`" if function else "the function that it calls"
    return Finding(
        value=complaint_of(symptom),
        steps=(f"Compare the call in {failing.place} with the signature of {what}.",),
        tags=("wrong-arguments",),
    )


def _call_and_function(
    symptom: Symptom, failing: FailingLine, context: Context
) -> tuple[FailingLine, str]:
    """The line that calls, and the bare name of what it calls.

    Ruby blames the callee's first line, so there the call is one frame further out.
    """
    name = re.split(r"[.:\\]+", symptom.name)[-1]
    own = defined_name(failing.text, failing.language)
    if own and len(context.app_frames) > 1:
        return line_of_frame(context.app_frames[1], context), own
    if name == "__init__":
        return failing, symptom.name.split(".")[-2] if "." in symptom.name else ""
    return failing, name


def _definition(function: str, failing: FailingLine, context: Context) -> SearchHit | None:
    """The one definition of the function; of a class, its constructor."""
    defined = definitions(function, failing.language, context.code)
    if len(defined.hits) != 1 or not defined.complete:
        return _innermost(function, context)
    hit = defined.hits[0]
    if not re.match(r"\s*(?:class|struct)\b", hit.text):
        return hit
    lines = context.code.whole(hit.path) or ()
    known = definitions_in(hit.path, "\n".join(lines))
    end = next((one.end for one in known if one.line == hit.line), 0)
    line = next((d.line for d in known if d.name in _INITS and hit.line < d.line <= end), 0)
    return SearchHit(path=hit.path, line=line, text=lines[line - 1]) if line else hit


def _innermost(function: str, context: Context) -> SearchHit | None:
    """The top frame's own line where that defines the function."""
    if not context.app_frames:
        return None
    failing = line_of_frame(context.app_frames[0], context)
    if defined_name(failing.text, failing.language) != function:
        return None
    return SearchHit(path=failing.path, line=failing.line, text=failing.text)


def _renamed(
    keyword: str, function: str, definition: SearchHit, failing: FailingLine, context: Context
) -> Finding:
    """The one parameter that the keyword must mean, and the edits of the calls that say it."""
    mark = _MARK.get(failing.language.name, "")
    free, needed = _unfilled(function, definition, failing, context)
    alone = [name for name in free if [name] in (free, needed)]
    names = [name for name in free if likeness(keyword, name) >= ALIKE or name in alone]
    later = {name: _replaced_by(keyword, name, definition, context) for name in names}
    sound = [
        name
        for name in names
        if slip(keyword, name)
        or (later[name] and not means_something_else(keyword, name, only=name in alone))
    ]
    if len(sound) != 1 or not mark:
        return Finding()  # neither spelling nor a change decides it
    new = sound[0]
    younger = later[new]
    called = "is now called" if younger else "should read"
    why = younger[1] if younger else "the names differ by a slip"
    return Finding(
        because=(f"The keyword `{keyword}` {called} `{new}`: {why}.",),
        edits=_edits(keyword, new, function, mark, failing, context),
        changed=((definition.path, younger[0]),) if younger else (),
        hypotheses=(
            hypothesis(
                f"keyword `{keyword}` {called} `{new}`",
                standing="confirmed",
                because=why,
            ),
        ),
        tags=("renamed-symbol" if younger else "misspelt-name",),
    )


def _unfilled(
    function: str, definition: SearchHit, failing: FailingLine, context: Context
) -> tuple[list[str], list[str]]:
    """Parameters that the call gives nothing for, and those of them that need a value."""
    given = _given(function, failing)
    named = {match[1] for part in given if (match := re.match(r"(\w+)\s*(?:=|:(?!:))", part))}
    positional = len(given) - len(named)
    lines = context.code.lines(definition.path, definition.line, definition.line + 20)
    written = [
        (name, part) for part in parameters(lines, definition.line) if (name := plain_name(part))
    ]
    free = [
        (name, part)
        for name, part in written[positional:]
        if name not in named and not part.startswith(("*", "&"))
    ]
    optional = r"^[*&]|=|:\s*\S+\s*=" if failing.language.name != "ruby" else r"^[*&]|=|:\s*\S"
    needed = [name for name, part in free if not re.search(optional, part)]
    return [name for name, _ in free], needed


def _replaced_by(
    keyword: str, name: str, definition: SearchHit, context: Context
) -> tuple[int, str] | None:
    """The line of the parameter and the change that put it in the keyword's place."""
    start = definition.line
    lines = context.code.lines(definition.path, start, start + 20)
    own = next((n for n in range(start, start + 20) if uses(name, lines.get(n, ""))), start)
    why = context.replaced(keyword, name, definition.path, own)
    return (own, why) if why else None


def _given(function: str, failing: FailingLine) -> tuple[str, ...]:
    """The arguments of the call at the failing line."""
    call = re.search(rf"(?<![\w$]){re.escape(function)}\s*\(", failing.text)
    return arguments(failing.lines, failing.line, call.end() - 1) if call else ()


def _edits(
    keyword: str, new: str, function: str, mark: str, failing: FailingLine, context: Context
) -> tuple[Edit, ...]:
    """Edits of the failing call and of other one-line calls that use the old keyword."""
    calls = callers(function, context.code)
    if not failing.seen or not calls.complete:
        return ()
    pattern = re.compile(rf"(?<![\w$.]){re.escape(keyword)}(?=\s*{re.escape(mark)}(?![=:]))")
    places = {(hit.path, hit.line) for hit in calls.hits if pattern.search(hit.text)}
    rows = [n for n in range(failing.line, failing.line + 30) if n in failing.lines]
    own = next((n for n in rows if pattern.search(failing.lines[n])), None)
    named = (part.split("=")[0].split(":")[0] for part in _given(function, failing))
    if own is None or not any(uses(keyword, part) for part in named):
        return ()
    places.add((failing.path, own))
    edits: list[Edit] = []
    for path in dict.fromkeys((failing.path, *sorted(path for path, _ in places))):
        lines = context.code.whole(path) or ()
        changed = {
            line: _replaced(row, pattern, keyword, new, masked(row, failing.language))
            for where, line in places
            if where == path and line <= len(lines)
            for row in lines[line - 1 : line]
        }
        more = edits_for(path, lines, changed, f"pass `{new}` instead of `{keyword}`")
        if not more:
            return ()
        edits += more
    return tuple(edits)


def _replaced(text: str, pattern: re.Pattern[str], keyword: str, new: str, code: str) -> str:
    """Replace the keyword in code, which is the line without what strings hold."""
    return replaced(text, tuple(match.start() for match in pattern.finditer(code)), keyword, new)


# Causes that the failing line and what is around it show: loops, divisors, constants.

_LOOPS = frozenset(("for_statement", "enhanced_for_statement", "foreach_statement"))
_CHANGES = frozenset(
    (
        *("add", "addAll", "remove", "removeAll", "put", "putAll", "clear", "Add", "Remove"),
        *("pop", "popitem", "update", "setdefault", "discard", "Clear", "RemoveAt", "Insert"),
    )
)
_DIVISIONS = frozenset(("binary_operator", "binary_expression", "binary"))
_SIZES = re.compile(
    r"len\((?P<len>[\w.\[\]']+)\)|(?P<of>[\w.@$\[\]']+?)(?:\.|->)(?:length|size|count|Count|Length|size\(\)"
    r"|count\(\)|Count\(\)|length\(\))"
)
_VIEW = re.compile(r"\.(?:items|keys|values|keySet|entrySet|Keys|Values)(?:\(\))?$")
_SETS = re.compile(r"augmented|operator_assign|assignment_ex|assignment_st")
_NUMBERS = frozenset(("integer", "float", "int_literal", "number", "decimal_integer_literal"))


def changed_while_used(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain a collection that changes while it is gone through, where the loop itself does so."""
    rest = general(symptom, failing, context)
    root = tree_of(failing, context)
    loop = _loop(root, failing.line) if root else None
    gone_through = _iterated(loop) if loop else ""
    if loop is None or not gone_through:
        return rest
    body = loop.child_by_field_name("body")
    changes = [one for one in _changes(body, gone_through)] if body else []
    lines = context.code.whole(failing.path) or ()
    if not changes:
        return rest
    at, head = changes[0], loop.start_point[0] + 1
    return Finding(
        because=(
            f"The loop in {failing.path}:{head} goes through `{gone_through}`, and its own line "
            f"{at} changes that.",
        ),
        evidence=(quoted(failing.path, at, lines[at - 1], f"changes `{gone_through}`"),),
        steps=(f"Go through a copy of `{gone_through}`, or collect the changes first.",),
        tags=("changed-while-used",),
        subject=f"`{gone_through}` changes while it is gone through",
        explained=True,
    )


def divided_by_zero(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the only divisor of the line, and whether it is the size of something."""
    rest = general(symptom, failing, context)
    root = None if raised_outside(context) else tree_of(failing, context)
    statement = statement_at(root, failing.line - 1) if root else None
    if root is None or statement is None:
        return rest
    divisors = tuple(dict.fromkeys(map(written, _divisors(statement, failing.line - 1))))
    if len(divisors) != 1 or not divisors[0]:
        return rest
    divisor, node = divisors[0], next(_divisors(statement, failing.line - 1))
    size, line = divisor, failing.line
    node = unwrapped(node)
    if node.type in ("identifier", "variable_name"):
        origin = origin_of_name(root, divisor, node)
        if origin is not None and origin.value is not None and origin.position < 0:
            size, line = written(origin.value), origin.node.start_point[0] + 1
    known = Finding(
        value=f"`{divisor}` is 0",
        unknown=f"why `{divisor}` is 0 in {failing.place}",
        steps=rest.steps,
        tags=rest.tags,
    )
    match = _SIZES.fullmatch(size)
    if not match:
        return known
    whose = match["len"] or match["of"]
    where = "" if line == failing.line else f" in {failing.path}:{line}"
    return (
        Finding(
            because=(
                f"`{whose}` is empty: {failing.place} divides by its size (`{size}`{where}).",
            ),
            subject=f"`{whose}` is empty, and its size divides",
            explained=True,
        )
        + known
    )


def constant_assigned(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the JavaScript constant that the line assigns, and where it is declared."""
    rest = general(symptom, failing, context)
    root = tree_of(failing, context) if "Assignment to constant" in symptom.text else None
    statement = statement_at(root, failing.line - 1) if root else None
    lines = context.code.whole(failing.path) or ()
    if root is None or statement is None:
        return rest
    names = {
        text_of(left)
        for one in nodes_in(statement, failing.line - 1, failing.line - 1)
        if re.search(r"assignment_expression|update_expression", one.type)
        and (left := one.child_by_field_name("left") or one.child_by_field_name("argument"))
        and left.type == "identifier"
    }
    if len(names) != 1:
        return rest
    name = names.pop()
    declares = re.compile(rf"\s*(?:export\s+)?const\s+{re.escape(name)}\b")
    places = [n for n, row in enumerate(lines, start=1) if declares.match(row)]
    if len(places) != 1:
        return rest
    return Finding(
        because=(
            f"{failing.place} assigns `{name}`, a constant since {failing.path}:{places[0]}.",
        ),
        evidence=(
            quoted(failing.path, places[0], lines[places[0] - 1], f"makes `{name}` constant"),
        ),
        subject=f"the constant `{name}` is assigned",
        steps=(f"Declare `{name}` with let, or set another name.",),
        explained=True,
    ) + rest.model_copy(update={"steps": ()})


def _loop(root: Node, line: int) -> Node | None:
    """The loop that begins in a line, or the innermost one around it."""
    around = [one for one in nodes_in(root, line - 1, line - 1) if one.type in _LOOPS]
    begins = [one for one in around if one.start_point[0] + 1 == line]
    return next(iter([*begins[-1:], *around[-1:]]), None)


def _iterated(loop: Node) -> str:
    for field in ("right", "value"):
        node = loop.child_by_field_name(field)
        if node is not None:
            text = _VIEW.sub("", written(node))
            return text if re.fullmatch(r"[\w.$>-]+", text) else ""
    return ""


def _changes(body: Node, name: str) -> Iterator[int]:
    """Lines, from 1, of a loop's body, not of functions in it, that change what it goes through."""
    outer = next(functions_around(body), None)
    for one in asked_in(body):
        if next(functions_around(one.node), None) != outer or one.text != name:
            continue
        above = one.node.parent
        is_deleted = above is not None and above.type == "delete_statement"
        is_change = (one.is_call and one.member in _CHANGES) or (
            one.how == "element" and is_deleted
        )
        if is_change and not _leaves(one.node):
            yield one.node.start_point[0] + 1


def _leaves(node: Node) -> bool:
    """Whether the loop is left right after the statement of a node."""
    above: Node | None = node
    while above is not None and not above.type.endswith(("_statement", "statement_list", "block")):
        above = above.parent
    after = above.next_named_sibling if above is not None else None
    return after is not None and after.type in ("break_statement", "return_statement")


def _divisors(statement: Node, row: int) -> Iterator[Node]:
    start, end = rows_of(statement, row)
    for one in nodes_in(statement, start, end):
        operator = one.child_by_field_name("operator")
        sign = text_of(operator) if operator else ""
        is_inside = start <= one.start_point[0] <= end
        if is_inside and one.type in _DIVISIONS and sign in ("/", "//", "%"):
            right = one.child_by_field_name("right")
            if right is not None and right.type not in _NUMBERS:
                yield unwrapped(right)
        elif is_inside and _SETS.match(one.type):
            right = one.child_by_field_name("right")
            if right is not None and sign in ("/=", "//=", "%="):
                yield unwrapped(right)
