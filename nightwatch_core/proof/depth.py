"""How far out a test for a crash has to enter, so that it is about the crash and about its fix."""

import re
from collections.abc import Callable

from nightwatch_core.analysis.source_previews import function_rows
from nightwatch_core.models.answer import Edit
from nightwatch_core.proof.production import Crash, Place
from nightwatch_core.text.plain_text import text_lines

Read = Callable[[str], str | None]
_REFUSAL = re.compile(r"^\s*(?:raise|throw|fail|abort)\b")


def least_places(crash: Crash, fix: tuple[Edit, ...], read: Read) -> int:
    """Count the places that a test comes through: all that the fix changes, at least one.

    What only refuses what it is given has to be called as production called it. `read` gives the
    files that failed.
    """
    changed = [
        number
        for number, place in enumerate(crash.places, start=1)
        if any(_lies_in(edit, place, read) for edit in fix)
    ]
    top = crash.places[0]
    lines = text_lines(read(top.path) or "")
    number = min(top.lines, default=0)
    refuses = 0 < number <= len(lines) and bool(_REFUSAL.match(lines[number - 1]))
    return min(len(crash.places), max(1 + refuses, *changed, 1))


def _lies_in(edit: Edit, place: Place, read: Read) -> bool:
    """Whether an edit changes the function of a place."""
    text = read(place.path) if edit.path == place.path else None
    if not text or not edit.old or edit.old not in text or not place.lines:
        return False
    first, last = function_rows(place.path, text, min(place.lines))
    start = text.count("\n", 0, text.index(edit.old)) + 1
    return not first or (start <= last and start + edit.old.count("\n") >= first)
