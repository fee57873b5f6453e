"""Guards of several lines: an `if` that leaves, or passes over, where a value is nothing."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from nightwatch_core.code.band_aids.bodies import answers, body_of, looks_away, statements_of
from nightwatch_core.code.band_aids.inline_guards import guarded_lines
from nightwatch_core.code.band_aids.optional_values import may_be_missing
from nightwatch_core.code.band_aids.substance import has_substance
from nightwatch_core.code.band_aids.values import BandAid, Change, Kind
from nightwatch_core.code.band_aids.vocabulary import LITERALS, LOGS
from nightwatch_core.code.bindings import functions_around
from nightwatch_core.code.limits import NAMED_LINE
from nightwatch_core.code.statements import text_of

_IFS = re.compile(r"^(?:if|unless|elsif|elif)(?:_statement|_modifier|_clause)?$|^unless_modifier$")
_BOUND = re.compile(
    r"[<>]=?(?![=>])|%\s|\bin range\(|\.between\?|\bmin\(|\bmax\(|\.(?:start|end)s?_?[wW]ith"
)
_COUNTED = re.compile(r">\s*[1-9]|>=\s*[2-9]|<\s*[2-9]|<=\s*[1-9]")  # more than nothing
_IS_VALUE = re.compile(r"[=!]==?\s*(?:'[^']+'|\"[^\"]+\"|[1-9])")
_NOTHING = re.compile(
    r"\b(?:None|nil|null|undefined|NULL)\b|\.(?:nil|blank|present)\?|is_null\(|isset\(|\bnot\b"
    r"|^\W*!"
    r"|isNull|isPresent\(\)|empty|IsNullOr\w+|hasattr|respond_to|isinstance|typeof|instanceof"
    r"|\bin\b|\.has\(|key\?|include\?|contains|hasOwn|TryGet|\bok\b|^\W*[\w.$@>-]+\W*$|\bis\b"
    r"|\bdefined\b"
    r"|array_key_exists|\blen\(|\.length|\.size|\.count|\.any\?"
)
_EMPTINESS = re.compile(
    r"not\s+(\w+)\s*$|^\(?!?\s*\$?(\w+)\.(?:empty\?|isEmpty\(\)|length|any\?|Any\(\)|size|Count)"
    r"|len\(\$?(\w+)\)|^\(?\$?(\w+)\s*(?:==|===|<=)\s*0|empty\(\$?(\w+)\)|count\(\$?(\w+)\)"
    r"|^!\s*(\w+)\)?$"
)


def guard_only(change: Change) -> Iterator[BandAid]:
    """Find guards for values that should be there, where the change does nothing else."""
    inline = tuple(guarded_lines(change))
    blocks = tuple((node, kind) for node in change.new_nodes if (kind := _guarding(change, node)))
    explained = {one.line - 1 - above for one in inline for above in (0, 1)}
    for node, _ in blocks:
        explained |= set(range(node.start_point[0], node.end_point[0] + 1))
    if (inline or blocks) and not has_substance(change, explained):
        yield from inline
        yield from (change.band_aid(kind, node.start_point[0]) for node, kind in blocks)


def _guarding(change: Change, node: Node) -> Kind | None:
    """Tell what an added `if` does to get past a value that is nothing; None for good ones."""
    condition = node.child_by_field_name("condition") if _IFS.match(node.type) else None
    if condition is None or condition.start_point[0] not in change.added:
        return None
    asked = " ".join((condition.text or b"")[:NAMED_LINE].decode("utf-8", "replace").split())
    row = node.start_point[0]
    is_bound = _BOUND.search(asked) and (_COUNTED.search(asked) or not _EMPTINESS.search(asked))
    if not _NOTHING.search(asked) or is_bound or _IS_VALUE.search(asked):
        return None
    if _is_rightly_empty(change, asked, node) or may_be_missing(change, asked, row):
        return None
    if _ends_recursion(node):
        return None
    return _passed_over(change, node)


def _passed_over(change: Change, node: Node) -> Kind | None:
    body = body_of(node)
    statements = statements_of(body)
    other = node.child_by_field_name("alternative")
    if other is not None and not looks_away(statements_of(other)):
        return None
    if statements and all(LOGS.match(one) for one in statements):
        return None  # who has no logger needs no line of log
    if not answers(statements) and looks_away(statements):
        given = (
            re.search(rf"(?:^return\s+|=\s*)({LITERALS.pattern})\s*;?$", statements[-1])
            if statements
            else None
        )
        value = given[1] if given else ""
        return "masking_default" if re.search(r"\d|\w['\"]|[\[{(]", value) else "guard_only"
    after = node.next_named_sibling
    if after is not None and after.start_point[0] in change.added and _is_left(after):
        return "guard_only"
    rows = range(body.start_point[0], body.end_point[0] + 1) if body else range(0)
    wrapped = [row for row in rows if row not in change.added and change.new[row]]
    return "guard_only" if wrapped and not answers(statements[:1]) else None


def _is_left(node: Node) -> bool:
    """Whether a statement only leaves the function with nothing."""
    text = " ".join((node.text or b"")[:NAMED_LINE].decode("utf-8", "replace").split())
    return text.startswith("return") and looks_away((text,))


def _ends_recursion(node: Node) -> bool:
    """Whether the function around calls itself: without such a guard it would not end."""
    function = next(functions_around(node), None)
    named = function.child_by_field_name("name") if function else None
    if function is None or named is None:
        return False
    body = text_of(function)[named.end_byte - function.start_byte :]
    return bool(re.search(rf"\b{re.escape(text_of(named))}\(", body))


def _is_rightly_empty(change: Change, asked: str, node: Node) -> bool:
    """Whether a collection or a number is asked for nothing and used where nothing is no value."""
    match = _EMPTINESS.search(asked)
    name = next((one for one in match.groups() if one), "") if match else ""
    if not name:
        return False
    below = "\n".join(change.new[node.start_point[0] + 1 : node.end_point[0] + 8])
    used = re.compile(
        rf"/\s*(?:float\w*\(|len\(|count\(|\(double\)\s*)*\$?{name}\b|\b(?:max|min|reduce|mean"
        rf"|median|random\.choice)\w*\(+[^()]*\b{name}\b"
        rf"|\b{name}\b(?:\[(?:0|-1)\]|\.(?:get\(0\)|eq\(0\)|max|min|reduce|inject|Average|Max|Min|sample|sum)\b)"
        rf"|%\s*\$?{name}\b"
    )
    return bool(used.search(below))
