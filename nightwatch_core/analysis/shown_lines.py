"""Lines of files as an answer shows them: numbered, once; what stands above already is named only.

A cut is always at the end, between lines, and says where to go on.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from nightwatch_core.code.code_view import MARK, name, numbered, visible
from nightwatch_core.code.limits import SHOWN_LINE

_ALONE = 8_000  # characters of a line that is asked for alone
_AGAIN = 3  # lines in a row: fewer are shown again, a note on them would be no shorter


class Part(NamedTuple):
    """Rows of a range of lines, and the numbers of the lines that are in them."""

    rows: tuple[str, ...]
    numbers: tuple[int, ...]
    left: int = 0  # the first line that did not fit; 0 where all did


def place(path: str, line: int) -> str:
    """Name a line as what is known of a conversation is named.

    >>> place("app/a.py", 3)
    'app/a.py:3'
    """
    return f"{name(path)}:{line}"


def head(path: str, start: int, end: int, total: int) -> str:
    """Begin a part of a file; `tool_calls` reads it back."""
    return f"{name(path)} (lines {start}-{end} of {total})"


def runs(numbers: Iterable[int], gap: int = 0) -> tuple[range, ...]:
    """Join numbers in a row, and those with at most `gap` missing between them.

    >>> runs((1, 2, 4, 9)), runs((1, 2, 4, 9), gap=1)
    ((range(1, 3), range(4, 5), range(9, 10)), (range(1, 5), range(9, 10)))
    """
    joined: list[range] = []
    for number in sorted(set(numbers)):
        if joined and number - joined[-1].stop <= gap:
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
        f"{one.start}-{one.stop - 1}" if len(one) > 1 else f"{one.start}" for one in runs(numbers)
    )


def seen(path: str, asked: Iterable[int], known: Collection[str]) -> frozenset[int]:
    """Give those of the lines that the conversation shows already, but for short runs of many."""
    wanted = frozenset(asked)
    above = frozenset(number for number in wanted if place(path, number) in known)
    if above == wanted:
        return above
    return frozenset(n for one in runs(above) if len(one) >= _AGAIN for n in one)


def part(path: str, lines: Sequence[str], asked: range, known: Collection[str], room: int) -> Part:
    """Number the lines that are asked for and new, as far as they fit into `room` characters.

    The first one always does.
    """
    above = seen(path, asked, known)
    rows: list[str] = []
    shown: list[int] = []
    used = 0
    for run in _split(asked, above):
        if run.start in above:
            rows.append(f"(lines {run.start}-{run.stop - 1}: shown above)")
            continue
        for number in run:
            most = SHOWN_LINE if len(asked) > 1 else _most(lines[number - 1])
            new = tuple(numbered(lines[number - 1 : number], number, most))
            used += sum(len(row) + 1 for row in new)
            if used > room and shown:
                return Part((*rows, left_out(number, asked.stop - 1)), tuple(shown), number)
            rows += new
            shown.append(number)
    return Part(tuple(rows), tuple(shown))


def _most(line: str) -> int:
    """How many characters of a line are shown that is asked for alone; escapes take six."""
    is_plain = len(visible(line[:_ALONE])) == len(line[:_ALONE])
    return _ALONE if is_plain else _ALONE // 6


def left_out(first: int, last: int) -> str:
    """Say that lines at the end did not fit, and how to get them."""
    return f"{MARK}cut here: lines {first}-{last} did not fit, ask for them by start and end ...]"


def whole_lines(lines: Sequence[str], numbers: Iterable[int]) -> dict[int, str]:
    """Give lines by number, without those that rows cut."""
    return {n: visible(lines[n - 1]) for n in numbers if len(lines[n - 1]) <= SHOWN_LINE}


def _split(asked: range, above: Collection[int]) -> tuple[range, ...]:
    """Cut a range where what is known begins and ends."""
    parts = (*runs(above), *runs(number for number in asked if number not in above))
    return tuple(sorted(parts, key=lambda one: one.start))
