"""How hits of a search are written: each in its place, as much around them as there is room for.

Where room is short, definitions and context go first, then the ends of long lines; then files at
the end of the ranking are told by the numbers of their lines, and at last by how many those are.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property

from nightwatch_core.analysis.shown_lines import head, runs, seen
from nightwatch_core.code.code_view import MARK, around, halves, name
from nightwatch_core.code.definitions import Definition
from nightwatch_core.code.file_kinds import kind_of

BULK_LINE = 300  # characters: of a line that nobody wrote by hand
_WIDTH = 300  # characters of a row
_WHOLE = 60  # lines of a definition
# What is tried, the first that fits: definitions shown, lines around a hit, characters of a row.
_LEVELS = (
    *((6, 10, _WIDTH), (6, 5, _WIDTH), (4, 3, _WIDTH), (3, 2, _WIDTH), (2, 1, _WIDTH)),
    *((1, 1, _WIDTH), (1, 0, _WIDTH), (0, 0, _WIDTH), (0, 0, 120), (0, 0, 80)),
)
_TOGETHER = 3  # hits of a file that are written below its name
_NARROW = 80  # characters of a row where not all rows fit
_ROWS, _NUMBERS = 0.6, 0.25  # shares of the room
_LEAST = 80  # characters for the numbers of one file


class FileHits:
    """Lines of one file that a search found."""

    def __init__(
        self,
        path: str,
        texts: dict[int, str],
        wanted: Sequence[str],
        read: Callable[[], tuple[str, ...]],
    ) -> None:
        """`texts` by line number; `read` gives all lines of the file, where they are needed."""
        self.path, self.wanted, self._read = path, wanted, read
        self.texts = dict(sorted(texts.items()))
        self.definitions: tuple[Definition, ...] = ()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """All lines of the file."""
        return self._read()

    @property
    def rows(self) -> tuple[str, ...]:
        """The texts of the hits."""
        return tuple(self.texts.values())

    def text(self, number: int, most: int = _WIDTH) -> str:
        """Write a line, the part that was searched for if it is long."""
        whole = self.texts.get(number)
        if whole is None:
            return around(self.lines[number - 1], "", most)
        query = next((one for one in self.wanted if one in whole), "")
        return around(whole, query, max(most, len(query)))


def fitting(files: Sequence[FileHits], context: int, known: Collection[str], limit: int) -> str:
    """Write all hits in about `limit` characters."""
    for definitions, around_hits, width in _LEVELS:
        left = definitions
        blocks: list[str] = []
        for file in files:
            whole = _expanded(file)[:left]
            left -= len(whole)
            blocks += _block(file, whole, min(context, around_hits), known, width)
        text = "\n".join(blocks)
        if len(text) <= limit:
            return text
    return _tight(files, known, limit)


def _expanded(file: FileHits) -> tuple[range, ...]:
    """Lines of what is defined in a hit: whole up to 60 lines, of longer functions the first 60."""
    if kind_of(file.path) not in ("code", "test"):
        return ()
    spans = (
        (one, range(one.line, min(one.end, one.line + _WHOLE - 1) + 1)) for one in file.definitions
    )
    return tuple(
        span for one, span in spans if one.kind == "function" or one.end - one.line < _WHOLE
    )


def _block(
    file: FileHits, whole: Sequence[range], context: int, known: Collection[str], width: int
) -> Iterator[str]:
    """Rows of one file: hits alone in a row each, those with more around them as parts."""
    more = {n for span in whole for n in span}
    if context:
        more |= {n for hit in file.texts for n in range(hit - context, hit + context + 1)}
    is_list = not more and len(file.texts) >= _TOGETHER
    total = len(file.lines) if more or is_list else 0
    if is_list and total:
        numbers = tuple(file.texts)
        yield head(file.path, numbers[0], numbers[-1], total)
        yield from (f"{n:>5}| {file.text(n, width)}" for n in numbers)
        return
    more = {n for n in more if 1 <= n <= total} - file.texts.keys()
    more -= seen(file.path, more | file.texts.keys(), known)
    ends = {span.stop - 1 for span in whole}
    for run in runs((*more, *file.texts)):
        if more.isdisjoint(run):
            yield from (f"{name(file.path)}:{n}: {file.text(n, width)}" for n in run)
            continue
        yield head(file.path, run.start, run.stop - 1, total)
        yield from (f"{n:>5}| {file.text(n)}" for n in run)
        yield from _going_on(file, run, ends)


def _going_on(file: FileHits, run: range, ends: Collection[int]) -> Iterator[str]:
    for one in file.definitions:
        if one.line in run and run.stop - 1 in ends and one.end >= run.stop:
            yield f"({one.name} goes on to line {one.end})"


def _tight(files: Sequence[FileHits], known: Collection[str], limit: int) -> str:
    """Rows for the first hits, numbers of lines for the others, counts for the last files."""
    best = next((file for file in files if _expanded(file)), None)
    rows = [
        (file, row)
        for file in files
        for row in _block(file, _expanded(file)[:1] if file is best else (), 0, known, _NARROW)
    ]
    parts: list[str] = []
    used = 0
    for _, row in rows:
        used += len(row) + 1
        if used > limit * _ROWS:
            break
        parts.append(row)
    left: dict[int, tuple[FileHits, int]] = {}
    for file, _ in rows[len(parts) :]:
        left[id(file)] = (file, left.get(id(file), (file, 0))[1] + 1)
    rest = list(left.values())
    share = max(int(limit * _NUMBERS) // max(len(rest), 1), _LEAST)
    while rest and len("\n".join(parts)) < limit * (_ROWS + _NUMBERS) - share:
        parts.append(_numbers(*rest.pop(0), share))
    if rest:
        counts = ", ".join(f"{name(file.path)} ({len(file.texts)})" for file, _ in rest)
        room = max(limit - len("\n".join(parts)) - 200, _LEAST)
        told = halves(counts, room, "and others").replace("\n", " ")
        parts.append(f"{MARK}and {len(rest)} more files, search with path or glob: {told} ...]")
    return "\n".join(parts)


def _numbers(file: FileHits, count: int, room: int) -> str:
    """The numbers of the last `count` hits of a file, as many as there is room for."""
    numbers = [str(number) for number in file.texts][-count:]
    row = f"{name(file.path)}: lines {', '.join(numbers)}"
    if len(row) <= room:
        return row
    kept = row[:room].rpartition(",")[0] or row[:room]
    return f"{kept} and more, {len(file.texts)} in all"
