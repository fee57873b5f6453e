"""Definitions on the failing value's way: what an analyst would look up first."""

from nightwatch_core.code.called_names import Use, names_near
from nightwatch_core.code.definition_lookup import Lookup, Place
from nightwatch_core.code.limits import CALLEE_CHARACTERS, CALLEE_LINES, CALLEES, LINE
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import Preview, PreviewKind
from nightwatch_core.text.plain_text import text_lines

Shown = set[tuple[str, int]]


def callees(
    case: Case, known: Lookup, seen: Shown, members: tuple[str, ...] = ()
) -> tuple[Preview, ...]:
    """List definitions of what the failing statement, and those before it, call and build.

    The likeliest to matter first; bounded in number, lines and characters. What was `seen` is left
    out, and what is shown is added to it; `members` are names that the message says.
    """
    previews: list[Preview] = []
    left = CALLEE_CHARACTERS
    for use in names_near(case, known.text, members):
        place = known.place(use)
        preview = cut(place, known, seen, "flow", _because(use)) if place else None
        if preview is None or len(preview.text) > left:
            continue
        left -= len(preview.text)
        mark(preview, seen)
        previews.append(preview)
        if len(previews) == CALLEES:
            break
    return tuple(previews)


def cut(
    place: Place, known: Lookup, seen: Shown, kind: PreviewKind, because: str = ""
) -> Preview | None:
    """Cut out the lines of a definition that were not shown; None where that is not half of it."""
    end = min(place.end, place.line + CALLEE_LINES - 1)
    new = [line for line in range(place.line, end + 1) if (place.path, line) not in seen]
    new = [line for n, line in enumerate(new) if line == new[0] + n]  # up to what was shown
    if len(new) < (end - place.line + 2) // 2:
        return None
    lines = text_lines(known.text(place.path) or "")
    rows = (" ".join(one.splitlines())[:LINE] for one in lines[new[0] - 1 : new[-1]])
    return Preview(
        path=place.path,
        start=new[0],
        end=new[-1],
        text="\n".join(rows),
        lines=len(lines),
        kind=kind,
        because=because,
    )


def mark(preview: Preview, seen: Shown) -> None:
    """Note the lines of a preview as seen."""
    seen |= {(preview.path, line) for line in range(preview.start, preview.end + 1)}


def _because(use: Use) -> str:
    """Why it is shown, as short as can be."""
    where = f"used in {use.path.rpartition('/')[2]}:{use.line}"
    return f"{where}, which sets {use.sets}" if use.sets else where
