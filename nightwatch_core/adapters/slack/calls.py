"""Calls to Slack's Web API: repeated when told to wait, never when they may have worked.

slack_sdk would repeat a post after a lost connection and wait as long as it is told; so that its
retries are off, and its transport refuses redirects (they would carry the token to another host).
"""

import io
import logging
import re
import ssl
import time
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from socket import gaierror
from typing import Any
from urllib.error import HTTPError, URLError

from pydantic import SecretStr
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web import SlackResponse

from nightwatch_core.adapters.stores import manifest
from nightwatch_core.adapters.stores.bounded_answers import json_of
from nightwatch_core.adapters.stores.service_meter import PROCESS, ServiceMeter
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.ports import Clock
from nightwatch_core.text.retry_after import retry_after

SERVICE = "Slack"
TRIES = 4
LONGEST_WAIT = 60.0  # seconds; told to wait longer, the night goes on without
PATIENCE = 180.0  # seconds of waiting in all
DEADLINE = 60.0  # seconds for one answer, however slowly it trickles
LARGEST = 4 * 1024 * 1024  # bytes of an answer
_SILENT = logging.getLogger("nightwatch_core.adapters.slack.notifier.notifier.client")
_NOT_SENT = (ConnectionRefusedError, gaierror, ssl.SSLCertVerificationError)
INVITE = "invite the app there with /invite, or give it the scope chat:write.public"
REINSTALL = "install the app again and put its new bot token (xoxb-…) into SLACK_BOT_TOKEN"
ADVICE: Mapping[str, str] = {
    "channel_not_found": "SLACK_CHANNEL names no conversation this app can see: copy the id from "
    "the channel's details (C… or G…); into a private channel the app must be invited with /invite",
    "not_in_channel": INVITE,
    "is_archived": "the channel is archived: name another one in SLACK_CHANNEL",
    "invalid_auth": "SLACK_BOT_TOKEN is not a token Slack knows: copy it again from the app's page",
    "not_authed": "set SLACK_BOT_TOKEN",
    "token_revoked": REINSTALL,
    "token_expired": REINSTALL,
    "account_inactive": REINSTALL,
    "not_allowed_token_type": "SLACK_BOT_TOKEN must be a bot token (xoxb-…)",
    "users_not_found": "nobody in this workspace has the e-mail address in SLACK_CHANNEL",
    "user_not_found": "nobody in this workspace has the user id in SLACK_CHANNEL",
    "user_disabled": "the person in SLACK_CHANNEL has been deactivated: name another one",
    "cannot_dm_bot": "SLACK_CHANNEL is a bot: name a person or a channel",
    "restricted_action": "apps may not post there: ask the workspace's administrator",
    "no_permission": "the workspace's settings forbid it: ask its administrator",
    "access_denied": "the workspace's settings forbid it: ask its administrator",
    "ekm_access_denied": "the workspace's administrators have suspended posting",
    "enterprise_is_restricted": "the organisation does not allow this app: ask its administrator",
    "team_access_not_granted": "the organisation has not granted the app this workspace",
    "message_limit_exceeded": "the workspace may send no more messages this month",
    "invalid_blocks": "Slack takes neither the blocks nor the plain text: the report is in files",
    "msg_blocks_too_long": "the message is too long even as plain text: the report is in files",
    "msg_too_long": "the message is too long: the report is in files",
    "invalid_metadata_format": "Slack refuses the message's metadata: please report this",
    "message_not_found": "the message has been deleted",
    "thread_not_found": "the night's message has been deleted: run again to post it anew",
    "unknown_method": "SLACK_API_URL is no Slack API",
}
TEMPORARY = frozenset(  # nothing was done
    {"ratelimited", "rate_limited", "service_unavailable", "request_timeout"}
    | {"team_added_to_org", "org_login_required", "accesslimited"}
)
AMBIGUOUS = frozenset({"fatal_error", "internal_error"})  # some of it may have been done
BLOCKS_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
THREAD_GONE = frozenset({"thread_not_found", "message_not_found", "cannot_reply_to_message"})


class Refused(GiveUp):
    """Slack said no, and did nothing."""

    def __init__(self, code: str, message: str) -> None:
        """Take Slack's code beside the message."""
        super().__init__(message)
        self.code = code


class AnswerLost(TryLater):
    """The answer was lost: nobody knows whether Slack did it."""


class SlackCalls:
    """One delivery's calls; `client` offers the methods."""

    def __init__(
        self,
        token: SecretStr,
        api_url: str,
        clock: Clock,
        sleep: Callable[[float], None],
        timeout: float,
        meter: ServiceMeter = PROCESS,
    ) -> None:
        """Take what every call needs; nothing is sent yet."""
        _SILENT.setLevel(logging.CRITICAL + 1)  # the client would log every failure as an error
        self.client = _Client(
            token=token.get_secret_value(),
            base_url=api_url,
            timeout=timeout,  # type: ignore[arg-type] # urllib takes fractions
            retry_handlers=[],
            logger=_SILENT,
        )
        self._clock, self._sleep = clock, sleep
        self._patience = PATIENCE
        self._meter = meter

    def __call__(self, method: Callable[..., SlackResponse], **given: Any) -> SlackResponse:
        """Slack's answer; raises `Refused`, `AnswerLost`, `TryLater`, or `GiveUp`."""
        for attempt in range(1, TRIES + 1):
            try:
                with self._meter.request(SERVICE, (Refused,)):
                    return self._called(method, given)
            except _Throttled as throttled:
                self._wait(throttled.seconds, last=attempt == TRIES)
        raise TryLater("Slack asks to wait again and again")

    def _called(
        self, method: Callable[..., SlackResponse], given: Mapping[str, Any]
    ) -> SlackResponse:
        try:
            return method(**given)
        except SlackApiError as error:
            raise self._meant(error.response) from None
        except URLError as error:
            if isinstance(error.reason, _NOT_SENT):
                raise TryLater(f"Slack cannot be reached: {_name(error.reason)}") from None
            raise AnswerLost(_lost(error.reason)) from None
        except (OSError, HTTPException, ValueError, SlackClientError) as error:
            raise AnswerLost(_lost(error)) from None

    def _meant(self, response: SlackResponse) -> Exception:
        if response.status_code != 429:
            return _error(response)
        now = self._clock.now().timestamp()
        return _Throttled(max(1.0, retry_after(_header(response, "retry-after"), now) or 1.0))

    def _wait(self, seconds: float, *, last: bool) -> None:
        """Wait as Slack asks for it; raise where that is for too long."""
        if last or seconds > min(LONGEST_WAIT, self._patience):
            raise TryLater(f"Slack asks to wait {seconds:,.0f} seconds: too many messages")
        self._patience -= seconds
        self._meter.wait(SERVICE, seconds)
        self._sleep(seconds)


class _Throttled(TryLater):
    """Slack asks to wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Slack asks to wait {seconds:,.0f} seconds")
        self.seconds = seconds


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Nowhere."""


class _Client(WebClient):
    """slack_sdk's client with limits; what is not encrypted goes through no proxy."""

    def _perform_urllib_http_request_internal(
        self, url: str, req: urllib.request.Request
    ) -> dict[str, Any]:
        asked = req.data if isinstance(req.data, bytes) else b""
        manifest.PROCESS.sent(SERVICE, req.get_method(), url, asked)
        direct = [] if url.startswith("https:") else [urllib.request.ProxyHandler({})]
        opener = urllib.request.build_opener(_NoRedirects, *direct)
        try:
            with opener.open(req, timeout=self.timeout) as response:
                body = _read(response)
        except HTTPError as error:  # whose body slack_sdk would read to its end
            body = _read(error)
            text = io.BytesIO(body if _is_object(body) else b"")
            raise HTTPError(url, error.code, "", error.headers, text) from None
        if not _is_object(body):
            raise ValueError("the answer is no object")
        return {"status": response.status, "headers": response.headers, "body": body.decode()}


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json_of(body), dict)
    except ValueError:
        return False


def _read(response: Any) -> bytes:
    ends, body = time.monotonic() + DEADLINE, bytearray()
    while chunk := response.read1(65_536):
        body += chunk
        if time.monotonic() > ends or len(body) > LARGEST:
            raise TimeoutError("the answer does not end")
    return bytes(body)


def _error(response: SlackResponse) -> Exception:
    """What Slack's error means; nothing of the answer but its code and scope is repeated."""
    data: Mapping[str, Any] = response.data if isinstance(response.data, dict) else {}
    code = _word(data.get("error"))
    if response.status_code >= 500 or code in AMBIGUOUS:
        return AnswerLost(f"Slack answered {code or f'HTTP {response.status_code}'}")
    if code in TEMPORARY:
        return TryLater(f"Slack is unwell: {code}")
    if not code:
        return GiveUp(
            f"SLACK_API_URL answered HTTP {response.status_code}, and not like Slack: check the "
            "address and the proxy"
        )
    return Refused(code, f"Slack answered {code}: {_advice(code, _word(data.get('needed')))}")


def _word(value: object) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"[a-z0-9_.:,]{1,80}", value) else ""


def _advice(code: str, needed: str) -> str:
    """What to do about an error code; `needed` is the scope that Slack says is missing.

    >>> _advice("missing_scope", "im:write")
    'give the app the scope im:write (OAuth & Permissions), then install it again'
    """
    if code == "missing_scope":
        scope = needed or "that the method needs"
        return f"give the app the scope {scope} (OAuth & Permissions), then install it again"
    return ADVICE.get(code, "see the method's page at https://docs.slack.dev/reference/methods")


def _header(response: SlackResponse, name: str) -> str:
    return next((str(v) for k, v in response.headers.items() if k.lower() == name), "")


def _lost(error: object) -> str:
    return f"the connection to Slack was lost before its answer came ({_name(error)})"


def _name(error: object) -> str:
    return type(error).__name__ if isinstance(error, BaseException) else "network error"
