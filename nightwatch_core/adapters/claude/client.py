"""The client library's client: one key for one address, no retries of its own."""

import re
import ssl
from collections.abc import Callable
from functools import cache

import anthropic
import httpx2
from pydantic import SecretStr

from nightwatch_core.errors import StopTheNight

ADDRESS = "https://api.anthropic.com"
CONNECTING = 10.0  # seconds
SILENCE = 240.0  # seconds without a word; compiling a new schema may take 180
_KEY = re.compile(r"[!-~]+")  # what a header can hold, without spaces


def maker(
    api_key: SecretStr, address: str, silence: float
) -> Callable[[], anthropic.AsyncAnthropic]:
    """What makes clients for `address`; raises `StopTheNight` where the key cannot be one.

    `silence` is how many seconds the other end may say nothing.
    """
    if not _KEY.fullmatch(api_key.get_secret_value()):
        raise StopTheNight("ANTHROPIC_API_KEY is empty or holds what no key does: copy it anew")

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
                follow_redirects=False, verify=_trusted()
            ),
        )

    return made


def address(base_url: str) -> str:
    """The address as the client library wants it: without the version at its end.

    >>> address(" http://localhost:11434/v1/ "), address("")
    ('http://localhost:11434', 'https://api.anthropic.com')
    """
    wanted = base_url.strip().rstrip("/").removesuffix("/v1") or ADDRESS
    try:
        url = httpx2.URL(wanted)
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("https", "http") or not url.host or url.userinfo:
        raise StopTheNight("ANTHROPIC_BASE_URL has to be like https://host or http://host:port")
    return wanted


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates count; reading them takes longer than the rest of a client."""
    return httpx2.create_ssl_context()
