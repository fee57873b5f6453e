"""Delivers a night's messages to one Slack channel, each at most once.

What is going to be sent is written down first. Where the answer is lost, the channel is read: the
message carries its night and part as metadata.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

from slack_sdk.models.metadata import Metadata
from slack_sdk.web import SlackResponse

from nightwatch_core.adapters.slack.answers import Answer, Refused
from nightwatch_core.adapters.slack.client import SlackCalls
from nightwatch_core.adapters.slack.messages import Message
from nightwatch_core.adapters.slack.sent_messages import SentMessage, SentMessages
from nightwatch_core.errors import GiveUp, MayHaveArrived, TryLater
from nightwatch_core.ports import Clock

EVENT = "nightwatch_message"
SPACING = 1.1  # seconds between posts: Slack takes about one a second and channel
SKEW = 600.0  # seconds that our clock and Slack's may differ
PAGES = 10
BLOCKS_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
THREAD_GONE = frozenset({"thread_not_found", "message_not_found", "cannot_reply_to_message"})
log = logging.getLogger(__name__)


class SlackDelivery:
    """Posts, or edits what an earlier run of the night posted."""

    def __init__(self, calls: SlackCalls, sent: SentMessages, clock: Clock) -> None:
        self._calls, self._sent, self._clock = calls, sent, clock
        self._posted_at: float | None = None

    def deliver(self, message: Message, thread: str = "") -> str:
        """Post or edit the message, from where it stopped; return its `ts`."""
        content = json.dumps([message.blocks, message.text], sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()
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

    def _post(self, message: Message, digest: str, thread: str) -> str:
        self._sent.intend(message.part, digest, self._clock.now().timestamp())
        if self._posted_at is not None:
            since_last = self._clock.monotonic() - self._posted_at
            if since_last < SPACING:
                self._calls.sleep(SPACING - since_last)
        self._posted_at = self._clock.monotonic()
        shape = {"unfurl_links": False, "unfurl_media": False, "thread_ts": thread or None}
        try:
            ts = _ts(self._send(self._calls.posts.chat_postMessage, message, **shape))
        except MayHaveArrived as lost:
            pending = self._sent.find(message.part)
            found = self._look_up(pending, thread) if pending else None
            if found is None:
                raise TryLater(f"{lost}; the message is not in Slack so far") from None
            return found.ts
        except Refused as refused:
            self._sent.forget(message.part)
            if thread and refused.code in THREAD_GONE:
                self._sent.forget_all()
                raise TryLater(f"the night's Slack message was deleted: {refused}") from None
            raise
        except TryLater:
            self._sent.forget(message.part)
            raise
        self._sent.keep(message.part, ts, digest)
        return ts

    def _edit(self, message: Message, ts: str) -> bool:
        try:
            self._send(self._calls.posts.chat_update, message, ts=ts)
        except Refused as refused:
            if refused.code in GONE:
                return False
            raise
        return True

    def _send(
        self, method: Callable[..., SlackResponse], message: Message, **more: Any
    ) -> SlackResponse:
        more |= {
            "channel": self._sent.channel,
            "text": message.text,
            "metadata": Metadata(EVENT, self._payload(message.part)),
            "parse": "none",
            "link_names": False,
        }
        try:
            return method(blocks=message.blocks, **more)
        except Refused as refused:
            if refused.code not in BLOCKS_REFUSED:
                raise
            log.warning(
                "Slack refused the blocks of %r (%s): sent as text", message.part, refused.code
            )
            return method(blocks=[], **more)

    def _payload(self, part: str) -> dict[str, str]:
        return {"night": self._sent.night, "part": part}

    def _look_up(self, pending: SentMessage, thread: str) -> SentMessage | None:
        """Find the message of an attempt whose answer was lost; None where it never arrived.

        Raises `GiveUp` where that cannot be told: to post again might be to post twice.
        """
        expected = self._payload(pending.part)
        hidden = False
        try:
            for item in self._history(thread, pending.sent - SKEW):
                metadata = item.get("metadata")
                payload = metadata.get("event_payload") if isinstance(metadata, dict) else None
                if payload == expected:
                    self._sent.keep(pending.part, _ts(item), pending.digest)
                    return pending.model_copy(update={"ts": _ts(item)})
                if not payload and (bot := item.get("bot_id")):
                    hidden |= self._calls.reads.auth_test().get("bot_id") == bot
        except Refused as refused:
            raise GiveUp(_unknown(pending.part, str(refused))) from None
        if hidden:
            reason = "Slack does not show the metadata of messages: add the scope "
            raise GiveUp(_unknown(pending.part, f"{reason}metadata.message:read"))
        return None

    def _history(self, thread: str, oldest: float) -> Iterator[Answer]:
        reads = self._calls.reads
        given: dict[str, Any] = {"channel": self._sent.channel, "include_all_metadata": True}
        given |= {"oldest": f"{oldest:.6f}", "limit": 200}
        first = (
            reads.conversations_replies(ts=thread, **given)
            if thread
            else reads.conversations_history(**given)
        )
        for number, page in enumerate(reads.pages(first)):
            if number == PAGES:
                reason = "the channel has too many newer messages to look through"
                raise GiveUp(_unknown("", reason))
            yield from (item for item in page.get("messages") or () if isinstance(item, dict))


def _ts(answer: Answer | SlackResponse) -> str:
    ts = answer.get("ts")
    if isinstance(ts, str) and ts:
        return ts
    raise MayHaveArrived("Slack's answer does not say where the message is")


def _unknown(part: str, reason: str) -> str:
    what = f"the Slack message {part[:60]!r}" if part else "a Slack message"
    return (
        f"unknown whether {what} was posted, so it was not posted again: check the "
        f"channel. To let NightWatch check: {reason}"
    )
