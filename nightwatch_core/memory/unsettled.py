"""Findings that did not settle their error: weak ones, and causes whose fix is owed.

They are looked at again on the second, fourth, eighth … night that sees the error, at least every
32 of them, and in between cost nothing. The count begins anew once anything speaks for another
result: the error regressed or jumped, code it runs through changed, somebody asked afresh.
"""

from collections.abc import Callable
from datetime import date

from nightwatch_core.memory.limits import MOST_WATCHED
from nightwatch_core.models.analysis import RefusedEdit
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import ordinal

_STEP = 200  # characters
_LONGEST = 32  # nights
_SETTLED = {"unsettled_nights": 0, "unsettled_since": None, "watched": ()}
OWED = "its fix is owed: "


def why_weak(lesson: Lesson) -> str:
    """Say why a lesson proves too little to be relied upon; empty where it does not."""
    reasons = (
        (not lesson.has_cause, "no cause is known"),
        (lesson.fix_confidence == "low", "its confidence was low"),
        (not lesson.evidence, "it cites no line of code"),
    )
    return next((reason for holds, reason in reasons if holds), "")


def why_unsettled(lesson: Lesson) -> str:
    """Say why a lesson does not settle its error; empty where it does."""
    return why_weak(lesson) or (f"{OWED}{lesson.fix_owed}" if lesson.fix_owed else "")


def fix_owed(has_fix: bool, refused: tuple[RefusedEdit, ...]) -> str:
    """Say what is wrong with a fix that fell to slips alone; empty where none is owed."""
    if has_fix or not refused or not all(one.is_slip for one in refused):
        return ""
    return line(f"{refused[0].path}: {refused[0].reason}", _STEP)


def watched_files(case: Case) -> tuple[str, ...]:
    """List the files of a case's innermost frames: their change may show what was not seen."""
    frames = case.trace.in_app if case.trace else ()
    paths = dict.fromkeys(frame.repo_path for frame in frames if frame.repo_path)
    return tuple(paths)[:MOST_WATCHED]


def nights_before(lesson: Lesson) -> int:
    """Count the nights before tonight on which it stayed so; of older documents, the first."""
    return max(lesson.unsettled_nights, 1)


def is_due(before: int) -> bool:
    """Whether the error is looked at again after so many nights.

    >>> [night for night in range(2, 100) if is_due(night - 1)]
    [2, 4, 8, 16, 32, 64, 96]
    """
    return before & (before + 1) == 0 or (before + 1) % _LONGEST == 0


def next_look(before: int) -> int:
    """Tell the number of the night of the next look.

    >>> next_look(2), next_look(4)
    (4, 8)
    """
    nights = range(before + 1, before + _LONGEST + 1)
    return next(night for night in nights if is_due(night - 1))


def waits_for(lesson: Lesson) -> str:
    """Say since when a weak finding waits, and for what; its words are escaped by who shows it."""
    since, before = lesson.unsettled_since or lesson.first_detected, nights_before(lesson)
    files = ", ".join(dict.fromkeys(one.path for one in lesson.watched[:2]))
    changed = f", or once {line(files, _STEP)} changes" if files else ""
    asked = lesson.question or next(iter(lesson.next_steps), "")
    ask = f"; what would settle it: {line(asked, _STEP)}" if asked else ""
    return (
        f"no proof since {since.isoformat()} ({why_weak(lesson)}): looked at again on the "
        f"{ordinal(next_look(before))} night{changed}{ask}"
    )


def counted(lesson: Lesson, before: int, earlier: Lesson | None, today: date) -> Lesson:
    """Count tonight for a lesson that stays unsettled, after `before` nights; else count anew."""
    if not why_unsettled(lesson):
        return lesson.model_copy(update=_SETTLED)
    first = (earlier.unsettled_since or earlier.first_detected) if earlier and before else today
    return lesson.model_copy(update={"unsettled_nights": before + 1, "unsettled_since": first})


def has_changed(lesson: Lesson, digest_of: Callable[[str], str]) -> str:
    """Name the first file of a lesson's frames that is another now; empty where none is."""
    known = {one.path: one.digest for one in lesson.watched if one.digest}
    return next((path for path, old in known.items() if digest_of(path) != old), "")
