"""A stack trace as an analyst is told it: once, own frames marked, the libraries' tail left out.

The printed trace is told as it is, because it holds what no parser keeps (headings, notes, source).
The list of frames says what it does not: which frames are ours, and where their files lie today.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from nightwatch_core.models.error import Frame, Trace
from nightwatch_core.text.escaping import block, line
from nightwatch_core.traces.repo_paths import plain

PRINTED, LISTED = 6_000, 7_000  # characters
FRAMES, FIRST = 40, 5  # frames that are listed at most, and of our own in any case
BESIDE = 2  # rows of libraries that are kept next to the last own frame, and below a heading
_READ = 100_000  # characters of a printed trace that are looked at
_ROW = 1_000  # characters of a row
_PLACE = re.compile(r'(?<![\w.$@+-])([\w.$@+-]{1,200})(?:", line |:line |:|\()(\d{1,8})\b')
_CALLS = ("at ", "from ", "... ", "#")  # how rows without a line begin
_SOURCE = "    "  # how Python and others begin the rows of source below a frame
_OUTERMOST_FIRST = ("python",)


def frames_text(trace: Trace, printed: str) -> str:
    """The frames that have something to tell besides what is `printed`, innermost first.

    Those are the first of our own, and own ones whose place is printed otherwise; all where what is
    printed is not whole.
    """
    is_whole = bool(printed.strip()) and len(printed) <= PRINTED
    frames = trace.frames[:FRAMES]
    own = [number for number, frame in enumerate(frames) if frame.in_app]
    first = (own or list(range(len(frames))))[:FIRST]
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
    return middle_out("\n".join((*rows, *note)), LISTED)


def printed_text(trace: Trace) -> str:
    """The trace as printed, without the rows of libraries on the far side of our own frames.

    What was left out is said, and where it is; no row that is not of a frame is left out.
    """
    rows = block(trace.raw, _READ).split("\n")
    ours, known = Known.of(trace.in_app), Known.of(trace.frames)
    own = [number for number, row in enumerate(rows) if ours.names(row)]
    told = [(row, known.is_of_one(row)) for row in rows]
    if not own:
        kept = rows
    elif trace.language in _OUTERMOST_FIRST:
        far = told[: own[0]][::-1]
        beside = next((n for n, (row, _) in enumerate(far, 1) if not row.startswith(_SOURCE)), 0)
        kept = [*_thinned(far, beside)[::-1], *rows[own[0] :]]
    else:
        kept = [*rows[: own[-1] + 1], *_thinned(told[own[-1] + 1 :], BESIDE)]
    return middle_out("\n".join(kept), PRINTED)


class Known(NamedTuple):
    """Frames as rows of a printed trace name them: file names with lines."""

    places: frozenset[tuple[str, int]]
    moved: frozenset[str]  # files whose frames' lines may have been put right since

    @classmethod
    def of(cls, frames: Iterable[Frame]) -> "Known":
        """What is known of some frames."""
        named = [(plain(frame.path).rpartition("/")[2], frame) for frame in frames]
        return cls(
            frozenset((name, frame.line) for name, frame in named if frame.line),
            frozenset(name for name, frame in named if frame.code),
        )

    def names(self, row: str) -> bool:
        """Whether the row is the printed form of one of the frames."""
        return any(
            (name, int(number)) in self.places or name in self.moved
            for name, number in _PLACE.findall(row[:_ROW])
        )

    def is_of_one(self, row: str) -> bool:
        """Whether the row names a frame, known or not, or is the source below one."""
        return self.names(row) or row.startswith(_SOURCE) or row.strip().startswith(_CALLS)


def _thinned(rows: list[tuple[str, bool]], beside: int) -> list[str]:
    """The first rows beside our frames, then what is of no frame, and two rows behind each such."""
    kept, room, left = [row for row, _ in rows[:beside]], 0, 0
    for row, is_of_frame in rows[beside:]:
        room = room - 1 if is_of_frame else BESIDE
        if is_of_frame and room < 0:
            left += 1
        else:
            kept.append(row)
    note = f"[... {left} rows of libraries left out; get_error_traces has them ...]"
    return [*kept[:beside], note, *kept[beside:]] if left else kept


def _frame(frame: Frame) -> str:
    where = "app" if frame.in_app else "lib"
    return f"{where}  {line(frame.place, 200)} in {line(frame.function, 120) or '?'}"


def middle_out(text: str, limit: int) -> str:
    """The text, or its beginning and end, with how much was left out between them.

    >>> middle_out("abcdef", 4)
    'ab\\n[... 2 characters left out ...]\\nef'
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - limit} characters left out ...]\n{text[-half:]}"
