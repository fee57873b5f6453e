"""A stack trace as an analyst is shown it: once, own frames marked, libraries folded.

It is shown as it was printed, because that holds what no parser keeps (notes, source); where
nothing was printed, its frames are listed. What was left out is said, and where it was.
"""

import re
from collections.abc import Container, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple

from nightwatch_core.models.errors import Frame, Trace
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import middle_out, plural
from nightwatch_core.traces import limits
from nightwatch_core.traces.excerpts import PLACE
from nightwatch_core.traces.placing import plain

_CALLS = ("at ", "from ", "... ", "#")  # how rows without a line begin
_SOURCE = "    "  # how Python and others begin the rows of source below a frame
_OURS = "  <- ours"
_MARKS = re.compile(r"[ |]*[~^]+\s*")  # under a part of the line above
NAMES = 6  # of functions that are left out
_OUTERMOST_FIRST = ("python",)
# Where libraries are installed says nothing; which file of which library does.
_LIBRARIES = re.compile(r"/[\w./@+-]{0,200}/(?:site-packages|dist-packages|gems|node_modules)/")
_PASSES_ON = re.compile(  # source of a frame that only hands on what it was given
    r"^\s*(?:raise|throw)(?: \w+)?;?$|\*\w+, ?\*\*\w+|\.\.\.arg|call_next\("
    r"|get_response\(request\)|@app\.call\(|\bnext\(\)|\bapp\(scope, receive, send\)|\$next\(\$"
    r"|chain\.doFilter\(|\bnext\.ServeHTTP\("
)

Kind = Literal["own", "passes on", "library", "text"]
_OWN: frozenset[str] = frozenset(("own", "passes on"))


class Rows(NamedTuple):
    """A frame with the source below it, or a row that is of no frame."""

    kind: Kind
    rows: tuple[str, ...]
    name: str = ""  # of the frame's function


def trace_text(trace: Trace, shown: Container[tuple[str, int | None]] = ()) -> str:
    """Write the trace, outer and inner libraries and frames that only pass on folded.

    Source of own frames whose lines are `shown` beside it (path, line) is left out, but for the
    innermost one's.
    """
    printed = block(trace.raw, limits.PRINTED_READ).split("\n")
    is_printed = any(map(str.strip, printed))
    frames = trace.frames[: limits.FRAMES]
    parts = _printed(printed, trace, shown) if is_printed else _listed(frames)
    folded = _folded(parts, is_printed and trace.language in _OUTERMOST_FIRST)
    text = "\n".join(row for part in folded for row in part.rows)
    is_marked = any(part.kind in _OWN for part in folded) or not trace.in_app
    if len(text) <= limits.PRINTED_SHOWN and is_marked:
        return text
    own = _listed([frame for frame in trace.frames if frame.in_app][: limits.OWN_FRAMES_LISTED])
    listed = "\n".join(row for part in own for row in part.rows)
    return "\n\n".join(filter(None, (middle_out(text, limits.PRINTED_SHOWN), listed)))


def news_of(trace: Trace, shown: str) -> str:
    """Write the rows of a trace that a shown one does not have, in their order; empty for none."""
    known, rows = _plain_rows(shown), _plain_rows(trace.raw.strip() or trace_text(trace))
    parts: list[str] = []
    is_new = False
    for kind, a, b, c, d in SequenceMatcher(None, known, rows).get_opcodes():
        gone = [row for row in known[a:b] if row.strip() and not row.startswith("[...")]
        if kind == "equal":
            is_long = d - c > limits.SAME_ROWS
            parts += [f"[... {d - c} lines as above ...]"] if is_long else rows[c:d]
        else:
            is_new = is_new or any(map(str.strip, rows[c:d])) or bool(gone)
            lacks = kind == "delete" and gone
            parts += [f"[... {len(gone)} lines above are not here ...]"] if lacks else rows[c:d]
    return "\n".join(parts) if is_new else ""


def _plain_rows(text: str) -> list[str]:
    rows = block(text, limits.PRINTED_READ).split("\n")
    return [_LIBRARIES.sub(".../", row).partition(_OURS)[0].rstrip() for row in rows]


def passes_on(frame: Frame) -> bool:
    """Tell whether a frame's source only hands on what it was given."""
    return bool(_PASSES_ON.search(frame.code[: limits.ROW_CHARACTERS]))


def _listed(frames: Iterable[Frame]) -> list[Rows]:
    parts = []
    for frame in frames:
        where = f"{line(frame.place, 200)} in {line(frame.function, 120) or '?'}"
        row = f"{where}{f': {line(frame.code.strip(), 200)}' if frame.code.strip() else ''}"
        kind: Kind = "library" if not frame.in_app else "passes on" if passes_on(frame) else "own"
        parts.append(Rows(kind, (f"{row}{_OURS}" if frame.in_app else row,)))
    return parts


def _printed(
    rows: Sequence[str], trace: Trace, shown: Container[tuple[str, int | None]]
) -> list[Rows]:
    own, every = FrameNames(trace.in_app), FrameNames(trace.frames)
    parts: list[Rows] = []
    is_shown = False
    for row in (_LIBRARIES.sub(".../", row) for row in rows):
        if parts and parts[-1].kind != "text" and _is_source(row, trace.language, every):
            part = parts[-1]
            only_passes = part.kind == "own" and _PASSES_ON.search(row[: limits.ROW_CHARACTERS])
            is_mark = part.kind == "library" and _MARKS.fullmatch(row)
            kind: Kind = "passes on" if only_passes else part.kind
            new = () if is_shown or is_mark else (row,)
            parts[-1] = part._replace(kind=kind, rows=(*part.rows, *new))
        elif frame := own.frame(row):
            is_shown = frame != trace.top and (frame.repo_path, frame.line) in shown
            is_said = frame.repo_path in row and str(frame.line or "") in row
            place = "" if is_said or not frame.repo_path else f", {frame.place}"
            parts.append(Rows("own", (*_function_row(parts, row), f"{row}{_OURS}{place}")))
        elif (frame := every.frame(row)) or row.strip().startswith(_CALLS):
            name = line(frame.function, 60) if frame else ""
            is_shown = False
            parts.append(Rows("library", (*_function_row(parts, row), row), name))
        else:
            parts.append(Rows("text", (row,)))
    return parts


def _is_source(row: str, language: str, frames: "FrameNames") -> bool:
    if not row.startswith(_SOURCE):
        return False
    if language == "python":
        return not row.lstrip(" |").startswith('File "')
    return not row.strip().startswith(_CALLS) and not frames.frame(row)


def _function_row(parts: list[Rows], row: str) -> tuple[str, ...]:
    if not row.startswith("\t") or row.strip().startswith(_CALLS) or not parts:
        return ()
    return parts.pop().rows if parts[-1].kind == "text" else ()


def _folded(parts: Sequence[Rows], outermost_first: bool) -> list[Rows]:
    """The frames without those in the midst of libraries and of what only passes on."""
    runs = [(kind, list(same)) for kind, same in groupby(parts, key=attrgetter("kind"))]
    kinds = ["text", *(kind for kind, _ in runs), "text"]
    ends = 1 if _OWN & set(kinds) else limits.LIBRARY_ENDS
    kept: list[Rows] = []
    for (kind, run), before, after in zip(runs, kinds[:-2], kinds[2:], strict=True):
        if kind == "library":  # the outermost one calls nothing of ours, nor does ours call it
            beside_ours = before in _OWN if outermost_first else after in _OWN
            others = ends if beside_ours or ends > 1 else 0
            first, last = (others, ends) if outermost_first else (ends, others)
            kept += _ends(run, first, last, "library frame")
        elif kind == "passes on":
            kept += _ends(run, 1, 1, "own pass-through frame")
        else:
            kept += _without_repeats(run) if kind == "own" else run
    return kept


def _ends(run: list[Rows], first: int, last: int, what: str) -> list[Rows]:
    left = len(run) - first - last
    if sum(len(part.rows) for part in run[first : len(run) - last]) <= limits.FOLDED_ROWS:
        return run
    middle = run[first : len(run) - last]
    names = [name for name, _ in groupby(part.name for part in middle) if name]
    is_between = bool(first and last and names)  # the outermost ones are a server's, or a runner's
    listed = f": {', '.join(names[:NAMES])}{', …' if names[NAMES:] else ''}" if is_between else ""
    note = Rows("text", (f"[... {plural(left, what)} left out{listed} ...]",))
    return [*run[:first], note, *run[len(run) - last :]]


def _without_repeats(run: list[Rows]) -> list[Rows]:
    seen: dict[tuple[str, ...], int] = {}
    kept, left = [], 0
    for part in run:
        seen[part.rows] = seen.get(part.rows, 0) + 1
        if seen[part.rows] <= limits.SAME_FRAME:
            kept.append(part)
        else:
            left += 1
    note = f"[... {plural(left, 'frame')} again as above ...]"
    return [*kept, Rows("text", (note,))] if left else kept


class FrameNames:
    """Frames as rows of a printed trace name them: file names with lines."""

    def __init__(self, frames: Iterable[Frame]) -> None:
        self.places: dict[tuple[str, int], Frame] = {}
        self.moved: dict[str, Frame] = {}  # files whose frames' lines may have been put right
        for frame in frames:
            name = plain(frame.path).rpartition("/")[2]
            if frame.line:
                self.places.setdefault((name, frame.line), frame)
            if frame.code:
                self.moved.setdefault(name, frame)

    def frame(self, row: str) -> Frame | None:
        """Find the frame whose printed form the row is."""
        for name, number in PLACE.findall(row[: limits.ROW_CHARACTERS]):
            frame = self.places.get((name, int(number))) or self.moved.get(name)
            if frame:
                return frame
        return None
