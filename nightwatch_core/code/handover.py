"""What is known of an error whose cause is not, for whoever looks at it next; nothing is claimed.

Who knows no cause says what it knows. The rest is read here: the failing line with its
surroundings, the value that failed, and who wrote the line last.
"""

from collections.abc import Callable
from typing import TypeVar

from nightwatch_core.code.code_view import lines_of
from nightwatch_core.code.limits import (
    HANDED_LINE,
    HANDED_LINES,
    HANDED_STEPS,
    HANDED_TEXT,
    HANDED_VALUE,
)
from nightwatch_core.code.symptoms import symptom_of
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.answer import Answer, Handover
from nightwatch_core.models.code import Blame
from nightwatch_core.models.error import Case
from nightwatch_core.models.trace import Frame
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.plain_text import one_line, shortened

T = TypeVar("T")
_MOST = 2 * HANDED_LINES + 1  # lines


def handover_of(answer: Answer) -> Handover:
    """Give what an answer that knows no cause hands on: what it would look at next.

    >>> handover_of(Answer(title="T", root_cause="", confidence="low", question="Whose?")).look_at
    ('Whose?',)
    """
    given = answer.handover or Handover()
    steps = given.look_at or (*filter(None, (answer.question,)), *answer.suggested_next_steps)
    return given.model_copy(update={"look_at": steps})


def completed(given: Handover, case: Case, code: CodeReader, *, fits: bool = True) -> Handover:
    """Fill in what a handover leaves open, and bound what it holds.

    Where the record does not fit the code (`fits`), the code is not asked: the lines are those that
    the record itself holds. What cannot be read stays empty.
    """
    frame = _failing_frame(case)
    path = given.path or (frame.repo_path or frame.path if frame else "")
    line = given.line or (frame.line or 0 if frame and not given.path else 0)
    is_readable = fits and not (frame and frame.fit == "differs") and bool(path and line)
    lines, first = given.lines, given.first_line or line
    if not lines and is_readable:
        lines, first = _around(code, path, line)
    if not lines and frame and not given.path:
        lines, first = _recorded(frame)
    changed = given.last_change or (_last_change(code, path, line) if is_readable else "")
    return Handover(
        unknown=_line(given.unknown, HANDED_TEXT),
        path=_line(path, HANDED_TEXT),
        line=line,
        lines=tuple(one.replace("\n", " ")[:HANDED_LINE] for one in lines[:_MOST]),
        first_line=first if lines else 0,
        value=_line(given.value or _value(case), HANDED_VALUE),
        last_change=_line(changed, HANDED_TEXT),
        look_at=tuple(_line(one, HANDED_TEXT) for one in given.look_at[:HANDED_STEPS]),
    )


def _failing_frame(case: Case) -> Frame | None:
    """The innermost own frame that is in the repository, else the innermost own one."""
    frames = case.trace.in_app if case.trace else ()
    return next((one for one in frames if one.repo_path), next(iter(frames), None))


def _around(code: CodeReader, path: str, line: int) -> tuple[tuple[str, ...], int]:
    """The line with those around it as they stand in the file, and the number of the first."""
    rows = lines_of(_known(lambda: code.read_file(path), None) or "")
    if line > len(rows):
        return (), 0
    first = max(1, line - HANDED_LINES)
    return rows[first - 1 : line + HANDED_LINES], first


def _recorded(frame: Frame) -> tuple[tuple[str, ...], int]:
    """The same as the record holds them."""
    if not frame.code:
        return (), 0
    before, after = frame.before[-HANDED_LINES:], frame.after[:HANDED_LINES]
    first = max((frame.line or 1) - len(before), 1)
    return (*before, frame.code, *after), first


def _last_change(code: CodeReader, path: str, line: int) -> str:
    blames = _known(lambda: code.blame(path, line), tuple[Blame, ...]())
    if not blames:
        return ""
    wrote = blames[0]
    pull = f"#{wrote.pull}, " if wrote.pull else ""
    return f"{wrote.author}, {wrote.at:%Y-%m-%d}: {wrote.subject} ({pull}{wrote.sha[:10]})"


def _value(case: Case) -> str:
    """What the message says of the value that failed; empty where it says nothing."""
    root = case.trace.root if case.trace else None
    said = (root.error_class, root.message) if root and root.error_class else ()
    symptom = symptom_of(*(said or (case.leader.error_class, case.leader.message)))
    return f"key `{symptom.key}`" if symptom.key else symptom.given


def _line(text: str, limit: int) -> str:
    return shortened(one_line(text[: 4 * limit]), limit)


def _known(ask: Callable[[], T], otherwise: T) -> T:
    try:
        return ask()
    except (GiveUp, TryLater):
        return otherwise
