"""Tells the team in Slack: the Notifier port over Slack's Web API."""

import hashlib
import json
import logging
import re
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import httpx
from pydantic import SecretStr

from nightwatch_core.adapters.slack.messages import Message, messages
from nightwatch_core.adapters.stores import traffic
from nightwatch_core.adapters.stores.database import Place, ask
from nightwatch_core.errors import GiveUp, MayHaveArrived, NightWatchError, TryLater
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.redaction import scrubbed
from nightwatch_core.privacy.scrubber import Scrub
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import retry_after, text_table

# Calls to Slack's Web API: repeated when Slack asks to wait, never when they may have worked.

SERVICE = "Slack"
TRIES = 4
LONGEST_WAIT = 60.0  # seconds; asked to wait longer, the night goes on without Slack
PATIENCE = 180.0  # seconds of waiting in all
INVITE = "invite the app there with /invite, or give it the scope chat:write.public"
ADVICE = text_table("nightwatch_core.adapters.slack", "advice.toml")
IN_JSON = ("chat.postMessage", "chat.update")  # Slack reads forms everywhere, JSON not
TEMPORARY = frozenset(  # nothing was done
    {"ratelimited", "rate_limited", "service_unavailable", "request_timeout"}
    | {"team_added_to_org", "org_login_required", "accesslimited"}
)
AMBIGUOUS = frozenset({"fatal_error", "internal_error"})  # some of it may have been done
BLOCKS_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
THREAD_GONE = frozenset({"thread_not_found", "message_not_found", "cannot_reply_to_message"})
Answer = Mapping[str, Any]


class Refused(GiveUp):
    """Slack refused a call, and did nothing."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Throttled(TryLater):
    def __init__(self, seconds: float) -> None:
        super().__init__(f"Slack asks to wait {seconds:,.0f} seconds: too many messages")
        self.seconds = seconds


BOUNDS = traffic.Bounds(
    SERVICE, 4 * 1024 * 1024, seconds=60.0, too_large=MayHaveArrived, too_slow=MayHaveArrived
)


class SlackCalls:
    """Calls the methods of Slack's Web API for one delivery."""

    scopes: frozenset[str] = frozenset()  # of the token, as the last answer listed them

    def __init__(
        self,
        token: SecretStr,
        api_url: str,
        clock: Clock,
        sleep: Callable[[float], None],
        timeout: float,
    ) -> None:
        """Send nothing yet; `timeout` is in seconds."""
        headers = {"Authorization": f"Bearer {token.get_secret_value()}"}
        self._client = traffic.http_client(BOUNDS, api_url, timeout, headers)
        weakref.finalize(self, self._client.close)
        self._clock, self.sleep = clock, sleep
        self._patience = PATIENCE

    def __call__(self, method: str, **arguments: Any) -> Answer:
        """Return Slack's answer; raises `Refused`, `MayHaveArrived`, `TryLater` or `GiveUp`."""
        for attempt in range(1, TRIES + 1):
            try:
                with traffic.METER.request(SERVICE, (Refused,)):
                    return self._called(method, arguments)
            except _Throttled as throttled:
                seconds = throttled.seconds
                if attempt == TRIES or seconds > min(LONGEST_WAIT, self._patience):
                    raise
                self._patience -= seconds
                traffic.METER.wait(SERVICE, seconds)
                self.sleep(seconds)
        raise AssertionError("unreachable")

    def _called(self, method: str, arguments: Mapping[str, Any]) -> Answer:
        encoded: dict[str, Any] = {"json" if method in IN_JSON else "data": arguments}
        try:
            response = self._client.post(method, **encoded)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise TryLater(f"Slack cannot be reached: {type(error).__name__}") from None
        except httpx.HTTPError as error:
            raise MayHaveArrived(
                f"the connection to Slack was lost before its answer came ({type(error).__name__})"
            ) from None
        if response.status_code == 429:
            now = self._clock.now().timestamp()
            asked = retry_after(response.headers.get("retry-after", ""), now) or 1.0
            raise _Throttled(max(1.0, asked))
        try:
            body = traffic.json_of(response.content)
        except ValueError:
            body = None
        answer = body if isinstance(body, dict) else {}
        if answer.get("ok") is not True:
            raise _error(response.status_code, answer)
        listed = response.headers.get("x-oauth-scopes", "").split(",")
        self.scopes = frozenset(filter(None, map(str.strip, listed)))
        return answer


def _error(status: int, answer: Answer) -> NightWatchError:
    code = _word(answer.get("error"))
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


def _word(value: object) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"[a-z0-9_.:,]{1,80}", value) else ""


# One night's messages on their way into one Slack channel, each at most once.
#
# What is going to be sent is written down first. Where the answer is lost, the channel is read: the
# message carries its night and part as metadata.

EVENT = "nightwatch_message"
SPACING = 1.1  # seconds between posts: Slack takes about one a second and channel
SKEW = 600.0  # seconds that our clock and Slack's may differ
PAGES = 10
log = logging.getLogger(__name__)


class SentMessage(Value):
    """A message that was sent; without `ts` nobody knows whether it arrived."""

    part: str
    ts: str
    digest: str
    sent: float  # seconds since 1970, before the first attempt


class SentMessages:
    """The messages of one night in one channel, in the database."""

    def __init__(self, database: Place, night: str, channel: str) -> None:
        self._database, self.night, self.channel = database, night, channel
        self._at = (night, channel)

    def find(self, part: str) -> SentMessage | None:
        """Return the message called `part`; None where it was never sent."""
        rows = self._run(
            "SELECT part, ts, digest, sent FROM slack_messages"
            " WHERE night = ? AND channel = ? AND part = ?",
            (*self._at, part),
        )
        return SentMessage(**dict(rows[0])) if rows else None

    def intend(self, part: str, digest: str, now: float) -> None:
        """Record a message before it is sent; the first attempt's time stays."""
        self._run(
            "INSERT INTO slack_messages (night, channel, part, digest, sent) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (night, channel, part) DO UPDATE SET ts = '', digest = excluded.digest",
            (*self._at, part, digest, now),
        )

    def keep(self, part: str, ts: str, digest: str) -> None:
        self._run(
            "UPDATE slack_messages SET ts = ?, digest = ?"
            " WHERE night = ? AND channel = ? AND part = ?",
            (ts, digest, *self._at, part),
        )

    def forget(self, part: str) -> None:
        self._run(
            "DELETE FROM slack_messages WHERE night = ? AND channel = ? AND part = ?",
            (*self._at, part),
        )

    def forget_all(self) -> None:
        """Delete the whole thread."""
        self._run("DELETE FROM slack_messages WHERE night = ? AND channel = ?", self._at)

    def _run(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        return ask(self._database, statement, values)


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
        more: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}
        more |= {"thread_ts": thread} if thread else {}
        try:
            ts = _ts(self._send("chat.postMessage", message, **more))
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
            self._send("chat.update", message, ts=ts)
        except Refused as refused:
            if refused.code in GONE:
                return False
            raise
        return True

    def _send(self, method: str, message: Message, **more: Any) -> Answer:
        payload = {"night": self._sent.night, "part": message.part}
        more |= {
            "channel": self._sent.channel,
            "text": message.text,
            "metadata": {"event_type": EVENT, "event_payload": payload},
            "parse": "none",
            "link_names": False,
        }
        try:
            return self._calls(method, blocks=message.blocks, **more)
        except Refused as refused:
            if refused.code not in BLOCKS_REFUSED:
                raise
            log.warning(
                "Slack refused the blocks of %r (%s): sent as text", message.part, refused.code
            )
            return self._calls(method, blocks=[], **more)

    def _look_up(self, pending: SentMessage, thread: str) -> SentMessage | None:
        """Find the message of an attempt whose answer was lost; None where it never arrived.

        Raises `GiveUp` where that cannot be told: to post again might be to post twice.
        """
        expected = {"night": self._sent.night, "part": pending.part}
        hidden = False
        try:
            for item in self._history(thread, pending.sent - SKEW):
                metadata = item.get("metadata")
                payload = metadata.get("event_payload") if isinstance(metadata, dict) else None
                if payload == expected:
                    self._sent.keep(pending.part, _ts(item), pending.digest)
                    return pending.model_copy(update={"ts": _ts(item)})
                if not payload and (bot := item.get("bot_id")):
                    hidden |= self._calls("auth.test").get("bot_id") == bot
        except Refused as refused:
            raise GiveUp(_unknown(pending.part, str(refused))) from None
        if hidden:
            reason = "Slack does not show the metadata of messages: add the scope "
            raise GiveUp(_unknown(pending.part, f"{reason}metadata.message:read"))
        return None

    def _history(self, thread: str, oldest: float) -> Iterator[Answer]:
        method = "conversations.replies" if thread else "conversations.history"
        given: dict[str, Any] = {"channel": self._sent.channel, "include_all_metadata": True}
        given |= {"oldest": f"{oldest:.6f}", "limit": 200} | ({"ts": thread} if thread else {})
        for _ in range(PAGES):
            answer = self._calls(method, **given)
            yield from (item for item in answer.get("messages") or () if isinstance(item, dict))
            given["cursor"] = (answer.get("response_metadata") or {}).get("next_cursor")
            if not given["cursor"]:
                return
        raise GiveUp(_unknown("", "the channel has too many newer messages to look through"))


def _ts(answer: Answer) -> str:
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


API = "https://slack.com/api/"
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
        api_url: str = API,
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
            answer = self._calls("chat.getPermalink", channel=self._channel, message_ts=thread)
        except NightWatchError:
            return f"Slack channel {self._channel}, message {thread}"
        return line(str(answer.get("permalink") or f"Slack channel {self._channel}"), 300)

    def probe(self) -> str:
        answer, scopes = self._calls("auth.test"), self._calls.scopes
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
            person = _id(self._calls("users.lookupByEmail", email=person), "user")
        if PERSON.fullmatch(person):
            return _id(self._calls("conversations.open", users=person), "channel")
        raise GiveUp(
            f"SLACK_CHANNEL {self._target[:80]!r} is neither a channel's id (C… or G…: at the end "
            "of the channel's details), a person's id (U…), nor an e-mail address"
        )

    def _reachable(self, scopes: frozenset[str]) -> str:
        if self._channel != self._target:
            return f"messages go to {line(self._target, 80)}"
        try:
            info = self._calls("conversations.info", channel=self._channel).get("channel")
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


def _id(answer: Answer, kind: str) -> str:
    value = answer.get(kind)
    id = value.get("id") if isinstance(value, dict) else None
    if isinstance(id, str) and re.fullmatch(r"[A-Z0-9]{3,40}", id):
        return id
    raise TryLater(f"Slack's answer names no {kind}")
