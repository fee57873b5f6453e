"""Lines of logs in the order of their times: many exports begin with the newest."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from nightwatch_core.adapters.files.limits import BACKWARD_LINES, BACKWARD_TEXT, ORDER_SAMPLE
from nightwatch_core.adapters.files.shapes.shape import LogLine
from nightwatch_core.adapters.files.times import time_of


class Placed(NamedTuple):
    """A line of a log and where it stands in its file."""

    place: str
    line: LogLine


class LineOrder:
    """Turns lines round whose first ones go back in time, a bounded number at once.

    >>> order = LineOrder()
    >>> lines = [Placed("", LogLine(text, around={"time": f"2026-11-03 10:00:0{text}"}))
    ...          for text in "321"]
    >>> [*(one for line in lines for one in order.read(line))]
    []
    >>> [placed.line.text for placed in order.finish()]
    ['1', '2', '3']
    """

    def __init__(self) -> None:
        """Begin with an order that is not known."""
        self._waiting: list[Placed] = []
        self._size = 0
        self._is_backward: bool | None = None

    def is_turn(self, line: LogLine) -> bool:
        """Whether a line need not wait for others."""
        return self._is_backward is False or not line.around.get("time")

    def read(self, placed: Placed) -> Iterator[Placed]:
        """Take the next line of the file; yields those whose turn it is."""
        if self.is_turn(placed.line):
            yield placed
            return
        self._waiting.append(placed)
        self._size += len(placed.line.text)
        if self._is_backward is None and len(self._waiting) >= ORDER_SAMPLE:
            self._is_backward = _goes_back(self._waiting)
        is_full = len(self._waiting) >= BACKWARD_LINES or self._size >= BACKWARD_TEXT
        if is_full or self._is_backward is False:
            yield from self.finish()

    def finish(self) -> Iterator[Placed]:
        """Yield the lines that wait."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        if self._is_backward is None:
            self._is_backward = _goes_back(waiting)
        yield from reversed(waiting) if self._is_backward else waiting


def _goes_back(placed: list[Placed]) -> bool:
    """Whether more lines are older than the line above them in their stream than are newer."""
    by_stream: dict[str, list[tuple[float, str]]] = {}
    for one in placed:
        value = one.line.around.get("time")
        if time := time_of(value):  # which knows no nanoseconds: the text tells those apart
            by_stream.setdefault(one.line.stream, []).append((time.timestamp(), str(value)))
    pairs = [pair for times in by_stream.values() for pair in pairwise(times)]
    return sum(b < a for a, b in pairs) > sum(b > a for a, b in pairs)
