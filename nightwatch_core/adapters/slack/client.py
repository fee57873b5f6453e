"""Calls Slack's Web API by its SDK, whose requests go through our HTTP client.

By itself the SDK sends with urllib: redirects take the token along, answers have no limit, and
nothing is listed. Our client lists requests, limits answers, follows no redirect, and knows proxies
and certificates. It also adds the token; the SDK holds none.
"""

import json
import logging
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request

import httpx
from pydantic import SecretStr
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry import RetryHandler
from slack_sdk.web import SlackResponse

from nightwatch_core.adapters.slack.answers import (
    Answer,
    ConnectionLost,
    Refused,
    Unreachable,
    failure,
    object_of,
)
from nightwatch_core.adapters.slack.retries import SERVICE, Waits, for_posts, for_reads
from nightwatch_core.adapters.stores import traffic
from nightwatch_core.errors import GiveUp, MayHaveArrived, NightWatchError
from nightwatch_core.ports import Clock

BOUNDS = traffic.Bounds(
    SERVICE, 4 * 1024 * 1024, seconds=60.0, too_large=MayHaveArrived, too_slow=MayHaveArrived
)
# The SDK logs whole messages: its lines go nowhere, whatever a program's own logging is set to.
_UNHEARD = logging.Logger("slack_sdk", logging.CRITICAL)


class SlackCalls:
    """Methods of Slack's Web API for one delivery: `posts` has those that write, `reads` the rest.

    They raise `Refused`, `MayHaveArrived`, `TryLater` or `GiveUp`.
    """

    def __init__(
        self,
        token: SecretStr,
        api_url: str,
        clock: Clock,
        sleep: Callable[[float], None],
        timeout: float,
        bounds: traffic.Bounds = BOUNDS,
    ) -> None:
        """Send nothing yet; `timeout` is in seconds."""
        headers = {"Authorization": f"Bearer {token.get_secret_value()}"}
        http = traffic.http_client(bounds, api_url, timeout, headers)
        self.sleep, waits = sleep, Waits(clock, sleep)
        weakref.finalize(waits, http.close)  # of both clients
        self.posts = SlackClient(http, api_url, clock, for_posts(waits))
        self.reads = SlackClient(http, api_url, clock, for_reads(waits))


class SlackClient(WebClient):
    """The SDK's client; its answers are counted, and its exceptions are ours."""

    def __init__(
        self, http: httpx.Client, api_url: str, clock: Clock, handlers: list[RetryHandler]
    ) -> None:
        super().__init__(base_url=api_url, logger=_UNHEARD, retry_handlers=handlers)
        self._http, self._clock = http, clock

    def api_call(self, api_method: str, **given: Any) -> SlackResponse:
        """Call a method; those of the SDK come here."""
        if not traffic.is_private(self.base_url):
            raise GiveUp("SLACK_API_URL has to begin with https://")
        with self._our_exceptions():
            return super().api_call(api_method, **given)

    def pages(self, answer: SlackResponse) -> Iterator[Answer]:
        """Yield an answer and those to its cursors, without end if Slack gives none."""
        with self._our_exceptions():
            for page in answer:
                yield page.data

    def _perform_urllib_http_request_internal(self, url: str, req: Request) -> dict[str, Any]:
        """Send one request of the SDK, and return its answer as the SDK expects it.

        Raises `Unreachable`, `ConnectionLost`, or `MayHaveArrived` beyond the bounds.
        """
        began = traffic.METER.begin(SERVICE)
        try:
            response = self._sent(url, req)
        except NightWatchError as error:
            traffic.METER.count(SERVICE, error, began=began)
            raise
        answer = object_of(response.content)
        trouble = self._failure(response.status_code, response.headers, answer)
        traffic.METER.count(SERVICE, trouble, (Refused,), began=began)
        body = json.dumps(answer)
        return {"status": response.status_code, "headers": response.headers, "body": body}

    def _sent(self, url: str, req: Request) -> httpx.Response:
        try:
            return self._http.post(url, content=req.data, headers=dict(req.header_items()))  # type: ignore[arg-type]
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Unreachable(f"Slack cannot be reached: {type(error).__name__}") from None
        except httpx.HTTPError as error:
            raise ConnectionLost(
                f"the connection to Slack was lost before its answer came ({type(error).__name__})"
            ) from None

    @contextmanager
    def _our_exceptions(self) -> Iterator[None]:
        try:
            yield
        except SlackApiError as error:
            answer = error.response
            trouble = self._failure(answer.status_code, answer.headers, answer.data)
            raise trouble or MayHaveArrived("Slack's answer cannot be read") from None

    def _failure(self, status: int, headers: Any, answer: Answer) -> NightWatchError | None:
        return failure(status, headers, answer, self._clock.now().timestamp())
