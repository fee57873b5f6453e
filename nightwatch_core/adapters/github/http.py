"""The connection to GitHub: one HTTP client for all threads, guards around it, and repetition."""

import re
import ssl
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial
from ipaddress import ip_address
from typing import Any, NamedTuple

import httpx
from githubkit import GitHub, Response
from githubkit.auth import BaseAuthStrategy
from githubkit.exception import GitHubException
from githubkit.throttling import LocalThrottler
from githubkit.versions import RestVersionSwitcher

from nightwatch_core.adapters.github.errors import (
    SAFE,
    SOON,
    Lost,
    Rejected,
    Unwell,
    answered_wrongly,
    plain,
    plain_limits,
    translated,
)
from nightwatch_core.adapters.github.etag_cache import Answers, CachingClient
from nightwatch_core.errors import GiveUp, StopTheNight

ATTEMPTS = 2  # a lost read is asked for once more; steps are tried again by who runs them
LONGEST_WAIT = 120.0  # seconds; who asks for more is asked another night
LARGEST_ANSWER = 64 * 1024 * 1024  # bytes
TIMEOUT = 30.0  # seconds
_CONNECT = 10.0
_TOGETHER = 5  # requests at once
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}")
Call = Callable[[RestVersionSwitcher], Response[Any, Any]]


class Server(NamedTuple):
    """Which GitHub is asked, and how."""

    address: str
    api_version: str = ""  # empty: the newest that we know
    timeout: float = TIMEOUT  # seconds it may be silent
    read_only: bool = False


class _Given(BaseAuthStrategy):
    """Authentication that is httpx's own."""

    def __init__(self, auth: httpx.Auth) -> None:
        self._auth = auth

    def get_auth_flow(self, github: object) -> httpx.Auth:
        return self._auth


class Connection(GitHub[_Given]):
    """githubkit with one HTTP client for all threads, and guards around it."""

    def __init__(self, server: Server, auth: httpx.Auth, answers: Answers | None = None) -> None:
        """`answers` are kept between nights; without them nothing is."""
        super().__init__(
            _Given(auth),
            base_url=server.address,
            timeout=httpx.Timeout(server.timeout, connect=_CONNECT),
            ssl_verify=_certificates(),
            auto_retry=False,
            http_cache=False,
            throttler=LocalThrottler(_TOGETHER),
            user_agent="nightwatch",
        )
        self._answers = answers
        self._server = server

    @contextmanager
    def get_sync_client(self) -> Iterator[httpx.Client]:
        """The one client, which stays open."""
        yield self._client

    @cached_property
    def _client(self) -> httpx.Client:
        hooks = {
            "request": [partial(_guard, _origin(self.config.base_url), self._server)],
            "response": [plain_limits, _guard_redirect, _guard_size],
        }
        client = CachingClient(self._answers, **self._get_client_defaults(), event_hooks=hooks)
        weakref.finalize(self, client.close)
        return client

    def close(self) -> None:
        """Close it."""
        self._client.close()


class Asking:
    """Asks and asks again: reads where that can help, writes never unless that does no harm."""

    def __init__(self, connection: Connection, pause: Callable[[float], None]) -> None:
        """`pause` waits that many seconds."""
        self._connection = connection
        self._pause = pause

    def answered(self, call: Call, *, harmless: bool = False) -> tuple[Response[Any, Any], Any]:
        """The response and its JSON; `harmless` is whether the call may be made twice anyway."""
        for attempt in range(ATTEMPTS):
            try:
                return self._asked_once(call)
            except (Unwell, Lost) as trouble:
                wait = trouble.wait if isinstance(trouble, Unwell) else SOON
                safe = harmless or (isinstance(trouble, Unwell) and trouble.safe)
                if attempt + 1 == ATTEMPTS or not safe or wait > LONGEST_WAIT:
                    raise
                self._pause(wait)
        raise AssertionError("unreachable")

    def _asked_once(self, call: Call) -> tuple[Response[Any, Any], Any]:
        try:
            response = call(self._connection.rest)
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


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes longer than asking GitHub: once is enough for all clients."""
    return httpx.create_ssl_context()


Origin = tuple[str, str, int | None]


def _guard(home: Origin, server: Server, request: httpx.Request) -> None:
    """The token goes nowhere else, whatever a link or a redirect says."""
    if _origin(request.url) != home:
        host = plain(request.url.host)
        raise GiveUp(f"GitHub points to another machine, {host}: check GITHUB_API_URL")
    writes = request.method not in SAFE and not request.url.path.endswith("/graphql")
    if server.read_only and writes:
        raise GiveUp("this sign-in to GitHub is for reading only")
    if server.api_version:
        request.headers["X-GitHub-Api-Version"] = server.api_version


def _guard_redirect(response: httpx.Response) -> None:
    """A redirected write would be sent again as a read."""
    moved = response.has_redirect_location and response.status_code not in (307, 308)
    if moved and response.request.method not in SAFE:
        raise Rejected("the repository has moved: set GITHUB_REPO to its new name", 301)


def _guard_size(response: httpx.Response) -> None:
    size = response.headers.get("content-length", "")
    if size.isdigit() and int(size) > LARGEST_ANSWER:
        raise GiveUp(f"GitHub's answer has {size[:20]} bytes: over {LARGEST_ANSWER} are not read")


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
    if url.host in ("github.com", "www.github.com"):
        raise StopTheNight(
            "GITHUB_API_URL is the web site's: leave it out, or set it to a server's"
        )
    return str(url).rstrip("/")


def checked_version(version: str) -> str:
    """The version of the API, where it can be one.

    >>> checked_version(" 2022-11-28 ")
    '2022-11-28'
    """
    said = version.strip()
    if said and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", said):
        raise StopTheNight("GITHUB_API_VERSION is no date: set it to one like 2022-11-28")
    return said


def owner_and_name(repository: str) -> tuple[str, str]:
    """The two parts of a repository's name; raises `StopTheNight` where it has not two.

    >>> owner_and_name("acme/shop")
    ('acme', 'shop')
    """
    if not _REPOSITORY.fullmatch(repository) or repository.endswith(("/.", "/..", ".git")):
        raise StopTheNight(f"{repository[:80]!a} is no repository: set GITHUB_REPO to owner/name")
    owner, _, name = repository.partition("/")
    return owner, name


def is_loopback(host: str) -> bool:
    """Whether the host is this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("github.com")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
