"""Code that a change reaches: users of its functions, and places that need the same change."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from nightwatch_core.code.definitions import defined_name, functions_around
from nightwatch_core.code.languages import COMMON, language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.code import ChangedFile, SearchHit
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
    defined: int = 0  # functions of that name


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
        whole = re.compile(rf"\b{re.escape(name)}\b")
        hits = [hit for hit in search(name) if whole.search(hit.text) and not TEST.search(hit.path)]
        uses = [h for h in hits if defined_name(h.text, language_of(h.path)) != name]
        yield _places(name, uses)._replace(defined=len(hits) - len(uses))


def _functions(file: ChangedFile, read: ReadFile) -> Iterator[str]:
    text, line = read(file.path) or "", 0
    for row in file.diff.split("\n"):
        if hunk := _HUNK.match(row):
            line = int(hunk[1])
            continue
        found = functions_around(file.path, text, line) if row[:1] in ("-", "+") else ()
        if found and found[-1].name not in COMMON and not found[-1].name.startswith("__"):
            yield found[-1].name
        line += row[:1] != "+"


def _unmended(
    files: tuple[ChangedFile, ...], failing: Iterable[tuple[str, str]], search: Search
) -> Iterator[Places]:
    rows = [(file.path, row) for file in files for row in file.diff.split("\n")]
    out = [(path, row[1:].strip()) for path, row in rows if row.startswith("-")]
    added = " ".join(row[1:] for _, row in rows if row.startswith("+"))
    gone = [name for _, row in out for name in _NAME.findall(row) if name not in added]
    for name in list(dict.fromkeys(gone))[:_MOST_NAMES]:
        whole = re.compile(rf"(?<!\w){re.escape(name.strip('.(='))}(?!\w)")
        others = (hit for hit in search(name) if (hit.path, hit.text.strip()) not in out)
        hits = [hit for hit in others if whole.search(hit.text)]
        if 0 < len(hits) <= _COMMON:
            yield _places(name, hits)
    failed = (*out, *((path, row.strip()) for path, row in failing))
    own = {*(file.path for file in files), *(path for path, _ in failed)}
    for line in list(dict.fromkeys(row for _, row in failed if len(row) >= _TELLING))[:_MOST_NAMES]:
        same = [hit for hit in search(line) if hit.text.strip() == line and hit.path not in own]
        if 0 < len(same) <= _COMMON:
            yield _places(line, same)


def _places(text: str, hits: list[SearchHit]) -> Places:
    shown = tuple(f"{hit.path}:{hit.line}" for hit in hits[:_MOST_PLACES])
    return Places(text, shown, len(hits))
