"""NerdGraph over HTTP: every failure typed, also those that New Relic puts inside a 200."""

import json
import re
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from functools import lru_cache
from urllib.parse import urlsplit

import httpx

from nightwatch_core.adapters.new_relic.answers import (
    Answer,
    BadKey,
    Failure,
    Throttled,
    TooSlow,
    Unwell,
    failed_status,
    failure,
    listed,
    throttled,
)
from nightwatch_core.adapters.new_relic.limits import (
    AT_ONCE,
    DEADLINE,
    LONGEST_BODY,
    LONGEST_LABEL,
    LONGEST_WAIT,
    QUERY_SECONDS,
)
from nightwatch_core.adapters.stores.bounded_answers import Bounds, bounded, json_of
from nightwatch_core.adapters.stores.manifest import note
from nightwatch_core.adapters.stores.service_meter import PROCESS, ServiceMeter
from nightwatch_core.errors import StopTheNight
from nightwatch_core.text.retry_after import retry_after

REGIONS: Mapping[str, str] = {
    "US": "https://api.newrelic.com/graphql",
    "EU": "https://api.eu.newrelic.com/graphql",
    "JP": "https://api.jp.newrelic.com/graphql",
    "FEDRAMP": "https://gov-api.newrelic.com/graphql",
}
TIMES = httpx.Timeout(connect=5.0, read=QUERY_SECONDS + 10.0, write=10.0, pool=120.0)
_DAY = 86_400.0  # seconds
SERVICE = "New Relic"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class NerdGraph:
    """Asks NerdGraph; safe to share between threads."""

    def __init__(
        self,
        api_key: str,
        url: str,
        times: httpx.Timeout | float = TIMES,
        deadline: float = DEADLINE,
        pause: Callable[[float], None] = time.sleep,
        meter: ServiceMeter = PROCESS,
    ) -> None:
        """Ask at `url`, a region's name or an address; nothing is asked yet."""
        self._key = api_key.strip()
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise BadKey("NEW_RELIC_API_KEY is empty or no key: make a user key (NRAK-…)")
        self._url = address(url)
        self._pause = pause
        self._meter = meter
        self._gate = threading.BoundedSemaphore(AT_ONCE)
        bounds = Bounds(SERVICE, LONGEST_BODY, deadline, too_large=_too_large, too_slow=TooSlow)
        self._client = httpx.Client(
            headers={"Api-Key": self._key, "Accept": "application/json"},
            timeout=times,
            verify=_trusted(),
            trust_env=self._url.startswith("https:"),  # else a proxy would read along
            event_hooks={"request": [note(SERVICE)], "response": [bounded(bounds)]},
        )
        weakref.finalize(self, self._client.close)

    def ask(self, query: str, **variables: object) -> Answer:
        """Ask once, and once more where New Relic is throttled or unwell.

        Told to wait for more than `LONGEST_WAIT` seconds it gives up at once. Raises `TryLater` or
        `StopTheNight` where there is no answer, or none of its parts came.
        """
        try:
            answer, wait = self._counted(query, variables), 1.0
            if not any(isinstance(f.error, Throttled | Unwell) for f in answer.failures):
                return answer
        except (Throttled, Unwell) as error:
            wait = error.wait if isinstance(error, Throttled) else 1.0
            if wait > LONGEST_WAIT:
                raise
        self._meter.wait(SERVICE, wait)
        self._pause(wait)
        return self._counted(query, variables)

    def _counted(self, query: str, variables: Mapping[str, object]) -> Answer:
        with self._meter.request(SERVICE):
            return self._asked(query, variables)

    def _asked(self, query: str, variables: Mapping[str, object]) -> Answer:
        status, headers, body = self._exchange(json.dumps({"query": query, "variables": variables}))
        self._check(status, headers, body)
        try:
            document = json_of(body)
        except ValueError:
            raise Unwell("New Relic's answer is cut off or no JSON: try again") from None
        if not isinstance(document, dict) or not isinstance(document.get("data", {}), dict | None):
            raise Unwell("New Relic's answer is not of GraphQL's shape: check NEW_RELIC_API_URL")
        failures = tuple(failure(each, self._clean) for each in listed(document.get("errors")))
        final = next((f.error for f in failures if isinstance(f.error, BadKey)), None)
        if final:
            raise final
        data = document.get("data")
        if data is None and not failures:
            raise Unwell("New Relic answered nothing: try again in some minutes")
        pathless = tuple(Failure((), f.error) for f in failures) if data is None else failures
        return Answer(data or {}, pathless)

    def _exchange(self, content: str) -> tuple[int, httpx.Headers, bytes]:
        headers = {"Content-Type": "application/json"}
        with self._gate:
            try:
                with self._client.stream(
                    "POST", self._url, content=content.encode(), headers=headers
                ) as answer:
                    return answer.status_code, answer.headers, answer.read()
            except httpx.TimeoutException:
                raise TooSlow(
                    "New Relic did not answer in time: try again, or shorten the window"
                ) from None
            except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
                raise Unwell(
                    f"New Relic cannot be reached ({type(error).__name__}): check the network and "
                    "NEW_RELIC_API_URL"
                ) from None

    def _check(self, status: int, headers: httpx.Headers, body: bytes) -> None:
        """Raise what a status other than 200 means."""
        error = failed_status(status, self._clean(body[:500].decode("utf-8", "replace")))
        asked = retry_after(headers.get("Retry-After", ""), time.time())
        if isinstance(error, Throttled) and asked is not None:
            raise throttled(min(max(asked, 1.0), _DAY))
        if error:
            raise error

    def _clean(self, text: str) -> str:
        """A vendor's words for a message of ours: one line, short, without the key."""
        line = " ".join(re.sub(r"[^\x20-\x7e\xa0-\uffff]", " ", text[:2_000]).split())
        return line.replace(self._key, "…")[:LONGEST_LABEL]


def address(url: str) -> str:
    """The address that a region's name or an address stands for.

    Raises `StopTheNight` for anything else: the key is sent there, so it must be https, or this
    machine.

    >>> address("eu"), address("http://127.0.0.1:8080/graphql")
    ('https://api.eu.newrelic.com/graphql', 'http://127.0.0.1:8080/graphql')
    """
    region = REGIONS.get(url.strip().upper() or "US")
    if region:
        return region
    try:
        parts = urlsplit(url.strip())
        safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    except ValueError:
        safe = False
    if not safe or not parts.hostname:
        names = ", ".join(REGIONS)
        raise StopTheNight(
            f"NEW_RELIC_REGION must be one of {names}, and NEW_RELIC_API_URL an https address"
        )
    return url.strip()


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    """Certificates to trust; reading them takes a fifth of a second, so it is done once."""
    return httpx.create_ssl_context()


def _too_large(_: str) -> TooSlow:
    """Half a window has a smaller answer."""
    return TooSlow("New Relic's answer is too large: shorten the window with --since")
