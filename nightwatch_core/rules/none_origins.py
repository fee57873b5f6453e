"""Why a value is None: a literal, a lookup, a function's exit, a caller, an attribute's beginning.

Every step is the only one that can have given the value; where several can, nothing is said.
"""

import re

from tree_sitter import Node

from nightwatch_core.code.dereferences import unwrapped, written
from nightwatch_core.code.none_exits import (
    NoneExit,
    are_all_told,
    function_at,
    looks_up,
    none_exits,
)
from nightwatch_core.code.reaching import Origin, is_tested, origin_of_name
from nightwatch_core.code.statements import text_of
from nightwatch_core.models.answer import Learning
from nightwatch_core.rules.findings import FailingLine, Finding, quoted
from nightwatch_core.rules.given_arguments import given_from
from nightwatch_core.rules.known_callees import Call, KnownFunction, call_of, known_function
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import CALLERS
from nightwatch_core.rules.none_attributes import attribute_cause

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
    return attribute_cause(node, failing, context)


def _from_value(
    name: str, origin: Origin, root: Node, failing: FailingLine, context: Context
) -> Finding:
    """What a single assignment gives the name."""
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
    """A function of the repository that gives nothing, or a lookup that found nothing."""
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
    """The call is the only thing that can have given the value."""
    what = "part of what" if is_part else "what"
    return Finding(
        because=(f"It is {what} `{text[:120]}` gave in {place}{asks}.",),
        explained=True,
        steps=(f"Decide what shall happen where {place} gives {none}.",),
    )


def _gives(none: str, text: str, failing: FailingLine) -> bool:
    """Whether a JavaScript lookup gives this kind of nothing."""
    if failing.language.name != "javascript":
        return True
    return bool(_UNDEFINED.search(text)) == (none == "undefined")


def _from_function(
    known: KnownFunction, line: int, failing: FailingLine, context: Context, position: int
) -> Finding:
    """The lines in which a known function gives nothing."""
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
    is_said = any(one.how != "looks up" for one in exits)
    if not is_said and not are_all_told(function, failing.language, none, position):
        step = f"Find out by which way `{name}` gives {none} there."
        return Finding(because=(f"{gave}.",), explained=True, steps=(step,))
    ways = "; ".join(_way(one, known.path, none) for one in exits[:3])
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


def _way(one: NoneExit, path: str, none: str) -> str:
    when = f" where `{one.when[:120]}`" if one.when else ""
    place = f"{path}:{one.line}"
    if one.how == "returns":
        return f"{place} returns {none}{when}"
    if one.how == "looks up":
        return f"{place} returns what it looks up, which may be {none}{when}"
    if one.when:
        return f"{place} ends with {none} {one.when[:120]}"
    return f"it ends in {place} without giving anything"


def _is_changed(function: Node) -> bool:
    """Whether a decorator may give something else than the function."""
    above = function.parent
    if above is None or above.type != "decorated_definition":
        return False
    marks = [text_of(one) for one in above.named_children if one.type == "decorator"]
    return not all(_KEPT.search(one) for one in marks)


def _from_caller(
    name: str, function: Node, failing: FailingLine, context: Context, depth: int
) -> Finding:
    """What the calling frame gave for a parameter."""
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
