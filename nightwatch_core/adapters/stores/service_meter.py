"""Counts requests to the services, from all threads of this process, for the health of a night."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.health import ServiceCalls
from nightwatch_core.text.escaping import line

LONGEST_TROUBLE = 200  # characters
PATIENCE = 900.0  # seconds of pauses that a night makes for one service


class ServiceMeter:
    """What was sent since it was last reset, by service; safe for threads."""

    def __init__(self) -> None:
        """Begin with nothing sent."""
        self._guard = threading.Lock()
        self._calls: dict[str, ServiceCalls] = {}

    def reset(self) -> None:
        """Forget everything: a night begins."""
        with self._guard:
            self._calls.clear()

    def calls(self) -> Mapping[str, ServiceCalls]:
        """What was sent so far, by service."""
        with self._guard:
            return dict(self._calls)

    @contextmanager
    def request(
        self, service: str, refusals: tuple[type[Exception], ...] = (StopTheNight,)
    ) -> Iterator[None]:
        """Count what is sent within the block as one request."""
        try:
            yield
        except Exception as error:
            self.count(service, error, refusals)
            raise
        self.count(service)

    def count(
        self,
        service: str,
        error: Exception | None = None,
        refusals: tuple[type[Exception], ...] = (StopTheNight,),
    ) -> None:
        """Count a request that was answered, or that ended with `error`.

        One of `refusals` is a refusal; another `GiveUp` is an answer ("there is no such file");
        anything else means that no answer came.
        """
        refused = isinstance(error, refusals)
        failed = refused or (error is not None and not isinstance(error, GiveUp))
        with self._guard:
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
