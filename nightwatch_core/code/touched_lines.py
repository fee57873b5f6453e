"""Which lines of a file two changes touch, though they were made on different commits.

A change is found in today's file by what it takes away and what stands around it, as `patch` does:
numbers of lines are those of a commit that nobody has here.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from nightwatch_core.code.limits import HUNK_FUZZ, HUNKS, TELLING_CHARACTERS
from nightwatch_core.models.code import ChangedFile
from nightwatch_core.text.plain_text import text_lines

_HEAD = re.compile(r"@@ -(\d{1,9})")


class Hunk(NamedTuple):
    """Lines of a diff that stand together, each with its mark."""

    start: int  # of its first line in the old file, from 1; 0: not known
    rows: tuple[str, ...]

    def lines(self, *marks: str) -> list[str]:
        """Its lines with one of these marks, without them."""
        return [row[1:].rstrip() for row in self.rows if row[:1] in marks]


class Span(NamedTuple):
    """Lines from `start` up to `end`, which is none of them, from 0; none where both are one."""

    start: int
    end: int

    def meets(self, other: "Span") -> bool:
        """Whether they overlap, or one begins where the other ends."""
        return self.start <= other.end and other.start <= self.end


class Change(NamedTuple):
    """What a diff does to one file of today."""

    path: str
    spans: tuple[Span, ...]  # of the lines that it changes, where they stand in the file
    removed: frozenset[str]  # lines that tell something, their white space made even
    added: frozenset[str]
    is_whole: bool = True  # all of it was found in the file


def change_in(file: ChangedFile, path: str, text: str) -> Change:
    """Find what a diff changes in `text`, the file as it is today.

    >>> diff = ChangedFile(path="a", diff="@@ -9,2 +9,2 @@\\n b\\n-an old line\\n+new")
    >>> change_in(diff, "a", "a\\nb\\nan old line\\n").spans
    (Span(start=2, end=3),)
    """
    lines = [row.rstrip() for row in text_lines(text)]
    read = tuple(_hunks(file.diff))[:HUNKS]
    spans = [tuple(_spans(hunk, lines)) for hunk in read]
    return Change(
        path,
        tuple(span for each in spans for span in each),
        _telling(line for hunk in read for line in hunk.lines("-")),
        _telling(line for hunk in read for line in hunk.lines("+")),
        all(spans),
    )


def meet(one: Change, other: Change) -> bool:
    """Whether both change the same lines of a file, or lines next to each other."""
    if one.path != other.path:
        return False
    by_text = not (one.is_whole and other.is_whole) and not one.removed.isdisjoint(other.removed)
    return by_text or any(a.meets(b) for a in one.spans for b in other.spans)


def holds(one: Iterable[Change], other: Iterable[Change]) -> bool:
    """Whether `one` brings every line that `other` does, or takes away all where that adds none.

    >>> a = Change("a", (), frozenset({"an old line"}), frozenset({"new line", "more"}))
    >>> holds([a], [a._replace(added=frozenset({"new line"}))]), holds([a], [])
    (True, False)
    """
    theirs, ours = {each.path: each for each in one}, tuple(other)
    empty = Change("", (), frozenset(), frozenset())
    adds = [each for each in ours if each.added]
    if adds:
        return all(each.added <= theirs.get(each.path, empty).added for each in adds)
    gone = [each for each in ours if each.removed]
    return bool(gone) and all(each.removed == theirs.get(each.path, empty).removed for each in gone)


def _hunks(diff: str) -> Iterator[Hunk]:
    start, rows = 0, list[str]()
    for row in diff.split("\n"):
        if row.startswith("@@"):
            if rows:
                yield Hunk(start, tuple(rows))
            found = _HEAD.match(row)
            start, rows = int(found[1]) if found else 0, []
        elif row[:1] in (" ", "+", "-"):
            rows.append(row)
        elif not row:  # of an empty line of context some leave the mark out
            rows.append(" ")
    if rows:
        yield Hunk(start, tuple(rows))


def _spans(hunk: Hunk, lines: list[str]) -> Iterator[Span]:
    """The stretches that it changes; none where it is not found."""
    found = _place(hunk, lines)
    if found is None:
        return
    at, rows = found
    for is_change, group in groupby(rows, lambda row: row[:1] != " "):
        old = sum(row[:1] != "+" for row in group)
        if is_change:
            yield Span(at, at + old)
        at += old


def _place(hunk: Hunk, lines: list[str]) -> tuple[int, tuple[str, ...]] | None:
    """Where its old lines stand, nearest to where they stood; less and less of what is around."""
    above = next((n for n, row in enumerate(hunk.rows) if row[:1] != " "), 0)
    below = next((n for n, row in enumerate(hunk.rows[::-1]) if row[:1] != " "), 0)
    for fuzz in range(HUNK_FUZZ + 1):
        first, last = min(fuzz, above), min(fuzz, below)
        rows = hunk.rows[first : len(hunk.rows) - last]
        old = [row[1:].rstrip() for row in rows if row[:1] != "+"]
        if not any(map(_tells, old)):
            return None
        if places := _places(old, lines):
            near = hunk.start - 1 + first
            return min(places, key=lambda place: abs(place - near)), rows
    return None


def _places(block: list[str], lines: list[str]) -> list[int]:
    starts = (n for n, line in enumerate(lines) if line == block[0])
    return [n for n in starts if lines[n : n + len(block)] == block]


def _telling(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(line.split()) for line in lines if _tells(line))


def _tells(line: str) -> bool:
    return len(re.findall(r"[^\W_]", line)) >= TELLING_CHARACTERS
