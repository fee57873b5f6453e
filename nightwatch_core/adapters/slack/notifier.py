"""Tells the team in Slack: the Notifier port over Slack's Web API."""

import re
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

from pydantic import SecretStr
from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from nightwatch_core.adapters.slack.answers import INVITE, Refused
from nightwatch_core.adapters.slack.client import SlackCalls
from nightwatch_core.adapters.slack.delivery import SlackDelivery
from nightwatch_core.adapters.slack.messages import messages
from nightwatch_core.adapters.slack.sent_messages import SentMessages
from nightwatch_core.adapters.stores.database import Place
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater
from nightwatch_core.models.report import RunReport
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.redaction import scrubbed
from nightwatch_core.privacy.scrubber import Scrub
from nightwatch_core.text.escaping import line

SILENCE = 30.0  # seconds that Slack may say nothing
CHANNEL = re.compile(r"[CGD][A-Z0-9]{5,30}")
PERSON = re.compile(r"[UW][A-Z0-9]{5,30}")
EMAIL = re.compile(r"[^@\s]{1,100}@[^@\s]{1,150}")
READING = ("channels:history", "groups:history", "im:history")


class SlackNotifier:
    """One message a night with a reply per cause with news; a rerun of the night edits them."""

    def __init__(
        self,
        token: SecretStr,
        target: str,
        database: Place,
        clock: Clock,
        *,
        api_url: str = WebClient.BASE_URL,
        sleep: Callable[[float], None] = time.sleep,
        timeout: float = SILENCE,
        withhold: Scrub = str,
    ) -> None:
        """`target` is a channel's id, a person's id or e-mail; `database` where messages are noted.

        Nothing is sent yet. `timeout` in seconds. Every text of a message goes through `withhold`.
        """
        self._calls = SlackCalls(token, api_url, clock, sleep, timeout)
        self._target, self._database = target.strip(), database
        self._clock, self._withhold = clock, withhold

    def publish(self, report: RunReport) -> str:
        """Post the night; return the message's address. Raises `GiveUp` or `TryLater`."""
        sent = SentMessages(self._database, line(report.night.id, 120), self._channel)
        delivery = SlackDelivery(self._calls, sent, self._clock)
        parent, *replies = (scrubbed(item, self._withhold) for item in messages(report))
        thread = delivery.deliver(parent)
        for reply in replies:
            delivery.deliver(reply, thread)
        try:
            answer = self._calls.reads.chat_getPermalink(channel=self._channel, message_ts=thread)
        except NightWatchError:
            return f"Slack channel {self._channel}, message {thread}"
        return line(str(answer.get("permalink") or f"Slack channel {self._channel}"), 300)

    def probe(self) -> str:
        answer = self._calls.reads.auth_test()
        listed = answer.headers.get("x-oauth-scopes", "").split(",")
        scopes = frozenset(filter(None, map(str.strip, listed)))
        needed = ["chat:write"]
        if PERSON.fullmatch(self._target) or EMAIL.fullmatch(self._target):
            needed.append("im:write")
        if EMAIL.fullmatch(self._target):
            needed += ["users:read", "users:read.email"]
        missing = [item for item in needed if scopes and item not in scopes]
        if missing:
            raise GiveUp(
                f"the Slack app lacks {', '.join(missing)}: add it under OAuth & Permissions, then "
                "install the app again"
            )
        team = line(str(answer.get("team", "")), 80)
        user = line(str(answer.get("user", "")), 80)
        where = self._reachable(scopes)
        blind = bool(scopes) and not scopes.intersection(READING)
        hint = f"; without {READING[0]} a lost answer leaves it unknown whether we posted" * blind
        return f"Slack workspace {team} as {user}, {where}{hint}"

    @cached_property
    def _channel(self) -> str:
        person = self._target
        if CHANNEL.fullmatch(person):
            return person
        if EMAIL.fullmatch(person):
            person = _id(self._calls.reads.users_lookupByEmail(email=person), "user")
        if PERSON.fullmatch(person):
            return _id(self._calls.reads.conversations_open(users=person), "channel")
        raise GiveUp(
            f"SLACK_CHANNEL {self._target[:80]!r} is neither a channel's id (C… or G…: at the end "
            "of the channel's details), a person's id (U…), nor an e-mail address"
        )

    def _reachable(self, scopes: frozenset[str]) -> str:
        if self._channel != self._target:
            return f"messages go to {line(self._target, 80)}"
        try:
            info = self._calls.reads.conversations_info(channel=self._channel).get("channel")
        except Refused as refused:
            if refused.code != "missing_scope":
                raise
            return f"messages go to {self._channel} (not looked at: that needs channels:read)"
        about: dict[str, Any] = info if isinstance(info, dict) else {}
        name = line(str(about.get("name", "")), 80) or self._channel
        if about.get("is_archived"):
            raise GiveUp(f"the Slack channel {name} is archived: name another one")
        if about.get("is_member") is False and "chat:write.public" not in scopes:
            raise GiveUp(f"the Slack app is not in {name}: {INVITE}")
        return f"messages go to {name}"


def _id(answer: SlackResponse, kind: str) -> str:
    value = answer.get(kind)
    id = value.get("id") if isinstance(value, dict) else None
    if isinstance(id, str) and re.fullmatch(r"[A-Z0-9]{3,40}", id):
        return id
    raise TryLater(f"Slack's answer names no {kind}")
