"""Gives Python tracebacks the indentation back that a ticket, a mail or a page took from them.

Python's own says which line is source and which one names the exception. Where source is not
deeper than its frame, what follows decides: source lies between two frames, and the exception
below the last one.
"""

import re
from collections.abc import Sequence

from nightwatch_core.traces.python_text import (
    ANCHORS,
    BEGINS,
    FRAME,
    is_sure_name,
    may_name_exception,
    names_exception,
)

_MARGIN = re.compile(r"\s*(?:[|+]\s*)?")
_SOURCE_LINES = 12  # between two frames: statements over several lines, anchors


def indented(lines: Sequence[str]) -> list[str]:
    """Return the lines, those of tracebacks without indentation as Python prints them.

    >>> indented(('File "a.py", line 3, in f', "1 / n", "ZeroDivisionError: by zero"))
    ['  File "a.py", line 3, in f', '    1 / n', 'ZeroDivisionError: by zero']
    """
    done: list[str] = []
    frames = [number for number, line in enumerate(lines) if FRAME.match(line)]
    if not frames:
        return list(lines)
    at = 0
    for number, below in zip(frames, [*frames[1:], len(lines)], strict=True):
        done += lines[at:number]
        rows = lines[number + 1 : below]
        source = _source_rows(lines[number], rows, below < len(lines))
        if source is None:
            done += lines[number:below]
        else:
            done.append(f"  {lines[number].strip()}")
            done += [f"    {row.strip()}" for row in rows[:source]]
            done += [row.strip() if n == 0 else row for n, row in enumerate(rows[source:])]
        at = below
    return [*done, *lines[at:]]


def _source_rows(frame: str, rows: Sequence[str], is_inner: bool) -> int | None:
    """How many rows below a frame are its source; None where the indentation says it."""
    if not rows or not rows[0].strip() or BEGINS.match(rows[0]):
        return None
    deeper = _indent(rows[0]) - _indent(frame)
    is_between = is_inner and len(rows) <= _SOURCE_LINES and not any(map(_ends_frames, rows))
    if deeper > 0 or (deeper < 0 and not is_between):
        return None
    if is_between:
        return (
            None
            if deeper < 0 and is_sure_name(rows[0])
            else 0
            if is_sure_name(rows[0])
            else len(rows)
        )
    last = next((n for n, row in enumerate(rows) if _ends_frames(row)), len(rows))
    return _rows_above_name(rows[: min(last, _SOURCE_LINES)])


def _rows_above_name(rows: Sequence[str]) -> int:
    """How many rows stand between the last frame and what names the exception."""
    if is_sure_name(rows[0]):
        return 0
    named = next((n for n, row in enumerate(rows[1:], 1) if names_exception(row)), 0)
    if named:
        return named
    if may_name_exception(rows[0]):
        return 0
    return 1 + sum(1 for row in rows[1:2] if ANCHORS.match(row))


def _ends_frames(row: str) -> bool:
    return not row.strip() or BEGINS.match(row) is not None


def _indent(line: str) -> int:
    margin = _MARGIN.match(line)
    return margin.end() if margin else 0
