"""Tells the team in Slack: the Notifier port over slack_sdk."""

import hashlib
import io
import json
import logging
import re
import ssl
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from http.client import HTTPException
from pathlib import Path
from socket import gaierror
from typing import Any
from urllib.error import HTTPError, URLError

from pydantic import SecretStr
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web import SlackResponse

from nightwatch_core.adapters.slack.blocks import (
    FOLLOW_UP,
    MESSAGE,
    PARENT,
    PLAIN,
    REPLY,
    SHOWN,
    Block,
    Blocks,
    bulleted,
    code,
    context,
    header,
    mrkdwn,
    plain,
    publication,
    section,
    section_text,
    table,
    weight,
    whole_lines,
    without_folders,
)
from nightwatch_core.adapters.slack.sent_messages import SentMessage, SentMessages
from nightwatch_core.adapters.stores.traffic import MANIFEST, METER, ServiceMeter, json_of
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.masks import Scrub
from nightwatch_core.privacy.redaction import scrubbed
from nightwatch_core.report.blocks import ErrorTable, Finding, ReportView, Standing
from nightwatch_core.report.view import view
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import retry_after, text_table

# Calls to Slack's Web API: repeated when told to wait, never when they may have worked.
#
# slack_sdk would repeat a post after a lost connection and wait as long as it is told; so that its
# retries are off, and its transport refuses redirects (they would carry the token to another host).

SERVICE = "Slack"
TRIES = 4
LONGEST_WAIT = 60.0  # seconds; told to wait longer, the night goes on without
PATIENCE = 180.0  # seconds of waiting in all
DEADLINE = 60.0  # seconds for one answer, however slowly it trickles
LARGEST = 4 * 1024 * 1024  # bytes of an answer
_SILENT = logging.getLogger("nightwatch_core.adapters.slack.notifier.notifier.client")
_NOT_SENT = (ConnectionRefusedError, gaierror, ssl.SSLCertVerificationError)
INVITE = "invite the app there with /invite, or give it the scope chat:write.public"
ADVICE = text_table("nightwatch_core.adapters.slack", "advice.toml")
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
        meter: ServiceMeter = METER,
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
                seconds = throttled.seconds
                last = attempt == TRIES
                if last or seconds > min(LONGEST_WAIT, self._patience):
                    raise TryLater(
                        f"Slack asks to wait {seconds:,.0f} seconds: too many messages"
                    ) from throttled
                self._patience -= seconds
                self._meter.wait(SERVICE, seconds)
                self._sleep(seconds)
        raise TryLater("Slack asks to wait again and again")

    def _called(
        self, method: Callable[..., SlackResponse], given: Mapping[str, Any]
    ) -> SlackResponse:
        try:
            return method(**given)
        except SlackApiError as error:
            if error.response.status_code != 429:
                raise _error(error.response) from None
            now = self._clock.now().timestamp()
            asked = retry_after(_header(error.response, "retry-after"), now) or 1.0
            raise _Throttled(max(1.0, asked)) from None
        except (OSError, HTTPException, ValueError, SlackClientError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            name = type(reason).__name__ if isinstance(reason, Exception) else "network error"
            if isinstance(reason, _NOT_SENT):
                raise TryLater(f"Slack cannot be reached: {name}") from None
            raise AnswerLost(
                f"the connection to Slack was lost before its answer came ({name})"
            ) from None


class _Throttled(TryLater):
    def __init__(self, seconds: float) -> None:
        super().__init__(f"Slack asks to wait {seconds:,.0f} seconds")
        self.seconds = seconds


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow no redirect."""


class _Client(WebClient):
    """slack_sdk's client with limits; what is not encrypted goes through no proxy."""

    def _perform_urllib_http_request_internal(
        self, url: str, req: urllib.request.Request
    ) -> dict[str, Any]:
        asked = req.data if isinstance(req.data, bytes) else b""
        MANIFEST.sent(SERVICE, req.get_method(), url, asked)
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
    """Return advice for an error code; `needed` is the missing scope.

    >>> _advice("missing_scope", "im:write")
    'give the app the scope im:write (OAuth & Permissions), then install it again'
    """
    if code == "missing_scope":
        scope = needed or "that the method needs"
        return f"give the app the scope {scope} (OAuth & Permissions), then install it again"
    return ADVICE.get(code, "see the method's page at https://docs.slack.dev/reference/methods")


def _header(response: SlackResponse, name: str) -> str:
    return next((str(v) for k, v in response.headers.items() if k.lower() == name), "")


# The morning in Slack: a message with headline and table, a reply per error, and a follow-up.

LIGHTS: dict[Standing, str] = {"calm": "🟢", "good": "🟢", "degraded": "🟠", "failed": "🔴"}
ENDS: dict[Standing, str] = {"degraded": " is incomplete", "failed": " failed"}
ACCEPT = "Accept one of them: `nightwatch ignore accept N`"


class Message(Value):
    """One message; `part` names it within its night, for ever. `text` stands for the blocks."""

    part: str
    blocks: Blocks
    text: str


def messages(report: RunReport) -> tuple[Message, ...]:
    """Return the parent and its replies in order, each within Slack's limits."""
    shown = view(report, SHOWN)
    known = (analysis for analysis in report.analyses if analysis.has_cause)  # others: a row each
    names = _reply_names(analysis.case.fingerprint for analysis in known)
    replies = (_reply(*item) for item in zip(names, shown.findings, strict=False))
    return (_parent(shown), *replies, *_follow_up(shown))


def withdrawn(part: str) -> Message:
    """Return the text that replaces an obsolete reply of the same night."""
    text = "This is no longer part of the night's report."
    return Message(part=part, blocks=section(text), text=text)


def _reply_names(fingerprints: Iterable[str]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for fingerprint in fingerprints:
        name = f"error {plain(fingerprint, 100)}"
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})"


def _parent(shown: ReportView) -> Message:
    title = f"{LIGHTS[shown.standing]} NightWatch {plain(shown.night, 100)}"
    title += ENDS.get(shown.standing) or (f": {shown.in_short}" if shown.in_short else "")
    headline = f"*{mrkdwn(shown.headline, PARENT['headline'] - 2)}*"
    texts = [mrkdwn(without_folders(warning), 400) for warning in shown.warnings]
    trouble = (
        f"*What is missing tonight*\n{bulleted(texts, PARENT['trouble'] - 30)}" if texts else ""
    )
    end = whole_lines(section_text(shown.section("end"), PARENT["end"]), PARENT["end"])
    banner = mrkdwn(without_folders(" ".join(shown.banner)), PARENT["banner"])
    source = mrkdwn(shown.source, PARENT["source"])
    above = (
        *header(title),
        *section(trouble),
        *section(headline),
        *context(source),
        *context(banner),
    )
    kinds = ("failures", "batch_triage", "dropped", "unreadable", "health")
    below = (*_sections(shown, kinds, PARENT), *context(end))
    errors = (block for block in shown.section("errors").blocks if isinstance(block, ErrorTable))
    room = MESSAGE - weight(above) - weight(below)
    rows = tuple(block for error in errors for block in table(error, room))
    plainly = (title, trouble, headline, source, *_plain_rows(shown), end)
    return Message(part="parent", blocks=(*above, *rows, *below), text=_plainly(plainly))


def _plain_rows(shown: ReportView) -> Iterator[str]:
    for row in shown.rows[:8]:
        yield f"{row.rank}. {code(row.error, 80)} ({row.count:,}): {mrkdwn(row.cause, 120)}"


def _sections(shown: ReportView, kinds: Iterable[str], shares: dict[str, int]) -> Iterator[Block]:
    for kind in kinds:
        yield from section(section_text(shown.section(kind), shares[kind]))


def _reply(name: str, finding: Finding) -> Message:
    title, about = f"{finding.rank}. {finding.title}", _about(finding)
    texts = {
        item.kind: section_text(item, REPLY[item.kind])
        for item in finding.sections
        if item.kind != "facts"
    }
    small = texts.pop("again", "")
    sections = (block for text in (about, *texts.values()) for block in section(text))
    plainly = (mrkdwn(title), about, texts["cause"], texts.get("done", ""))
    blocks = (*header(title), *sections, *context(small))
    return Message(part=name, blocks=blocks, text=_plainly(plainly))


def _about(finding: Finding) -> str:
    where = f" in {code(finding.where)}" if finding.where else ""
    known = f" · *{mrkdwn(finding.known, 100)}*" if finding.known else ""
    error = code(finding.error, 150) or "an error"
    facts = (
        section_text(item, REPLY["about"]) for item in finding.sections if item.kind == "facts"
    )
    confidence = finding.sureness or finding.confidence
    source = (mrkdwn(finding.source, 200),) if finding.source else ()
    return "\n".join((f"{error}{where} · confidence: *{confidence}*{known}", *source, *facts))


def _follow_up(shown: ReportView) -> Iterator[Message]:
    links = bulleted(list(_links(shown)), FOLLOW_UP["links"])
    texts = [f"*Issues and pull requests*\n{links}" if links else ""]
    for kind in ("outcomes", "patterns", "suggestions"):
        texts.append(section_text(shown.section(kind), FOLLOW_UP[kind]))
    texts[-1] += f"\n{ACCEPT}" if texts[-1] else ""
    source = mrkdwn(shown.source, PARENT["source"])
    if blocks := tuple(block for text in texts for block in section(text)):
        blocks = (*context(source), *blocks)
        yield Message(part="follow-up", blocks=blocks, text=_plainly(texts))


def _links(shown: ReportView) -> Iterator[str]:
    for finding in shown.findings:
        done = [publication(item) for item in finding.publications if item.state != "skipped"]
        if done:
            yield f"{finding.rank}. {code(finding.error, 80) or 'an error'}: {', '.join(done)}"
    yield from (publication(item) for item in shown.elsewhere if item.state != "skipped")


def _plainly(texts: Iterable[str]) -> str:
    return whole_lines("\n".join(filter(None, texts)), PLAIN)


# One night's messages on their way into one Slack channel, each at most once.
#
# What is going to be sent is written down first. Where the answer is lost, the channel is read: the
# message carries its night and part as metadata.

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

    def withdraw(self, parts: frozenset[str], thread: str) -> None:
        """Say of replies that the night no longer has that they do not hold."""
        for item in self._sent.all():
            if item.part not in parts and item.ts not in ("", thread) and item.digest != WITHDRAWN:
                self._edit(withdrawn(item.part), item.ts)
                self._sent.keep(item.part, item.ts, WITHDRAWN)

    def _post(self, message: Message, digest: str, thread: str) -> str:
        self._sent.intend(message.part, digest, self._clock.now().timestamp())
        # wait until a second has passed since the last post
        now = self._clock.monotonic()
        if self._posted_at is not None and now - self._posted_at < SPACING:
            self._sleep(SPACING - (now - self._posted_at))
        self._posted_at = self._clock.monotonic()
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
            for item in self._history(thread, pending.sent - SKEW):
                payload = _payload(item)
                if payload == wanted:
                    self._sent.keep(pending.part, _ts(item), pending.digest)
                    return pending.model_copy(update={"ts": _ts(item)})
                hidden |= payload is None and self._is_ours(item)
        except Refused as no:
            raise GiveUp(_unknown(pending.part, str(no))) from None
        if hidden:
            why = "Slack does not show the metadata of messages: add the scope "
            raise GiveUp(_unknown(pending.part, f"{why}metadata.message:read"))
        return None

    def _history(self, thread: str, oldest: float) -> Iterator[Mapping[str, Any]]:
        client, cursor = self._calls.client, ""
        given: dict[str, Any] = {"channel": self._channel, "include_all_metadata": True}
        given |= {"oldest": f"{oldest:.6f}", "limit": 200} | ({"ts": thread} if thread else {})
        method = client.conversations_replies if thread else client.conversations_history
        for _ in range(PAGES):
            answer = self._calls(method, **given, **({"cursor": cursor} if cursor else {}))
            yield from (item for item in answer.get("messages") or () if isinstance(item, dict))
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return
        raise GiveUp(_unknown("", "the channel has too many newer messages to look through"))

    def _is_ours(self, message: Mapping[str, Any]) -> bool:
        bot = message.get("bot_id")
        return bool(bot) and self._calls(self._calls.client.auth_test).get("bot_id") == bot


def _payload(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
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
        said = messages(report)
        parent, *replies = (scrubbed(item, self._withhold) for item in said)
        thread = delivery.deliver(parent)
        for reply in replies:
            delivery.deliver(reply, thread)
        parts = frozenset(item.part for item in (parent, *replies))
        delivery.withdraw(parts, thread)
        try:
            answer = calls(calls.client.chat_getPermalink, channel=channel, message_ts=thread)
        except NightWatchError:
            return f"Slack channel {channel}, message {thread}"
        return line(str(answer.get("permalink") or f"Slack channel {channel}"), 300)

    def probe(self) -> str:
        calls = self._calls()
        answer = calls(calls.client.auth_test)
        headers = {name.lower(): str(value) for name, value in answer.headers.items()}
        listed = headers.get("x-oauth-scopes", "").split(",")
        scopes = frozenset(filter(None, map(str.strip, listed)))
        missing = [item for item in self._needed() if scopes and item not in scopes]
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


def _id(answer: SlackResponse, kind: str) -> str:
    value = answer.get(kind)
    id = value.get("id") if isinstance(value, dict) else None
    if isinstance(id, str) and re.fullmatch(r"[A-Z0-9]{3,40}", id):
        return id
    raise TryLater(f"Slack's answer names no {kind}")
