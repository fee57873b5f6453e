"""The Model port over Anthropic's Messages API and servers that speak it.

One call of `reply` is one turn: streamed, tried again when it breaks (a stream that has begun is
never resumed by the client library), and over when its time is, whatever the other end does. The
client library's own retries are off: they wait as long as the service asks, without a bound.
"""

import asyncio
import random
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import anthropic
from pydantic import SecretStr

from nightwatch_core.adapters.claude import clearing
from nightwatch_core.adapters.claude import client as library
from nightwatch_core.adapters.claude.cache_gate import PROCESS, Ended, Gate, beginning
from nightwatch_core.adapters.claude.features import (
    Features,
    Json,
    Tuning,
    betas,
    capabilities_of,
    check_lifecycle,
    features_of,
)
from nightwatch_core.adapters.claude.limits import ASKING, COUNTING, LONGEST_WAIT, SILENCE
from nightwatch_core.adapters.claude.reply import reply_of, usage_of
from nightwatch_core.adapters.claude.request import request_for
from nightwatch_core.errors import NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.conversation import AssistantTurn, Capabilities, Conversation, Reply
from nightwatch_core.models.usage import Usage

_NO_MODELS_API = (400, 405, 501)  # how compatible servers say so, besides 404
_EXPECTED = (anthropic.APIError, *library.BROKEN, ValueError)  # the last: no JSON
T = TypeVar("T")


class Claude:
    """A model at Anthropic's address, or at `base_url` (with or without `/v1`).

    `attempts` are made for one turn, the first included; between them the service's own wish
    counts, else `patience` seconds, doubled each time. A stream that says nothing for `silence`
    seconds is taken for broken.

    `client` makes another kind of client, as for Bedrock or Vertex; it is called for every turn
    and has to make them without retries of their own. Where it has no Models API, `features` say
    what the model can do; without them nothing optional is asked of it.

    Calls of a `gate` that begin alike let the first one write what the others read.
    """

    def __init__(
        self,
        api_key: SecretStr,
        model: str,
        base_url: str = "",
        attempts: int = 3,
        patience: float = 0.5,
        silence: float = SILENCE,
        tuning: Tuning | None = None,
        client: Callable[[], Any] | None = None,
        features: Features | None = None,
        gate: Gate = PROCESS,
    ) -> None:
        """Make no request yet; raises `StopTheNight` where key or address cannot be one."""
        self._key, self._model = api_key, model
        self._attempts, self._patience = max(attempts, 1), patience
        self._tuning = tuning or Tuning()
        self._address = library.address(base_url)
        self._compatible = client is not None or self._address != library.ADDRESS
        self._client = client or library.client_maker(api_key, self._address, silence)
        self._asked = features
        self._gate = gate
        self._asking = threading.Lock()
        self._counts = True  # whether the server can count tokens, until it shows that it cannot

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """The next turn, within `timeout` seconds.

        The usage holds what broken attempts took, as far as the service had said so; an error
        carries it too.
        """
        end, spent = time.monotonic() + timeout, list[Usage]()
        try:
            features = self._features(end)
            request = request_for(conversation, features, self._tuning)
            if announced := betas(features, self._tuning):
                request["betas"] = announced
            cached = beginning(request, (self._address, self._key.get_secret_value()))
            with self._gate.entered(cached, end - time.monotonic()) as ended:
                message = self._run(self._turn(request, spent, end, ended), end)
        except library.TooLong as long:
            usage = sum(spent, Usage())
            turn = AssistantTurn()
            return Reply(turn=turn, stop="context exceeded", usage=usage, detail=str(long))
        except NightWatchError as trouble:
            trouble.usage = sum(spent, Usage())
            raise
        used = sum(spent, Usage())
        if clearing.is_silent(request, message):
            used += self._counted(request, end)
        return reply_of(message, used)

    def capabilities(self) -> Capabilities:
        """What the Models API says, asked once; raises `StopTheNight` where it is retired."""
        return capabilities_of(self._features(time.monotonic() + ASKING))

    def probe(self) -> str:
        """Say that the key is valid and the model there, or raise what is wrong."""
        features = self._features(time.monotonic() + ASKING)
        at = f"{features.model} at {self._address}"
        if not features.listed:
            return f"{at}, unproven: the server has no Models API"
        note = capabilities_of(features).note
        return f"{at}, {features.context:,} tokens of context{'; ' if note else ''}{note}"

    def _counted(self, request: Json, end: float) -> Usage:
        """What was cleared from a request, by the service's own count; it never fails."""
        if not self._counts:
            return clearing.UNTOLD

        async def count() -> Json:
            async with self._client() as client:
                wanted = clearing.count_request(request)
                answer: Json = (await client.beta.messages.count_tokens(**wanted)).to_dict()
                return answer

        try:
            return clearing.counted(self._run(count(), min(end, time.monotonic() + COUNTING)))
        except (*_EXPECTED, *library.DAMAGED, TryLater):
            self._counts = False  # it would be asked in vain at every turn
            return clearing.UNTOLD

    def _features(self, end: float) -> Features:
        """What the model can do; whoever asks first finds out for all."""
        if not self._asking.acquire(timeout=max(end - time.monotonic(), 0.0)):
            raise TryLater("Claude did not say in time what the model can do: try again later")
        try:
            if self._asked is None:
                soon = min(end, time.monotonic() + ASKING)
                self._asked = self._run(self._patiently(self._ask_features, soon), soon)
        finally:
            self._asking.release()
        check_lifecycle(self._asked)
        return self._asked

    def _run(self, work: Coroutine[Any, Any, T], end: float) -> T:
        async def bounded() -> T:
            try:
                async with asyncio.timeout(max(end - time.monotonic(), 0.0)):
                    return await work
            except TimeoutError as late:
                raise library.translated(late) from None

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(bounded())
        with ThreadPoolExecutor(1) as beside:  # a notebook's thread has a loop of its own
            return beside.submit(asyncio.run, bounded()).result()

    async def _turn(self, request: Json, spent: list[Usage], end: float, ended: Ended) -> Any:
        async def once(client: Any) -> Any:
            try:
                return await self._streamed(client, request, spent, ended)
            finally:
                ended(False)

        return await self._patiently(once, end)

    async def _patiently(self, once: Any, end: float) -> Any:
        """Attempts until one succeeds, or the next one makes no sense."""
        async with self._client() as client:
            for attempt in range(1, self._attempts + 1):
                try:
                    return await once(client)
                except _EXPECTED as problem:
                    error = library.translated(problem, self._key.get_secret_value())
                    pause = self._pause(problem, attempt)
                except TryLater as unfinished:
                    error, pause = unfinished, self._pause(unfinished, attempt)
                last = attempt == self._attempts or not isinstance(error, TryLater)
                if last or pause > LONGEST_WAIT or time.monotonic() + pause >= end:
                    break
                await asyncio.sleep(pause)
        raise error

    def _pause(self, problem: Exception, attempt: int) -> float:
        asked = library.asked_wait(problem, time.time())
        own = self._patience * 2 ** (attempt - 1) * random.uniform(0.75, 1.0)
        return own if asked is None else asked

    async def _streamed(self, client: Any, request: Json, spent: list[Usage], ended: Ended) -> Json:
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
                spent.append(usage_of(begun.to_dict(mode="json"), self._model))
        if begun is None or begun.stop_reason is None:
            raise TryLater("Claude's answer ended before it was whole: try again later")
        message: Json = begun.to_dict(mode="json")
        return message

    async def _ask_features(self, client: Any) -> Features:
        unknown = Features(model=self._model)
        models = getattr(client, "models", None)
        if models is None:  # clouds of others have no such list
            return unknown
        try:
            info: object = await models.retrieve(self._model)
        except anthropic.NotFoundError as problem:
            if self._compatible and self._model not in str(problem.api_message):
                return unknown
            raise StopTheNight(
                f"there is no model {self._model[:80]!r} for this key: choose "
                f"{unknown.replacement}, or another one, with --model or NIGHTWATCH_MODEL"
            ) from None
        except anthropic.APIStatusError as problem:
            if self._compatible and problem.status_code in _NO_MODELS_API:
                return unknown
            raise
        if isinstance(info, anthropic.BaseModel):
            return features_of(self._model, info.to_dict(mode="json"))
        if self._compatible:
            return unknown
        raise TryLater("the Models API's answer cannot be read: try again later")
