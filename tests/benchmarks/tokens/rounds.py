"""Calls under way at once, in step: what one of them writes the others cannot read yet.

A mind that needs no time would let calls that are under way at once seem to be sent one after
another. So time is counted in rounds: a round begins when everybody who is busy has asked, nobody
in it sees what the others of it write, and all of it is answered before the next one begins.

Who keeps a call back (as ours does until the first response of a night begins) tells the rounds so:
they go on without it, and it asks in the round after the one whose response it waited for, never in
the same one. So waiting costs a round, as it costs the time to a first response, and nothing is
read that was not written by a response that had begun. That is what the service says of its cache:
an entry can be read once the response that writes it begins. The first calls of a night are sent in
the order of its errors, so that the same night costs the same each time.
"""

import threading
from dataclasses import dataclass, field

_WAIT = 60.0  # seconds after which a round begins without those who did not come


@dataclass
class Rounds:
    """Calls of analyses that run side by side, in step: each takes as long as every other."""

    busy: int = 0
    waiting: int = 0
    held: int = 0  # calls that are kept back until a response begins
    number: int = 0
    seen: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.turn = threading.Condition()

    def __enter__(self) -> "Rounds":
        with self.turn:
            self.busy += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self.turn:
            self.busy -= 1
            self._begin_if_all_are_here()

    def wait_for(self, others: int, since: int) -> None:
        """Wait until so many have asked, or keep their call back, or round `since` is over."""
        with self.turn:
            self.turn.wait_for(
                lambda: self.number > since or self.waiting + self.held >= others, _WAIT
            )

    def arrive(self) -> None:
        """Wait until all who are busy have asked; what the last round wrote can be read then."""
        with self.turn:
            self.waiting += 1
            now = self.number
            self.turn.notify_all()
            self._begin_if_all_are_here()
            self.turn.wait_for(lambda: self.number > now, _WAIT)

    def _begin_if_all_are_here(self) -> None:
        if self.waiting and self.waiting >= self.busy - self.held:
            self.waiting, self.number = 0, self.number + 1
            self.seen |= self.fresh
            self.turn.notify_all()


class Held:
    """A gate's signal that tells the rounds who keeps a call back."""

    def __init__(self, rounds: Rounds) -> None:
        self._rounds, self._calls, self._open = rounds, 0, False

    def wait(self, timeout: float | None = None) -> bool:
        rounds = self._rounds
        with rounds.turn:
            if self._open:
                return True
            self._calls, rounds.held = self._calls + 1, rounds.held + 1
            rounds.turn.notify_all()
            rounds._begin_if_all_are_here()
            if not rounds.turn.wait_for(lambda: self._open, timeout):
                self._calls, rounds.held = self._calls - 1, rounds.held - 1
            return self._open

    def is_set(self) -> bool:
        return self._open

    def set(self) -> None:
        """All of them are about to ask: the next round does not begin without them."""
        with self._rounds.turn:
            self._rounds.held -= self._calls
            self._calls, self._open = 0, True
            self._rounds.turn.notify_all()
