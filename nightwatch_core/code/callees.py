"""Definitions of what is called near the failing lines: what an analyst would look up first.

Names are taken from the lines around the innermost own frames, and looked for where it costs
little: files that were read anyway, then those that an import or a class names, then a few searches
of the tree. A name that many places define is left to the analyst, who can tell which one is meant.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

from nightwatch_core.code.candidate_files import TEST
from nightwatch_core.code.definitions import NameUse, defined_name, definition_of, uses_in
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.likely_files import class_files
from nightwatch_core.code.source import LONGEST_LINE, masked, uses
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.error import Case, Frame
from nightwatch_core.models.research import Preview
from nightwatch_core.models.value import Value
from nightwatch_core.traces.path_index import PathIndex, is_vendored
from nightwatch_core.traces.repo_paths import realigned, text_lines

FRAMES, NEAR = 3, 10  # innermost own frames, and lines on either side of theirs
NAMES = 24  # of one case
SEARCHED = 8  # names that are looked for in the whole tree
SHOWN, LINES, BUDGET = 8, 17, 9_000  # definitions, lines of each, characters of all
HITS = 40  # of one search
SAME = 3  # places that may define a name; of more nobody knows which one is meant
_HEAD = 400  # lines at the beginning of a file in which imports stand
_SHORTEST = 3
_IMPORTS = re.compile(r"\s{0,20}(?:import|from|require|use|using|export|const|let|var)\b")
_MODULE = re.compile(r"[\w@.\\/-]{3,200}")
_CALL = re.compile(r"(?<![\w$@])(?P<name>[A-Za-z_]\w{1,80}[?!]?)(?=\s{0,2}\()")
_OPENS = re.compile(r"\s{0,2}\(")
_OWNER = re.compile(r"((?:[A-Z]\w{0,80}(?:::|\.|\\))+)$")

# Names that belong to a language or to everybody: looking for them finds the wrong ones.
COMMON = frozenset(
    (
        *("and", "assert", "await", "begin", "break", "case", "catch", "class", "const", "def"),
        *("defined?", "delete", "elif", "else", "elsif", "end", "ensure", "except", "export"),
        *("false", "final", "finally", "for", "foreach", "from", "func", "function", "if"),
        *("import", "include", "instanceof", "isset", "lambda", "let", "match", "new", "nil"),
        *("none", "None", "True", "False", "not", "null", "private", "protected", "public"),
        *("raise", "rescue", "return", "self", "static", "super", "switch", "sizeof", "this"),
        *("throw", "throws", "true", "try", "typeof", "undefined", "unless", "until", "using"),
        *("var", "void", "when", "while", "with", "yield", "extends", "module", "require"),
        *("abs", "add", "all", "any", "append", "apply", "bool", "call", "close", "concat"),
        *("contains", "copy", "count", "debug", "dict", "each", "empty", "equals", "error"),
        *("exec", "extend", "fetch", "filter", "find", "first", "float", "format", "get"),
        *("getattr", "hash", "index", "info", "initialize", "insert", "inspect", "int", "items"),
        *("iter", "join", "keys", "last", "len", "length", "list", "log", "map", "max", "merge"),
        *("min", "next", "object", "open", "pop", "print", "push", "put", "puts", "range"),
        *("read", "reduce", "remove", "replace", "round", "run", "select", "send", "set"),
        *("setattr", "size", "slice", "sort", "split", "str", "string", "strip", "sub", "sum"),
        *("test", "then", "toString", "to_i", "to_s", "to_sym", "to_h", "to_a", "trim", "tuple"),
        *("type", "update", "value", "values", "warn", "write", "zip", "nil?", "blank?", "tap"),
        *("present?", "empty?", "isinstance", "hasattr", "enumerate", "sorted", "reversed"),
        *("__init__", "__str__", "hashCode", "valueOf", "parseInt", "parse", "stringify"),
    )
)

Read = Callable[[str], str | None]
Search = Callable[[str, str, int], tuple[SearchHit, ...]]  # text, folder, how many lines at most


class Use(Value):
    """A name near a failing line; `offset` is how many lines below it."""

    name: str
    path: str
    owner: str = ""  # the class it is called on, as written
    frame: int
    offset: int
    is_call: bool
    column: int


class Place(Value):
    """Where a name is defined: lines from 1, `end` included."""

    path: str
    line: int
    end: int


# Whose definition matters more, smaller first. The value that fails was made by a call above the
# line that failed: a frame further out, a line below, a name that is no call are a step from that.
RANK: tuple[Callable[[Use], int], ...] = (
    lambda use: use.frame + (use.offset > 0) + (not use.is_call),
    lambda use: abs(use.offset),
    lambda use: use.frame,
    lambda use: use.column,
)


def names_near(case: Case, read: Read) -> tuple[Use, ...]:
    """List the names around the innermost own frames, each once, best first."""
    uses_of: dict[str, Use] = {}
    for number, frame in enumerate(frames_of(case)):
        text = read(frame.repo_path) or ""
        for use in _near(number, frame, realigned(frame, text).line or 0, text) if text else ():
            uses_of[use.name] = min((use, uses_of.get(use.name, use)), key=_rank)
    return tuple(sorted(uses_of.values(), key=_rank))[:NAMES]


def frames_of(case: Case) -> tuple[Frame, ...]:
    """List the innermost own frames whose lines are known."""
    frames = case.trace.in_app if case.trace else ()
    once = {(f.repo_path, f.line): f for f in frames if f.repo_path and f.line}
    return tuple(once.values())[:FRAMES]


def _rank(use: Use) -> tuple[int, ...]:
    return tuple(rule(use) for rule in RANK)


def _near(number: int, frame: Frame, line: int, text: str) -> Iterator[Use]:
    lines = text_lines(text)
    if not 0 < line <= len(lines):
        return
    first, last = max(1, line - NEAR), min(line + NEAR, len(lines))
    for name, at, column, _ in _names(frame.repo_path, text, first, last):
        row = lines[at - 1]
        if name in COMMON or len(name) < _SHORTEST or column > LONGEST_LINE:
            continue
        owner = _OWNER.search(row[max(0, column - 200) : column])
        yield Use(
            name=name,
            path=frame.repo_path,
            owner=owner[1].rstrip(".:\\") if owner else "",
            frame=number,
            offset=at - line,
            is_call=bool(_OPENS.match(row, column + len(name))),
            column=column,
        )


def _names(path: str, text: str, first: int, last: int) -> Iterator[NameUse]:
    """Names the lines use; where no tree tells, those that a parenthesis follows."""
    known = uses_in(path, text, first, last)
    yield from known
    for number, row in enumerate(() if known else text_lines(text)[first - 1 : last], start=first):
        for found in _CALL.finditer(masked(row[:LONGEST_LINE], language_of(path))):
            yield NameUse(found["name"], number, found.start())


def callees(
    case: Case,
    index: PathIndex,
    read: Read,
    search: Search | None = None,
    shown: tuple[Preview, ...] = (),
) -> tuple[Preview, ...]:
    """Definitions of what the failing lines call, the likeliest to matter first.

    At most 8, of at most 17 lines each; what was `shown` is left out. Without `search` only files
    are read that the trace, an import or a class names. After a search that fails there is none:
    what is not found here, the analyst can look up.
    """
    seen = {(one.path, line) for one in shown for line in range(one.start, one.end + 1)}
    known = Lookup(case, index, read, search)
    found: list[Preview] = []
    left = BUDGET
    for use in names_near(case, known.text):
        place = known.place(use)
        preview = _shown(place, known.text(place.path) or "", seen) if place else None
        if preview is None or len(preview.text) > left:
            continue
        left -= len(preview.text)
        seen |= {(preview.path, line) for line in range(preview.start, preview.end + 1)}
        found.append(preview)
        if len(found) == SHOWN:
            break
    return tuple(found)


def _shown(place: Place, text: str, seen: set[tuple[str, int]]) -> Preview | None:
    """The lines of a definition that were not shown; None where that is too little to show."""
    end = min(place.end, place.line + LINES - 1)
    new = [line for line in range(place.line, end + 1) if (place.path, line) not in seen]
    if len(new) < min(2, end - place.line + 1):
        return None
    lines = text_lines(text)
    cut = (" ".join(one.splitlines())[:LONGEST_LINE] for one in lines[new[0] - 1 : new[-1]])
    return Preview(
        path=place.path, start=new[0], end=new[-1], text="\n".join(cut), lines=len(lines)
    )


class Lookup:
    """Finds definitions, at a bounded cost; each file is read once."""

    def __init__(self, case: Case, index: PathIndex, read: Read, search: Search | None) -> None:
        """Nothing is read yet."""
        self.index, self.text, self.search = index, cache(read), search
        self.searches = SEARCHED
        self.frames = tuple(dict.fromkeys(frame.repo_path for frame in frames_of(case)))

    def place(self, use: Use) -> Place | None:
        """Where the name is defined, by the first way that finds it."""
        return next((place for way in WAYS if (place := way(use, self))), None)

    def within(self, use: Use, paths: tuple[str, ...]) -> Place | None:
        """The first of some files that defines the name."""
        for path in paths:
            found = definition_of(use.name, path, self.text(path) or "")
            if found:
                return Place(path=path, line=found.line, end=found.end)
        return None


def in_files_of_frames(use: Use, known: Lookup) -> Place | None:
    """In its own file, then in the files of the other frames."""
    return known.within(use, tuple(dict.fromkeys((use.path, *known.frames))))


def in_imported_file(use: Use, known: Lookup) -> Place | None:
    """In a file that an import of this name leads to."""
    lines = text_lines(known.text(use.path) or "")[:_HEAD]
    wanted = {use.name, *use.owner.split(".")} - {""}
    naming = [
        row
        for row in (line[:LONGEST_LINE] for line in lines)
        if _IMPORTS.match(row) and any(uses(name, row) for name in wanted)
    ]
    paths = (path for row in naming[:2] for path in imported(row, use.path, known.index))
    return known.within(use, tuple(dict.fromkeys(paths))[:3])


def imported(row: str, path: str, index: PathIndex) -> tuple[str, ...]:
    """Files of the tree that an import may mean, those nearest to the importing one first.

    >>> imported("import { a } from '../pay/b'", "src/c/d.js", PathIndex(("src/pay/b.js", "b.js")))
    ('src/pay/b.js',)
    """
    suffixes = language_of(path).suffixes
    found: list[str] = []
    for word in _MODULE.findall(row):
        parts = [part for part in re.split(r"[./\\]", word.removesuffix(".js")) if part]
        is_path = len(parts) > 1 or "/" in word or word.startswith(".")
        # without the name that is taken out of it, or the root that a namespace or an alias adds
        stems = (parts, parts[:-1], parts[1:] if len(parts) > 2 else []) if is_path else ()
        for stem, suffix in product(filter(None, stems), suffixes):
            found += index.ending(f"{'/'.join(stem)}{suffix}")
    return tuple(sorted(dict.fromkeys(found), key=lambda one: _distance(one, path)))


def in_file_of_class(use: Use, known: Lookup) -> Place | None:
    """In the file that the class it is called on would be in."""
    return known.within(use, class_files(use.owner, known.index)[:3]) if use.owner else None


def anywhere(use: Use, known: Lookup) -> Place | None:
    """Anywhere in the tree; nowhere where too many places define it."""
    if known.search is None or known.searches <= 0:
        return None
    known.searches -= 1
    language = language_of(use.path)
    kind = next((head for head in language.heads if _begins(head, use.name)), "")
    try:
        hits = known.search(f"{kind}{use.name}", "", HITS)
    except (GiveUp, TryLater):  # the analyst can still look it up
        known.searches = 0
        return None
    places = dict.fromkeys(
        hit.path
        for hit in hits
        if defined_name(hit.text, language_of(hit.path)) == use.name
        and not TEST.search(hit.path)
        and not is_vendored(hit.path)
    )
    if len(places) > SAME or len(hits) >= HITS:
        return None
    return known.within(use, tuple(sorted(places, key=lambda one: _distance(one, use.path))))


def _begins(head: str, name: str) -> bool:
    """Whether the word before a definition is always there, so that it can be searched for."""
    return head in (("class ",) if name[:1].isupper() else ("def ", "func "))


def _distance(path: str, other: str) -> tuple[int, str]:
    """How many folders lead from one file to the other."""
    ours, theirs = path.split("/")[:-1], other.split("/")[:-1]
    shared = next(
        (n for n, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
        min(len(ours), len(theirs)),
    )
    return len(ours) + len(theirs) - 2 * shared, path


# Where a definition is looked for, the cheapest way first.
WAYS: tuple[Callable[[Use, Lookup], Place | None], ...] = (
    in_files_of_frames,
    in_imported_file,
    in_file_of_class,
    anywhere,
)
