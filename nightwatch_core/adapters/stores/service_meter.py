"""Counts requests to the services, from all threads of this process, for the health of a night.

And bounds what a night waits for one of them: in pauses that it asks for, and in answers that do
not come.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.health import ServiceCalls
from nightwatch_core.text.escaping import line

LONGEST_TROUBLE = 200  # characters
PATIENCE = 900.0  # seconds of pauses that a night makes for one service
LOST = 900.0  # seconds of requests without an answer in a row, then it is hardly asked
SELDOM = 60.0  # seconds between two such requests from then on


class ServiceMeter:
    """What was sent since it was last reset, by service; safe for threads."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing sent; `now` in seconds since some moment."""
        self._guard = threading.Lock()
        self._calls: dict[str, ServiceCalls] = {}
        self._lost: dict[str, float] = {}  # seconds since the last answer, by service
        self._asked: dict[str, float] = {}  # when it was asked last
        self._now = now

    def reset(self) -> None:
        """Forget everything: a night begins."""
        with self._guard:
            self._calls.clear()
            self._lost.clear()

    def calls(self) -> Mapping[str, ServiceCalls]:
        """What was sent so far, by service."""
        with self._guard:
            return dict(self._calls)

    @contextmanager
    def request(
        self, service: str, refusals: tuple[type[Exception], ...] = (StopTheNight,)
    ) -> Iterator[None]:
        """Count what is sent within the block as one request.

        Raises `TryLater` at once where nothing came of so many before.
        """
        began = self.begin(service)
        try:
            yield
        except Exception as error:
            self.count(service, error, refusals, began=began)
            raise
        self.count(service)

    def begin(self, service: str) -> float:
        """Return when a request begins; raises `TryLater` where nothing came of so many before."""
        with self._guard:
            now, lost = self._now(), self._lost.get(service, 0.0)
            if lost >= LOST and now - self._asked[service] < SELDOM:
                raise TryLater(
                    f"{service} gave no answer for {lost:,.0f} s and is asked once a minute now: "
                    "the next night tries again"
                )
            self._asked[service] = now
            return now

    def count(
        self,
        service: str,
        error: Exception | None = None,
        refusals: tuple[type[Exception], ...] = (StopTheNight,),
        *,
        began: float | None = None,
    ) -> None:
        """Count a request that was answered, or that ended with `error` and when it had begun.

        One of `refusals` is a refusal; another `GiveUp` is an answer ("there is no such file");
        anything else means that no answer came.
        """
        refused = isinstance(error, refusals)
        failed = refused or (error is not None and not isinstance(error, GiveUp))
        with self._guard:
            if not failed:
                self._lost.pop(service, None)
            elif began is not None:
                self._lost[service] = self._lost.get(service, 0.0) + self._now() - began
            before = self._before(service)
            self._set(
                before,
                requests=before.requests + 1,
                unanswered=before.unanswered + (failed and not refused),
                refused=before.refused + refused,
                trouble=_trouble(error) if error and failed else before.trouble,
                is_last_well=not failed,
            )

    def wait(self, service: str, seconds: float) -> None:
        """Count a pause before a request is sent again.

        Raises `TryLater` where the night has waited for the service long enough.
        """
        with self._guard:
            before = self._before(service)
            if before.waited + seconds > PATIENCE:
                raise TryLater(
                    f"{service} was waited for {before.waited:,.0f} s tonight and asks for "
                    f"{seconds:,.0f} s more: the next night tries again"
                )
            self._set(before, waits=before.waits + 1, waited=before.waited + max(seconds, 0.0))

    def expires(self, service: str, at: datetime) -> None:
        """Note when the service says that its sign-in ends."""
        with self._guard:
            self._set(self._before(service), expires=at)

    def _before(self, service: str) -> ServiceCalls:
        return self._calls.get(service) or ServiceCalls(service=service)

    def _set(self, before: ServiceCalls, **changes: Any) -> None:
        self._calls[before.service] = before.model_copy(update=changes)


def _trouble(error: Exception) -> str:
    """Our own words; of a vendor's exception the name alone: its text may hold anything."""
    ours = isinstance(error, NightWatchError)
    return line(str(error) if ours else type(error).__name__, LONGEST_TROUBLE)


PROCESS = ServiceMeter()
"""Of this process, which the adapters count in unless they are given another one."""
