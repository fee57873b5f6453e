"""A file as read_file shows it: numbered lines, and of what is left out where to find it."""

from collections.abc import Iterable, Sequence

from nightwatch_core.analysis.path_suggestions import no_file
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.code.code_view import MARK, halves, lines_of, name, numbered, visible
from nightwatch_core.code.definitions import definitions_in
from nightwatch_core.code.limits import SHOWN_LINE
from nightwatch_core.code.source import indent
from nightwatch_core.models.conversation import LinesRead
from nightwatch_core.ports import CodeReader

_OUTLINE = 30  # definitions that are told of the part left out
_OUTLINE_SHARE = 0.2  # of the characters, at most
_LONGEST_DEFINITION = 160  # characters of a line that is told
_PART = "search_code finds text in them"


def read_file(
    code: CodeReader, limit: int, path: str, start: int = 1, end: int | None = None
) -> ToolAnswer:
    """Show lines `start` to `end` of a file, about `limit` characters of them."""
    lines = lines_in(code, path)
    last = len(lines)
    if not lines:
        return ToolAnswer(f"{name(path)} is empty.", LinesRead(path=path, total=0))
    if start > last or (end is not None and end < start):
        asked = f"{start}-{'' if end is None else end}"
        why = f"{path} has {last} lines; ask for start <= end <= {last}, not {asked}."
        raise Refusal(why, LinesRead(path=path, total=last))
    end = min(end or last, last)
    head = f"{name(path)} (lines {start}-{end} of {last})"
    if start == end:
        only = visible(lines[start - 1])
        text = halves(f"{head}\n{start:>5}| {only}", limit, _PART)
        known = {start: only} if len(text) == len(head) + 8 + len(only) else {}
        return ToolAnswer(text, LinesRead(path=path, total=last, lines=known))
    asked_for = lines[start - 1 : end]
    outline = _outline(path, lines, range(start - 1, end), int(limit * _OUTLINE_SHARE))
    rows, shown = shortened(asked_for, start, limit, outline)
    whole = {n: visible(lines[n - 1]) for n in shown if len(lines[n - 1]) <= SHOWN_LINE}
    return ToolAnswer("\n".join((head, *rows)), LinesRead(path=path, total=last, lines=whole))


def shortened(
    lines: Sequence[str], start: int, limit: int, outline: Sequence[int]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Number rows of about `limit` characters: all, or the first, the definitions, the last.

    `outline` are the numbers of lines that define something. With the rows, the numbers of the
    lines that are shown.
    """
    if sum(map(_width, lines)) <= limit:
        return tuple(numbered(lines, start)), tuple(range(start, start + len(lines)))
    half = (limit - sum(_width(lines[number - start]) for number in outline)) // 2
    first = _fitting(lines, half)
    last = len(lines) - _fitting(lines[:first:-1], half)
    between = [number for number in outline if start + first <= number < start + last]
    rows = (
        *numbered(lines[:first], start),
        _left_out(lines[first:last], start + first, limit, bool(between)),
        *(row for n in between for row in numbered([lines[n - start]], n)),
        *((f"{MARK}the file goes on ...]",) if between else ()),
        *numbered(lines[last:], start + last),
    )
    ends = (*range(start, start + first), *range(start + last, start + len(lines)))
    return rows, (*ends, *between)


def _left_out(lines: Sequence[str], start: int, limit: int, outlined: bool) -> str:
    once = max(1, len(lines) * limit * 9 // (sum(map(_width, lines)) * 10))
    ask = f"ask for a line range (start, end), up to {once} lines at once"
    told = "; they define" if outlined else ""
    return f"{MARK}lines {start}-{start + len(lines) - 1} left out; {ask}{told} ...]"


def _outline(path: str, lines: Sequence[str], part: range, limit: int) -> tuple[int, ...]:
    """Number the lines that define something and are sure to be left out, outer ones first."""
    outer = len(part) // 20
    between = range(part.start + outer + 1, part.stop - outer + 1)
    if sum(map(_width, lines[part.start : part.stop])) <= limit / _OUTLINE_SHARE:
        return ()
    defined = {d.line for d in definitions_in(path, "\n".join(lines)) if d.kind != "value"}
    short = [n for n in defined if n in between and len(lines[n - 1]) <= _LONGEST_DEFINITION]
    outermost = sorted(short, key=lambda n: (indent(lines[n - 1]), n))[:_OUTLINE]
    kept: list[int] = []
    used = 0
    for number in sorted(outermost):
        used += _width(lines[number - 1])
        if used > limit:
            break
        kept.append(number)
    return tuple(kept)


def _width(line: str) -> int:
    """Characters of the line's row."""
    return len(visible(line[:SHOWN_LINE])) + 8


def _fitting(lines: Iterable[str], limit: int) -> int:
    """How many of the lines fit, one at least."""
    used = 0
    count = 0
    for count, line in enumerate(lines):
        used += _width(line)
        if used > limit and count:
            return count
    return count + 1


def lines_in(code: CodeReader, path: str) -> tuple[str, ...]:
    """Give the file's lines; raises `Refusal` where there is none to read."""
    text = code.read_file(path)
    if text is None:
        raise no_file(code, path)
    return lines_of(text)
