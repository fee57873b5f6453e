"""The Model port over Anthropic's Messages API and servers that speak it.

One call of `reply` is one turn: streamed, tried again when it breaks (a stream that has begun is
never resumed by the client library), and over when its time is, whatever the other end does.
"""

import asyncio
import json
import random
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import anthropic
from pydantic import SecretStr

from nightwatch_core.adapters.claude import client as library
from nightwatch_core.adapters.claude.client import ASKING, SILENCE
from nightwatch_core.adapters.claude.features import (
    COMPACT,
    Features,
    Json,
    betas,
    capabilities_of,
    features_of,
    inside,
    number,
    priced,
)
from nightwatch_core.adapters.claude.request import GATE, Ended, Gate, beginning, request_for
from nightwatch_core.adapters.stores.traffic import METER, ServiceMeter
from nightwatch_core.errors import MayHaveArrived, NightWatchError, StopTheNight, TryLater
from nightwatch_core.models import conversation as chat
from nightwatch_core.models.answer import Usage
from nightwatch_core.text.plain_text import text_table

LONGEST_WAIT = 60.0  # who asks for more patience is asked again by a later night

# Calls to one address with one key: tried again when they break, and over when their time is.
#
# The client library's own retries are off: they wait as long as the service asks, without a bound.

_NO_MODELS_API = (400, 405, 501)  # how compatible servers say so, besides 404
EXPECTED = (anthropic.APIError, *library.BROKEN, ValueError, RecursionError)  # these: no JSON
T = TypeVar("T")


class Calls:
    """Calls to Anthropic's address, or to `base_url`, on behalf of one key.

    `attempts` are made for one call, the first included; between them the service's own wish
    counts, else `patience` seconds, doubled each time. An answer that says nothing for `silence`
    seconds is taken for broken; `pause` waits that many. Calls of a `gate` that begin alike let
    the first one write what the others read.
    """

    def __init__(
        self,
        api_key: SecretStr,
        model: str,
        base_url: str = "",
        attempts: int = 3,
        patience: float = 0.5,
        silence: float = SILENCE,
        gate: Gate = GATE,
        meter: ServiceMeter = METER,
        pause: Callable[[float], None] = time.sleep,
        compacts: bool = True,
    ) -> None:
        """Make no request yet; raises `StopTheNight` where key or address cannot be one."""
        self._secret, self.model = api_key, model
        self.address = library.address(base_url)
        self.attempts, self._patience = max(attempts, 1), patience
        self._compatible = self.address != library.ADDRESS
        self._client = library.client_maker(api_key, self.address, silence)
        self._features: Features | None = None
        self._meter = meter
        self._asking = threading.Lock()
        self._sleep, self._gate, self._compacts = pause, gate, compacts

    @property
    def key(self) -> str:
        """Return the key, which nothing that prints this object shows."""
        return self._secret.get_secret_value()

    def features(self, end: float) -> Features:
        """Return the model's features, looked up once."""
        if not self._asking.acquire(timeout=max(end - time.monotonic(), 0.0)):
            raise TryLater(
                "Claude did not return the model's capabilities in time: try again later"
            )
        try:
            if self._features is None:
                soon = min(end, time.monotonic() + ASKING)
                found = self.ask(self._ask_features, soon)
                edits = (e for e in found.edits if e != COMPACT or self._compacts)
                self._features = found.model_copy(update={"edits": tuple(edits)})
        finally:
            self._asking.release()
        if self._features.lifecycle == "retired":
            raise StopTheNight(
                f"the model {self.model} is retired: choose {self._features.replacement} with "
                "--model or NIGHTWATCH_MODEL (--lead-model where it leads)"
            )
        return self._features

    def ask(self, once: Callable[[Any], Awaitable[T]], end: float) -> T:
        """Make a request with a client, repeated until it succeeds, makes no sense, or it is `end`.

        What may have been done is never asked for again.
        """

        async def bounded() -> T:
            try:
                async with asyncio.timeout(max(end - time.monotonic(), 0.0)):
                    return await self._patiently(once, end)
            except TimeoutError as late:
                error = library.translated(late)
                self._meter.count(library.SERVICE, error)
                raise error from None

        return asyncio.run(bounded())

    async def _patiently(self, once: Callable[[Any], Awaitable[T]], end: float) -> T:
        async with self._client() as client:
            for attempt in range(1, self.attempts + 1):
                began = self._meter.begin(library.SERVICE)
                try:
                    answer = await once(client)
                except EXPECTED as problem:
                    error = library.translated(problem, self.key)
                    pause = self._pause(problem, attempt)
                except MayHaveArrived as unsure:
                    self._meter.count(library.SERVICE, unsure)
                    raise
                except TryLater as unfinished:
                    error, pause = unfinished, self._pause(unfinished, attempt)
                else:
                    self._meter.count(library.SERVICE)
                    return answer
                self._meter.count(library.SERVICE, error, began=began)
                last = attempt == self.attempts or not isinstance(error, TryLater)
                if last or pause > LONGEST_WAIT or time.monotonic() + pause >= end:
                    break
                self._meter.wait(library.SERVICE, pause)
                await asyncio.to_thread(self._sleep, pause)
        raise error

    def _pause(self, problem: Exception, attempt: int) -> float:
        asked = library.asked_wait(problem, time.time())
        own = self._patience * 2 ** (attempt - 1) * random.uniform(0.75, 1.0)
        return own if asked is None else asked

    async def _ask_features(self, client: Any) -> Features:
        unknown = Features(model=self.model)
        try:
            info: object = await client.models.retrieve(self.model)
        except anthropic.NotFoundError as problem:
            if self._compatible and self.model not in str(problem.api_message):
                return unknown
            raise StopTheNight(
                f"there is no model {self.model[:80]!r} for this key: choose "
                f"{unknown.replacement}, or another one, with --model or NIGHTWATCH_MODEL "
                "(--lead-model where it leads)"
            ) from None
        except anthropic.APIStatusError as problem:
            if self._compatible and problem.status_code in _NO_MODELS_API:
                return unknown
            raise
        described = {}
        if isinstance(info, anthropic.BaseModel):
            described = info.to_dict(mode="json", warnings=False)
        # a service that is unwell or damaged answers would make it a poorer model all night
        if described.get("type") == "error" and (error := inside(described, "error")):
            said = str(error.get("type") or "an error")[:80]
            raise TryLater(
                f"Claude answered {said} instead of the model's capabilities: try again later"
            )
        if isinstance(described.get("id"), str) and isinstance(
            described.get("capabilities") or {}, Mapping
        ):
            return features_of(self.model, described)
        if self._compatible and not described.get("id"):
            return unknown
        raise TryLater("the Models API's answer cannot be read: try again later")


# Messages of the Messages API as replies, and what each took: everything that is billed.

STOPS = text_table("nightwatch_core.adapters.claude", "stops.toml")


def reply_of(message: Mapping[str, Any], usage: Usage) -> chat.Reply:
    """Return a finished message of the service as a reply."""
    filled = (b for b in message["content"] if b.get("type") != "text" or b.get("text"))
    blocks = [_echo(block) for block in filled]
    calls = tuple(
        chat.ToolCall(id=block["id"], name=block["name"], arguments=block["input"])
        for block in blocks
        if block.get("type") == "tool_use"
    )
    text = "".join(str(b.get("text", "")) for b in blocks if b.get("type") == "text")
    stop = STOPS.get(str(message.get("stop_reason")), "answer")
    if stop in ("answer", "tools"):
        stop = "tools" if calls else "answer"
    return chat.Reply.model_validate(
        {
            "turn": chat.AssistantTurn(text=text, calls=calls, opaque=json.dumps(blocks)),
            "stop": stop,
            "usage": usage,
            "detail": _detail(message),
        }
    )


def usage_of(message: Mapping[str, Any], model: str) -> Usage:
    """Return one request's tokens and cost; missing numbers count as 0."""
    counted = inside(message, "usage")
    parts = _objects(counted, "iterations")  # summaries are left out of the totals
    summaries = [_usage(part, model) for part in parts if part.get("type") == "compaction"]
    edits = _objects(inside(message, "context_management"), "applied_edits")
    counts = {
        "calls": 1,
        "compactions": len(summaries),
        "compaction_tokens": sum(
            summary.prompt_tokens + summary.output_tokens for summary in summaries
        ),
        "cleared_tokens": sum(number(edit, "cleared_input_tokens") for edit in edits),
    }
    used = sum(summaries, _usage(counted, model)).model_copy(update=counts)
    before = used.prompt_tokens + used.cleared_tokens if used.cleared_tokens else 0
    return used.model_copy(update={"uncleared_tokens": before})


def _usage(counted: Mapping[str, Any], model: str) -> Usage:
    output = number(counted, "output_tokens")
    written = number(counted, "cache_creation_input_tokens")
    hour = number(inside(counted, "cache_creation"), "ephemeral_1h_input_tokens")
    thinking = number(inside(counted, "output_tokens_details"), "thinking_tokens")
    usage = Usage(
        input_tokens=number(counted, "input_tokens"),
        output_tokens=output,
        thinking_tokens=min(thinking, output),
        cache_write_tokens=written,
        cache_write_1h_tokens=min(hour, written),
        cache_read_tokens=number(counted, "cache_read_input_tokens"),
    )
    return priced(model, usage)


def _echo(block: Mapping[str, Any]) -> Json:
    kept = {name: value for name, value in block.items() if name != "parsed_output"}
    if kept.get("type") == "tool_use":
        given = kept.get("input")  # no object where it was cut off before its first argument
        kept["input"] = given if isinstance(given, dict) else {}
        kept |= {name: str(kept.get(name) or "unknown") for name in ("id", "name")}
    return kept


def _detail(message: Mapping[str, Any]) -> str:
    if message.get("stop_reason") == "refusal":
        details = message.get("stop_details") or {}
        return str(details.get("category") or details.get("explanation") or "")[:300]
    summaries = [item for item in message["content"] if item.get("type") == "compaction"]
    failed = any(summary.get("content") is None for summary in summaries)
    return ("a summary failed" if failed else "summarised") if summaries else ""


def _objects(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    listed = value.get(name)
    items = listed if isinstance(listed, list) else []
    return [item for item in items if isinstance(item, Mapping)]


# One turn of a model: a request streamed, its answer whole, and everything it took counted.


async def _streamed(client: Any, request: Json, spent: list[Usage], ended: Ended) -> Json:
    """One message, whole; what it took is in `spent` even where it breaks."""
    begun: Any = None
    opening = client.beta.messages.stream(**request)
    try:
        async with opening as stream:
            async for event in stream:
                if event.type == "message_start":
                    ended(True)
                if begun is not None or event.type == "message_start":
                    begun = stream.current_message_snapshot
    except library.DAMAGED as problem:
        raise library.translated(problem) from None
    finally:
        if begun is not None:
            spent.append(usage_of(begun.to_dict(mode="json"), str(request["model"])))
    if begun is None or begun.stop_reason is None:
        raise TryLater("Claude's answer ended before it was whole: try again later")
    message: Json = begun.to_dict(mode="json")
    return message


class Claude(Calls):
    """A model at Anthropic's address, or at `base_url` (with or without `/v1`)."""

    def reply(self, conversation: chat.Conversation, timeout: float) -> chat.Reply:
        """Return the next turn, within `timeout` seconds.

        The usage holds what broken attempts took, as far as the service had said so; an error
        carries it too.
        """
        end, spent = time.monotonic() + timeout, list[Usage]()
        try:
            features = self.features(end)
            request = request_for(conversation, features)
            if announced := betas(features):
                request["betas"] = announced
            cached = beginning(request, (self.address, self.key))
            with self._gate.entered(cached, end - time.monotonic()) as ended:

                async def once(client: Any) -> Json:
                    try:
                        return await _streamed(client, request, spent, ended)
                    finally:
                        ended(False)

                message = self.ask(once, end)
        except library.TooLong as long:
            usage = sum(spent, Usage())
            turn = chat.AssistantTurn()
            return chat.Reply(turn=turn, stop="context exceeded", usage=usage, detail=str(long))
        except NightWatchError as trouble:
            trouble.usage = sum(spent, Usage())
            raise
        return reply_of(message, sum(spent, Usage()))

    def capabilities(self) -> chat.Capabilities:
        """Return the capabilities of the Models API; raises `StopTheNight` for a retired model."""
        return capabilities_of(self.features(time.monotonic() + ASKING))

    def probe(self) -> str:
        """Say that the key is valid and the model there, or raise what is wrong."""
        features = self.features(time.monotonic() + ASKING)
        at = f"{features.model} at {self.address}"
        if not features.listed:
            return f"{at}, unproven: the server has no Models API"
        note = capabilities_of(features).note
        return f"{at}, {features.context:,} tokens of context{'; ' if note else ''}{note}"
