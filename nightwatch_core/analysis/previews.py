"""Source as models see it: previews of the first message, and numbered lines of tools' answers."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from nightwatch_core.code import definitions
from nightwatch_core.code.candidate_symbols import Shown, cut_out, frames_of, mark
from nightwatch_core.code.code_view import MARK, SHOWN_LINE, name, numbered, visible
from nightwatch_core.code.value_flow import value_flow
from nightwatch_core.models.errors import Case, Frame
from nightwatch_core.models.research import LikelyFile, Preview, PreviewKind
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import text_lines
from nightwatch_core.text.transactions import endpoint

PREVIEW_CHARACTERS = 30_000  # of all previews: the message stays far below its tokens
GUESSES, PREVIEW_LINES = 2, 60  # likely files; lines of one
CALLER_LINES, LONG_CALLER = 24, 16  # lines of a caller that is shown whole; of a longer one
WHOLE_FILE_LINES, WHOLE_FILE = 200, 5_000  # lines, characters: a failing file that is shown whole
WHOLE_CALLER = 5_000  # characters: one further out
FUNCTION_LINES, SHORT_FUNCTION = 120, 16  # shown whole; shorter ones with lines around them
AROUND, CLASS_HEAD = 1, 160  # lines around what sets a value; characters


def preview_texts(previews: Iterable[Preview]) -> tuple[str, ...]:
    """Write previews, those of one file that are shown for one reason together."""
    same: dict[tuple[str, str], list[Preview]] = {}
    for item in previews:
        same.setdefault((item.path, item.because), []).append(item)
    ordered = (sorted(parts, key=lambda item: item.start) for parts in same.values())
    return tuple(preview_text(*parts) for parts in ordered)


def preview_text(*parts: Preview) -> str:
    """Write a preview: its place, the reason, its numbered lines, and which were left out."""
    first, last = parts[0], parts[-1]
    width = len(str(last.end))
    rows: list[str] = []
    nexts = (*(item.start for item in parts[1:]), last.until + 1)
    for part, after in zip(parts, nexts, strict=True):
        numbered = enumerate(part.text.split("\n"), start=part.start)
        rows += [f"{number:>{width}}| {text}" for number, text in numbered]
        if after > part.end + 1:
            begin, end = part.end + 1, after - 1
            rows.append(f"[{begin}-{end} left out]" if end > begin else f"[{begin} left out]")
    head = f"{first.path} (lines {first.start}-{last.end} of {first.lines})"
    reason = f": {first.because}" if first.because else ""
    return "\n".join((line(head + reason, 400), *rows))


# Source of the first message: where it fails, on the way there, and what set the failing value.

Read = Callable[[str], str | None]
_RAISES = re.compile(r"\s*(?:raise|throw|panic|fail|abort)\b")  # what is wrong came from outside
_ABOVE = re.compile(r"\s*(?:@|#\[|\[\w|/?\*|//|#)")  # decorators, attributes, comments


def source_previews(
    case: Case, likely: tuple[LikelyFile, ...], read: Read, members: tuple[str, ...] = ()
) -> tuple[Preview, ...]:
    """Cut out the failing function or file, other app frames, and what set the failing value.

    Where no frame has a line that exists, windows of likely files: around the function or the
    action, else the beginning. `members` are names in the message.
    """
    placed = tuple(_placed(frames_of(case), read))
    seen: Shown = set()
    top = likely[0].path if likely else ""
    best = next((path for path, _, _ in placed if path == top), placed[0][0] if placed else "")
    shown: list[Preview] = []
    raises, origins = True, list(placed[:1])
    for path, text, number in placed:
        is_failing = raises or (path == best and all(preview.path != best for preview in shown))
        origins += [(path, text, number)] * raises
        raises = raises and bool(_RAISES.match(text_lines(text)[number - 1]))
        if (path, number) in seen:
            continue
        whole = WHOLE_FILE if not shown else WHOLE_CALLER
        cut = failing(path, text, number, whole) if is_failing else caller(path, text, number)
        shown.append(_with_class(cut, text, number))
        mark(cut, seen)
    for origin in dict.fromkeys(origins):
        shown += setters(*origin, members, seen)
    shown += () if placed else guesses(case, likely, read)
    while len(shown) > 1 and sum(len(item.text) for item in shown) > PREVIEW_CHARACTERS:
        shown.pop()
    return tuple(shown)


def _with_class(cut: Preview, text: str, line: int) -> Preview:
    """Say which class a function is of, where its head is not shown and the file's name is not its.

    A file often has the name of its only class.
    """
    head = definitions.class_around(cut.path, text, line)
    file = cut.path.rpartition("/")[2].partition(".")[0].replace("_", "").lower()
    if head is None or head.line >= cut.start or head.name.lower() == file:
        return cut
    shown = text_lines(text)[head.line - 1].strip()[:CLASS_HEAD]
    return cut.model_copy(update={"because": f"{cut.because}, in {shown}"})


def failing(path: str, text: str, line: int, whole: int = WHOLE_CALLER) -> Preview:
    """Cut out the whole file where it is short, else the whole function and a little around it."""
    because = f"line {line} fails"
    lines = text_lines(text)
    if len(lines) <= WHOLE_FILE_LINES and len(text) <= whole:
        return cut_out(path, lines, 1, len(lines), "failing", because)
    start, end = function_rows(path, text, line)
    if end - start >= FUNCTION_LINES or not start:
        return window(path, text, line, PREVIEW_LINES, "failing", because)
    if end - start + 1 < SHORT_FUNCTION:
        wider = window(path, text, (start + end) // 2, SHORT_FUNCTION, "failing", because)
        start, end = min(start, wider.start), max(end, wider.end)
    return cut_out(path, lines, start, end, "failing", because)


def caller(path: str, text: str, line: int) -> Preview:
    """Cut out the function of a frame further out, a long one's lines above the call."""
    because = f"line {line} is a frame"
    start, end = function_rows(path, text, line, definitions.DECORATES)
    if start and end - start < CALLER_LINES:
        return cut_out(path, text_lines(text), start, end, "frame", because)
    above = max(1, line - LONG_CALLER // 4)
    return window(path, text, above, LONG_CALLER, "frame", because)


def setters(
    path: str, text: str, line: int, members: tuple[str, ...], seen: Shown
) -> Iterator[Preview]:
    """Cut out what set the failing value, where that stands elsewhere in the file."""
    lines = text_lines(text)
    for step in value_flow(path, text, line, members):
        if step.sets and (path, step.line) not in seen:
            first = max(1, step.line - AROUND)
            last = min(len(lines), step.end + AROUND)
            cut = cut_out(path, lines, first, last, "flow", f"sets {step.sets}")
            mark(cut, seen)
            yield cut


def guesses(case: Case, likely: tuple[LikelyFile, ...], read: Read) -> Iterator[Preview]:
    """Cut windows of the first likely files that can be read."""
    texts = ((file, text) for file in likely if (text := read(file.path)) and text.strip())
    for file, text in islice(texts, GUESSES):
        kind: PreviewKind = "failing" if _frame_in(case, file.path) else "guess"
        line, because = line_of_interest(case, file.path, text), "; ".join(file.because)
        start, end = function_rows(file.path, text, line)
        if start and end - start < PREVIEW_LINES:
            yield cut_out(file.path, text_lines(text), start, end, kind, because)
        else:
            yield window(file.path, text, line, PREVIEW_LINES, kind, because)


def function_rows(
    path: str, text: str, line: int, above: re.Pattern[str] = _ABOVE
) -> tuple[int, int]:
    """Give the first and the last line of the innermost function around a line, else (0, 0).

    Rows `above` it that decorate or describe it belong to it.
    """
    enclosing = definitions.functions_around(path, text, line)
    if not enclosing:
        return 0, 0
    inner = max(enclosing, key=lambda item: item.line)
    return definitions.decorated_from(text_lines(text), inner.line, above), inner.end


def window(
    path: str, text: str, line: int, lines: int, kind: PreviewKind = "guess", because: str = ""
) -> Preview:
    """Cut at most `lines` lines with `line` in their middle, as far as the file allows.

    >>> found = window("a.py", "1\\n2\\n3\\n4\\n5\\n", line=4, lines=3)
    >>> found.start, found.end, found.text, found.lines
    (3, 5, '3\\n4\\n5', 5)
    """
    every = text_lines(text)
    start = max(1, min(line - lines // 2, len(every) - lines + 1))
    return cut_out(path, every, start, min(len(every), start + lines - 1), kind, because)


def line_of_interest(case: Case, path: str, text: str) -> int:
    """Find the line to show first: the failing line, its function, the action; 1 for none."""
    frame, names = _frame_in(case, path), []
    if frame:
        if frame.line and frame.line <= len(text_lines(text)):
            return frame.line
        names.append(re.split(r"[\s.:#$]", frame.function)[-1])
    names.append(endpoint(case.leader.transaction).action)
    defined = (definitions.definition_of(name, path, text) for name in names)
    return next((item.line for item in defined if item), 1)


def _placed(frames: Iterable[Frame], read: Read) -> Iterator[tuple[str, str, int]]:
    for frame in frames:
        text = read(frame.repo_path)
        line = frame.line or 0
        if text and 0 < line <= len(text_lines(text)):
            yield frame.repo_path, text, line


def _frame_in(case: Case, path: str) -> Frame | None:
    frames = (*case.trace.in_app, *case.trace.frames) if case.trace else ()
    return next((frame for frame in frames if frame.repo_path == path), None)


# Lines of files as an answer shows them: numbered, once; what stands above already is named only.
#
# A cut is always at the end, between lines, and says where to go on.

_PARTS = 12  # of a file that its head names
_AGAIN = 8  # lines in a row: fewer are shown again, so that no function has small holes


class NumberedLines(NamedTuple):
    """Rows of a range of lines, and the lines that are in them, as `place` names them."""

    rows: tuple[str, ...]
    places: tuple[str, ...]
    left: int = 0  # the first line that did not fit; 0 where all did


def place(path: str, line: int) -> str:
    """Name a line as what is known of a conversation is named.

    >>> place("app/a.py", 3)
    'app/a.py:3'
    """
    return f"{name(path)}:{line}"


def head(path: str, shown: Collection[int], total: int) -> str:
    """Begin parts of a file by the lines that are shown; `places_in` reads it back."""
    parts = len(runs(shown))
    where = f"{min(shown)}-{max(shown)} in {parts} parts" if parts > _PARTS else spans(shown)
    return f"{name(path)} (line{'s' * (len(shown) > 1)} {where} of {total})"


def runs(numbers: Iterable[int]) -> tuple[range, ...]:
    """Join numbers in a row.

    >>> runs((1, 2, 4, 9))
    (range(1, 3), range(4, 5), range(9, 10))
    """
    joined: list[range] = []
    for number in sorted(set(numbers)):
        if joined and number == joined[-1].stop:
            joined[-1] = range(joined[-1].start, number + 1)
        else:
            joined.append(range(number, number + 1))
    return tuple(joined)


def spans(numbers: Iterable[int]) -> str:
    """Write numbers as ranges.

    >>> spans((1, 2, 3, 7))
    '1-3, 7'
    """
    return ", ".join(
        f"{run.start}-{run.stop - 1}" if len(run) > 1 else f"{run.start}" for run in runs(numbers)
    )


def seen(path: str, asked: Iterable[int], shown_lines: Collection[str]) -> frozenset[int]:
    """Give those of the lines that the conversation shows already, but for short runs of many."""
    numbers = frozenset(asked)
    above = frozenset(number for number in numbers if place(path, number) in shown_lines)
    if above == numbers:
        return above
    return frozenset(n for run in runs(above) if len(run) >= _AGAIN for n in run)


def part(
    path: str, lines: Sequence[str], asked: range, shown_lines: Collection[str], room: int
) -> NumberedLines:
    """Number the requested new lines that fit into `room` characters, at least the first."""
    above = seen(path, asked, shown_lines)
    rows: list[str] = []
    shown: list[str] = []
    used = 0
    split = (*runs(above), *runs(number for number in asked if number not in above))
    for run in sorted(split, key=lambda item: item.start):
        if run.start in above:
            rows.append(f"(lines {run.start}-{run.stop - 1}: shown above)")
            continue
        for number in run:
            new = tuple(numbered([lines[number - 1]], number))
            used += sum(len(row) + 1 for row in new)
            if used > room and shown:
                cut = f"cut here: lines {number}-{asked.stop - 1} did not fit"
                rows.append(f"{MARK}{cut}, ask for them by start and end ...]")
                return NumberedLines(tuple(rows), tuple(shown), number)
            rows += new
            shown.append(place(path, number))
    return NumberedLines(tuple(rows), tuple(shown))


def whole_lines(lines: Sequence[str], numbers: Iterable[int]) -> dict[int, str]:
    """Give lines by number, without those that rows cut."""
    return {n: visible(lines[n - 1]) for n in numbers if len(lines[n - 1]) <= SHOWN_LINE}
