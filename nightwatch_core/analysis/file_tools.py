"""What read_file shows: the lines that were asked for, or the outline of a long file."""

from collections.abc import Collection, Sequence

from nightwatch_core.analysis.shown_lines import head, part, seen, spans, whole_lines
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.analysis.tool_context import ToolContext
from nightwatch_core.code.code_view import name, visible
from nightwatch_core.code.definitions import definitions_in
from nightwatch_core.code.line_reading import indent
from nightwatch_core.models.tool_values import LinesRead

WHOLE = 120  # lines: a file of more is outlined where no range is asked for
MOST = 400  # lines of one range
_OUTLINE = 60  # definitions
_OUTLINE_ROOM = 4_000  # characters
_LONGEST_DEFINITION = 120  # characters of a line
_BEGINNING = 40  # lines of a file that defines nothing


def read_file(
    at: ToolContext, limit: int, path: str, start: int | None = None, end: int | None = None
) -> ToolAnswer:
    """Show lines `start` to `end` of a file, about `limit` characters of them.

    Without a range a long file's outline is shown. Lines that stand above are not shown again.
    """
    lines = at.lines(path)
    return answer_lines(path, lines, start, end, at.known, limit)


def answer_lines(
    path: str,
    lines: Sequence[str],
    start: int | None,
    end: int | None,
    known: Collection[str],
    limit: int,
) -> ToolAnswer:
    """Answer a reading of any file, which the conversation knows as `path`."""
    total = len(lines)
    if not lines:
        return ToolAnswer(f"{name(path)} is empty.", LinesRead(path=path, total=0))
    if start is not None and start > total:
        why = f"{name(path)} has {total} lines; ask for start <= end <= {total}."
        raise Refusal(why, LinesRead(path=path, total=total))
    if start is None and end is None and _new(path, total, known) > WHOLE:
        outline = outline_of(path, lines, known)
        return ToolAnswer(outline, LinesRead(path=path, total=total))
    first, last = sorted((start or 1, min(end or total, total)))
    asked = range(first, min(last, first + MOST - 1) + 1)
    return _range(path, lines, asked, last, known, limit)


def outline_of(path: str, lines: Sequence[str], known: Collection[str]) -> str:
    """Write what a file defines, line by line, and which of its lines stand above."""
    total = len(lines)
    rows = _definitions(path, lines)
    above = seen(path, range(1, total + 1), known)
    shown = f" Shown above: lines {spans(above)}." if above else ""
    if not rows:
        beginning = part(path, lines, range(1, min(total, _BEGINNING) + 1), known, _OUTLINE_ROOM)
        top = head(path, 1, _BEGINNING, total)
        ask = "(it defines nothing that is known here; ask for more by start and end)"
        return "\n".join((top, *beginning.rows, ask + shown))
    top = f"{name(path)}, {total} lines; its outline. Ask for lines by start and end.{shown}"
    return "\n".join((top, *rows))


def _new(path: str, total: int, known: Collection[str]) -> int:
    return total - len(seen(path, range(1, total + 1), known))


def _range(
    path: str, lines: Sequence[str], asked: range, last: int, known: Collection[str], limit: int
) -> ToolAnswer:
    total = len(lines)
    told = part(path, lines, asked, known, limit)
    read = range(asked.start, told.left or asked.stop)
    value = LinesRead(path=path, total=total, lines=whole_lines(lines, read))
    if not told.numbers:
        return ToolAnswer(f"{name(path)}, {total} lines: shown above, lines {spans(asked)}.", value)
    top = head(path, asked.start, asked.stop - 1, total)
    more = (
        f"[... at most {MOST} lines at once: go on with start {asked.stop} ...]"
        if asked.stop <= last and not told.left
        else ""
    )
    return ToolAnswer("\n".join(filter(None, (top, *told.rows, more))), value)


def _definitions(path: str, lines: Sequence[str]) -> tuple[str, ...]:
    """A row for each definition, in the order of lines; of many the outer ones."""
    known = (one for one in definitions_in(path, "\n".join(lines)) if one.kind != "value")
    by_line = {one.line: one for one in known}
    outer = sorted(by_line.values(), key=lambda one: (indent(lines[one.line - 1]), one.line))
    kept = sorted(outer[:_OUTLINE], key=lambda one: one.line)
    rows = [
        f"{one.line:>5}-{one.end:<5} {visible(lines[one.line - 1][:_LONGEST_DEFINITION])}"
        for one in kept
    ]
    while sum(map(len, rows)) > _OUTLINE_ROOM:
        rows.pop()
    more = sorted(by_line.keys() - {one.line for one in kept[: len(rows)]})
    if not more or not rows:
        return tuple(rows)
    onward = f"{len(more)} more definitions in lines {more[0]}-{more[-1]}, ask by start and end"
    return (*rows, f"[... {onward} ...]")
