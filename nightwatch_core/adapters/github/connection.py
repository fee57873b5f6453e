"""The connection to GitHub: one HTTP client for all threads, guards around it, and repetition."""

import json
import re
import ssl
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from typing import Any, NamedTuple, TypeVar

import httpx
from githubkit import GitHub, Response
from githubkit.auth import BaseAuthStrategy
from githubkit.cache import MemCacheStrategy
from githubkit.exception import GitHubException
from githubkit.throttling import LocalThrottler
from githubkit.versions import RestVersionSwitcher

from nightwatch_core.adapters.github import limits
from nightwatch_core.adapters.github.errors import (
    SAFE,
    AnswerLost,
    Forbidden,
    Rejected,
    Unavailable,
    printable,
    translate,
    wrong_answer,
)
from nightwatch_core.adapters.github.etag_cache import AnswerStore, CachingClient
from nightwatch_core.adapters.github.limits import (
    ATTEMPTS,
    CONNECTING,
    DAY,
    LONGEST_WAIT,
    REQUESTS_TOGETHER,
    SECONDARY_WAIT,
    SILENCE,
)
from nightwatch_core.adapters.stores.bounded_answers import VALUES, Bounds, bounded, json_of
from nightwatch_core.adapters.stores.manifest import note
from nightwatch_core.adapters.stores.service_meter import PROCESS, ServiceMeter
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.text.retry_after import retry_after

Call = Callable[[RestVersionSwitcher], Response[Any, Any]]
Origin = tuple[str, str, int | None]
T = TypeVar("T")
SERVICE = "GitHub"
BOUNDS = Bounds(SERVICE, limits.ANSWER_BYTES, limits.ANSWER_SECONDS)
_CHANGES = re.compile(r"\b(?:mutation|subscription)\b")
EXPIRES = "github-authentication-token-expiration"  # a header


class Server(NamedTuple):
    """Which GitHub is asked, and how."""

    address: str
    api_version: str = ""  # empty: the newest that we know
    timeout: float = SILENCE
    read_only: bool = False
    pause: Callable[[float], None] = time.sleep  # waits that many seconds
    meter: ServiceMeter = PROCESS


class Connection(GitHub[BaseAuthStrategy]):
    """githubkit with one HTTP client for all threads, guards around it, and our repetition.

    githubkit's own repetition stays off: it knows only what fails before the answer is read, sends
    lost writes again, and sleeps as long as GitHub says.
    """

    def __init__(
        self, server: Server, auth: BaseAuthStrategy, answers: AnswerStore | None = None
    ) -> None:
        """Keep answers between nights in `answers`; without it nothing is kept."""
        super().__init__(
            auth,
            base_url=server.address,
            timeout=httpx.Timeout(server.timeout, connect=CONNECTING),
            ssl_verify=_certificates(),
            auto_retry=False,
            http_cache=False,
            cache_strategy=MemCacheStrategy(),  # of an App's signatures; else one for all Apps
            throttler=LocalThrottler(REQUESTS_TOGETHER),
            user_agent="nightwatch",
        )
        self._answers = answers
        self._server = server

    @contextmanager
    def get_sync_client(self) -> Iterator[httpx.Client]:
        """Yield the one client, which stays open."""
        yield self._client

    @cached_property
    def _client(self) -> httpx.Client:
        home = _origin(self.config.base_url)
        after = (_simplify_limits, _guard_redirect, bounded(BOUNDS), _read_whole)
        hooks = {
            "request": [partial(_guard_request, home, self._server), note(SERVICE)],
            "response": [partial(_note_expiry, self._server.meter), *after],
        }
        given = {**self._get_client_defaults(), "trust_env": home[0] == "https"}
        made = CachingClient(self._answers, **given, event_hooks=hooks)
        weakref.finalize(self, made.close)
        return made

    def ask(
        self, call: Call, *, harmless: bool = False, spare: bool = False
    ) -> tuple[httpx.Response, Any]:
        """Return the response and its JSON, None where it has no body.

        Reads are repeated where that can help, writes only if they are `harmless` when done twice.
        That something `spare` is forbidden is an answer, and no trouble of the service.
        """

        def once() -> tuple[httpx.Response, Any]:
            response = call(self.rest).raw_response
            return response, self._json(response)

        return self._repeat(once, harmless=harmless, spare=spare)

    def _json(self, response: httpx.Response) -> Any:
        try:
            return json_of(response.content) if response.content else None
        except ValueError:
            self.forget_answers()
            raise wrong_answer(response.request) from None

    def forget_answers(self) -> None:
        """Forget what was kept, where an answer was not what it should be."""
        if self._answers:
            self._answers.forget()

    def query(self, text: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of a GraphQL query, which like all reads is repeated.

        Raises `GiveUp` for a mutation, whatever the token may do.
        """

        def once() -> dict[str, Any]:
            try:
                return dict(self.graphql(text, dict(variables)) or {})
            except ValueError:
                raise wrong_answer(httpx.Request("GET", "https://github.com/graphql")) from None

        return self._repeat(once, harmless=True)

    def _repeat(self, ask: Callable[[], T], *, harmless: bool, spare: bool = False) -> T:
        refusals = (StopTheNight,) if spare else (StopTheNight, Forbidden)
        for attempt in range(ATTEMPTS):
            try:
                with self._server.meter.request(SERVICE, refusals):
                    return _translated(ask)
            except (Unavailable, AnswerLost) as error:
                is_last = attempt + 1 == ATTEMPTS
                if is_last or not (harmless or error.safe) or error.wait > LONGEST_WAIT:
                    raise
                self._server.meter.wait(SERVICE, error.wait)
                self._server.pause(error.wait)
        raise AssertionError("unreachable")


def _translated(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except GitHubException as error:
        raise translate(error) from None  # vendors' tracebacks may hold headers
    except ValueError as error:  # refused by githubkit's own check of what we send
        raise Rejected(f"GitHub would not understand this: {type(error).__name__}") from None


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes longer than asking GitHub: once is enough for all clients."""
    return httpx.create_ssl_context()


def _guard_request(home: Origin, server: Server, request: httpx.Request) -> None:
    """The token goes nowhere else, whatever a link or a redirect says."""
    if _origin(request.url) != home:
        host = printable(request.url.host)
        raise GiveUp(f"GitHub points to another machine, {host}: check GITHUB_API_URL")
    if (is_query := request.url.path.endswith("/graphql")) and _CHANGES.search(
        _query_text(request)
    ):
        raise GiveUp("a query to GitHub would change something: that is never asked")
    if server.read_only and request.method not in SAFE and not is_query:
        raise GiveUp("this sign-in to GitHub is for reading only")
    if server.api_version:
        request.headers["X-GitHub-Api-Version"] = server.api_version


def _query_text(request: httpx.Request) -> str:
    """The text of a GraphQL request; what is in its variables can change nothing."""
    try:
        asked = json.loads(request.content)
    except ValueError:
        return "mutation"
    return str(asked.get("query", "")) if isinstance(asked, dict) else "mutation"


def _guard_redirect(response: httpx.Response) -> None:
    """A redirected write would be sent again as a read."""
    moved = response.has_redirect_location and response.status_code not in (307, 308)
    if moved and response.request.method not in SAFE:
        raise Rejected("the repository has moved: set GITHUB_REPO to its new name", 301)


def _read_whole(response: httpx.Response) -> None:
    if response.read().count(b",") > VALUES:
        raise GiveUp("GitHub's answer holds too many values: check GITHUB_API_URL and the proxy")


def _note_expiry(meter: ServiceMeter, response: httpx.Response) -> None:
    """GitHub says with every answer when a token ends; nonsense is no date."""
    text = response.headers.get(EXPIRES, "").removesuffix(" UTC")
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return
    meter.expires(SERVICE, at if at.tzinfo else at.replace(tzinfo=UTC))


def _origin(url: httpx.URL) -> Origin:
    return url.scheme, url.host, url.port


def _simplify_limits(response: httpx.Response) -> None:
    """Make the headers about limits plain numbers: dates, nonsense and ages break githubkit."""
    headers = response.headers
    if "retry-after" in headers:
        headers["retry-after"] = str(_seconds(headers["retry-after"]))
    if not re.fullmatch(r"[0-9]{1,11}", headers.get("x-ratelimit-reset", "0")):
        del headers["x-ratelimit-reset"]


def _seconds(value: str) -> int:
    """Return the seconds to wait, at most a day.

    >>> _seconds("3"), _seconds("9" * 30), _seconds("soon")
    (3, 86400, 60)
    """
    asked = retry_after(value, time.time())
    return int(SECONDARY_WAIT if asked is None else min(asked, DAY))
