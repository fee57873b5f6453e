"""Records without class: lines of a log, one record each, or errors that were only logged."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.limits import DOUBTS
from nightwatch_core.adapters.files.log_streams import LogStreams
from nightwatch_core.adapters.files.reported_exceptions import ExceptionOf
from nightwatch_core.models.error import Occurrence, RejectedRecord

Alone = Occurrence | RejectedRecord | None  # what a record is by itself


class Doubts:
    """Waits until it is known what such records of a file are.

    Where a stack trace is cut out of them they are lines of a log; else each is what it is alone.
    """

    def __init__(self, exception_of: ExceptionOf) -> None:
        """Begin without records; their texts are to be read in `streams`."""
        self.streams = LogStreams(exception_of)
        self._waiting: list[Alone] = []
        self._lines = 0
        self._are_lines: bool | None = None

    @property
    def may_be_lines(self) -> bool:
        """Whether their texts are still to be read in streams."""
        return self._are_lines is not False

    @property
    def left_out(self) -> int:
        """Lines of level error that belong to no stack trace, once all is read."""
        return self.streams.left_out if self._are_lines else 0

    def take(self, alone: Alone) -> Iterator[Alone]:
        """Take the next record; yields those of which it is known that they stand alone."""
        if self._are_lines is None and self.streams.of_traces:
            self._are_lines, self._waiting = True, []
        self._lines += 1
        if self._are_lines is None:
            self._waiting.append(alone)
            if len(self._waiting) >= DOUBTS:
                self._are_lines = False
                yield from self._waiting
        elif not self._are_lines:
            yield alone

    def finish(self) -> Iterator[Alone]:
        """End the file, after its streams: yields what waited."""
        if self._are_lines is None and not self.streams.of_traces:
            yield from self._waiting
        elif self._are_lines is not False:
            self._are_lines = True
            yield from (None for _ in range(self._lines - self.streams.of_traces))
