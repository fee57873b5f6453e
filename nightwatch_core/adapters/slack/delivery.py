"""One night's messages on their way into one Slack channel, each at most once.

What is going to be sent is written down first. Where the answer is lost, the channel is read: the
message carries its night and part as metadata.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slack_sdk.web import SlackResponse

from nightwatch_core.adapters.slack import thread as slack_thread
from nightwatch_core.adapters.slack.calls import (
    BLOCKS_REFUSED,
    GONE,
    THREAD_GONE,
    AnswerLost,
    Refused,
    SlackCalls,
)
from nightwatch_core.adapters.slack.sent_messages import SentMessage, SentMessages
from nightwatch_core.adapters.slack.thread import Message
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.ports import Clock

EVENT = "nightwatch_message"
SPACING = 1.1  # seconds between posts: Slack takes about one a second and channel
SKEW = 600.0  # seconds that our clock and Slack's may differ
PAGES = 10
WITHDRAWN = "withdrawn"
log = logging.getLogger(__name__)


class SlackDelivery:
    """Posts, or edits what an earlier run of the night posted."""

    def __init__(
        self,
        calls: SlackCalls,
        sent: SentMessages,
        at: tuple[str, str],
        clock: Clock,
        sleep: Callable[[float], None],
    ) -> None:
        """Take the night and the channel as `at`."""
        self._calls = calls
        self._sent = sent
        self._night, self._channel = at
        self._clock = clock
        self._sleep = sleep
        self._posted_at: float | None = None

    def deliver(self, message: Message, thread: str = "") -> str:
        """See that the message is there as it should be; returns its `ts`.

        Raises `GiveUp` or `TryLater`; asked again it goes on where it stopped.
        """
        digest = _digest(message)
        sent = self._sent.find(message.part)
        if sent and not sent.ts:
            sent = self._look_up(sent, thread)
        if sent and sent.digest == digest:
            return sent.ts
        if sent and self._edit(message, sent.ts):
            self._sent.keep(message.part, sent.ts, digest)
            return sent.ts
        if sent and not thread:  # the parent is gone, and its thread with it
            self._sent.forget_all()
        return self._post(message, digest, thread)

    def withdraw(self, parts: frozenset[str], thread: str) -> None:
        """Say of replies that the night no longer has that they do not hold."""
        for each in self._sent.all():
            if each.part not in parts and each.ts not in ("", thread) and each.digest != WITHDRAWN:
                self._edit(slack_thread.withdrawn(each.part), each.ts)
                self._sent.keep(each.part, each.ts, WITHDRAWN)

    def _post(self, message: Message, digest: str, thread: str) -> str:
        self._sent.intend(message.part, digest, self._clock.now().timestamp())
        self._space()
        place = {"thread_ts": thread} if thread else {}
        post = self._calls.client.chat_postMessage
        try:
            ts = _ts(self._send(message, post, unfurl_links=False, unfurl_media=False, **place))
        except AnswerLost as lost:
            pending = self._sent.find(message.part)
            there = self._look_up(pending, thread) if pending else None
            if there is None:
                raise TryLater(f"{lost}; the message is not in Slack so far") from None
            return there.ts
        except Refused as no:
            self._sent.forget(message.part)
            if thread and no.code in THREAD_GONE:
                self._sent.forget_all()
                raise TryLater(f"the night's Slack message was deleted: {no}") from None
            raise
        except TryLater:
            self._sent.forget(message.part)
            raise
        self._sent.keep(message.part, ts, digest)
        return ts

    def _edit(self, message: Message, ts: str) -> bool:
        """Whether the message could be edited; false where it is gone or may not be."""
        try:
            self._send(message, self._calls.client.chat_update, ts=ts)
        except Refused as no:
            if no.code in GONE:
                return False
            raise
        return True

    def _send(
        self, message: Message, method: Callable[..., SlackResponse], **more: Any
    ) -> SlackResponse:
        """Send with blocks, or where Slack refuses them, as text."""
        payload = {"night": self._night, "part": message.part}
        more |= {
            "channel": self._channel,
            "text": message.text,
            "metadata": {"event_type": EVENT, "event_payload": payload},
            "parse": "none",
            "link_names": False,
        }
        try:
            return self._calls(method, blocks=list(message.blocks), **more)
        except Refused as no:
            if no.code not in BLOCKS_REFUSED:
                raise
            log.warning("Slack refused the blocks of %r (%s): sent as text", message.part, no.code)
            return self._calls(method, blocks=[], **more)

    def _look_up(self, pending: SentMessage, thread: str) -> SentMessage | None:
        """The message of an attempt whose answer was lost; None where it never arrived.

        Raises `GiveUp` where that cannot be told: to post again might be to post twice.
        """
        wanted = {"night": self._night, "part": pending.part}
        hidden = False
        try:
            for each in self._history(thread, pending.sent - SKEW):
                payload = _payload(each)
                if payload == wanted:
                    self._sent.keep(pending.part, _ts(each), pending.digest)
                    return pending.model_copy(update={"ts": _ts(each)})
                hidden |= payload is None and self._is_ours(each)
        except Refused as no:
            raise GiveUp(_unknown(pending.part, str(no))) from None
        if hidden:
            why = "Slack does not show the metadata of messages: add the scope "
            raise GiveUp(_unknown(pending.part, f"{why}metadata.message:read"))
        return None

    def _history(self, thread: str, oldest: float) -> Iterator[Mapping[str, Any]]:
        """Messages of the channel or the thread since `oldest`, in seconds since 1970."""
        client, cursor = self._calls.client, ""
        given: dict[str, Any] = {"channel": self._channel, "include_all_metadata": True}
        given |= {"oldest": f"{oldest:.6f}", "limit": 200} | ({"ts": thread} if thread else {})
        method = client.conversations_replies if thread else client.conversations_history
        for _ in range(PAGES):
            answer = self._calls(method, **given, **({"cursor": cursor} if cursor else {}))
            yield from (each for each in answer.get("messages") or () if isinstance(each, dict))
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return
        raise GiveUp(_unknown("", "the channel has too many newer messages to look through"))

    def _is_ours(self, message: Mapping[str, Any]) -> bool:
        bot = message.get("bot_id")
        return bool(bot) and self._calls(self._calls.client.auth_test).get("bot_id") == bot

    def _space(self) -> None:
        """Wait until a second has passed since the last post."""
        now = self._clock.monotonic()
        if self._posted_at is not None and now - self._posted_at < SPACING:
            self._sleep(SPACING - (now - self._posted_at))
        self._posted_at = self._clock.monotonic()


def _digest(message: Message) -> str:
    content = json.dumps([message.blocks, message.text], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _payload(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a message says it is; None where it does not say, or Slack does not show it."""
    metadata = message.get("metadata")
    payload = metadata.get("event_payload") if isinstance(metadata, dict) else None
    return payload if isinstance(payload, dict) and payload else None


def _ts(answer: SlackResponse | Mapping[str, Any]) -> str:
    ts = answer.get("ts")
    if isinstance(ts, str) and ts:
        return ts
    raise AnswerLost("Slack's answer does not say where the message is")


def _unknown(part: str, why: str) -> str:
    what = f"the Slack message {part[:60]!r}" if part else "a Slack message"
    return (
        f"unknown whether {what} was posted, so it was not posted again: look into the channel. "
        f"To let NightWatch look itself: {why}"
    )
