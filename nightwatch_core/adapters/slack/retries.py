"""Repeats calls as Slack's SDK does, with waits that are counted and limited.

The SDK's handlers sleep as long as they are asked to, and by themselves.
"""

from collections.abc import Callable
from typing import Any

from slack_sdk.http_retry import (
    ConnectionErrorRetryHandler,
    HttpResponse,
    RateLimitErrorRetryHandler,
    RetryHandler,
    RetryState,
)
from slack_sdk.http_retry.builtin_handlers import ServerErrorRetryHandler

from nightwatch_core.adapters.slack.answers import ConnectionLost, Unreachable, asked_wait
from nightwatch_core.adapters.stores import traffic
from nightwatch_core.ports import Clock

SERVICE = "Slack"
LONGEST_WAIT = 60.0  # seconds; asked to wait longer, the night goes on without Slack
PATIENCE = 180.0  # seconds of waiting in all


class Waits:
    """The waits of one delivery, which all its calls share."""

    def __init__(self, clock: Clock, sleep: Callable[[float], None]) -> None:
        self._clock, self._sleep, self._left = clock, sleep, PATIENCE

    def allow(self, response: HttpResponse | None) -> bool:
        """Check whether what an answer asks for is short enough."""
        return self._seconds(response) <= min(LONGEST_WAIT, self._left)

    def wait(self, response: HttpResponse | None) -> None:
        """Wait as an answer asks; raises `TryLater` where the night has waited long enough."""
        seconds = self._seconds(response)
        self._left -= seconds
        traffic.METER.wait(SERVICE, seconds)
        self._sleep(seconds)

    def _seconds(self, response: HttpResponse | None) -> float:
        headers = response.headers if response else {}
        return asked_wait(
            {name: str(value[0]) for name, value in headers.items() if value},
            self._clock.now().timestamp(),
        )


class _Handler(RetryHandler):
    """A handler of the SDK whose waits are ours."""

    def __init__(self, waits: Waits, **settings: Any) -> None:
        super().__init__(**settings)
        self._waits = waits

    def _can_retry(self, *, response: HttpResponse | None = None, **given: Any) -> bool:
        retries = super()._can_retry(response=response, **given)
        return retries and self._waits.allow(response)

    def prepare_for_next_attempt(
        self, *, state: RetryState, response: HttpResponse | None = None, **_: Any
    ) -> None:
        self._waits.wait(response)  # first: once it is requested, the SDK keeps its exceptions
        state.next_attempt_requested = True
        state.increment_current_attempt()


class _RateLimit(_Handler, RateLimitErrorRetryHandler):
    pass


class _ServerError(_Handler, ServerErrorRetryHandler):
    pass


class _ConnectionError(_Handler, ConnectionErrorRetryHandler):
    pass


def for_posts(waits: Waits) -> list[RetryHandler]:
    """Return the one handler that posts nothing twice: what Slack put off was not done."""
    return [_RateLimit(waits, max_retry_count=3)]


def for_reads(waits: Waits) -> list[RetryHandler]:
    """Return handlers that also repeat what failed on Slack's side, or on the way, once."""
    lost = [Unreachable, ConnectionLost]
    return [*for_posts(waits), _ServerError(waits), _ConnectionError(waits, error_types=lost)]
