"""Everything the Messages API can answer instead of a turn, by what to do about it.

Told apart by status, type and code; the service's words are shown, never relied upon, but for two
cases that may come without a code of their own: a prompt that is too long, and no credit left.
"""

from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz
from math import inf

import anthropic
import httpx2

from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.text.escaping import line

BROKEN = (httpx2.TransportError, httpx2.StreamError, httpx2.DecodingError)
# What the client library raises where a stream's events are not what they should be.
DAMAGED = (ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError)
LONGEST = 300  # characters of the service's words
_KEY = "check ANTHROPIC_API_KEY"
_ACCOUNT = "look at the account's billing and limits in the Claude Console"
_MODEL = "choose another model with --model or NIGHTWATCH_MODEL, or correct ANTHROPIC_BASE_URL"

_BY_CODE: Mapping[str, str] = {  # whatever the status: nothing works until somebody pays
    "enforced_spend_limit_reached": _ACCOUNT,
    "contract_spend_limit_reached": _ACCOUNT,
    "linked_organization_spend_limit_reached": _ACCOUNT,
    "linked_organization_billing_unavailable": _ACCOUNT,
    "organization_on_hold": _ACCOUNT,
}
_BY_TYPE: Mapping[str, tuple[type[NightWatchError], str]] = {
    "authentication_error": (StopTheNight, _KEY),
    "permission_error": (StopTheNight, "give the key access to the model and the Messages API"),
    "billing_error": (StopTheNight, _ACCOUNT),
    "not_found_error": (StopTheNight, _MODEL),
    "rate_limit_error": (TryLater, "try again later, or raise the account's rate limits"),
    "overloaded_error": (TryLater, "try again later"),
    "api_error": (TryLater, "try again later"),
    "timeout_error": (TryLater, "try again later"),
    "invalid_request_error": (GiveUp, "the request has to change"),
    "request_too_large": (GiveUp, "the request has to be smaller"),
}
_BY_STATUS: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "api_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class TooLong(GiveUp):
    """The conversation does not fit the model; the adapter makes an ending of it."""


def translated(problem: Exception, secret: str = "") -> NightWatchError:
    """Our word for what went wrong, `secret` never in it."""
    if isinstance(problem, anthropic.APIStatusError):
        return _answered(problem, secret)
    name = line(type(problem).__name__, 80)
    if isinstance(problem, anthropic.APITimeoutError | httpx2.TimeoutException | TimeoutError):
        return TryLater("Claude did not answer in time: try again later")
    if isinstance(problem, anthropic.APIConnectionError):
        cause = line(str(problem.__cause__ or ""), 120) or name
        return TryLater(f"Claude cannot be reached ({_told(cause, secret)}): try again later")
    if isinstance(problem, BROKEN):
        return TryLater(f"Claude's answer was cut off ({name}): try again later")
    return TryLater(f"Claude's answer cannot be read ({name}): try again later")


def wait(problem: Exception, now: float) -> float | None:
    """Seconds the service asks to wait, `now` in seconds since 1970; None where it does not say."""
    if not isinstance(problem, anthropic.APIStatusError):
        return None
    said = problem.response.headers
    if said.get("x-should-retry") == "false":
        return inf
    exact = _seconds(said.get("retry-after-ms", ""), now)
    return _seconds(said.get("retry-after", ""), now) if exact is None else exact / 1_000


def _seconds(said: str, now: float) -> float | None:
    """A number of seconds, or a date, in the future.

    >>> _seconds("1.5", 0), _seconds("Thu, 01 Jan 1970 00:00:30 GMT", 10), _seconds("soon", 0)
    (1.5, 20, None)
    """
    try:
        seconds = float(said)
    except ValueError:
        date = parsedate_tz(said)
        seconds = mktime_tz(date) - now if date else -1.0
    return seconds if seconds >= 0 else None  # also what is not a number


def _answered(problem: anthropic.APIStatusError, secret: str) -> NightWatchError:
    words = _told(problem.api_message or "", secret) or "no reason given"
    if problem.error_code in _BY_CODE:
        return StopTheNight(f"Claude: {words}: {_BY_CODE[str(problem.error_code)]}")
    if 300 <= problem.status_code < 400:
        return StopTheNight("Claude's address sends elsewhere: correct ANTHROPIC_BASE_URL")
    kind = _kind(problem)
    if kind == "request_too_large" or _says(problem, kind, "prompt is too long"):
        return TooLong(words)
    if _says(problem, kind, "credit balance is too low"):
        kind = "billing_error"
    raised, advice = _BY_TYPE[kind]
    status = "in mid-answer" if problem.status_code == 200 else str(problem.status_code)
    return raised(f"Claude answered {status}, {kind}: {words}: {advice}")


def _kind(problem: anthropic.APIStatusError) -> str:
    """The error's type; by status where a server says none that is known."""
    if problem.type in _BY_TYPE:
        return str(problem.type)
    server = problem.status_code >= 500 or problem.status_code == 200
    return _BY_STATUS.get(problem.status_code, "api_error" if server else "invalid_request_error")


def _says(problem: anthropic.APIStatusError, kind: str, words: str) -> bool:
    return kind == "invalid_request_error" and words in (problem.api_message or "").lower()


def _told(text: str, secret: str) -> str:
    hidden = text.replace(secret, "…") if secret else text
    return line(hidden, LONGEST)
