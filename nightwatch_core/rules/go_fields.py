"""Whether a Go selector asks the value itself: a field may be one of an embedded pointer."""

import re

from tree_sitter import Node

from nightwatch_core.code.none_exits import function_at
from nightwatch_core.code.reaching import origin_of_name
from nightwatch_core.code.statements import text_of
from nightwatch_core.rules.known_callees import call_of, defining, known_function, type_of
from nightwatch_core.rules.known_code import Context


def is_own_field(value: Node, member: str, path: str, root: Node, context: Context) -> bool:
    """Tell whether the type of a value is known, is one struct, and has the field itself."""
    name = type_of(value, root) or _result_of(value, path, root, context)
    places = defining(name, path, context.code) if name else None
    if not places or len(places) != 1:
        return False
    where, definition = places[0]
    rows = (context.code.whole(where) or ())[definition.line - 1 : definition.end]
    own = re.compile(rf"\s*(?:\w+\s*,\s*)*{re.escape(member)}\b\s*(?:,|[*\[\w]|map|func|chan)")
    return bool(rows) and "struct" in rows[0] and any(map(own.match, rows[1:]))


def _result_of(value: Node, path: str, root: Node, context: Context) -> str:
    """The type that a pointer to comes first of what the called function gives."""
    origin = origin_of_name(root, text_of(value), value)
    call = call_of(origin.value) if origin and origin.value is not None else None
    known = known_function(call, path, root, context) if call else None
    function = function_at(known.root, known.definition.line - 1) if known else None
    result = function.child_by_field_name("result") if function else None
    match = re.match(r"\(?\s*(?:\w+\s+)?\*(\w+)", text_of(result)) if result else None
    return match[1] if match else ""
