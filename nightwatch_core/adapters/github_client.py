"""GitHub's REST and GraphQL interfaces: our own timeouts, retries, cache and errors."""

import ssl
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property, partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx
from githubkit import GitHub, Response, TokenAuthStrategy
from githubkit.exception import GitHubException, GraphQLFailed
from githubkit.throttling import LocalThrottler
from githubkit.versions import RestVersionSwitcher

from nightwatch_core.adapters.github_cache import Answers, CachingClient
from nightwatch_core.adapters.github_errors import (
    SAFE,
    Lost,
    Rejected,
    Unwell,
    answered_wrongly,
    plain,
    plain_limits,
    translated,
)
from nightwatch_core.errors import GiveUp, StopTheNight

ADDRESS = "https://api.github.com"
LONGEST_WAIT = 120.0  # seconds; who asks for more is asked another night
MOST_PAGES = 100
LARGEST_ANSWER = 64 * 1024 * 1024  # bytes
_TIMEOUT, _CONNECT = 30.0, 10.0  # seconds
_ATTEMPTS = 3
_TOGETHER = 5  # requests at once
Call = Callable[[RestVersionSwitcher], Response[Any, Any]]


class GitHubClient:
    """Asks GitHub with one token; safe for many threads.

    Reads are repeated where that can help, writes never are: `Lost` says that one may have been
    done. Every method raises `TryLater`, `GiveUp` or `StopTheNight`.
    """

    def __init__(
        self,
        token: str,
        address: str = ADDRESS,
        answers: Path | None = None,
        api_version: str = "",
        pause: Callable[[float], None] = time.sleep,
        timeout: float = _TIMEOUT,
    ) -> None:
        """`address` is GITHUB_API_URL, `answers` a folder to keep some in, `pause` waits
        that long, `timeout` is how many seconds GitHub may be silent.

        `api_version` is for Enterprise servers that know an older one only. Raises `StopTheNight`
        where there is no token, or the address is none that a token may be sent to.
        """
        if not token.strip():
            raise StopTheNight("there is no GitHub token: set GITHUB_TOKEN")
        self.address = checked_address(address)
        self.pause = pause
        kept = Answers(answers, token) if answers else None
        self._github = _KeptAlive(token.strip(), self.address, kept, api_version, timeout)

    def ask(self, call: Call) -> Any:
        """The JSON that `call` is answered with; None where the answer has no body."""
        return self._answered(call)[1]

    def pages(self, call: Call) -> Iterator[dict[str, Any]]:
        """The rows of a list, page after page; `call` asks for the first one."""
        for _ in range(MOST_PAGES):
            response, rows = self._answered(call)
            if not isinstance(rows, list):
                raise GiveUp("GitHub answered no list where one is documented")
            yield from (row for row in rows if isinstance(row, dict))
            following = response.raw_response.links.get("next", {}).get("url")
            if not following:
                return
            call = self._page(following)
        raise GiveUp(f"GitHub's list has more than {MOST_PAGES} pages")

    def graph(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The data of a GraphQL query, which like all reads is repeated; never for mutations."""
        for attempt in range(_ATTEMPTS):
            try:
                return dict(self._github.graphql(query, dict(variables)) or {})
            except GraphQLFailed as error:
                told = "; ".join(str(one.message) for one in error.response.errors or ())
                raise Rejected(
                    f"GitHub refused the query: {plain(told)}", said=plain(told)
                ) from None
            except GitHubException as error:
                trouble = translated(error)
            except ValueError:
                trouble = Unwell("GitHub answered no JSON to a query", 2.0, safe=True)
            wait = trouble.wait if isinstance(trouble, Unwell) else 2.0
            again = isinstance(trouble, Unwell | Lost) and wait <= LONGEST_WAIT
            if not again or attempt + 1 == _ATTEMPTS:
                raise trouble
            self.pause(wait)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close the connections."""
        self._github.close()

    def _answered(self, call: Call) -> tuple[Response[Any, Any], Any]:
        for attempt in range(_ATTEMPTS):
            try:
                return self._asked_once(call)
            except Unwell as trouble:
                last = attempt + 1 == _ATTEMPTS
                if last or not trouble.safe or trouble.wait > LONGEST_WAIT:
                    raise
                self.pause(min(trouble.wait * (attempt + 1), LONGEST_WAIT))
        raise AssertionError("unreachable")

    def _asked_once(self, call: Call) -> tuple[Response[Any, Any], Any]:
        try:
            response = call(self._github.rest)
        except GitHubException as error:
            raise translated(error) from None  # vendors' tracebacks may hold headers
        except ValueError as error:  # refused by githubkit's own check of what we send
            raise Rejected(f"GitHub would not understand this: {type(error).__name__}") from None
        raw = response.raw_response
        if not raw.content:
            return response, None
        try:
            return response, response.json()
        except ValueError:
            raise answered_wrongly(raw.request, "no JSON") from None

    def _page(self, address: str) -> Call:
        return lambda _: self._github.request("GET", address)


class _KeptAlive(GitHub[TokenAuthStrategy]):
    """githubkit with one HTTP client for all threads, and guards around it."""

    def __init__(
        self, token: str, address: str, answers: Answers | None, version: str, timeout: float
    ) -> None:
        super().__init__(
            TokenAuthStrategy(token),
            base_url=address,
            timeout=httpx.Timeout(timeout, connect=_CONNECT),
            ssl_verify=_certificates(),
            auto_retry=False,
            http_cache=False,
            throttler=LocalThrottler(_TOGETHER),
            user_agent="nightwatch",
        )
        self._answers = answers
        self._version = version

    @contextmanager
    def get_sync_client(self) -> Iterator[httpx.Client]:
        yield self._client

    @cached_property
    def _client(self) -> httpx.Client:
        hooks = {
            "request": [partial(_guard, _origin(self.config.base_url), self._version)],
            "response": [plain_limits, _guard_redirect, _guard_size],
        }
        client = CachingClient(self._answers, **self._get_client_defaults(), event_hooks=hooks)
        weakref.finalize(self, client.close)
        return client

    def close(self) -> None:
        self._client.close()


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes longer than asking GitHub: once is enough for all clients."""
    return httpx.create_ssl_context()


Origin = tuple[str, str, int | None]


def _guard(home: Origin, version: str, request: httpx.Request) -> None:
    """The token goes nowhere else, whatever a link or a redirect says."""
    if _origin(request.url) != home:
        raise GiveUp(f"GitHub points to another machine: {plain(request.url.host)}")
    if version:
        request.headers["X-GitHub-Api-Version"] = version


def _guard_redirect(response: httpx.Response) -> None:
    """A redirected write would be sent again as a read."""
    moved = response.has_redirect_location and response.status_code not in (307, 308)
    if moved and response.request.method not in SAFE:
        raise Rejected("the repository has moved: set GITHUB_REPO to its new name", 301)


def _guard_size(response: httpx.Response) -> None:
    size = response.headers.get("content-length", "")
    if size.isdigit() and int(size) > LARGEST_ANSWER:
        raise GiveUp(f"GitHub's answer has {size[:20]} bytes, more than {LARGEST_ANSWER}")


def _origin(url: httpx.URL) -> Origin:
    return url.scheme, url.host, url.port


def checked_address(address: str) -> str:
    """The address, where a token may be sent to it.

    >>> checked_address("https://ghe.example/api/v3/")
    'https://ghe.example/api/v3'
    """
    try:
        url = httpx.URL(address.strip())
    except (httpx.InvalidURL, ValueError):
        url = httpx.URL("")
    if url.userinfo or url.query or url.fragment or not url.host:
        raise StopTheNight("GITHUB_API_URL is no plain address: set it to https://host/api/v3")
    if url.scheme != "https" and not (url.scheme == "http" and is_loopback(url.host)):
        raise StopTheNight("GITHUB_API_URL would send the token in the clear: use https")
    return str(url).rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether the host is this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("github.com")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
