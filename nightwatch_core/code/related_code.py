"""Code related to a failing line or to a change: siblings, callers, other uses, what it reaches."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from nightwatch_core.code import limits
from nightwatch_core.code.candidate_symbols import (
    Lookup,
    Shown,
    bases_in,
    cut,
    distance,
    imported_files,
)
from nightwatch_core.code.definitions import defined_name, definitions_in, functions_around
from nightwatch_core.code.languages import COMMON, language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.value_flow import expressions_on, value_flow
from nightwatch_core.models.code import ChangedFile, SearchHit
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import Preview
from nightwatch_core.text.plain_text import text_lines
from nightwatch_core.traces.placing import ReadFile

Search = Callable[[str], tuple[SearchHit, ...]]
_HUNK = re.compile(r"@@ -(\d+)")
_NAME = re.compile(r"\.[A-Za-z_]\w{4,}|\b[A-Za-z_]\w{4,}(?:\(|=(?!=))")  # what is called or passed
_MOST_NAMES, _MOST_PLACES, _COMMON, _TELLING = 3, 5, 12, 16  # names, places, places, characters


class Places(NamedTuple):
    """Some places of a text, and how many there are."""

    text: str
    places: tuple[str, ...]
    number: int


class Reach(NamedTuple):
    """Users of a change, and places that it left as they were."""

    users: tuple[Places, ...] = ()  # of the functions that it changes
    unmended: tuple[Places, ...] = ()  # what it takes out and what stands elsewhere as well
    is_known: bool = True  # False: the code could not be searched


def reach_of(
    files: tuple[ChangedFile, ...],
    failing: Iterable[tuple[str, str]],
    read: ReadFile,
    search: Search,
) -> Reach:
    """Look up what a change reaches; `files` have numbered diffs, `failing` are paths and lines.

    What is written in too many places is no pattern, and left out.
    """
    code = tuple(file for file in files if not TEST.search(file.path))
    return Reach(tuple(_users(code, read, search)), tuple(_unmended(code, failing, search)))


def _users(files: tuple[ChangedFile, ...], read: ReadFile, search: Search) -> Iterator[Places]:
    changed = [name for file in files for name in _functions(file, read)]
    for name in list(dict.fromkeys(changed))[:_MOST_NAMES]:
        hits = [
            hit
            for hit in search(name)
            if re.search(rf"\b{re.escape(name)}\b", hit.text)
            and defined_name(hit.text, language_of(hit.path)) != name
            and not TEST.search(hit.path)
        ]
        yield _places(name, hits)


def _functions(file: ChangedFile, read: ReadFile) -> Iterator[str]:
    text, line = read(file.path) or "", 0
    for row in file.diff.split("\n"):
        if hunk := _HUNK.match(row):
            line = int(hunk[1])
            continue
        around = functions_around(file.path, text, line) if row[:1] in ("-", "+") else ()
        if around and around[-1].name not in COMMON and not around[-1].name.startswith("__"):
            yield around[-1].name
        line += row[:1] != "+"


def _unmended(
    files: tuple[ChangedFile, ...], failing: Iterable[tuple[str, str]], search: Search
) -> Iterator[Places]:
    rows = [(file.path, row) for file in files for row in file.diff.split("\n")]
    out = [(path, row[1:].strip()) for path, row in rows if row.startswith("-")]
    added = " ".join(row[1:] for _, row in rows if row.startswith("+"))
    gone = [name for _, row in out for name in _NAME.findall(row) if name not in added]
    for name in list(dict.fromkeys(gone))[:_MOST_NAMES]:
        hits = [
            hit
            for hit in search(name)
            if (hit.path, hit.text.strip()) not in out and _is_whole(name, hit.text)
        ]
        if 0 < len(hits) <= _COMMON:
            yield _places(name, hits)
    known = (*out, *((path, row.strip()) for path, row in failing))
    own = {*(file.path for file in files), *(path for path, _ in known)}
    for line in list(dict.fromkeys(row for _, row in known if len(row) >= _TELLING))[:_MOST_NAMES]:
        same = [hit for hit in search(line) if hit.text.strip() == line and hit.path not in own]
        if 0 < len(same) <= _COMMON:
            yield _places(line, same)


def _is_whole(name: str, text: str) -> bool:
    bare = name.strip(".(=")
    return bool(re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", text))


def _places(text: str, hits: list[SearchHit]) -> Places:
    shown = tuple(f"{hit.path}:{hit.line}" for hit in hits[:_MOST_PLACES])
    return Places(text, shown, len(hits))


# What is elsewhere: the method in sibling classes, the same expression, and who calls it.

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
    own = [definition for definition in definitions_in(path, text) if definition.kind == "class"]
    around = [item for item in own if item.line <= line <= item.end]
    bases = bases_in(text_lines(text)[around[-1].line - 1]) if around else ()
    places = []
    for base in bases[:1]:
        for hit in known.hits(base, limits.SIBLING_HITS):
            sibling = defined_name(hit.text, language_of(hit.path))
            if base in bases_in(hit.text) and sibling != around[-1].name:
                places.append(known.member(name, sibling, hit.path))
    found = sorted(
        (place for place in places if place), key=lambda place: distance(place.path, path)
    )
    also = ", ".join(dict.fromkeys(f"{item.path}:{item.line}" for item in found[1:4]))
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
    hits = [hit for hit in known.hits(f"{name}(", limits.CALLER_HITS) if call.search(hit.text)]
    defining = {hit for hit in hits if defined_name(hit.text, language_of(hit.path)) == name}
    new = [hit for hit in hits if hit not in defining and (hit.path, hit.line) not in seen]
    is_one = len(defining) < 2  # else nobody knows which is called
    return tuple(new[: limits.CALLERS]) if is_one else ()


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
        if imported_files(root, path, text, known.index) or bool(
            re.search(rf"^\s*(?:import|from|use|using)\b.*\b{re.escape(root)}\b", text, re.M)
        ):
            continue
        rows = enumerate(text_lines(text), start=1)
        hits = tuple(SearchHit(path=path, line=n, text=row) for n, row in rows if expression in row)
        if not _OWN.match(expression):
            hits += tuple(
                hit for hit in known.hits(expression, limits.USE_HITS) if hit.path != path
            )
        whole = re.compile(rf"(?<![\w.]){re.escape(expression)}(?!\w)")
        new = [hit for hit in hits if whole.search(hit.text) and (hit.path, hit.line) not in seen]
        if len(hits) < limits.USE_HITS and new:
            return tuple(new)[: limits.OTHER_USES]
    return ()


def _is_called(expression: str, text: str, first: int, last: int) -> bool:
    rows = "\n".join(text_lines(text)[first - 1 : last])
    return bool(re.search(rf"{re.escape(expression)}\s*\(", rows))
