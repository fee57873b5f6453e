"""Compares the source that a record holds with the file at a commit, frame by frame.

A record's own line is evidence of what failed: where the file holds it elsewhere, the frame moves
there; where it holds it nowhere, the record is not of this commit. White space is not compared.
"""

import re
from collections.abc import Callable, Mapping

from nightwatch_core.models.trace import Frame, SourceFit, Trace
from nightwatch_core.text.plain_text import text_lines
from nightwatch_core.traces.limits import (
    FITTED_FRAMES,
    FITTED_LINE,
    SHORTEST_CUT,
    SHORTEST_LINE,
)

ReadFile = Callable[[str], str | None]
Lines = Mapping[int, str]  # of a file or a part of it, by number

_CUT_BEFORE = re.compile(r"^\s*(?:\{snip\}|\.{3}|…)\s?")  # how trackers mark what they cut off
_CUT_AFTER = re.compile(r"\s?(?:\{snip\}|\.{3}|…)\s*$")


def fitted(frame: Frame, lines: Lines) -> Frame:
    """Return the frame with what became of its source, at the line of `lines` that holds it.

    A frame without source or without a line stays as it is, its fit unknown.

    >>> frame = fitted(Frame(path="a.py", line=1, code="n = 1 / x"), {1: "import x", 3: "n = 1/ x"})
    >>> frame.line, frame.fit
    (3, 'moved')
    """
    if frame.line is None or not has_source(frame):
        return frame
    line, fit = _fit(frame, frame.line, lines)
    return frame.model_copy(update={"line": line, "fit": fit})


def lines_of(text: str) -> Lines:
    """Number the lines of a file."""
    return dict(enumerate(text_lines(text), start=1))


def has_source(frame: Frame) -> bool:
    """Tell whether the record holds the failing line, or lines above and below it."""
    return bool(_flat(frame.code) or (any(map(_flat, frame.before)) and any(frame.after)))


def with_fits(trace: Trace, read: ReadFile) -> Trace:
    """Return the trace with its frames compared with their files of the repository.

    Of very deep traces the innermost frames are compared.
    """
    wanted = [one for one in trace.frames if one.repo_path and has_source(one)]
    compared: dict[Frame, Frame] = {}
    paths = sorted({frame.repo_path for frame in wanted})
    files = {path: lines_of(text) for path in paths if (text := read(path)) is not None}
    for frame in wanted:
        if frame.repo_path in files and frame not in compared and len(compared) < FITTED_FRAMES:
            compared[frame] = fitted(frame, files[frame.repo_path])
    links = tuple(
        link.model_copy(
            update={"frames": tuple(compared.get(frame, frame) for frame in link.frames)}
        )
        for link in trace.links
    )
    return trace.model_copy(update={"links": links})


def _fit(frame: Frame, line: int, lines: Lines) -> tuple[int, SourceFit]:
    alike = _is_alike(frame.code)
    if alike(lines.get(line, "")) and _says_enough(frame, line, lines):
        return line, "same"
    holding = [number for number, text in lines.items() if alike(text)]
    agreed = {number: _agreement(frame, number, lines) for number in holding}
    best = max(agreed.values(), default=0.0)
    nearest = sorted((n for n in holding if agreed[n] == best), key=lambda n: (abs(n - line), n))
    if not nearest or not _is_meant(frame, len(nearest), best):
        return line, "differs" if _is_telling(frame) else "unknown"
    return nearest[0], "same" if nearest[0] == line else "moved"


def _says_enough(frame: Frame, line: int, lines: Lines) -> bool:
    """Whether an equal line is the same one: a bracket alone needs its neighbours."""
    return len(_flat(frame.code)) >= SHORTEST_LINE or _agreement(frame, line, lines) > 0.5


def _is_meant(frame: Frame, candidates: int, agreement: float) -> bool:
    """Whether one of the lines that hold the code can be told to be it."""
    is_long = len(_flat(frame.code)) >= SHORTEST_LINE
    has_neighbours = any(map(_flat, (*frame.before, *frame.after)))
    if candidates == 1:
        return is_long or agreement > 0.5 or not has_neighbours
    return agreement >= 0.5 if has_neighbours else is_long


def _is_telling(frame: Frame) -> bool:
    """Whether there is enough source to say that a file does not hold it."""
    known = (frame.code, *frame.before, *frame.after)
    return len("".join(map(_flat, known))) >= SHORTEST_LINE


def _agreement(frame: Frame, line: int, lines: Lines) -> float:
    """Which part of the lines around the failing one stands around this one, 0 to 1."""
    around = (
        *zip(range(line - len(frame.before), line), frame.before, strict=True),
        *enumerate(frame.after, line + 1),
    )
    telling = [(number, text) for number, text in around if _flat(text)]
    same = sum(_is_alike(text)(lines.get(number, "")) for number, text in telling)
    return same / len(telling) if telling else 0.0


def _is_alike(code: str) -> Callable[[str], bool]:
    """A test for lines that may be the one a record holds, which may have cut its ends off."""
    is_long, code = len(code) > FITTED_LINE, code[:FITTED_LINE]
    inner = _CUT_AFTER.sub("", _CUT_BEFORE.sub("", code))
    whole, part = _flat(code), _flat(inner)
    is_cut = part != whole and len(part) >= SHORTEST_CUT
    cut_before = is_cut and _CUT_BEFORE.match(code) is not None
    cut_after = is_long or (is_cut and _CUT_AFTER.search(code) is not None)

    def holds(line: str) -> bool:
        text = _flat(line)
        if text == whole or not (cut_before or cut_after):
            return text == whole
        if cut_before:
            return part in text if cut_after else text.endswith(part)
        return text.startswith(part)

    return holds


def _flat(text: str) -> str:
    return "".join(text.split())
