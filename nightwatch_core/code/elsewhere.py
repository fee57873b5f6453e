"""What is elsewhere: the method in sibling classes, the same expression, and who calls it."""

import re

from nightwatch_core.code.called_names import COMMON
from nightwatch_core.code.callees import Shown, cut
from nightwatch_core.code.definition_lookup import Lookup, bases_in
from nightwatch_core.code.definitions import defined_name, definitions_in, functions_around
from nightwatch_core.code.imported_files import distance, imported_files
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.limits import (
    CALLER_HITS,
    CALLERS,
    OTHER_USES,
    SIBLING_HITS,
    USE_HITS,
)
from nightwatch_core.code.value_flow import expressions_on, value_flow
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import Preview
from nightwatch_core.text.plain_text import text_lines

_OWN = re.compile(r"(?:self|this|\$this|cls|@)\b|@")


def sibling_methods(path: str, line: int, known: Lookup, seen: Shown) -> tuple[Preview, ...]:
    """Show the method around a line as the nearest sibling class has it, naming further ones.

    Siblings are classes made of the same one; methods that every class has are none.
    """
    text = known.text(path) or ""
    methods = functions_around(path, text, line)
    name = methods[-1].name if methods else ""
    if not name or name in COMMON or name.startswith("__"):
        return ()
    own = [one for one in definitions_in(path, text) if one.kind == "class"]
    around = [one for one in own if one.line <= line <= one.end]
    bases = bases_in(text_lines(text)[around[-1].line - 1]) if around else ()
    places = []
    for base in bases[:1]:
        for hit in known.hits(base, SIBLING_HITS):
            sibling = defined_name(hit.text, language_of(hit.path))
            if base in bases_in(hit.text) and sibling != around[-1].name:
                places.append(known.member(name, sibling, hit.path))
    found = sorted((one for one in places if one), key=lambda one: distance(one.path, path))
    also = ", ".join(dict.fromkeys(f"{one.path}:{one.line}" for one in found[1:4]))
    because = f"{name} of a sibling class{f'; also {also}' if also else ''}"
    preview = cut(found[0], known, seen, "sibling", because) if found else None
    return (preview,) if preview else ()


def callers(case: Case, known: Lookup, seen: Shown) -> tuple[SearchHit, ...]:
    """List lines that call the function a trace begins in; none where the trace tells the caller.

    Nothing where its name is one that many functions have.
    """
    frames = case.trace.root.frames if case.trace else ()
    first = frames[-1] if frames else None
    if first is None or not first.in_app or not first.repo_path or not first.line:
        return ()
    text = known.text(first.repo_path) or ""
    functions = functions_around(first.repo_path, text, first.line)
    name = functions[-1].name if functions else ""
    if not name or name in COMMON or name.startswith("__"):
        return ()
    call = re.compile(rf"(?<![\w]){re.escape(name)}\s*\(")
    hits = [hit for hit in known.hits(f"{name}(", CALLER_HITS) if call.search(hit.text)]
    defining = {hit for hit in hits if defined_name(hit.text, language_of(hit.path)) == name}
    new = [hit for hit in hits if hit not in defining and (hit.path, hit.line) not in seen]
    is_one = len(defining) < 2  # else nobody knows which is called
    return tuple(new[:CALLERS]) if is_one else ()


def other_uses(path: str, line: int, known: Lookup, seen: Shown) -> tuple[SearchHit, ...]:
    """List other lines that read what the failing statement reads, those of its file first.

    A member of the object itself only in its file; nothing where it is read in very many places.
    """
    text = known.text(path) or ""
    failing = value_flow(path, text, line)[0]
    for expression in expressions_on(path, text, failing):
        if _is_called(expression, text, failing.line, failing.end) or "." not in expression:
            continue
        root = re.split(r"\W", expression)[0]
        if imported_files(root, path, text, known.index) or _is_imported(root, text):
            continue
        hits = _in_file(expression, path, text)
        if not _OWN.match(expression):
            hits += tuple(hit for hit in known.hits(expression, USE_HITS) if hit.path != path)
        whole = re.compile(rf"(?<![\w.]){re.escape(expression)}(?!\w)")
        new = [one for one in hits if whole.search(one.text) and (one.path, one.line) not in seen]
        if len(hits) < USE_HITS and new:
            return tuple(new)[:OTHER_USES]
    return ()


def _in_file(expression: str, path: str, text: str) -> tuple[SearchHit, ...]:
    rows = enumerate(text_lines(text), start=1)
    return tuple(SearchHit(path=path, line=n, text=row) for n, row in rows if expression in row)


def _is_called(expression: str, text: str, first: int, last: int) -> bool:
    rows = "\n".join(text_lines(text)[first - 1 : last])
    return bool(re.search(rf"{re.escape(expression)}\s*\(", rows))


def _is_imported(root: str, text: str) -> bool:
    return bool(re.search(rf"^\s*(?:import|from|use|using)\b.*\b{re.escape(root)}\b", text, re.M))
