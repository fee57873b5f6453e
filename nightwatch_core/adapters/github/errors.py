"""What GitHub's refusals and silences mean, and what to do about each."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
from githubkit.exception import GitHubException, RateLimitExceeded, RequestError, RequestFailed

from nightwatch_core.adapters.github.advice import LONGEST_SAID, advice
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater

SAFE = ("GET", "HEAD")
_SECONDARY = re.compile(r"secondary rate|abuse detection", re.IGNORECASE)
_SECONDARY_WAIT = 60.0  # seconds, as GitHub's documentation asks where it names none
_OVERLOADED = re.compile(r"something went wrong while executing|timeout|timedout", re.IGNORECASE)
SOON = 0.5  # seconds until the same is asked again, where GitHub names no time
_SLOWER = "run again after that; where it happens often, give NightWatch a token or App of its own"
_LATER = (
    "the next night tries again; https://www.githubstatus.com says whether github.com is unwell"
)
_DAY = 86_400


class Unwell(TryLater):
    """Nothing was done: the request was refused for now, or never arrived."""

    def __init__(self, message: str, wait: float, *, safe: bool) -> None:
        """`wait` is in seconds; `safe` is whether the request may be repeated without looking."""
        super().__init__(message)
        self.wait = wait
        self.safe = safe


class Lost(TryLater):
    """The answer to a write was lost: GitHub may have done it. Look before repeating."""


class Rejected(GiveUp):
    """GitHub understood and will not do it; nothing was done."""

    def __init__(self, message: str, status: int = 0, said: str = "") -> None:
        """`status` is the HTTP status, `said` what GitHub wrote."""
        super().__init__(message)
        self.status = status
        self.said = said


class Forbidden(Rejected):
    """The token lacks a permission, which the message names."""


class NotAccepted(StopTheNight):
    """GitHub does not know who we are."""

    def __init__(self, said: str) -> None:
        """`said` is what GitHub wrote."""
        super().__init__(
            f"GitHub does not accept the token ({said}): it is wrong, has expired or was revoked; "
            "make a new one and set GITHUB_TOKEN"
        )
        self.said = said


def translated(error: GitHubException) -> NightWatchError:
    """The exception of ours that says what to do."""
    if isinstance(error, RequestFailed):
        return _refusal(error)
    if isinstance(error, RequestError):
        return _silence(error.exc)
    return _odd(type(error).__name__)


def refused_query(told: str) -> NightWatchError:
    """What errors inside the answer to a query mean."""
    said = plain(told)
    if _OVERLOADED.search(said):
        return Unwell(f"GitHub could not answer a query ({said}): {_LATER}", SOON, safe=True)
    todo = advice(said) or "run `nightwatch check` to see what the token may read"
    return Rejected(f"GitHub refused a query: {said}: {todo}", said=said)


def answered_wrongly(request: httpx.Request, what: str) -> NightWatchError:
    """An answer that is no JSON: a read may be repeated, a write may have been done."""
    about = f"GitHub answered {what} to {_asked(request)}"
    return _unclear(
        request.method,
        f"{about}: check GITHUB_API_URL (an Enterprise server's ends in /api/v3) and the proxy",
    )


def plain_limits(response: httpx.Response) -> None:
    """Make the headers about limits plain numbers: dates, nonsense and ages break githubkit."""
    headers = response.headers
    if "retry-after" in headers:
        headers["retry-after"] = str(_seconds(headers["retry-after"]))
    if not re.fullmatch(r"[0-9]{1,11}", headers.get("x-ratelimit-reset", "0")):
        del headers["x-ratelimit-reset"]


def _seconds(said: str) -> int:
    """Seconds to wait, at most a day.

    >>> _seconds("3"), _seconds("9" * 30), _seconds("soon")
    (3, 86400, 60)
    """
    if re.fullmatch(r"[0-9]+", said):
        return min(int(said[:20]), _DAY)
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return int(_SECONDARY_WAIT)
    aware = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max(int((aware - datetime.now(UTC)).total_seconds()), 0), _DAY)


def _refusal(error: RequestFailed) -> NightWatchError:
    response, request = error.response.raw_response, error.request
    status, asked = response.status_code, _asked(request)
    said = words(response) or f"status {status}"
    safe = request.method in SAFE
    if isinstance(error, RateLimitExceeded):
        wait = error.retry_after.total_seconds()
        why = f"GitHub asks to wait {wait:.0f} s ({said}): {_SLOWER}"
        return Unwell(why, wait, safe=safe)
    if status == 429 or (status == 403 and _SECONDARY.search(said)):
        why = f"GitHub asks to slow down ({said}): {_SLOWER}"
        return Unwell(why, _SECONDARY_WAIT, safe=safe)
    if status == 401:
        return NotAccepted(said)
    if status == 403:
        return Forbidden(f"GitHub refused {asked}: {_lacking(response, said)}", status, said)
    if status == 404:
        why = "it is not there, or the token may not see it"
        todo = "check GITHUB_REPO, and that the token has access and was approved"
        return Rejected(f"GitHub does not show {asked}: {why}: {todo}", status, said)
    if status in (408, 425) or status >= 500:
        return _unclear(request.method, f"GitHub answered {status} to {asked}: {_LATER}")
    todo = advice(said) or "run `nightwatch check`"
    return Rejected(f"GitHub refused {asked} with {status}: {said}: {todo}", status, said)


def _silence(error: Exception) -> NightWatchError:
    if isinstance(error, NightWatchError):  # raised by a guard of ours inside the client
        return error
    kind = type(error).__name__
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        why = f"GitHub cannot be reached ({kind}): {_unreachable(error)}"
        return Unwell(why, SOON, safe=_method(error) in SAFE)
    if isinstance(error, httpx.TooManyRedirects) or not isinstance(error, httpx.RequestError):
        return _odd(kind)
    return _unclear(_method(error), f"GitHub did not answer ({kind}): {_LATER}")


def _odd(kind: str) -> GiveUp:
    return GiveUp(f"GitHub cannot be asked ({kind}): check GITHUB_TOKEN and GITHUB_API_URL")


def _unreachable(error: Exception) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "its certificate is not trusted: set SSL_CERT_FILE to your organisation's"
    return "check GITHUB_API_URL, the network and the proxy"


def _unclear(method: str, message: str) -> TryLater:
    if method in SAFE:
        return Unwell(message, SOON, safe=True)
    return Lost(
        f"{message}. It may have been done all the same: the next night looks before it repeats it"
    )


def _method(error: httpx.RequestError) -> str:
    try:
        return error.request.method
    except RuntimeError:  # httpx knows none
        return ""


def _asked(request: httpx.Request) -> str:
    return plain(f"{request.method} {request.url.path}")


def _lacking(response: httpx.Response, said: str) -> str:
    headers = response.headers
    sso = headers.get("x-github-sso", "").startswith("required")
    if todo := advice("single sign-on" if sso else said):
        return f"{todo} ({said})"
    if needed := headers.get("x-accepted-github-permissions", ""):
        lacks = f"the permission {plain(needed).replace('; ', ' or ')}"
    elif needed := headers.get("x-accepted-oauth-scopes", ""):
        lacks = f"one of the scopes {plain(needed)}"
    else:
        lacks = "a permission"
    return f"the token lacks {lacks} ({said}): grant it in the settings of the token or App"


def words(response: httpx.Response) -> str:
    """What GitHub says is wrong: its message and the errors below it, bounded and printable."""
    try:
        body = response.json()
    except ValueError:
        return f"status {response.status_code}"
    if not isinstance(body, dict):
        return ""
    errors = body.get("errors")
    told = [body.get("message", "")]
    for each in errors[:5] if isinstance(errors, list) else ():
        parts = each if isinstance(each, dict) else {"message": each}
        told.append(parts.get("message") or f"{parts.get('field', '')} {parts.get('code', '')}")
    return plain("; ".join(str(one) for one in told if one))


def plain(text: str) -> str:
    """Somebody else's words: one printable line.

    >>> plain("a\\n\\x1b[0mb")
    'a  [0mb'
    """
    return "".join(c if c.isprintable() else " " for c in text[:LONGEST_SAID]).strip()
