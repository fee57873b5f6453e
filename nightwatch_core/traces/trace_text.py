"""A stack trace as an analyst is shown it: once, own frames marked, no tail of libraries.

The printed trace is shown as it is, because it holds what no parser keeps (notes, source).
The list of frames says what it does not: which frames are ours, and where their files lie today.
"""

from collections.abc import Iterable
from typing import NamedTuple

from nightwatch_core.models.trace import Frame, Trace
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import middle_out
from nightwatch_core.traces import limits
from nightwatch_core.traces.excerpts import PLACE
from nightwatch_core.traces.repo_paths import plain

_CALLS = ("at ", "from ", "... ", "#")  # how rows without a line begin
_SOURCE = "    "  # how Python and others begin the rows of source below a frame
_OUTERMOST_FIRST = ("python",)


def frames_text(trace: Trace, printed: str) -> str:
    """Return the frames that have something to tell besides what is `printed`, innermost first.

    Those are the first of our own, and own ones whose place is printed otherwise; all where what is
    printed is not whole.
    """
    is_whole = bool(printed.strip()) and len(printed) <= limits.PRINTED_SHOWN
    frames = trace.frames[: limits.FRAMES_LISTED]
    own = [number for number, frame in enumerate(frames) if frame.in_app]
    first = (own or list(range(len(frames))))[: limits.OWN_FRAMES_LISTED]
    listed = [
        frame
        for number, frame in enumerate(frames)
        if not is_whole
        or number in first
        or (frame.in_app and line(frame.place, 200) not in printed)
    ]
    left = len(trace.frames) - len(listed)
    rows = [_frame(frame) for frame in listed]
    note = [f"[... {left} more frames are in the printed trace ...]"] if left and is_whole else []
    return middle_out("\n".join((*rows, *note)), limits.LISTED_SHOWN)


def printed_text(trace: Trace) -> str:
    """Return the trace as printed, without the rows of libraries on the far side of our own frames.

    What was left out is said, and where it is; no row that is not of a frame is left out.
    """
    rows = block(trace.raw, limits.PRINTED_READ).split("\n")
    own_names, names = FrameNames.of(trace.in_app), FrameNames.of(trace.frames)
    own = [number for number, row in enumerate(rows) if own_names.name(row)]
    marked = [(row, names.are_in(row)) for row in rows]
    if not own:
        kept = rows
    elif trace.language in _OUTERMOST_FIRST:
        far = marked[: own[0]][::-1]
        beside = next((n for n, (row, _) in enumerate(far, 1) if not row.startswith(_SOURCE)), 0)
        kept = [*_thin(far, beside)[::-1], *rows[own[0] :]]
    else:
        kept = [*rows[: own[-1] + 1], *_thin(marked[own[-1] + 1 :], limits.LIBRARY_ROWS)]
    return middle_out("\n".join(kept), limits.PRINTED_SHOWN)


class FrameNames(NamedTuple):
    """Frames as rows of a printed trace name them: file names with lines."""

    places: frozenset[tuple[str, int]]
    moved: frozenset[str]  # files whose frames' lines may have been put right since

    @classmethod
    def of(cls, frames: Iterable[Frame]) -> "FrameNames":
        """Collect the names of some frames."""
        files = [(plain(frame.path).rpartition("/")[2], frame) for frame in frames]
        return cls(
            frozenset((name, frame.line) for name, frame in files if frame.line),
            frozenset(name for name, frame in files if frame.code),
        )

    def name(self, row: str) -> bool:
        """Tell whether the row is the printed form of one of the frames."""
        return any(
            (name, int(number)) in self.places or name in self.moved
            for name, number in PLACE.findall(row[: limits.ROW_CHARACTERS])
        )

    def are_in(self, row: str) -> bool:
        """Tell whether the row names a frame, one of these or not, or is the source below one."""
        return self.name(row) or row.startswith(_SOURCE) or row.strip().startswith(_CALLS)


def _thin(rows: list[tuple[str, bool]], beside: int) -> list[str]:
    """The first rows beside our frames, then what is of no frame, and two rows behind each such."""
    kept, room, left = [row for row, _ in rows[:beside]], 0, 0
    for row, is_of_frame in rows[beside:]:
        room = room - 1 if is_of_frame else limits.LIBRARY_ROWS
        if is_of_frame and room < 0:
            left += 1
        else:
            kept.append(row)
    note = f"[... {left} rows of libraries left out; get_error_traces has them ...]"
    return [*kept[:beside], note, *kept[beside:]] if left else kept


def _frame(frame: Frame) -> str:
    where = "app" if frame.in_app else "lib"
    return f"{where}  {line(frame.place, 200)} in {line(frame.function, 120) or '?'}"
