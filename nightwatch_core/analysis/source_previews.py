"""Source of the first message: where it fails, on the way there, and what set the failing value."""

import re
from collections.abc import Callable, Iterable, Iterator

from nightwatch_core.analysis import limits
from nightwatch_core.code.called_names import frames_of
from nightwatch_core.code.callees import Shown, mark
from nightwatch_core.code.definitions import definition_of, functions_around
from nightwatch_core.code.limits import LINE
from nightwatch_core.code.value_flow import value_flow
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import LikelyFile, Preview, PreviewKind
from nightwatch_core.models.trace import Frame
from nightwatch_core.text.plain_text import text_lines
from nightwatch_core.text.transactions import endpoint

Read = Callable[[str], str | None]
_RAISES = re.compile(r"\s*(?:raise|throw|panic|fail|abort)\b")  # what is wrong came from outside
_ABOVE = re.compile(r"\s*(?:@|#\[|\[\w|/?\*|//|#)")  # decorators, attributes, comments


def source_previews(
    case: Case, likely: tuple[LikelyFile, ...], read: Read, members: tuple[str, ...] = ()
) -> tuple[Preview, ...]:
    """Cut out the failing function or file, other own frames, and what set the failing value.

    Where no frame has a line that is there, windows of likely files: around the function or the
    action, else the beginning. `members` are names that the message says.
    """
    placed = tuple(_placed(frames_of(case), read))
    if not placed:
        return guesses(case, likely, read)
    seen: Shown = set()
    top = likely[0].path if likely else ""
    best = next((path for path, _, _ in placed if path == top), placed[0][0])
    shown: list[Preview] = []
    raises = True
    for path, text, line in placed:
        is_failing = raises or (path == best and all(one.path != best for one in shown))
        raises = raises and bool(_RAISES.match(text_lines(text)[line - 1]))
        if (path, line) in seen:
            continue
        cut = failing(path, text, line) if is_failing else caller(path, text, line)
        mark(cut, seen)
        shown.append(cut)
    path, text, line = placed[0]
    shown += setters(path, text, line, members, seen)
    return _within_room(shown)


def failing_place(case: Case, read: Read) -> tuple[str, int]:
    """Give the innermost own place whose line is there: path and line, or ("", 0)."""
    placed = next(_placed(frames_of(case), read), None)
    return (placed[0], placed[2]) if placed else ("", 0)


def failing(path: str, text: str, line: int) -> Preview:
    """Cut out the whole file where it is short, else the whole function and a little around it."""
    because = f"line {line} fails"
    lines = text_lines(text)
    if len(lines) <= limits.WHOLE_FILE_LINES and len(text) <= limits.WHOLE_FILE:
        return cut_out(path, lines, 1, len(lines), "failing", because)
    start, end = function_rows(path, text, line)
    if end - start >= limits.FUNCTION_LINES or not start:
        return window(path, text, line, limits.PREVIEW_LINES, "failing", because)
    if end - start + 1 < limits.SHORT_FUNCTION:
        whole = window(path, text, (start + end) // 2, limits.SHORT_FUNCTION, "failing", because)
        start, end = min(start, whole.start), max(end, whole.end)
    return cut_out(path, lines, start, end, "failing", because)


def caller(path: str, text: str, line: int) -> Preview:
    """Cut out the function of a frame further out, a long one's lines above the call."""
    because = f"line {line} is a frame"
    start, end = function_rows(path, text, line)
    if start and end - start < limits.CALLER_LINES:
        return cut_out(path, text_lines(text), start, end, "frame", because)
    above = max(1, line - limits.LONG_CALLER // 4)
    return window(path, text, above, limits.LONG_CALLER, "frame", because)


def setters(
    path: str, text: str, line: int, members: tuple[str, ...], seen: Shown
) -> Iterator[Preview]:
    """Cut out what set the failing value, where that stands elsewhere in the file."""
    lines = text_lines(text)
    for step in value_flow(path, text, line, members):
        if step.sets and (path, step.line) not in seen:
            first, last = (
                max(1, step.line - limits.AROUND),
                min(len(lines), step.end + limits.AROUND),
            )
            cut = cut_out(path, lines, first, last, "flow", f"sets {step.sets}")
            mark(cut, seen)
            yield cut


def guesses(case: Case, likely: tuple[LikelyFile, ...], read: Read) -> tuple[Preview, ...]:
    """Cut windows of likely files; those that cannot be read are passed over for the next one."""
    shown: list[Preview] = []
    for file in likely:
        text = read(file.path) if len(shown) < limits.GUESSES else None
        if text is None or not text.strip():
            continue
        kind: PreviewKind = "failing" if _frame_in(case, file.path) else "guess"
        line, because = line_of_interest(case, file.path, text), "; ".join(file.because)
        start, end = function_rows(file.path, text, line)
        if start and end - start < limits.PREVIEW_LINES:
            shown.append(cut_out(file.path, text_lines(text), start, end, kind, because))
        else:
            shown.append(window(file.path, text, line, limits.PREVIEW_LINES, kind, because))
    return _within_room(shown)


def function_rows(path: str, text: str, line: int) -> tuple[int, int]:
    """Give the first and the last line of the innermost function around a line, else (0, 0).

    What decorates it belongs to it.
    """
    around = functions_around(path, text, line)
    if not around:
        return 0, 0
    inner = max(around, key=lambda one: one.line)
    lines, start = text_lines(text), inner.line
    while start > 1 and _ABOVE.match(lines[start - 2]) and inner.line - start < limits.DECORATORS:
        start -= 1
    return start, inner.end


def window(
    path: str,
    text: str,
    line: int,
    lines: int,
    kind: PreviewKind = "guess",
    because: str = "",
) -> Preview:
    """Cut at most `lines` lines with `line` in their middle, as far as the file allows.

    >>> found = window("a.py", "1\\n2\\n3\\n4\\n5\\n", line=4, lines=3)
    >>> found.start, found.end, found.text, found.lines
    (3, 5, '3\\n4\\n5', 5)
    """
    every = text_lines(text)
    start = max(1, min(line - lines // 2, len(every) - lines + 1))
    return cut_out(path, every, start, min(len(every), start + lines - 1), kind, because)


def cut_out(
    path: str,
    lines: tuple[str, ...],
    start: int,
    end: int,
    kind: PreviewKind,
    because: str,
) -> Preview:
    """Cut lines `start` to `end` out of a file's; long ones are cut."""
    rows = (" ".join(one.splitlines())[:LINE] for one in lines[start - 1 : end])
    return Preview(
        path=path,
        start=start,
        end=end,
        text="\n".join(rows),
        lines=len(lines),
        kind=kind,
        because=because,
    )


def line_of_interest(case: Case, path: str, text: str) -> int:
    """Find the line of `path` that an analyst wants to see first; 1 where nothing is known."""
    return next((line for way in INTERESTS if (line := way(case, path, text))), 1)


def _placed(frames: Iterable[Frame], read: Read) -> Iterator[tuple[str, str, int]]:
    """Path, text and line of the frames whose lines are there."""
    for frame in frames:
        text = read(frame.repo_path)
        line = frame.line or 0
        if text and 0 < line <= len(text_lines(text)):
            yield frame.repo_path, text, line


def _within_room(shown: list[Preview]) -> tuple[Preview, ...]:
    """Previews without those at the tail that would pass the room for all."""
    while len(shown) > 1 and sum(len(one.text) for one in shown) > limits.PREVIEW_CHARACTERS:
        shown.pop()
    return tuple(shown)


def _failing_line(case: Case, path: str, text: str) -> int:
    frame = _frame_in(case, path)
    line = (frame.line or 0) if frame else 0
    return line if line <= len(text_lines(text)) else 0


def _failing_function(case: Case, path: str, text: str) -> int:
    frame = _frame_in(case, path)
    return _line_of(re.split(r"[\s.:#$]", frame.function)[-1], path, text) if frame else 0


def _action(case: Case, path: str, text: str) -> int:
    return _line_of(endpoint(case.leader.transaction).action, path, text)


def _line_of(name: str, path: str, text: str) -> int:
    found = definition_of(name, path, text)
    return found.line if found else 0


def _frame_in(case: Case, path: str) -> Frame | None:
    """The innermost frame of a file."""
    frames = (*case.trace.in_app, *case.trace.frames) if case.trace else ()
    return next((frame for frame in frames if frame.repo_path == path), None)


# What makes a line of a file interesting, the best reason first; 0 where it does not hold.
INTERESTS: tuple[Callable[[Case, str, str], int], ...] = (
    _failing_line,
    _failing_function,
    _action,
)
