"""Tell how far long work has come, to a command and to run logs: reading files, analysing."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

from nightwatch_core.models.assignment import Assignment
from nightwatch_core.models.errors import ReadingProgress
from nightwatch_core.models.options import NightOptions
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import money, plural

log = logging.getLogger(__name__)
LOG_SECONDS = 10.0  # between two lines of a log
LARGE = 5_000_000  # bytes; smaller files are read at once
Show = Callable[[str], None]  # gets a sentence, empty where the work is over
_shown: list[Show] = []  # of the command that runs in this process


@contextmanager
def shown_by(show: Show, seconds: float) -> Iterator[None]:
    """Show the progress of all work in this process while a block runs."""
    listener = throttled(show, seconds)
    _shown.append(listener)
    try:
        yield
    finally:
        _shown.remove(listener)


def new_listener() -> Callable[[ReadingProgress], None]:
    """Return the listener of one reading, which logs and shows the progress of large files."""
    logged = throttled(lambda text: log.info("%s", text), LOG_SECONDS)

    def listen(progress: ReadingProgress) -> None:
        if progress.of_bytes >= LARGE:
            logged(sentence(progress))
            tell("" if progress.bytes >= progress.of_bytes else sentence(progress))

    return listen


def tell(text: str) -> None:
    """Show a sentence to whoever watches."""
    for listener in _shown:
        listener(text)


@contextmanager
def ticking() -> Iterator[Show]:
    """Tell every second what a block does, and for how long; it says what by the given function."""
    begun, over = [("", time.monotonic())], Event()

    def begin(text: str) -> None:
        begun.append((text, time.monotonic()))

    def tick() -> None:
        while not over.wait(1.0):
            text, since = begun[-1]
            tell(f"{text} {time.monotonic() - since:.0f} s".lstrip())

    thread = Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield begin
    finally:
        over.set()
        thread.join()


def throttled(show: Show, seconds: float) -> Show:
    """Return a function that passes sentences on, at most once in so many seconds; "" always."""
    last = time.monotonic()

    def listen(text: str) -> None:
        nonlocal last
        if not text or time.monotonic() - last >= seconds:  # what is over is never shown on
            last = time.monotonic()
            show(text)

    return listen


def sentence(progress: ReadingProgress) -> str:
    """Describe the progress.

    >>> sentence(ReadingProgress(file="a.log", bytes=45_600_000, of_bytes=1e8, records=1200))
    'reading a.log: 46 of 100 MB, 1,200 records'
    """
    done, total = progress.bytes / 1e6, progress.of_bytes / 1e6
    records = plural(progress.records, "record")
    return f"reading {progress.file}: {done:,.0f} of {total:,.0f} MB, {records}"


@dataclass
class NightProgress:
    """How far the analyses of a night have come: the wave, the errors, and what they cost."""

    night: str = ""
    wave: int = 0
    done: int = 0
    planned: int = 0
    cost: float = 0.0
    budget: float = 0.0
    running: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def begin(self, assignments: Sequence[Assignment], options: NightOptions) -> None:
        """Begin the next wave of a night, or the first of another one."""
        if assignments:
            night = assignments[0].night
            wave, cost = (self.wave + 1, self.cost) if self.night == night else (1, 0.0)
            self.night, self.wave, self.cost, self.done = night, wave, cost, 0
            self.planned, self.budget = len(assignments), options.cost_per_night

    @contextmanager
    def analysing(self, assignment: Assignment) -> Iterator[list[float]]:
        """Show that an error is analysed while a block runs, which lists what that cost."""
        name, costs = line(assignment.case.leader.short, 80), list[float]()
        self.running.append(name)
        tell(str(self))
        try:
            yield costs
        finally:
            with self.lock:
                self.running.remove(name)
                self.done, self.cost = self.done + 1, self.cost + sum(costs)
            tell(str(self) if self.done < self.planned else "")

    def __str__(self) -> str:
        """Describe the progress.

        >>> str(NightProgress(wave=2, done=3, planned=7, cost=0.8, budget=6, running=["E in a/b"]))
        'wave 2: 3 of 7 errors analysed, $0.80 of $6.00; now E in a/b'
        """
        spent = f"{money(self.cost)} of {money(self.budget)}" if self.budget else money(self.cost)
        more = f" and {len(self.running) - 1} more" if len(self.running) > 1 else ""
        now = f"; now {self.running[0]}{more}" if self.running else ""
        errors = plural(self.planned, "error")
        return f"wave {self.wave}: {self.done} of {errors} analysed, {spent}{now}"


ANALYSES = NightProgress()
