"""One call writes the cache that the others read: of calls with one beginning the first goes ahead.

System prompt and tools are the same for all errors of an agent, and are kept by the service once
they were sent; but what one call writes can be read only by calls that are sent after its response
began. So while nobody has written a beginning, the first call goes and the others wait until its
response begins, or it fails, or they have waited long enough. From there on all go side by side.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nightwatch_core.adapters.claude.limits import PATIENCE, SHARE, WARM

Ended = Callable[[bool], None]  # told True when the response begins, False when it or the call ends


class Gate:
    """Beginnings that were written lately, and those that are being written; for many threads."""

    def __init__(
        self,
        patience: float = PATIENCE,
        warm: float = WARM,
        clock: Callable[[], float] = time.monotonic,
        event: Callable[[], threading.Event] = threading.Event,
    ) -> None:
        """`clock` gives seconds; calls wait for what `event` makes."""
        self._patience, self._warm, self._clock, self._event = patience, warm, clock, event
        self._lock = threading.Lock()
        self._until: dict[str, float] = {}  # when a beginning may be forgotten
        self._first: dict[str, threading.Event] = {}  # calls that go ahead

    @contextmanager
    def entered(self, beginning: str, seconds: float) -> Iterator[Ended]:
        """Pass, perhaps after a wait; `seconds` are what the call has left, waiting included.

        A call whose `beginning` is empty keeps nothing and waits for nobody.
        """
        own, other = self._enter(beginning) if beginning else (None, None)
        if other:
            other.wait(max(0.0, min(self._patience, seconds * SHARE)))

        def ended(began: bool) -> None:
            self._end(beginning, own, began)

        try:
            yield ended
        finally:
            ended(False)

    def _enter(self, beginning: str) -> tuple[threading.Event | None, threading.Event | None]:
        """The event to set where this call is the first, or the one to wait for."""
        with self._lock:
            now = self._clock()
            if self._until.get(beginning, now) > now:
                return None, None
            if beginning in self._first:
                return None, self._first[beginning]
            self._until = {name: until for name, until in self._until.items() if until > now}
            self._first[beginning] = self._event()
            return self._first[beginning], None

    def _end(self, beginning: str, own: threading.Event | None, began: bool) -> None:
        with self._lock:
            if began and beginning:
                self._until[beginning] = self._clock() + self._warm
            if own is not None and self._first.get(beginning) is own:
                del self._first[beginning]
        if own is not None:
            own.set()


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
