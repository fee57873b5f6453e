"""What a code host's refusals and silences mean, and writes that none of them doubles."""

from collections.abc import Callable
from typing import TypeVar

from nightwatch_core.adapters.stores.traffic import METER
from nightwatch_core.errors import GiveUp, MayHaveArrived, TryLater
from nightwatch_core.ports import Clock

# Times are in seconds.
LONGEST_WAIT = 120.0  # asked to wait longer, the next night tries again
SHORT_WAIT = 0.5  # until the same is asked again, where the host names no time
WRITE_SPACING = 1.0  # between two writes, as GitHub asks
SETTLING = 5.0  # until a write whose answer was lost shows, or never will
LOOKS = 3  # for a lost write: who cannot tell whether it was made must not make it again
T = TypeVar("T")


class Unavailable(TryLater):
    """Nothing was done: the request was refused for now, or never arrived."""

    def __init__(self, message: str, wait: float = SHORT_WAIT, *, safe: bool = True) -> None:
        """`wait` is in seconds; a `safe` request may be repeated without looking."""
        super().__init__(message)
        self.wait = wait
        self.safe = safe


class AnswerLost(MayHaveArrived):
    """The answer to a write was lost: the host may have done it."""

    wait = SHORT_WAIT
    safe = False


class AnswerUnread(AnswerLost):
    """A write was taken, and its answer is in no known form: it is not made again."""


class Rejected(GiveUp):
    """The host understood and will not do it; nothing was done."""

    def __init__(self, message: str, status: int = 0, reason: str = "") -> None:
        """`status` is the HTTP status, `reason` what the host wrote."""
        super().__init__(message)
        self.status = status
        self.reason = reason


class Forbidden(Rejected):
    """The token lacks a permission, which the message names."""


def unless_absent(ask: Callable[[], T], absent: tuple[int, ...] = (404,)) -> T | None:
    """Return the answer; None for the HTTP statuses of what is not there."""
    try:
        return ask()
    except Rejected as error:
        if error.status in absent:
            return None
        raise


class Writes:
    """Writes to a host: one after the other, not too many, and none twice where it was lost."""

    def __init__(self, service: str, clock: Clock, pause: Callable[[float], None]) -> None:
        """Make nothing yet; `pause` waits that many seconds."""
        self._service, self._clock, self._pause = service, clock, pause
        self._next = 0.0  # when the next write may be made

    def make(self, make: Callable[[], T], find: Callable[[], T | None] = lambda: None) -> T:
        """Return what `make` makes; where its answer is lost, `find` looks before it is made again.

        Raises `AnswerLost` where nobody can tell whether it was made.
        """
        for last in (False, True):
            self._pause(max(0.0, self._next - self._clock.monotonic()))
            self._next = self._clock.monotonic() + WRITE_SPACING
            try:
                return make()
            except AnswerLost as lost:
                if (found := self._look(find, lost)) is not None:
                    return found
                if last or isinstance(lost, AnswerUnread):
                    raise
            except Unavailable as refused:  # not done for sure, so it may be asked again
                if last or refused.wait > LONGEST_WAIT:
                    raise
                METER.wait(self._service, refused.wait)
                self._pause(refused.wait)
        raise AssertionError("unreachable")

    def _look(self, find: Callable[[], T | None], lost: AnswerLost) -> T | None:
        trouble: TryLater = lost
        for _ in range(LOOKS):
            self._pause(SETTLING)
            try:
                return find()
            except TryLater as error:
                trouble = error
        raise AnswerLost(f"{lost}; and looking failed: {trouble}")
