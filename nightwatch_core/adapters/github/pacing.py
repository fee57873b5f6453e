"""Writes to GitHub: one after the other, not too many, and none twice where an answer was lost."""

from collections import deque
from collections.abc import Callable
from typing import TypeVar

from nightwatch_core.adapters.github.errors import Lost, Rejected, Unwell
from nightwatch_core.adapters.github.http import LONGEST_WAIT
from nightwatch_core.errors import TryLater
from nightwatch_core.ports import Clock

SPACING = 1.0  # seconds between writes, as GitHub asks
MOST_AN_HOUR = 200  # GitHub allows 500 that create content
SETTLING = 5.0  # seconds until a write whose answer was lost shows, or never will
LOOKS = 3  # for such a write: who cannot tell whether it was made must not make it again
T = TypeVar("T")


class Pacing:
    """Makes things on GitHub."""

    def __init__(self, clock: Clock, pause: Callable[[float], None]) -> None:
        """`pause` waits that many seconds."""
        self._clock = clock
        self._pause = pause
        self._times: deque[float] = deque()

    def made(self, make: Callable[[], T], find: Callable[[], T | None]) -> T:
        """What `make` makes; where its answer is lost, `find` looks before it is made again.

        Raises `Lost` where nobody can tell whether it was made.
        """
        for last in (False, True):
            self._take_turn()
            try:
                return make()
            except Lost as lost:
                if (there := self._looked(find, lost)) is not None:
                    return there
                if last:
                    raise
            except Unwell as refused:  # not done for sure, so it may be asked again
                if last or refused.wait > LONGEST_WAIT:
                    raise
                self._pause(refused.wait)
        raise AssertionError("unreachable")

    def _looked(self, find: Callable[[], T | None], lost: Lost) -> T | None:
        for left in range(LOOKS - 1, -1, -1):
            self._pause(SETTLING)
            try:
                return find()
            except TryLater as error:
                if not left:
                    raise Lost(f"{lost}; and looking failed: {error}") from None
        raise AssertionError("unreachable")

    def _take_turn(self) -> None:
        now = self._clock.monotonic()
        while self._times and now - self._times[0] >= 3600:
            self._times.popleft()
        if len(self._times) >= MOST_AN_HOUR:
            raise Rejected(f"{MOST_AN_HOUR} writes within an hour are enough: the rest has to wait")
        if self._times and (wait := self._times[-1] + SPACING - now) > 0:
            self._pause(wait)
        self._times.append(self._clock.monotonic())
