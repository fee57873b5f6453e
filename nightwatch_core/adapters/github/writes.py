"""Writes to GitHub: spaced, bounded, and looked for where their answer is lost."""

from collections import deque
from collections.abc import Callable
from typing import TypeVar

from nightwatch_core.adapters.github.connection import SERVICE
from nightwatch_core.adapters.github.errors import AnswerLost, Rejected, Unavailable
from nightwatch_core.adapters.github.limits import (
    LONGEST_WAIT,
    LOOKS,
    SETTLING,
    WRITE_SPACING,
    WRITES_AN_HOUR,
)
from nightwatch_core.adapters.stores.service_meter import PROCESS
from nightwatch_core.errors import TryLater
from nightwatch_core.ports import Clock

T = TypeVar("T")


class Writes:
    """Writes to GitHub: one after the other, not too many, and none twice where it was lost."""

    def __init__(self, clock: Clock, pause: Callable[[float], None]) -> None:
        """Make nothing yet; `pause` waits that many seconds."""
        self._clock = clock
        self._pause = pause
        self._times: deque[float] = deque()

    def make(self, make: Callable[[], T], find: Callable[[], T | None] = lambda: None) -> T:
        """Return what `make` makes; where its answer is lost, `find` looks before it is made again.

        Raises `AnswerLost` where nobody can tell whether it was made.
        """
        for last in (False, True):
            self._take_turn()
            try:
                return make()
            except AnswerLost as lost:
                if (there := self._look(find, lost)) is not None:
                    return there
                if last:
                    raise
            except Unavailable as refused:  # not done for sure, so it may be asked again
                if last or refused.wait > LONGEST_WAIT:
                    raise
                PROCESS.wait(SERVICE, refused.wait)
                self._pause(refused.wait)
        raise AssertionError("unreachable")

    def _look(self, find: Callable[[], T | None], lost: AnswerLost) -> T | None:
        for left in range(LOOKS - 1, -1, -1):
            self._pause(SETTLING)
            try:
                return find()
            except TryLater as error:
                if not left:
                    raise AnswerLost(f"{lost}; and looking failed: {error}") from None
        raise AssertionError("unreachable")

    def _take_turn(self) -> None:
        now = self._clock.monotonic()
        while self._times and now - self._times[0] >= 3600:
            self._times.popleft()
        if len(self._times) >= WRITES_AN_HOUR:
            raise Rejected(
                f"{WRITES_AN_HOUR} writes within an hour are enough: the rest has to wait"
            )
        if self._times and (wait := self._times[-1] + WRITE_SPACING - now) > 0:
            self._pause(wait)
        self._times.append(self._clock.monotonic())
