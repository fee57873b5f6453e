"""Report the progress of reading large files, to a command and to run logs."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nightwatch_core.models.errors import ReadingProgress

log = logging.getLogger(__name__)
LOG_SECONDS = 10.0  # between two lines of a log
LARGE = 5_000_000  # bytes; smaller readings are over before anybody asks
Show = Callable[[ReadingProgress], None]


class Throttled:
    """Pass progress on, at most once in some seconds.

    >>> seconds = iter((0.0, 3.0, 11.0, 12.0))
    >>> shown = []
    >>> listener = Throttled(shown.append, 10, lambda: next(seconds))
    >>> [listener(ReadingProgress(bytes=n)) for n in range(3)] and [one.bytes for one in shown]
    [1]
    """

    def __init__(
        self, show: Show, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._show = show
        self._seconds = seconds
        self._clock = clock
        self._last = clock()

    def __call__(self, progress: ReadingProgress) -> None:
        """Hear how far it is."""
        now = self._clock()
        if now - self._last >= self._seconds:
            self._last = now
            self._show(progress)


_shown: list[Throttled] = []  # of the command that runs in this process


@contextmanager
def shown_by(show: Show, seconds: float) -> Iterator[None]:
    """Show the progress of every reading in this process while a block runs."""
    listener = Throttled(show, seconds)
    _shown.append(listener)
    try:
        yield
    finally:
        _shown.remove(listener)


def new_listener() -> Show:
    """Give one reading its listener: of large files it tells the log, and whoever shows it."""
    logged = Throttled(lambda progress: log.info("%s", sentence(progress)), LOG_SECONDS)

    def hear(progress: ReadingProgress) -> None:
        if progress.of_bytes < LARGE:
            return
        logged(progress)
        for listener in _shown:
            listener(progress)

    return hear


def sentence(progress: ReadingProgress) -> str:
    """Describe the progress.

    >>> sentence(ReadingProgress(file="a.log", bytes=45_600_000, of_bytes=1e8, records=1200))
    'reading a.log: 46 of 100 MB, 1,200 records'
    """
    done, total = progress.bytes / 1e6, progress.of_bytes / 1e6
    return f"reading {progress.file}: {done:,.0f} of {total:,.0f} MB, {progress.records:,} records"
