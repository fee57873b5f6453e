"""Definitions on the failing value's way: what an analyst would look up first.

What makes the failing value is shown whole, or where it is long its head and every way out of it.
"""

import re
from collections.abc import Iterator

from nightwatch_core.code.called_names import Use, names_near
from nightwatch_core.code.definition_lookup import Lookup, Place
from nightwatch_core.code.limits import (
    CALLEE_CHARACTERS,
    CALLEE_EXITS,
    CALLEE_HEAD,
    CALLEE_LINES,
    CALLEES,
    FLOW_DEPTH,
    LINE,
    WHOLE_CALLEE,
)
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import Preview, PreviewKind
from nightwatch_core.text.plain_text import text_lines

Shown = set[tuple[str, int]]
_EXIT = re.compile(r"\s*(?:return|raise|throw)\b")


def callees(
    case: Case, known: Lookup, seen: Shown, members: tuple[str, ...] = ()
) -> tuple[Preview, ...]:
    """List definitions of what the failing statement, and those before it, call and build.

    The likeliest to matter first; bounded in number, lines and characters. What was `seen` is left
    out, and what is shown is added to it; `members` are names that the message says.
    """
    previews: list[Preview] = []
    left, shown = CALLEE_CHARACTERS, 0
    for use in names_near(case, known.text, members):
        place = known.place(use)
        parts = _parts(place, use, known, seen) if place else ()
        size = sum(len(part.text) for part in parts)
        if not parts or size > left:
            continue
        left, shown = left - size, shown + 1
        for part in parts:
            mark(part, seen)
        previews += parts
        if shown == CALLEES:
            break
    return tuple(previews)


def _parts(place: Place, use: Use, known: Lookup, seen: Shown) -> tuple[Preview, ...]:
    """What is shown of a definition: more of a function that makes what the failing line reads."""
    because = _because(use)
    makes = use.is_call and (use.depth == 0 or (bool(use.sets) and use.depth <= FLOW_DEPTH))
    if not makes or not use.name[:1].islower():
        one = cut(place, known, seen, "flow", because)
        return (one,) if one else ()
    is_short = place.end - place.line < WHOLE_CALLEE
    lines = WHOLE_CALLEE if is_short else CALLEE_HEAD
    head = cut(place, known, seen, "flow", because, lines)
    return (head, *_exits(place, head, known)) if head else ()


def _exits(place: Place, head: Preview, known: Lookup) -> Iterator[Preview]:
    """Every way out behind the head, each with the row that it depends on."""
    lines = text_lines(known.text(place.path) or "")
    wanted: set[int] = set()
    for row in range(head.end + 1, head.until + 1):
        if _EXIT.match(lines[row - 1]) and len(wanted) < 2 * CALLEE_EXITS:
            above = range(row - 1, head.end, -1)
            inner = _indent(lines[row - 1])
            on = (n for n in above if lines[n - 1].strip() and _indent(lines[n - 1]) < inner)
            wanted |= {row, next(on, row)}
    starts = sorted(row for row in wanted if row - 1 not in wanted)
    for start in starts:
        end = next(n for n in range(start, head.until + 2) if n + 1 not in wanted)
        text = _rows(lines, start, end)
        yield head.model_copy(update={"start": start, "end": end, "text": text})


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def cut(
    place: Place,
    known: Lookup,
    seen: Shown,
    kind: PreviewKind,
    because: str = "",
    most: int = CALLEE_LINES,
) -> Preview | None:
    """Cut out the lines of a definition that were not shown; None where that is not half of it."""
    end = min(place.end, place.line + most - 1)
    new = [line for line in range(place.line, end + 1) if (place.path, line) not in seen]
    new = [line for n, line in enumerate(new) if line == new[0] + n]  # up to what was shown
    if len(new) < (end - place.line + 2) // 2:
        return None
    lines = text_lines(known.text(place.path) or "")
    rest = [line for line in range(new[-1] + 1, place.end + 1) if (place.path, line) not in seen]
    return Preview(
        path=place.path,
        start=new[0],
        end=new[-1],
        text=_rows(lines, new[0], new[-1]),
        lines=len(lines),
        kind=kind,
        because=because,
        until=max(rest, default=0),
    )


def _rows(lines: tuple[str, ...], start: int, end: int) -> str:
    return "\n".join(" ".join(one.splitlines())[:LINE] for one in lines[start - 1 : end])


def mark(preview: Preview, seen: Shown) -> None:
    """Note the lines of a preview as seen."""
    seen |= {(preview.path, line) for line in range(preview.start, preview.end + 1)}


def _because(use: Use) -> str:
    """Why it is shown, as short as can be."""
    where = f"used in {use.path.rpartition('/')[2]}:{use.line}"
    return f"{where}, which sets {use.sets}" if use.sets else where
