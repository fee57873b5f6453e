"""A key or index that is not there: which one, of what, and who builds it."""

import re

from tree_sitter import Node

from nightwatch_core.code.dereferences import asked_at, unwrapped, written
from nightwatch_core.code.line_reading import body_of, receiver_before
from nightwatch_core.code.reaching import is_tested, origin_of_name
from nightwatch_core.code.statements import text_of
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.answer import Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import FailingLine, Finding, quoted
from nightwatch_core.rules.known_callees import call_of, known_function
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import KEYS
from nightwatch_core.rules.none_receivers import tree_of

_KEY = re.compile(r"""["':]?([A-Za-z_]\w*)["']?\s*(?::|=>|\]\s*=(?!=))""")
_INDEX = re.compile(r"(?:list|string|tuple) index out of range|IndexOutOfRange|index out of range")
_MERGES = re.compile(
    r"\*\*|\.update\(|\.merge\b|Object\.assign|\.\.\.|array_merge|\bdict\(|setdefault|\bfor\b"
)


def missing_key(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the key and the mapping; a cause only where its builder is known, key by key."""
    if _is_elsewhere(context) or not (symptom.key or "KeyError" in symptom.text[:60]):
        return Finding(tags=("missing-key",))
    key = symptom.key
    mapping = _mapping(key, failing) if failing.seen else ""
    named = f"key `{key}`" if key else "the key asked for"
    what = f"`{mapping}` has no {named}" if mapping else f"{named} is missing"
    finding = Finding(
        because=(f"{failing.place} reads {named} of `{mapping}`, which does not hold it.",)
        if mapping
        else (),
        tags=("missing-key",),
        subject=f"{named} is missing" + (f" in `{mapping}`" if mapping else ""),
        value=what,
        unknown=f"why {what}" + (f" in {failing.place}" if failing.place else ""),
    )
    built = _builder(key, mapping, failing, context) if mapping and key else Finding()
    whose = f"`{mapping}`" if mapping else "the mapping"
    step = f"Make {failing.place} and what builds {whose} agree on {named}."
    return finding + built + Finding(steps=(step,))


def out_of_range(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the sequence that is shorter than the code takes for granted."""
    root = None if _is_elsewhere(context) else tree_of(failing, context)
    asked = asked_at(root, failing.line - 1) if root else ()
    names = tuple(dict.fromkeys(one.text for one in asked if one.how == "element"))
    is_index = bool(_INDEX.search(symptom.text))
    if not is_index or len(names) != 1 or not names[0]:
        return Finding(tags=("out-of-range",))
    what = f"`{names[0]}`"
    size = f" (length {symptom.expected})" if symptom.expected else ""
    node = next(one.node for one in asked if one.how == "element")
    finding = Finding(
        tags=("out-of-range",),
        subject=f"{what} is too short",
        value=f"an element of {what}{size} that is not there",
        unknown=f"why {what}{size} has no such element in {failing.place}",
        steps=(f"Find out when {what} has fewer elements than {failing.place} expects.",),
    )
    return _split(node, root, failing) + finding if root else finding


def _split(node: Node, root: Node, failing: FailingLine) -> Finding:
    """A text that is split, of which a later part is taken though there may be one only."""
    value = unwrapped(node.named_children[0])
    index = text_of(node.named_children[-1])
    line = failing.line
    if value.type in ("identifier", "variable_name"):
        origin = origin_of_name(root, text_of(value), value)
        if origin is None or origin.value is None or origin.position >= 0:
            return Finding()
        if is_tested(text_of(value), origin.node, node):
            return Finding()
        line, value = origin.node.start_point[0] + 1, unwrapped(origin.value)
    text = written(value)
    if not index.isdigit() or index == "0" or not re.search(r"\.split\([^()]{1,60}\)$", text):
        return Finding()
    place = f"{failing.path}:{line}"
    return Finding(
        because=(
            f"{failing.place} takes element {index} of `{text[:120]}` ({place}): the text that is "
            "split there has fewer parts, and no line between asks for that.",
        ),
        explained=True,
    )


def _is_elsewhere(context: Context) -> bool:
    """Whether a dependency raised the error itself: then our line need not hold the key."""
    trace = context.case.trace
    first = next(iter(trace.root.frames), None) if trace else None
    return first is not None and not first.in_app


def _mapping(key: str, failing: FailingLine) -> str:
    """The expression whose key is read; empty where the line does not show it.

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
    """The expression without a cast before it."""
    return re.sub(r"^\((?:int|string|float|bool|array|object)\)\s*", "", expression)


def _builder(key: str, mapping: str, failing: FailingLine, context: Context) -> Finding:
    """The one function that surely makes the mapping, and the keys that it writes: all of them."""
    root = tree_of(failing, context)
    made = _made_by(mapping, failing, root) if root else None
    if root is None or made is None:
        return Finding()
    value, line = made
    call = call_of(value)
    known = known_function(call, failing.path, root, context) if call else None
    if known is None:
        return _given(value, line, failing, context) if call and line != failing.line else Finding()
    lines = context.code.whole(known.path) or ()
    body = range(known.definition.line, known.definition.end + 1)
    numbered = {n: lines[n - 1] for n in body if n <= len(lines)}
    hit = SearchHit(path=known.path, line=known.definition.line, text=numbered[body[0]])
    keys = _keys_of(numbered, hit)
    is_open = any(
        _MERGES.search(text) or re.search(rf"[\"':]{re.escape(key)}\b", text)
        for text in numbered.values()
    )
    if not keys or is_open or key in keys:
        return Finding()
    held = ", ".join(f"`{one}`" for one in list(keys)[:KEYS])
    first = next(iter(keys.values()))
    name, place = known.definition.name, f"{hit.path}:{hit.line}"
    return Finding(
        because=(f"`{name}` ({place}), which {failing.path}:{line} calls, writes {held} only.",),
        evidence=(
            quoted(hit.path, first, lines[first - 1], f"`{name}` builds it here"),
            quoted(hit.path, hit.line, hit.text, "its builder"),
        ),
        learnings=(
            Learning(fact=f"`{name}` in {place} builds {held}.", path=hit.path, line=hit.line),
        ),
        explained=True,
    )


def _made_by(mapping: str, failing: FailingLine, root: Node) -> tuple[Node, int] | None:
    """The one expression that gives the mapping, and its line, from 1; None where several may."""
    asked = asked_at(root, failing.line - 1)
    value = next((unwrapped(one.value) for one in asked if one.text == mapping), None)
    if value is None or value.type not in ("identifier", "variable_name"):
        return None if value is None else (value, failing.line)
    origin = origin_of_name(root, text_of(value), value)
    if origin is None or origin.value is None or origin.position >= 0:
        return None
    if is_tested(text_of(value), origin.node, value):
        return None
    return unwrapped(origin.value), origin.node.start_point[0] + 1


def _given(value: Node, line: int, failing: FailingLine, context: Context) -> Finding:
    """What a call gave, whose keys the code cannot tell."""
    text = written(value) or " ".join((value.text or b"").decode("utf-8", "replace").split())
    lines = context.code.whole(failing.path) or ()
    place = f"{failing.path}:{line}"
    return Finding(
        because=(
            f"It is what `{text[:120]}` gave in {place}, and no line between asks what it holds.",
        ),
        evidence=(quoted(failing.path, line, lines[line - 1], "where it comes from"),),
        explained=True,
    )


def _keys_of(lines: dict[int, str], hit: SearchHit) -> dict[str, int]:
    """Keys that the function's body writes, with their lines."""
    line_of_key: dict[str, int] = {}
    for number in body_of(lines, hit.line)[1:] if lines else ():
        for match in _KEY.finditer(lines[number][:500]):
            if re.search(r"[\"':\[]", match[0]):
                line_of_key.setdefault(match[1], number)
    return line_of_key
