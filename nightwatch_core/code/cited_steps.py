"""Whether the steps of a cause cite lines that somebody has looked at.

A step is a place (`path:line`) that the cause names, or that evidence names whose quote was not
found.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from nightwatch_core.code.languages import has_grammar
from nightwatch_core.code.limits import STEP_NEAR
from nightwatch_core.models.analysis import Analysis

_PLACE = re.compile(r"(?P<path>[\w.@+()\[\]/-]*\w\.[A-Za-z]\w{0,9}):(?P<line>\d{1,7})(?!\d)")
_SHOWN = re.compile(r"(?P<path>.*?\S):(?P<line>\d{1,8})(?!\d)")
_DIFFED = re.compile(r"(?:---|\+\+\+) (?:[ab]/)?(?P<path>\S{1,400})$")
_BRACKETS = {")": "(", "]": "["}
_ANY = -1  # stands for every line of a file


def unseen_step(analysis: Analysis, shown: Collection[str]) -> str:
    """Name the first step of the cause whose line was not among those `shown`; empty for none.

    Lines that a trace names or that verified evidence quotes count as shown, and all of a file of
    which a change was. Items of `shown` begin with `path:line`, or name a file as a diff does; the
    rest is passed over.
    """
    seen = _lines_of((*shown, *_told(analysis)))
    steps = _steps(analysis)
    return next((place for place, path, line in steps if _is_unseen(path, line, seen)), "")


def _steps(analysis: Analysis) -> Iterator[tuple[str, str, int]]:
    for match in _PLACE.finditer(analysis.root_cause):
        path, line = _without_prose(match["path"]), int(match["line"])
        if has_grammar(path) or ("/" in path and "//" not in path):  # or it is a host and its port
            yield f"{path}:{line}", path, line
    for one in analysis.evidence:
        if not one.verified and one.line:
            yield f"{one.path}:{one.line}", one.path, one.line


def _without_prose(path: str) -> str:
    """The path alone: brackets of a file's own name are closed, those of the sentence are not.

    >>> _without_prose("(bookmarks/urls.py"), _without_prose("get(app/(shop)/[id]/page.tsx")
    ('bookmarks/urls.py', 'app/(shop)/[id]/page.tsx')
    """
    start, opened = 0, list[int]()
    for at, letter in enumerate(path):
        if letter in _BRACKETS.values():
            opened.append(at)
        elif letter in _BRACKETS and opened and path[opened[-1]] == _BRACKETS[letter]:
            opened.pop()
        elif letter in _BRACKETS:
            start, opened = at + 1, []
    start = opened[-1] + 1 if opened else start
    return path[start:].lstrip("-").removeprefix("./")


def _told(analysis: Analysis) -> Iterator[str]:
    frames = analysis.case.trace.frames if analysis.case.trace else ()
    yield from (frame.place for frame in frames)
    for one in analysis.evidence:
        if one.verified:
            yield from (f"{one.path}:{one.line + n}" for n in range(one.quote.count("\n") + 1))


def _lines_of(places: Iterable[str]) -> Mapping[str, set[int]]:
    lines: dict[str, set[int]] = {}
    for place in places:
        if diffed := _DIFFED.match(place[:500]):
            lines.setdefault(diffed["path"], set()).add(_ANY)
        elif match := _SHOWN.match(place[:1_100]):
            lines.setdefault(match["path"], set()).add(int(match["line"]))
    return lines


def _is_unseen(path: str, line: int, seen: Mapping[str, set[int]]) -> bool:
    """Whether no file of that path, or of that name, was shown near the line."""
    near = {_ANY, *range(max(1, line - STEP_NEAR), line + STEP_NEAR + 1)}
    files = (lines for one, lines in seen.items() if one == path or one.endswith(f"/{path}"))
    return all(lines.isdisjoint(near) for lines in files)
