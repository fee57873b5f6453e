"""Sentry's web API over HTTP: every failure typed, pages followed up to a limit."""

import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from nightwatch_core.adapters.stores import traffic
from nightwatch_core.adapters.stores.traffic import Throttled, Unwell
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.text.plain_text import retry_after

SERVICE = "Sentry"
AT_ONCE = 4  # requests; Sentry also limits how many of one caller run at a time
TIMES = httpx.Timeout(connect=5.0, read=60.0, write=10.0, pool=120.0)
DEADLINE = 90.0  # seconds of one request, however slowly its bytes drip
LONGEST_BODY = 32 * 1024 * 1024  # bytes of an answer

Parameters = Mapping[str, str | int | tuple[str, ...]]


class Denied(StopTheNight):
    """The token may not read this."""


class Missing(GiveUp):
    """There is no such thing, or the token may not know of it."""


# What a status means, and what helps; where it is not listed, its hundreds are.
STATUSES: Mapping[int, tuple[type[NightWatchError], str]] = {
    401: (StopTheNight, "Sentry does not accept the token: check SENTRY_AUTH_TOKEN and SENTRY_URL"),
    402: (Denied, "Sentry denies access"),
    403: (Denied, "Sentry denies access: the token needs the scopes event:read and project:read"),
    404: (
        Missing,
        "Sentry does not show it to this token: check SENTRY_ORG and SENTRY_ENVIRONMENT",
    ),
    408: (Unwell, "Sentry did not finish in time: try again, or shorten the window with --since"),
    429: (Throttled, "Sentry asks for fewer requests: try again in some minutes"),
    2: (Unwell, "Sentry's answer has no content: check SENTRY_URL"),
    3: (StopTheNight, "SENTRY_URL redirects: set the address that it leads to"),
    4: (GiveUp, "Sentry refuses a request of NightWatch: report it with this text"),
    5: (Unwell, "Sentry has a problem: try again in some minutes"),
}


class SentryApi:
    """Reads from Sentry's API; safe to share between threads."""

    def __init__(
        self,
        token: str,
        url: str,
        organization: str,
        times: httpx.Timeout | float = TIMES,
        deadline: float = DEADLINE,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Ask nothing yet; `url` is Sentry's own address, with its path prefix."""
        self._token = token.strip()
        if not self._token or not self._token.isascii() or not self._token.isprintable():
            raise StopTheNight("SENTRY_AUTH_TOKEN is empty or no token: make one that reads issues")
        self.organization, self._pause = organization, pause
        self._gate = threading.BoundedSemaphore(AT_ONCE)
        bounds = traffic.Bounds(SERVICE, LONGEST_BODY, deadline, Unwell, Unwell)
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        self._client = traffic.http_client(bounds, address(url), times, headers)
        weakref.finalize(self, self._client.close)

    def get(self, *path: str, **parameters: str | int | tuple[str, ...]) -> Any:
        return self.page(*path, **parameters)[0]

    def page(self, *path: str, **parameters: str | int | tuple[str, ...]) -> tuple[Any, str]:
        """Return the JSON at a path and the cursor of what follows; empty where nothing does.

        Asks once more where Sentry is throttled or unwell; raises `TryLater` as `asked_twice`.
        """
        place = "/".join((*(quote(part, safe="") for part in path), ""))
        return traffic.asked_twice(SERVICE, lambda: self._asked(place, parameters), self._pause)

    def rows(
        self, most: int, *path: str, **parameters: str | int | tuple[str, ...]
    ) -> tuple[list[Mapping[str, Any]], bool]:
        """Return the objects of a list, of at most `most` pages, and whether there are more."""
        found: list[Mapping[str, Any]] = []
        cursor: dict[str, str] = {}
        for _ in range(most):
            body, following = self.page(*path, **parameters, **cursor)
            if not isinstance(body, list):
                raise Unwell("Sentry's answer is no list: check SENTRY_URL")
            found += [row for row in body if isinstance(row, Mapping)]
            if not following or following == cursor.get("cursor"):
                return found, False
            cursor = {"cursor": following}
        return found, True

    def _asked(self, place: str, parameters: Parameters) -> tuple[Any, str]:
        with traffic.METER.request(SERVICE):
            response = self._exchange(place, parameters)
            if response.status_code != httpx.codes.OK:
                raise self._refusal(response)
            try:
                body = traffic.json_of(response.content)
            except ValueError:
                raise Unwell("Sentry's answer is cut off or no JSON: try again") from None
            following = response.links.get("next", {})
            more = following.get("results") == "true"
            return body, following.get("cursor", "") if more else ""

    def _exchange(self, place: str, parameters: Parameters) -> httpx.Response:
        with self._gate:
            try:
                return self._client.get(place, params=parameters)
            except httpx.TimeoutException:
                raise Unwell("Sentry did not answer in time: try again") from None
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise Unwell(
                    f"Sentry cannot be reached ({type(error).__name__}): check the network and "
                    "SENTRY_URL"
                ) from None

    def _refusal(self, response: httpx.Response) -> NightWatchError:
        status = response.status_code
        kind, text = STATUSES.get(status) or STATUSES.get(status // 100) or STATUSES[5]
        if kind is Throttled and (wait := _wait(response.headers)) is not None:
            return traffic.throttled(SERVICE, status, wait)
        return kind(f"{text} (HTTP {status}{self._words(response)})")

    def _words(self, response: httpx.Response) -> str:
        """Return the detail of a refusal as one short line without the token."""
        try:
            body = traffic.json_of(response.content[:10_000])
        except ValueError:
            return ""
        detail = body.get("detail") if isinstance(body, dict) else None
        detail = detail.get("message") if isinstance(detail, dict) else detail
        return f": {traffic.words_of(detail, self._token)}" if isinstance(detail, str) else ""


def address(url: str) -> str:
    """Return the address of the API; raises `StopTheNight` for none.

    The token is sent there, so it must be https, or this machine.

    >>> address("https://tools.example.org/sentry/"), address("http://localhost:9000/api/0")
    ('https://tools.example.org/sentry/api/0/', 'http://localhost:9000/api/0/')
    """
    if not traffic.is_private(url.strip()) or set(url) & {"?", "#", "@"}:
        raise StopTheNight("SENTRY_URL must be an https address, such as https://sentry.io")
    return f"{url.strip().rstrip('/').removesuffix('/api/0')}/api/0/"


def _wait(headers: httpx.Headers) -> float | None:
    """Return the seconds until Sentry may be asked again; None where it does not say."""
    now = time.time()
    wait = retry_after(headers.get("Retry-After", ""), now)
    if wait is None:
        reset = retry_after(headers.get("X-Sentry-Rate-Limit-Reset", ""), now)
        wait = max(0.0, reset - now) if reset is not None else None
    return wait
