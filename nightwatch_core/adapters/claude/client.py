"""The client library's client, and what it raises by what to do about it.

Errors are classified by status, type and code. The service's words are shown and never relied upon,
except for two errors that may have no code of their own: a prompt too long, and no credit left.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from math import inf
from typing import Any

import anthropic
import httpx2
from pydantic import SecretStr

from nightwatch_core.adapters.claude.features import PRICES
from nightwatch_core.adapters.stores import traffic
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import retry_after

# Times are in seconds.
CONNECTING = 10.0
SILENCE = 240.0  # without a word; compiling a new schema may take 180
ASKING = 30.0  # for what the model can do
ANSWER_BYTES = 16 * 1024 * 1024  # unpacked; 64,000 tokens, streamed one by one, take 9
ANSWER_SECONDS = 1_800.0
LONGEST_WORDS = 300  # characters of the service's words
COLLECTING = 1_800.0  # seconds for all of its results to be read once
RESULT_BYTES = 200 * 1024 * 1024  # of a batch

ADDRESS = "https://api.anthropic.com"
SERVICE = "Claude"
_HEADER = re.compile(r"[!-~]+")  # what a header can hold, without spaces
BROKEN = (httpx2.TransportError, httpx2.StreamError, httpx2.DecodingError)
# What the client library raises where a stream's events are not what they should be.
DAMAGED = (ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError)
_ERRORS: Mapping[str, type[NightWatchError]] = {
    kind.__name__: kind for kind in (StopTheNight, TryLater, GiveUp)
}
_BY_TYPE = {row.kind: row for row in traffic.refusals("nightwatch_core.adapters.claude")}
_UNPAID = _BY_TYPE["billing_error"]


class TooLong(GiveUp):
    """The conversation does not fit the model; the adapter makes an ending of it."""


def client_maker(
    api_key: SecretStr, address: str, silence: float
) -> Callable[[], anthropic.AsyncAnthropic]:
    """Return the client factory for `address`; raises `StopTheNight` for an invalid key.

    `silence` is how many seconds the other end may say nothing.
    """
    if not _HEADER.fullmatch(api_key.get_secret_value()):
        raise StopTheNight("ANTHROPIC_API_KEY is empty or has invalid characters: copy it again")

    def made() -> anthropic.AsyncAnthropic:
        key = api_key.get_secret_value()
        return anthropic.AsyncAnthropic(
            api_key=key,
            base_url=address,
            max_retries=0,
            timeout=httpx2.Timeout(silence, connect=CONNECTING),
            default_headers={"x-api-key": key} if address != ADDRESS else {},
            # The key goes to the address it was given for and nowhere else.
            http_client=anthropic.DefaultAsyncHttpxClient(
                follow_redirects=False,
                mounts={"http://": None},  # by no proxy, which would read along
                verify=traffic.certificates(),
                event_hooks={"request": [_note], "response": [_bounded]},
            ),
        )

    return made


def address(base_url: str) -> str:
    """Return the address without the version at its end.

    >>> address(" http://localhost:11434/v1/ "), address("")
    ('http://localhost:11434', 'https://api.anthropic.com')
    """
    given = base_url.strip().rstrip("/").removesuffix("/v1") or ADDRESS
    try:
        url = httpx2.URL(given)
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("https", "http") or not url.host or url.userinfo:
        raise StopTheNight("ANTHROPIC_BASE_URL has to be like https://host or http://host:port")
    return given


def translated(problem: Exception, secret: str = "") -> NightWatchError:
    """Return the exception for a failure of the client library; `secret` is left out."""
    if isinstance(problem, anthropic.APIStatusError):
        return _answered(problem, secret)
    name = line(type(problem).__name__, 80)
    if isinstance(problem, anthropic.APITimeoutError | httpx2.TimeoutException | TimeoutError):
        return TryLater("Claude did not answer in time: try again later")
    if isinstance(problem, anthropic.APIConnectionError):
        cause = line(str(problem.__cause__ or ""), 120) or name
        return TryLater(f"Claude cannot be reached ({_shown(cause, secret)}): try again later")
    if isinstance(problem, BROKEN):
        return TryLater(f"Claude's answer was cut off ({name}): try again later")
    return TryLater(f"Claude's answer cannot be read ({name}): try again later")


def asked_wait(problem: Exception, now: float) -> float | None:
    """Return the seconds the service asks to wait; None where it does not say."""
    if not isinstance(problem, anthropic.APIStatusError):
        return None
    headers = problem.response.headers
    if headers.get("x-should-retry") == "false":
        return inf
    exact = retry_after(headers.get("retry-after-ms", ""), now)
    return retry_after(headers.get("retry-after", ""), now) if exact is None else exact / 1_000


def _answered(problem: anthropic.APIStatusError, secret: str) -> NightWatchError:
    words = _shown(problem.api_message or "", secret) or "no reason given"
    if problem.error_code in _UNPAID.words:
        return StopTheNight(f"Claude: {words}: {_UNPAID.text}")
    if 300 <= problem.status_code < 400:
        return TryLater(
            "Claude's address redirects: try again later; if it persists, "
            "correct ANTHROPIC_BASE_URL"
        )
    kind = _kind(problem)
    if kind == "request_too_large" or _says(problem, kind, "prompt is too long"):
        return TooLong(words)
    if _says(problem, kind, "credit balance is too low"):
        kind = "billing_error"
    row = _BY_TYPE[kind]
    status = "in mid-answer" if problem.status_code == 200 else str(problem.status_code)
    known = f"; known are {', '.join(PRICES)}" if kind == "not_found_error" else ""
    return _ERRORS[row.error](f"Claude answered {status}, {kind}: {words}: {row.text}{known}")


def _kind(problem: anthropic.APIStatusError) -> str:
    if problem.type in _BY_TYPE:
        return str(problem.type)
    server = problem.status_code >= 500 or problem.status_code == 200
    other = "api_error" if server else "invalid_request_error"
    return next((k for k, r in _BY_TYPE.items() if problem.status_code in r.statuses), other)


def _says(problem: anthropic.APIStatusError, kind: str, words: str) -> bool:
    return kind == "invalid_request_error" and words in (problem.api_message or "").lower()


def _shown(text: str, secret: str) -> str:
    hidden = text.replace(secret, "…") if secret else text
    return line(hidden, LONGEST_WORDS)


async def _note(request: httpx2.Request) -> None:
    body = await request.aread()
    traffic.MANIFEST.sent(SERVICE, request.method, str(request.url), body)


async def _bounded(response: httpx2.Response) -> None:
    is_results = response.is_success and response.request.url.path.endswith("/results")
    limits = (RESULT_BYTES, COLLECTING) if is_results else (ANSWER_BYTES, ANSWER_SECONDS)
    bounds = traffic.Bounds(SERVICE, *limits)
    packed = traffic.how_packed(response.headers, bounds)
    pieces = traffic.Pieces(bounds, packed, httpx2.RemoteProtocolError)
    response.stream = _Async(response.stream, pieces)


class _Async(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, pieces: traffic.Pieces) -> None:
        self._stream, self._pieces = stream, pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            for piece in self._pieces.of(chunk):
                yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
