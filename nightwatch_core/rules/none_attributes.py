"""An object's own attribute that is None: which lines set it, all of them."""

import re

from tree_sitter import Node

from nightwatch_core.code.bindings import functions_around as nodes_around
from nightwatch_core.code.definitions import functions_around
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.line_reading import masked
from nightwatch_core.code.reaching import is_tested
from nightwatch_core.code.statements import text_of
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import FailingLine, Finding, quoted
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import LINE, WRITING_LINES

_OWN = re.compile(r"(?:(?:self|this)\.|\$this->|@)(?P<name>\w{2,60})")
_DYNAMIC = re.compile(
    r"setattr|instance_variable_set|__dict__|Object\.assign|update\(|\bfor\b|with\b|attr_\w+"
)


def attribute_cause(node: Node, failing: FailingLine, context: Context) -> Finding:
    """Tell which lines set an attribute of the object itself, where one sets it to None."""
    match = _OWN.fullmatch(text_of(node))
    function = next(nodes_around(node), None)
    if match is None or function is None or is_tested(text_of(node), function.children[0], node):
        return Finding()
    sets = setting_lines(match["name"], failing, context)
    none = failing.language.none
    if sets == () and text_of(node).startswith("@"):
        return Finding(because=(f"Nothing in the code sets `{text_of(node)}`.",), explained=True)

    nothing = [hit for hit in sets or () if _value(hit.text, match["name"]) == none]
    others = [hit for hit in sets or () if hit not in nothing]
    if not nothing or len(nothing) + len(others) > WRITING_LINES + 1:
        return Finding()
    begins = " and ".join(_named(hit, context) for hit in nothing)
    rest = " and ".join(_named(hit, context) for hit in others)
    only = f"the only other place that sets it is {rest}" if others else "nothing else sets it"
    return Finding(
        because=(f"{begins} sets it to {none}; {only}.",),
        evidence=tuple(
            quoted(hit.path, hit.line, hit.text, "sets it") for hit in (*nothing, *others)[:3]
        ),
        explained=True,
        steps=(
            f"Find out how {failing.place} is reached before it is set, or after it is cleared.",
        ),
    )


def setting_lines(
    name: str, failing: FailingLine, context: Context
) -> tuple[SearchHit, ...] | None:
    """List every line that sets an attribute of this name, of any object; None where unclear."""
    result = context.code.search(name)
    if not result.complete:
        return None
    hits = [
        hit
        for hit in result.hits
        if language_of(hit.path).name == failing.language.name and not TEST.search(hit.path)
    ]
    own = re.escape(name)
    sign = re.compile(rf"(?<![\w$]){own}\s*(?::[^=,()]+)?(?:\|\|)?=(?![=>])|[(,]\s*{own}\s*[,)].*=")
    sets = [hit for hit in hits if sign.search(masked(hit.text, failing.language))]
    dynamic = [
        h for h in hits if h not in sets and _DYNAMIC.search(h.text[:LINE]) and f"{name}" in h.text
    ]
    is_unclear = any(_names_it(hit.text, name) for hit in dynamic)
    if is_unclear or any(hit.path != failing.path for hit in sets):
        return None
    return tuple(sets)


def _names_it(text: str, name: str) -> bool:
    return bool(re.search(rf"[\"':]{re.escape(name)}\b", text[:LINE]))


def _value(text: str, name: str) -> str:
    match = re.search(
        rf"(?<![\w$]){re.escape(name)}\s*(?::[^=]+)?=\s*(\w+)\s*;?\s*(?:#.*|//.*)?$", text
    )
    return match[1] if match else ""


def _named(hit: SearchHit, context: Context) -> str:
    text = "\n".join(context.code.whole(hit.path) or ())
    around = functions_around(hit.path, text, hit.line)
    where = f" (`{around[-1].name}`)" if around else ""
    return f"{hit.path}:{hit.line}{where}"
