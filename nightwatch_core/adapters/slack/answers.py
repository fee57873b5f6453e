"""Reads Slack's answers: refusals, passing trouble, and what may have worked."""

import re
from collections.abc import Mapping
from typing import Any

from nightwatch_core.adapters.stores import traffic
from nightwatch_core.errors import GiveUp, MayHaveArrived, NightWatchError, TryLater
from nightwatch_core.text.plain_text import retry_after, text_table

ADVICE = text_table("nightwatch_core.adapters.slack", "advice.toml")
INVITE = ADVICE["not_in_channel"]
TEMPORARY = frozenset(  # nothing was done
    {"ratelimited", "rate_limited", "service_unavailable", "request_timeout"}
    | {"team_added_to_org", "org_login_required", "accesslimited"}
)
AMBIGUOUS = frozenset({"fatal_error", "internal_error"})  # some of it may have been done
Answer = Mapping[str, Any]


class Refused(GiveUp):
    """Slack refused a call, and did nothing."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Unreachable(TryLater):
    """No connection to Slack was made, so nothing was sent."""


class ConnectionLost(MayHaveArrived):
    """The connection ended between a request and its answer."""


def object_of(content: bytes) -> dict[str, Any]:
    """Return the JSON object of an answer; empty where the answer is anything else."""
    try:
        body = traffic.json_of(content)
    except ValueError:
        return {}
    if not isinstance(body, dict):
        return {}
    if not isinstance(body.get("response_metadata", {}), dict):
        del body["response_metadata"]  # in which the SDK looks for the next page
    return body


def failure(
    status: int, headers: Mapping[str, str], answer: Answer, now: float
) -> NightWatchError | None:
    """Return the exception for an answer that does not say "ok"; `now` in seconds since 1970."""
    code = _word(answer.get("error"))
    if status == 200 and answer.get("ok") is True:
        return None
    if status == 429:
        seconds = asked_wait(headers, now)
        return TryLater(f"Slack asks to wait {seconds:,.0f} seconds: too many messages")
    if status >= 500 or code in AMBIGUOUS or (status == 200 and not answer):
        return MayHaveArrived(f"Slack answered {code or f'HTTP {status}'}")
    if code in TEMPORARY:
        return TryLater(f"Slack has a problem: {code}")
    if not code:
        return GiveUp(
            f"SLACK_API_URL answered HTTP {status}, and not like Slack: check the address and the "
            "proxy"
        )
    advice = ADVICE.get(code, "see the method's page at https://docs.slack.dev/reference/methods")
    if code == "missing_scope":
        scope = _word(answer.get("needed")) or "that the method needs"
        advice = f"give the app the scope {scope} (OAuth & Permissions), then install it again"
    return Refused(code, f"Slack answered {code}: {advice}")


def asked_wait(headers: Mapping[str, str], now: float) -> float:
    """Return the seconds that Slack asks to wait: one at least, and where it names none."""
    return max(1.0, retry_after(headers.get("retry-after", ""), now) or 1.0)


def _word(value: object) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"[a-z0-9_.:,]{1,80}", value) else ""
