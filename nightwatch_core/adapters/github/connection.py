"""The connection to GitHub: one HTTP client for all threads, guards around it, and repetition.

Requests are githubkit's typed methods (`rest.issues.create`) and its `rest.paginate`, all of which
come through `Connection.request`. Not all of githubkit is used, for these reasons:

* `parsed_data`: 9 of 39 example bodies of GitHub's own documentation are refused by it, so answers
  are read into narrow rows of ours.
* `auto_retry`: it repeats writes after a 5xx, knows only what fails before an answer is read, and
  sleeps as long as GitHub says.
* `rest_api_validate_body`: it raises outside of `request`, as no error of ours; mypy checks bodies.
* `http_cache`: what is read at a commit never changes, and is kept by the code cache.
* `actions.download_job_logs_for_workflow_run`: it follows a redirect to another machine; logs are
  fetched from there without our token.

The typed methods cost 0.2 s of CPU, all at their first use together, and quote no names in paths:
callers quote the names of branches and labels.
"""

import json
import re
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

import httpx
from githubkit import GitHub
from githubkit import exception as githubkit_errors
from githubkit.auth import BaseAuthStrategy
from githubkit.cache import MemCacheStrategy
from githubkit.response import Response
from githubkit.throttling import LocalThrottler
from githubkit.typing import URLTypes

from nightwatch_core.adapters.hosts import writes
from nightwatch_core.adapters.stores import traffic
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.text.plain_text import retry_after, text_table

# Times are in seconds.
SILENCE = 30.0  # how long GitHub may say nothing
CONNECTING = 10.0
SECONDARY_WAIT = 60.0  # as GitHub's documentation asks where it names none
DAY = 86_400
ATTEMPTS = 2  # a lost read is asked for once more; steps are tried again by their callers
REQUESTS_TOGETHER = 5
REASON_CHARACTERS = 300  # of GitHub's words

SERVICE = "GitHub"
BOUNDS = traffic.Bounds(SERVICE, 32 * 1024 * 1024, seconds=120.0)
API_VERSION = "2026-03-10"
SAFE = ("GET", "HEAD")
ADVICE = text_table("nightwatch_core.adapters.github", "advice.toml")
EXPIRES = "github-authentication-token-expiration"  # a header
_SECONDARY = re.compile(r"secondary rate|abuse detection", re.IGNORECASE)
_OVERLOADED = re.compile(r"something went wrong while executing|timeout|timedout", re.IGNORECASE)
_LATER = "the next night tries again; see https://www.githubstatus.com"
_MAY_LACK = re.compile(r"/repos/[^/]+/[^/]+/(?:commits/[0-9a-f]+/(?:check-runs|status)|actions/.*)")
"""Paths that a sign-in may be refused without trouble: checks are read where it has the right."""
_CHANGES = re.compile(r"\b(?:mutation|subscription)\b")
Origin = tuple[str, str, int | None]
T = TypeVar("T")

# What GitHub's refusals and silences mean, and what to do about each.


class BadCredentials(StopTheNight):
    """GitHub does not accept the token."""

    def __init__(self, reason: str) -> None:
        """`reason` is what GitHub wrote."""
        super().__init__(f"GitHub does not accept the token ({reason}): {advice('401')}")
        self.reason = reason


def advice(reason: str, otherwise: str = "run `nightwatch check`") -> str:
    """Return what helps against a refusal, given as its HTTP status and GitHub's words."""
    matching = (do for words, do in ADVICE.items() if re.search(words, reason, re.IGNORECASE))
    return next(matching, otherwise)


def printable(text: str) -> str:
    """Make somebody else's words one printable line of at most 300 characters."""
    return "".join(c if c.isprintable() else " " for c in text[:REASON_CHARACTERS]).strip()


def unclear(method: str, message: str) -> TryLater:
    """Return the error for an answer that did not come: a read may be asked again."""
    if method in SAFE:
        return writes.Unavailable(message)
    return writes.AnswerLost(
        f"{message}. It may have been done anyway: the next night checks before it tries again"
    )


def _translated(error: Exception) -> NightWatchError:
    """Return the error of ours for one of githubkit, whose tracebacks may hold headers."""
    if isinstance(error, githubkit_errors.RequestFailed):
        return _refusal(error)
    if isinstance(error, githubkit_errors.GraphQLFailed):
        reason = printable("; ".join(str(item.message) for item in error.response.errors or ()))
        if _OVERLOADED.search(reason):
            return writes.Unavailable(f"GitHub could not answer a query ({reason}): {_LATER}")
        return writes.Rejected(f"GitHub refused a query: {reason}: {advice(reason)}", reason=reason)
    cause = error.exc if isinstance(error, githubkit_errors.RequestError) else error
    if isinstance(cause, NightWatchError):  # raised by a guard of ours inside the client
        return cause
    kind = type(cause).__name__
    if isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        todo = advice("untrusted" if "CERTIFICATE_VERIFY_FAILED" in str(cause) else "unreachable")
        is_safe = cause.request.method in SAFE
        return writes.Unavailable(f"GitHub cannot be reached ({kind}): {todo}", safe=is_safe)
    if isinstance(cause, httpx.RequestError):
        return unclear(cause.request.method, f"GitHub did not answer ({kind}): {_LATER}")
    return GiveUp(f"GitHub cannot be asked ({kind}): check GITHUB_TOKEN and GITHUB_API_URL")


def _refusal(error: githubkit_errors.RequestFailed) -> NightWatchError:
    response, request = error.response.raw_response, error.request
    status, name, reason = response.status_code, _name(request), _reason(response)
    wait = SECONDARY_WAIT if status == 429 or _SECONDARY.search(reason) else None
    if isinstance(error, githubkit_errors.RateLimitExceeded):
        wait = error.retry_after.total_seconds()
    if wait is not None:
        message = f"GitHub asks to wait {wait:.0f} s ({reason}): {advice('429')}"
        return writes.Unavailable(message, wait, safe=request.method in SAFE)
    if status in (408, 425) or status >= 500:
        return unclear(request.method, f"GitHub answered {status} to {name}: {_LATER}")
    if status == 401:
        return BadCredentials(reason)
    if status == 403:
        message = f"GitHub refused {name}: {_missing_permission(response.headers, reason)}"
        return writes.Forbidden(message, status, reason)
    todo = advice(f"{status} {reason}")
    return writes.Rejected(f"GitHub refused {name} with {status}: {reason}: {todo}", status, reason)


def _name(request: httpx.Request) -> str:
    return printable(f"{request.method} {request.url.path}")


def _missing_permission(headers: httpx.Headers, reason: str) -> str:
    is_sso = headers.get("x-github-sso", "").startswith("required")
    if todo := advice("single sign-on" if is_sso else reason, ""):
        return f"{todo} ({reason})"
    lacks = "a permission"
    if permissions := headers.get("x-accepted-github-permissions"):
        lacks = f"the permission {printable(permissions).replace('; ', ' or ')}"
    elif scopes := headers.get("x-accepted-oauth-scopes"):
        lacks = f"one of the scopes {printable(scopes)}"
    return f"the token lacks {lacks} ({reason}): grant it in the settings of the token or App"


def _reason(response: httpx.Response) -> str:
    try:
        body = traffic.json_of(response.content)
    except ValueError:
        body = None
    answer = body if isinstance(body, dict) else {}
    errors, words = answer.get("errors"), [answer.get("message")]
    for error in errors[:5] if isinstance(errors, list) else ():
        parts = error if isinstance(error, dict) else {"message": error}
        words.append(parts.get("message") or f"{parts.get('field', '')} {parts.get('code', '')}")
    reason = printable("; ".join(str(word) for word in words if word))
    return reason or f"status {response.status_code}"


class Server(NamedTuple):
    """A GitHub server, and how to ask it."""

    address: str
    api_version: str = ""  # empty: ours
    timeout: float = SILENCE
    read_only: bool = False
    pause: Callable[[float], None] = time.sleep  # waits that many seconds
    harmless: bool = False  # whether its writes may be made twice


class Answer(Response[Any, Any]):
    """A response, and its JSON, which is None for an empty body."""

    def __init__(self, response: httpx.Response) -> None:
        """Read the JSON within our limits; raises `ValueError` where the body is none."""
        super().__init__(response, object)
        self._json = traffic.json_of(response.content) if response.content else None

    def json(self, **_: Any) -> Any:
        return self._json


class Connection(GitHub[BaseAuthStrategy]):
    """githubkit with one HTTP client for all threads, guards around it, and our repetition."""

    def __init__(self, server: Server, auth: BaseAuthStrategy) -> None:
        super().__init__(
            auth,
            base_url=server.address,
            timeout=httpx.Timeout(server.timeout, connect=CONNECTING),
            ssl_verify=traffic.certificates(),
            auto_retry=False,
            http_cache=False,
            cache_strategy=MemCacheStrategy(),  # of an App's signatures; else one for all Apps
            throttler=LocalThrottler(REQUESTS_TOGETHER),
            user_agent="nightwatch",
            rest_api_validate_body=False,
        )
        self._server = server

    @contextmanager
    def get_sync_client(self) -> Iterator[httpx.Client]:
        """Yield the one client, which stays open."""
        yield self._client

    @cached_property
    def _client(self) -> httpx.Client:
        home = origin(self.config.base_url)
        hooks: dict[str, list[Callable[..., Any]]] = {
            "request": [partial(_guard_request, home, self._server), traffic.note(SERVICE)],
            "response": [_read_headers, traffic.bounded(BOUNDS), _read_whole],
        }
        settings = {**self._get_client_defaults(), "trust_env": home[0] == "https"}
        client = httpx.Client(**settings, event_hooks=hooks)
        weakref.finalize(self, client.close)
        return client

    def request(self, method: str, url: URLTypes, **given: Any) -> Any:
        """Return an `Answer`; githubkit's typed methods and its pages all ask through here.

        Reads are repeated where that can help, writes only where the server's are harmless twice.
        A page of a list is repeated here, as the paginator goes on to the next one after a failure.
        """
        ask = partial(super().request, method, url, **given)
        if _is_query(method, str(url)):
            return ask()  # `query` repeats it, since a refused query is answered with 200, too

        def once() -> Answer:
            response = ask().raw_response
            try:
                return Answer(response)
            except ValueError:
                raise unclear(method, _no_json(_name(response.request))) from None

        may_lack = bool(_MAY_LACK.fullmatch(str(url)))
        return self._repeat(once, harmless=self._server.harmless, spare=may_lack)

    def query(self, text: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of a GraphQL query, repeated as reads are; `GiveUp` for a mutation."""

        def once() -> dict[str, Any]:
            try:
                return dict(self.graphql(text, dict(variables)) or {})
            except ValueError:
                raise writes.Unavailable(_no_json("a query")) from None

        return self._repeat(once, harmless=True)

    def _repeat(self, ask: Callable[[], T], *, harmless: bool, spare: bool = False) -> T:
        refusals = (StopTheNight,) if spare else (StopTheNight, writes.Forbidden)
        for attempt in range(ATTEMPTS):
            try:
                with traffic.METER.request(SERVICE, refusals):
                    return _asked(ask)
            except (writes.Unavailable, writes.AnswerLost) as error:
                is_last = attempt + 1 == ATTEMPTS
                if is_last or not (harmless or error.safe) or error.wait > writes.LONGEST_WAIT:
                    raise
                traffic.METER.wait(SERVICE, error.wait)
                self._server.pause(error.wait)
        raise AssertionError("unreachable")


def _asked(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except githubkit_errors.GitHubException as error:
        raise _translated(error) from None
    except ValueError as error:  # refused by githubkit's own check of what we send
        kind = type(error).__name__
        raise writes.Rejected(f"GitHub cannot accept this request: {kind}") from None


def _no_json(name: str) -> str:
    return (
        f"GitHub answered no JSON to {name}: check GITHUB_API_URL (an Enterprise server's ends in "
        "/api/v3) and the proxy"
    )


def _guard_request(home: Origin, server: Server, request: httpx.Request) -> None:
    if origin(request.url) != home:
        host = printable(request.url.host)
        raise GiveUp(f"GitHub points to another machine, {host}: check GITHUB_API_URL")
    is_query = _is_query(request.method, request.url.path)
    if is_query and _CHANGES.search(json.loads(request.content)["query"]):
        raise GiveUp("only read queries are sent to GitHub")
    if server.read_only and request.method not in SAFE and not is_query:
        raise GiveUp("this sign-in to GitHub is for reading only")
    request.headers["X-GitHub-Api-Version"] = server.api_version or API_VERSION


def _is_query(method: str, path: str) -> bool:
    return method == "POST" and path.endswith("/graphql")


def _read_headers(response: httpx.Response) -> None:
    """Note when the token ends; refuse redirects of writes, which would become reads."""
    headers = response.headers
    try:
        ends = datetime.fromisoformat(headers.get(EXPIRES, "").removesuffix(" UTC"))
        traffic.METER.expires(SERVICE, ends if ends.tzinfo else ends.replace(tzinfo=UTC))
    except ValueError:
        pass  # the header is not there
    if "retry-after" in headers:  # githubkit reads whole numbers only
        wait = retry_after(headers["retry-after"], time.time())
        headers["retry-after"] = str(int(SECONDARY_WAIT if wait is None else min(wait, DAY)))
    moved = response.has_redirect_location and response.status_code not in (307, 308)
    if moved and response.request.method not in SAFE:
        raise writes.Rejected("the repository has moved: set GITHUB_REPO to its new name", 301)


def _read_whole(response: httpx.Response) -> None:
    """Refuse an answer that githubkit's own JSON reader would take too much memory for."""
    if response.read().count(b",") > traffic.VALUES:
        raise GiveUp("GitHub's answer holds too many values: check GITHUB_API_URL and the proxy")


def origin(url: httpx.URL) -> Origin:
    """Return scheme, host and port."""
    return url.scheme, url.host, url.port
