"""What GitHub's refusals and silences mean, and what to do about each."""

import re

import httpx
from githubkit.exception import (
    GitHubException,
    GraphQLFailed,
    RateLimitExceeded,
    RequestError,
    RequestFailed,
)

from nightwatch_core.adapters.github.limits import REASON_CHARACTERS, SECONDARY_WAIT, SHORT_WAIT
from nightwatch_core.adapters.stores.bounded_answers import json_of
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater

SAFE = ("GET", "HEAD")
_SECONDARY = re.compile(r"secondary rate|abuse detection", re.IGNORECASE)
_OVERLOADED = re.compile(r"something went wrong while executing|timeout|timedout", re.IGNORECASE)
_SLOWER = "run again after that; where it happens often, give NightWatch a token or App of its own"
_LATER = (
    "the next night tries again; https://www.githubstatus.com says whether github.com is unwell"
)


class Unavailable(TryLater):
    """Nothing was done: the request was refused for now, or never arrived."""

    def __init__(self, message: str, wait: float, *, safe: bool) -> None:
        """`wait` is in seconds; `safe` is whether the request may be repeated without looking."""
        super().__init__(message)
        self.wait = wait
        self.safe = safe


class AnswerLost(TryLater):
    """The answer to a write was lost: GitHub may have done it. Look before repeating."""

    wait = SHORT_WAIT
    safe = False


class Rejected(GiveUp):
    """GitHub understood and will not do it; nothing was done."""

    def __init__(self, message: str, status: int = 0, reason: str = "") -> None:
        """`status` is the HTTP status, `reason` what GitHub wrote."""
        super().__init__(message)
        self.status = status
        self.reason = reason


class Forbidden(Rejected):
    """The token lacks a permission, which the message names."""


class BadCredentials(StopTheNight):
    """GitHub does not know who we are."""

    def __init__(self, reason: str) -> None:
        """`reason` is what GitHub wrote."""
        super().__init__(
            f"GitHub does not accept the token ({reason}): it is wrong, has expired or was "
            "revoked; make a new one and set GITHUB_TOKEN"
        )
        self.reason = reason


def translate(error: GitHubException) -> NightWatchError:
    """Return the exception of ours that says what to do."""
    if isinstance(error, GraphQLFailed):
        return _refused_query("; ".join(str(one.message) for one in error.response.errors or ()))
    if isinstance(error, RequestFailed):
        return _refusal(error)
    if isinstance(error, RequestError):
        return _silence(error.exc)
    return _unusable(type(error).__name__)


def wrong_answer(request: httpx.Request) -> NightWatchError:
    """Return the error for an answer that is no JSON; a read may be repeated."""
    return unclear(
        request.method,
        f"GitHub answered no JSON to {_name(request)}: check GITHUB_API_URL (an Enterprise "
        "server's ends in /api/v3) and the proxy",
    )


def printable(text: str) -> str:
    """Make somebody else's words one printable line of at most 300 characters.

    >>> printable("a\\n\\x1b[0mb")
    'a  [0mb'
    """
    return "".join(c if c.isprintable() else " " for c in text[:REASON_CHARACTERS]).strip()


def _refused_query(words: str) -> NightWatchError:
    reason = printable(words)
    if _OVERLOADED.search(reason):
        message = f"GitHub could not answer a query ({reason}): {_LATER}"
        return Unavailable(message, SHORT_WAIT, safe=True)
    todo = advice(reason) or "run `nightwatch check` to see what the token may read"
    return Rejected(f"GitHub refused a query: {reason}: {todo}", reason=reason)


def _refusal(error: RequestFailed) -> NightWatchError:
    response, request = error.response.raw_response, error.request
    status, name = response.status_code, _name(request)
    reason = _reason(response) or f"status {status}"
    safe = request.method in SAFE
    if isinstance(error, RateLimitExceeded):
        wait = error.retry_after.total_seconds()
        message = f"GitHub asks to wait {wait:.0f} s ({reason}): {_SLOWER}"
        return Unavailable(message, wait, safe=safe)
    if status == 429 or (status == 403 and _SECONDARY.search(reason)):
        message = f"GitHub asks to slow down ({reason}): {_SLOWER}"
        return Unavailable(message, SECONDARY_WAIT, safe=safe)
    if status == 401:
        return BadCredentials(reason)
    if status == 403:
        lacks = _missing_permission(response, reason)
        return Forbidden(f"GitHub refused {name}: {lacks}", status, reason)
    if status == 404:
        why = "it is not there, or the token may not see it"
        todo = "check GITHUB_REPO, and that the token has access and was approved"
        return Rejected(f"GitHub does not show {name}: {why}: {todo}", status, reason)
    if status in (408, 425) or status >= 500:
        return unclear(request.method, f"GitHub answered {status} to {name}: {_LATER}")
    todo = advice(reason) or "run `nightwatch check`"
    return Rejected(f"GitHub refused {name} with {status}: {reason}: {todo}", status, reason)


def _silence(error: Exception) -> NightWatchError:
    if isinstance(error, NightWatchError):  # raised by a guard of ours inside the client
        return error
    kind = type(error).__name__
    if not isinstance(error, httpx.RequestError) or isinstance(error, httpx.TooManyRedirects):
        return _unusable(kind)
    try:
        method = error.request.method
    except RuntimeError:  # httpx knows none
        method = ""
    if not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return unclear(method, f"GitHub did not answer ({kind}): {_LATER}")
    todo = "check GITHUB_API_URL, the network and the proxy"
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        todo = "its certificate is not trusted: set SSL_CERT_FILE to your organisation's"
    message = f"GitHub cannot be reached ({kind}): {todo}"
    return Unavailable(message, SHORT_WAIT, safe=method in SAFE)


def _unusable(kind: str) -> GiveUp:
    return GiveUp(f"GitHub cannot be asked ({kind}): check GITHUB_TOKEN and GITHUB_API_URL")


def unclear(method: str, message: str) -> TryLater:
    """Return the error for an answer that did not come: a read may be asked again."""
    if method in SAFE:
        return Unavailable(message, SHORT_WAIT, safe=True)
    return AnswerLost(
        f"{message}. It may have been done all the same: the next night looks before it repeats it"
    )


def _name(request: httpx.Request) -> str:
    return printable(f"{request.method} {request.url.path}")


def _missing_permission(response: httpx.Response, reason: str) -> str:
    headers = response.headers
    sso = headers.get("x-github-sso", "").startswith("required")
    if todo := advice("single sign-on" if sso else reason):
        return f"{todo} ({reason})"
    if needed := headers.get("x-accepted-github-permissions", ""):
        lacks = f"the permission {printable(needed).replace('; ', ' or ')}"
    elif needed := headers.get("x-accepted-oauth-scopes", ""):
        lacks = f"one of the scopes {printable(needed)}"
    else:
        lacks = "a permission"
    return f"the token lacks {lacks} ({reason}): grant it in the settings of the token or App"


def _reason(response: httpx.Response) -> str:
    """Return what GitHub says is wrong: its message and the errors below it, bounded."""
    try:
        body = json_of(response.content)
    except ValueError:
        return f"status {response.status_code}"
    if not isinstance(body, dict):
        return ""
    errors = body.get("errors")
    words = [body.get("message", "")]
    for each in errors[:5] if isinstance(errors, list) else ():
        parts = each if isinstance(each, dict) else {"message": each}
        words.append(parts.get("message") or f"{parts.get('field', '')} {parts.get('code', '')}")
    return printable("; ".join(str(word) for word in words if word))


# What GitHub says, as a regular expression, and what helps; the first that fits counts.
ADVICE = {
    r"archived": "the repository is archived: unarchive it, or set NIGHTWATCH_PUBLISH to none",
    r"issues (has|have) been disabled|issues are disabled": (
        "switch issues on in the repository's settings, or set NIGHTWATCH_PUBLISH to none"
    ),
    r"ip allow list": (
        "add this machine's address to the organisation's list of allowed addresses"
    ),
    r"SAML|single sign-on": (
        "authorise the token for the organisation's single sign-on, in GitHub's settings of tokens"
    ),
    r"forbids access via a fine-grained": (
        "the organisation refuses such tokens: shorten the token's lifetime or have it approved, "
        "or use a GitHub App"
    ),
    r"forbids access via a personal access tokens? \(classic\)": (
        "the organisation refuses classic tokens: set GITHUB_TOKEN to a fine-grained one, or use "
        "a GitHub App"
    ),
    r"suspended": "lift the suspension in GitHub's settings, under GitHub Apps or the account",
    r"api.?version|version is not supported": (
        "set GITHUB_API_VERSION to one that the server knows, such as 2022-11-28"
    ),
    r"repository is empty": "push a first commit to the repository",
    r"could not resolve to a repository": (
        "check GITHUB_REPO, and that the token may see the repository"
    ),
    r"rule violations|protected branch|creations? being restricted": (
        "a rule of the repository forbids it: let NightWatch make branches called nightwatch/*"
    ),
}


def advice(reason: str) -> str:
    """Say what helps against a refusal in these words; empty where nobody knows.

    >>> advice("Repository was archived so is read-only.")
    'the repository is archived: unarchive it, or set NIGHTWATCH_PUBLISH to none'
    """
    reason = reason[:REASON_CHARACTERS]
    return next((do for words, do in ADVICE.items() if re.search(words, reason, re.IGNORECASE)), "")
