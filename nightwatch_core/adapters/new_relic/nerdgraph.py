"""NerdGraph over HTTP: every failure typed, also those that New Relic puts inside a 200."""

import json
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx

from nightwatch_core.adapters.stores import traffic
from nightwatch_core.adapters.stores.traffic import Throttled, Unwell
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.text.plain_text import graphql_texts, retry_after

AT_ONCE = 4  # requests; New Relic advises at most 5 complex queries of one user at a time
QUERY_SECONDS = 60  # the longest that NRQL may run on every plan; its default is 5
DEADLINE = QUERY_SECONDS + 30.0  # seconds of one request, however slowly its bytes drip
LONGEST_BODY = 32 * 1024 * 1024  # bytes of an answer

REGIONS: Mapping[str, str] = {
    "US": "https://api.newrelic.com/graphql",
    "EU": "https://api.eu.newrelic.com/graphql",
    "JP": "https://api.jp.newrelic.com/graphql",
    "FEDRAMP": "https://gov-api.newrelic.com/graphql",
}
TIMES = httpx.Timeout(connect=5.0, read=QUERY_SECONDS + 10.0, write=10.0, pool=120.0)
SERVICE = "New Relic"
QUERIES = graphql_texts("nightwatch_core.adapters.new_relic")
_CODES = ("errorClass", "error_code", "errorCode", "code", "classification")


class TooSlow(TryLater):
    """A query took longer than it may: ask for less at once."""


class BadKey(StopTheNight):
    """The key is not accepted."""


class Denied(StopTheNight):
    """The key may not read this."""


class BadQuery(GiveUp):
    """New Relic does not understand the question."""


REFUSALS = traffic.refusals("nightwatch_core.adapters.new_relic")
KINDS: Mapping[str, type[NightWatchError]] = {
    kind.__name__: kind
    for kind in (BadKey, Denied, Throttled, TooSlow, BadQuery, Unwell, StopTheNight)
}


@dataclass(frozen=True)
class Failure:
    """One error of an answer; an empty path means all of it."""

    path: tuple[str, ...]
    error: NightWatchError


@dataclass(frozen=True)
class Answer:
    """The data of an answer, and what is missing from it."""

    data: Mapping[str, Any]
    failures: tuple[Failure, ...] = ()

    def at(self, *path: str) -> Any:
        """Return the value at `path`, None for null; raises the error reported there."""
        for failure in self.failures:
            length = min(len(path), len(failure.path))
            if path[:length] == failure.path[:length]:
                raise failure.error
        value: Any = self.data
        for name in path:
            if value is None:
                return None
            if not isinstance(value, Mapping) or name not in value:
                raise Unwell("New Relic left out a part of its answer: try again in some minutes")
            value = value[name]
        return value


class NerdGraph:
    """Asks NerdGraph; safe to share between threads."""

    def __init__(
        self,
        api_key: str,
        url: str,
        times: httpx.Timeout | float = TIMES,
        deadline: float = DEADLINE,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Ask nothing yet; `url` is a region's name or an address."""
        self._key = api_key.strip()
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise BadKey("NEW_RELIC_API_KEY is empty or no key: make a user key (NRAK-…)")
        self._url, self._pause = address(url), pause
        self._gate = threading.BoundedSemaphore(AT_ONCE)
        bounds = traffic.Bounds(SERVICE, LONGEST_BODY, deadline, _too_large, TooSlow)
        headers = {"Api-Key": self._key, "Content-Type": "application/json"}
        self._client = traffic.http_client(bounds, self._url, times, headers)
        weakref.finalize(self, self._client.close)

    def ask(self, query: str, **variables: object) -> Answer:
        """Ask, once more where New Relic is throttled or unwell; raises as `asked_twice`."""

        def is_well(answer: Answer) -> bool:
            return not any(isinstance(f.error, Throttled | Unwell) for f in answer.failures)

        asked = partial(self._asked, query, variables)
        return traffic.asked_twice(SERVICE, asked, self._pause, is_well)

    def _asked(self, query: str, variables: Mapping[str, object]) -> Answer:
        with traffic.METER.request(SERVICE):
            response = self._exchange(json.dumps({"query": query, "variables": variables}))
            if response.status_code != httpx.codes.OK:
                raise self._refusal(response)
            return self._answer(response.content)

    def _exchange(self, content: str) -> httpx.Response:
        with self._gate:
            try:
                return self._client.post(self._url, content=content)
            except httpx.TimeoutException:
                raise TooSlow(
                    "New Relic did not answer in time: try again, or shorten the window"
                ) from None
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise Unwell(
                    f"New Relic cannot be reached ({type(error).__name__}): check the network and "
                    "NEW_RELIC_API_URL"
                ) from None

    def _refusal(self, response: httpx.Response) -> NightWatchError:
        status = response.status_code
        statuses = {status, min(status, 500)}  # 500 stands for what comes after it
        row = next((row for row in REFUSALS if statuses.intersection(row.statuses)), None)
        if row is None:
            body = traffic.words_of(response.content[:500].decode("utf-8", "replace"), self._key)
            return BadQuery(f"New Relic refuses a request of ours (HTTP {status}): {body}")
        wait = retry_after(response.headers.get("Retry-After", ""), time.time())
        if row.error == "Throttled" and wait is not None:
            return traffic.throttled(SERVICE, status, wait)
        return KINDS[row.error](f"{row.text} (HTTP {status})")

    def _answer(self, body: bytes) -> Answer:
        try:
            document = traffic.json_of(body)
        except ValueError:
            raise Unwell("New Relic's answer is cut off or no JSON: try again") from None
        if not isinstance(document, dict) or not isinstance(document.get("data", {}), dict | None):
            raise Unwell("New Relic's answer is not of GraphQL's shape: check NEW_RELIC_API_URL")
        data, failures = document.get("data"), []
        for item in listed(document.get("errors")):
            fields = item if isinstance(item, dict) else {}
            error = self._error(fields)
            if isinstance(error, BadKey):
                raise error
            path = () if data is None else tuple(map(str, listed(fields.get("path"))))
            failures.append(Failure(path, error))
        if data is None and not failures:
            raise Unwell("New Relic answered nothing: try again in some minutes")
        return Answer(data or {}, tuple(failures))

    def _error(self, fields: Mapping[str, Any]) -> NightWatchError:
        extensions = fields.get("extensions")
        codes = extensions if isinstance(extensions, dict) else {}
        message = traffic.words_of(str(fields.get("message") or ""), self._key)
        # A code says more than a message, which may quote anything.
        words = " ".join(str(codes[name]) for name in _CODES if codes.get(name)) or message
        row = next(row for row in REFUSALS if any(word in words.upper() for word in row.words))
        return KINDS[row.error](f"{row.text} ({message})" if message else row.text)


def address(url: str) -> str:
    """Return the address for a region's name or an address.

    Raises `StopTheNight` for anything else: the key is sent there, so it must be https, or this
    machine.
    """
    region = REGIONS.get(url.strip().upper() or "US")
    if region:
        return region
    if not traffic.is_private(url.strip()):
        names = ", ".join(REGIONS)
        raise StopTheNight(
            f"NEW_RELIC_REGION must be one of {names}, and NEW_RELIC_API_URL an https address"
        )
    return url.strip()


def listed(value: object) -> list[Any]:
    """Return a list; empty for anything else."""
    return value if isinstance(value, list) else []


def _too_large(_: str) -> TooSlow:
    return TooSlow("New Relic's answer is too large: shorten the window with --since")
