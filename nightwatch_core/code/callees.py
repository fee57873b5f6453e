"""Definitions of what is called near the failing lines: what an analyst would look up first.

Names are taken from the lines around the innermost own frames, and looked for where it costs
little: files that were read anyway, then those that an import or a class names, then a few searches
of the tree. A name that many places define is left to the analyst, who can tell which one is meant.
"""

import re
from collections.abc import Callable
from functools import cache
from itertools import product

from nightwatch_core.code.called_names import Read, Use, frames_of, names_near
from nightwatch_core.code.definitions import defined_name, definition_of
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.likely_files import TEST, class_files
from nightwatch_core.code.limits import (
    CALLEE_CHARACTERS,
    CALLEE_HITS,
    CALLEE_LINES,
    CALLEE_SEARCHES,
    CALLEES,
    IMPORT_LINES,
    LINE,
    SAME_NAME_PLACES,
)
from nightwatch_core.code.line_reading import uses
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import Preview
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import text_lines
from nightwatch_core.traces.path_index import PathIndex, is_vendored

_IMPORTS = re.compile(r"\s{0,20}(?:import|from|require|use|using|export|const|let|var)\b")
_MODULE = re.compile(r"[\w@.\\/-]{3,200}")

Search = Callable[[str, str, int], tuple[SearchHit, ...]]  # text, folder, how many lines at most


class Place(Value):
    """Where a name is defined: lines from 1, `end` included."""

    path: str
    line: int
    end: int


def callees(
    case: Case,
    index: PathIndex,
    read: Read,
    search: Search | None = None,
    shown: tuple[Preview, ...] = (),
) -> tuple[Preview, ...]:
    """List definitions of what the failing lines call, the likeliest to matter first.

    At most 8, of at most 17 lines each; what was `shown` is left out. Without `search` only files
    are read that the trace, an import or a class names. After a search that fails there is none:
    what is not previews here, the analyst can look up.
    """
    seen = {(one.path, line) for one in shown for line in range(one.start, one.end + 1)}
    known = Lookup(case, index, read, search)
    previews: list[Preview] = []
    left = CALLEE_CHARACTERS
    for use in names_near(case, known.text):
        place = known.place(use)
        preview = _shown(place, known.text(place.path) or "", seen) if place else None
        if preview is None or len(preview.text) > left:
            continue
        left -= len(preview.text)
        seen |= {(preview.path, line) for line in range(preview.start, preview.end + 1)}
        previews.append(preview)
        if len(previews) == CALLEES:
            break
    return tuple(previews)


def _shown(place: Place, text: str, seen: set[tuple[str, int]]) -> Preview | None:
    """The lines of a definition that were not shown; None where that is too little to show."""
    end = min(place.end, place.line + CALLEE_LINES - 1)
    new = [line for line in range(place.line, end + 1) if (place.path, line) not in seen]
    if len(new) < min(2, end - place.line + 1):
        return None
    lines = text_lines(text)
    cut = (" ".join(one.splitlines())[:LINE] for one in lines[new[0] - 1 : new[-1]])
    return Preview(
        path=place.path,
        start=new[0],
        end=new[-1],
        text="\n".join(cut),
        lines=len(lines),
        kind="flow",
    )


class Lookup:
    """Finds definitions, at a bounded cost; each file is read once."""

    def __init__(self, case: Case, index: PathIndex, read: Read, search: Search | None) -> None:
        """Nothing is read yet."""
        self.index, self.text, self.search = index, cache(read), search
        self.searches = CALLEE_SEARCHES
        self.frames = tuple(dict.fromkeys(frame.repo_path for frame in frames_of(case)))

    def place(self, use: Use) -> Place | None:
        """Find where the name is defined, by the first way that finds it."""
        return next((place for way in WAYS if (place := way(use, self))), None)

    def within(self, use: Use, paths: tuple[str, ...]) -> Place | None:
        """Find the first of some files that defines the name."""
        for path in paths:
            definition = definition_of(use.name, path, self.text(path) or "")
            if definition:
                return Place(path=path, line=definition.line, end=definition.end)
        return None


def in_files_of_frames(use: Use, known: Lookup) -> Place | None:
    """Look in its own file, then in the files of the other frames."""
    return known.within(use, tuple(dict.fromkeys((use.path, *known.frames))))


def in_imported_file(use: Use, known: Lookup) -> Place | None:
    """Look in a file that an import of this name leads to."""
    lines = text_lines(known.text(use.path) or "")[:IMPORT_LINES]
    wanted = {use.name, *use.owner.split(".")} - {""}
    naming = [
        row
        for row in (line[:LINE] for line in lines)
        if _IMPORTS.match(row) and any(uses(name, row) for name in wanted)
    ]
    paths = (path for row in naming[:2] for path in imported(row, use.path, known.index))
    return known.within(use, tuple(dict.fromkeys(paths))[:3])


def imported(row: str, path: str, index: PathIndex) -> tuple[str, ...]:
    """List files of the tree that an import may mean, those nearest to the importing one first.

    >>> imported("import { a } from '../pay/b'", "src/c/d.js", PathIndex(("src/pay/b.js", "b.js")))
    ('src/pay/b.js',)
    """
    suffixes = language_of(path).suffixes
    files: list[str] = []
    for word in _MODULE.findall(row):
        parts = [part for part in re.split(r"[./\\]", word.removesuffix(".js")) if part]
        is_path = len(parts) > 1 or "/" in word or word.startswith(".")
        # without the name that is taken out of it, or the root that a namespace or an alias adds
        stems = (parts, parts[:-1], parts[1:] if len(parts) > 2 else []) if is_path else ()
        for stem, suffix in product(filter(None, stems), suffixes):
            files += index.ending(f"{'/'.join(stem)}{suffix}")
    return tuple(sorted(dict.fromkeys(files), key=lambda one: _distance(one, path)))


def in_file_of_class(use: Use, known: Lookup) -> Place | None:
    """Look in the file that the class it is called on would be in."""
    return known.within(use, class_files(use.owner, known.index)[:3]) if use.owner else None


def anywhere(use: Use, known: Lookup) -> Place | None:
    """Search for it anywhere in the tree; nowhere where too many places define it."""
    if known.search is None or known.searches <= 0:
        return None
    known.searches -= 1
    language = language_of(use.path)
    kind = next((head for head in language.heads if _begins(head, use.name)), "")
    try:
        hits = known.search(f"{kind}{use.name}", "", CALLEE_HITS)
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
    if len(places) > SAME_NAME_PLACES or len(hits) >= CALLEE_HITS:
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
