"""Report the progress of reading large files, to a command and to run logs."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nightwatch_core.models.errors import ReadingProgress

log = logging.getLogger(__name__)
LOG_SECONDS = 10.0  # between two lines of a log
LARGE = 5_000_000  # bytes; smaller files are read at once
Show = Callable[[ReadingProgress], None]
_shown: list[Show] = []  # of the command that runs in this process


@contextmanager
def shown_by(show: Show, seconds: float) -> Iterator[None]:
    """Show the progress of every reading in this process while a block runs."""
    listener = throttled(show, seconds)
    _shown.append(listener)
    try:
        yield
    finally:
        _shown.remove(listener)


def new_listener() -> Show:
    """Return the listener of one reading, which logs and shows the progress of large files."""
    logged = throttled(lambda progress: log.info("%s", sentence(progress)), LOG_SECONDS)

    def listen(progress: ReadingProgress) -> None:
        if progress.of_bytes >= LARGE:
            for listener in (logged, *_shown):
                listener(progress)

    return listen


def throttled(show: Show, seconds: float) -> Show:
    """Return a function that passes progress on, at most once in so many seconds."""
    last = time.monotonic()

    def listen(progress: ReadingProgress) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            show(progress)

    return listen


def sentence(progress: ReadingProgress) -> str:
    """Describe the progress.

    >>> sentence(ReadingProgress(file="a.log", bytes=45_600_000, of_bytes=1e8, records=1200))
    'reading a.log: 46 of 100 MB, 1,200 records'
    """
    done, total = progress.bytes / 1e6, progress.of_bytes / 1e6
    return f"reading {progress.file}: {done:,.0f} of {total:,.0f} MB, {progress.records:,} records"
