"""One call writes the cache that the others read: of calls with one beginning the first goes ahead.

System prompt and tools are the same for all errors of an agent, and are kept by the service once
they were sent; but what one call writes can be read only by calls that are sent after its response
began. Errors analysed side by side would each pay for writing the same. So while nobody has written
a beginning, the first call goes and the others wait until its response begins, or it fails, or they
have waited long enough. Then all go, and side by side from there on.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

PATIENCE = 15.0  # seconds that a call waits for another one's response to begin
SHARE = 0.5  # of the time a call has: the rest is for the call itself
WARM = 240.0  # seconds; the service keeps for 300 what was not used, anew with every use


class Signal(Protocol):
    """What waiting calls wait for, as `threading.Event` has it."""

    def set(self) -> None:
        """All who wait may go."""
        ...

    def wait(self, timeout: float | None = None) -> bool:
        """Until it is set, for `timeout` seconds at most."""
        ...


class Passage:
    """One call on its way through the gate."""

    def __init__(self, ended: Callable[[bool], None]) -> None:
        """Tell the gate by `ended` whether a response began."""
        self._ended = ended

    def begun(self) -> None:
        """The response begins: the service has kept what it begins with."""
        self._ended(True)

    def over(self) -> None:
        """The response ended, or there is none; nobody has to wait for it any longer."""
        self._ended(False)


class Gate:
    """Beginnings that were written lately, and those that are being written; for many threads."""

    def __init__(
        self,
        patience: float = PATIENCE,
        warm: float = WARM,
        clock: Callable[[], float] = time.monotonic,
        signal: Callable[[], Signal] = threading.Event,
    ) -> None:
        """`clock` gives seconds; `signal` is what calls wait for."""
        self._patience, self._warm, self._clock, self._signal = patience, warm, clock, signal
        self._lock = threading.Lock()
        self._until: dict[str, float] = {}  # when a beginning may be forgotten
        self._first: dict[str, Signal] = {}  # calls that go ahead

    @contextmanager
    def entered(self, beginning: str, seconds: float) -> Iterator[Passage]:
        """Pass, perhaps after a wait; `seconds` are what the call has left, waiting included.

        A call whose `beginning` is empty keeps nothing and waits for nobody.
        """
        mine, other = self._asked(beginning) if beginning else (None, None)
        if other:
            other.wait(max(0.0, min(self._patience, seconds * SHARE)))
        passage = Passage(lambda began: self._ended(beginning, mine, began))
        try:
            yield passage
        finally:
            passage.over()

    def _asked(self, beginning: str) -> tuple[Signal | None, Signal | None]:
        """The signal to give where this call is the first, or the one to wait for."""
        with self._lock:
            now = self._clock()
            if self._until.get(beginning, now) > now:
                return None, None
            if beginning in self._first:
                return None, self._first[beginning]
            self._until = {name: until for name, until in self._until.items() if until > now}
            self._first[beginning] = self._signal()
            return self._first[beginning], None

    def _ended(self, beginning: str, mine: Signal | None, began: bool) -> None:
        with self._lock:
            if began and beginning:
                self._until[beginning] = self._clock() + self._warm
            is_first = mine is not None and self._first.get(beginning) is mine
            if is_first:
                del self._first[beginning]
        if is_first and mine:
            mine.set()


PROCESS = Gate()  # what one process sends goes through one gate


def beginning(request: Mapping[str, Any], whose: tuple[str, ...]) -> str:
    """A name for what the marker behind the system prompt covers; empty where nothing is kept.

    `whose` are the address and the key: nobody reads what was written with another one.

    >>> beginning({"model": "m", "system": "s"}, ())
    ''
    """
    if not request.get("cache_control") or not request.get("system"):
        return ""
    covered = [*whose, *(request.get(name) for name in ("model", "tools", "system"))]
    return hashlib.sha256(json.dumps(covered, sort_keys=True).encode()).hexdigest()
