"""Tells the team in Slack: the Notifier port over slack_sdk."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from slack_sdk.web import SlackResponse

from nightwatch_core.adapters.slack import thread as slack_thread
from nightwatch_core.adapters.slack.calls import INVITE, Refused, SlackCalls
from nightwatch_core.adapters.slack.delivery import SlackDelivery
from nightwatch_core.adapters.slack.sent_messages import SentMessages
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater
from nightwatch_core.models.report import RunReport
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.values import Scrub, scrubbed
from nightwatch_core.text.escaping import line

API = "https://slack.com/api/"
SILENCE = 30.0  # seconds that Slack may say nothing
CHANNEL = re.compile(r"[CGD][A-Z0-9]{5,30}")
PERSON = re.compile(r"[UW][A-Z0-9]{5,30}")
EMAIL = re.compile(r"[^@\s]{1,100}@[^@\s]{1,150}")
READING = ("channels:history", "groups:history", "im:history")


class SlackNotifier:
    """One message a night with a reply per error; a rerun of the night edits them."""

    def __init__(
        self,
        token: SecretStr,
        target: str,
        database: Path,
        clock: Clock,
        *,
        api_url: str = API,
        sleep: Callable[[float], None] = time.sleep,
        timeout: float = SILENCE,
        withhold: Scrub = str,
    ) -> None:
        """`target` is a channel's id, a person's id or e-mail; `database` the state's SQLite file.

        Nothing is sent yet. `timeout` in seconds. Every text of a message goes through `withhold`.
        """
        self._withhold = withhold
        self._token = token
        self._target = target.strip()
        self._database = database
        self._clock = clock
        self._api_url = api_url
        self._sleep = sleep
        self._timeout = timeout
        self._channel = ""

    def publish(self, report: RunReport) -> str:
        """Tell the night; returns the message's address. Raises `GiveUp` or `TryLater`."""
        calls = self._calls()
        channel = self._conversation(calls)
        night = line(report.night.id, 120)
        sent = SentMessages(self._database, night, channel)
        delivery = SlackDelivery(calls, sent, (night, channel), self._clock, self._sleep)
        said = slack_thread.messages(report)
        parent, *replies = (scrubbed(each, self._withhold) for each in said)
        thread = delivery.deliver(parent)
        for each in replies:
            delivery.deliver(each, thread)
        parts = frozenset(each.part for each in (parent, *replies))
        delivery.withdraw(parts, thread)
        return _address(calls, channel, thread)

    def probe(self) -> str:
        """Who we are there, where messages go, and which scope is missing for what."""
        calls = self._calls()
        answer = calls(calls.client.auth_test)
        scopes = _scopes(answer)
        missing = [each for each in self._needed() if scopes and each not in scopes]
        if missing:
            raise GiveUp(
                f"the Slack app lacks {', '.join(missing)}: add it under OAuth & Permissions, then "
                "install the app again"
            )
        team = line(str(answer.get("team", "")), 80)
        user = line(str(answer.get("user", "")), 80)
        where = self._reachable(calls, scopes)
        blind = bool(scopes) and not scopes.intersection(READING)
        hint = f"; without {READING[0]} a lost answer leaves it unknown whether we posted" * blind
        return f"Slack workspace {team} as {user}, {where}{hint}"

    def _calls(self) -> SlackCalls:
        return SlackCalls(self._token, self._api_url, self._clock, self._sleep, self._timeout)

    def _needed(self) -> tuple[str, ...]:
        if EMAIL.fullmatch(self._target):
            return ("chat:write", "im:write", "users:read", "users:read.email")
        return ("chat:write", "im:write") if PERSON.fullmatch(self._target) else ("chat:write",)

    def _conversation(self, calls: SlackCalls) -> str:
        """The id of the conversation that the target names; asked for once."""
        if not self._channel:
            self._channel = self._looked_up(calls)
        return self._channel

    def _looked_up(self, calls: SlackCalls) -> str:
        if CHANNEL.fullmatch(self._target):
            return self._target
        person = self._target
        if EMAIL.fullmatch(person):
            person = _id(calls(calls.client.users_lookupByEmail, email=person), "user")
        if PERSON.fullmatch(person):
            return _id(calls(calls.client.conversations_open, users=[person]), "channel")
        raise GiveUp(
            f"SLACK_CHANNEL {self._target[:80]!r} is neither a channel's id (C… or G…: at the end "
            "of the channel's details), a person's id (U…), nor an e-mail address"
        )

    def _reachable(self, calls: SlackCalls, scopes: frozenset[str]) -> str:
        """What can be said of the conversation; raises `GiveUp` where we may not post there."""
        channel = self._conversation(calls)
        if channel != self._target:
            return f"messages go to {line(self._target, 80)}"
        try:
            info = calls(calls.client.conversations_info, channel=channel).get("channel")
        except Refused as no:
            if no.code != "missing_scope":
                raise
            return f"messages go to {channel} (not looked at: that needs channels:read)"
        about: dict[str, Any] = info if isinstance(info, dict) else {}
        name = line(str(about.get("name", "")), 80) or channel
        if about.get("is_archived"):
            raise GiveUp(f"the Slack channel {name} is archived: name another one")
        if about.get("is_member") is False and "chat:write.public" not in scopes:
            raise GiveUp(f"the Slack app is not in {name}: {INVITE}")
        return f"messages go to {name}"


def _address(calls: SlackCalls, channel: str, ts: str) -> str:
    """Where people read it; the news is told whether or not Slack says where."""
    try:
        answer = calls(calls.client.chat_getPermalink, channel=channel, message_ts=ts)
    except NightWatchError:
        return f"Slack channel {channel}, message {ts}"
    return line(str(answer.get("permalink") or f"Slack channel {channel}"), 300)


def _scopes(answer: SlackResponse) -> frozenset[str]:
    """The token's scopes; empty where Slack does not say."""
    headers = {name.lower(): str(value) for name, value in answer.headers.items()}
    listed = headers.get("x-oauth-scopes", "").split(",")
    return frozenset(filter(None, map(str.strip, listed)))


def _id(answer: SlackResponse, kind: str) -> str:
    """The id in an answer; nothing else is used as one."""
    value = answer.get(kind)
    id = value.get("id") if isinstance(value, dict) else None
    if isinstance(id, str) and re.fullmatch(r"[A-Z0-9]{3,40}", id):
        return id
    raise TryLater(f"Slack's answer names no {kind}")
