"""How hits of a search are written: each in its place, as much around them as there is room for.

Where room is short, what is around hits of tests goes first, then definitions and context of code,
then the ends of long lines; then files at the end of the ranking are told by the numbers of their
lines, and at last by how many those are.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from nightwatch_core.analysis.shown_lines import head, runs, seen
from nightwatch_core.code.code_view import MARK, around, halves, name
from nightwatch_core.code.definitions import Definition
from nightwatch_core.code.file_kinds import kind_of

BULK_LINE = 300  # characters: of a line that nobody wrote by hand
_WIDTH = 300  # characters of a row
_WHOLE = 60  # lines of a definition
_TOGETHER = 3  # hits of a file that are written below its name
_NARROW = 80  # characters of a row where not all rows fit
_ROWS, _NUMBERS = 0.6, 0.25  # shares of the room
_LEAST = 80  # characters for the numbers of one file
_ALL = 10_000  # hits: as many as there are
_GAP = "..."  # a row between hits of a list that are not neighbours


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


class Level(NamedTuple):
    """How much is shown."""

    definitions: int  # that are hit, whole
    context: int  # lines around a hit in code
    of_others: int  # lines around a hit in other files: tests, texts
    others: int = _ALL  # hits of such a file that are written out
    width: int = _WIDTH  # characters of a row


# What is tried, the first that fits.
_LEVELS = (
    *(Level(6, 10, 10), Level(6, 10, 0), Level(6, 10, 0, 5), Level(4, 10, 0, 5)),
    *(Level(2, 10, 0, 5), Level(2, 6, 0, 5), Level(1, 6, 0, 5), Level(1, 4, 0, 5)),
    *(Level(1, 2, 0, 5), Level(0, 2, 0, 5), Level(0, 1, 0, 5), Level(1, 0, 0)),
    *(Level(0, 0, 0), Level(0, 0, 0, width=120), Level(0, 0, 0, width=80)),
)


class Shown(NamedTuple):
    """What was written, and which hits have less around them than was asked for."""

    text: str
    reduced: str = ""


def fitting(files: Sequence[FileHits], context: int, known: Collection[str], limit: int) -> Shown:
    """Write all hits in about `limit` characters; tests and texts are thinned out before code."""
    others = _others(files)
    for level in _LEVELS:
        left = level.definitions
        blocks: list[str] = []
        for file in files:
            if file.path in others and not level.of_others:
                blocks += _thin(file, level, known)
                continue
            whole = _expanded(file)[:left]
            left -= len(whole)
            blocks += _block(file, whole, min(context, level.context), known, level.width)
        text = "\n".join(blocks)
        if len(text) <= limit:
            return Shown(text, _reduced(files, others, context, level))
    return Shown(_tight(files, known, limit), _reduced(files, others, context, _LEVELS[-1]))


def _others(files: Sequence[FileHits]) -> frozenset[str]:
    """Files that matter less than code; none where there is no code among them."""
    others = frozenset(file.path for file in files if kind_of(file.path) != "code")
    return others if len(others) < len(files) else frozenset()


def _reduced(files: Sequence[FileHits], others: Collection[str], asked: int, level: Level) -> str:
    rest = sum(len(file.texts) for file in files if file.path in others)
    if asked > level.context:
        hits = sum(len(file.texts) for file in files)
        none = f", none for {rest} in tests and texts" if rest and level.context else ""
        return f"context {level.context} instead of {asked}: {hits} hits{none}"
    if asked > level.of_others and rest:
        return f"no context for {rest} hits in tests and texts: name one with path"
    return ""


def _thin(file: FileHits, level: Level, known: Collection[str]) -> Iterator[str]:
    """Hits without what is around them: rows of the first ones, numbers of the others."""
    texts = dict(islice(file.texts.items(), level.others))
    first = FileHits(file.path, texts, file.wanted, lambda: file.lines)
    yield from _block(first, (), 0, known, level.width)
    if more := [str(number) for number in file.texts if number not in texts]:
        yield f"{name(file.path)}: lines {', '.join(more)}"


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
        for before, n in zip((numbers[0] - 1, *numbers), numbers, strict=False):
            yield from (_GAP,) if n > before + 1 else ()
            yield f"{n:>5}| {file.text(n, width)}"
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
    for file, row in rows[len(parts) :]:
        if row == _GAP:
            continue
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
