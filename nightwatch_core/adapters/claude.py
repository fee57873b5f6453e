"""The Model port over Anthropic's Messages API and servers that speak it.

One call of `reply` is one turn: streamed, tried again when it breaks (a stream that has begun is
never resumed by the client library), and over when its time is, whatever the other end does. The
client library's own retries are off: they wait as long as the service asks, without a bound.
"""

import asyncio
import random
import re
import ssl
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import anthropic
import httpx2
from pydantic import BaseModel, SecretStr

from nightwatch_core.adapters import claude_errors, claude_models, claude_wire
from nightwatch_core.adapters.claude_models import Able
from nightwatch_core.errors import NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.conversation import AssistantTurn, Capabilities, Conversation, Reply

ADDRESS = "https://api.anthropic.com"
CONNECTING = 10.0  # seconds
ASKING = 30.0  # seconds for what the model can do
LONGEST_WAIT = 60.0  # seconds: who asks for more patience is asked again by a later night
_NO_MODELS_API = (400, 405, 501)  # how compatible servers say so, besides 404
_EXPECTED = (anthropic.APIError, *claude_errors.BROKEN, ValueError)  # the last: no JSON
_KEY = re.compile(r"[!-~]+")  # what a header can hold, without spaces
T = TypeVar("T")


class Claude:
    """A model at Anthropic's address, or at `base_url` (with or without `/v1`).

    `attempts` are made for one turn, the first included; between them the service's own wish
    counts, else `patience` seconds, doubled each time.
    """

    def __init__(
        self,
        api_key: SecretStr,
        model: str,
        base_url: str = "",
        attempts: int = 3,
        patience: float = 0.5,
    ) -> None:
        """Make no request yet; raises `StopTheNight` where key or address cannot be one."""
        if not _KEY.fullmatch(api_key.get_secret_value()):
            raise StopTheNight("ANTHROPIC_API_KEY is empty or holds what no key does: copy it anew")
        self._key, self._model = api_key, model
        self._attempts, self._patience = max(attempts, 1), patience
        self._address = _address(base_url)
        self._compatible = self._address != ADDRESS
        self._known: Able | None = None
        self._asking = threading.Lock()

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """The next turn, within `timeout` seconds.

        The usage holds what broken attempts took, as far as the service had said so; an error
        carries it too.
        """
        end, spent = time.monotonic() + timeout, list[Usage]()
        try:
            able = self._able(end)
            request = claude_wire.body(conversation, able)
            message = self._run(self._turn(request, spent, end), end)
        except claude_errors.TooLong as long:
            turn = AssistantTurn()
            return Reply(
                turn=turn, stop="context exceeded", usage=self._sum(spent), detail=str(long)
            )
        except NightWatchError as trouble:
            trouble.usage = self._sum(spent)
            raise
        return claude_wire.reply(message, self._sum(spent))

    def capabilities(self) -> Capabilities:
        """What the Models API says, asked once; raises `StopTheNight` where it is retired."""
        return claude_models.capabilities(self._able(time.monotonic() + ASKING))

    def probe(self) -> str:
        """Say that the key is valid and the model there, or raise what is wrong."""
        able = self._able(time.monotonic() + ASKING)
        if not able.listed:
            return f"{able.model} at {self._address}, unproven: the server has no Models API"
        note = claude_models.capabilities(able).note
        said = f"{able.model} at {self._address}, {able.context:,} tokens of context"
        return f"{said}; {note}" if note else said

    def _able(self, end: float) -> Able:
        """What the model can do; whoever asks first finds out for all."""
        if not self._asking.acquire(timeout=max(end - time.monotonic(), 0.0)):
            raise TryLater("Claude did not say in time what the model can do: try again later")
        try:
            if self._known is None:
                soon = min(end, time.monotonic() + ASKING)
                self._known = self._run(self._patiently(self._found_out, soon), soon)
        finally:
            self._asking.release()
        return claude_models.usable(self._known)

    def _run(self, work: Coroutine[Any, Any, T], end: float) -> T:
        async def bounded() -> T:
            try:
                async with asyncio.timeout(max(end - time.monotonic(), 0.0)):
                    return await work
            except TimeoutError as late:
                raise claude_errors.translated(late) from None

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(bounded())
        with ThreadPoolExecutor(1) as beside:  # a notebook's thread has a loop of its own
            return beside.submit(asyncio.run, bounded()).result()

    async def _turn(self, request: claude_wire.Json, spent: list[Usage], end: float) -> Any:
        async def once(client: anthropic.AsyncAnthropic) -> Any:
            return await self._streamed(client, request, spent)

        return await self._patiently(once, end)

    async def _patiently(self, once: Any, end: float) -> Any:
        """Attempts until one succeeds, or the next one makes no sense."""
        async with self._client() as client:
            for attempt in range(1, self._attempts + 1):
                try:
                    return await once(client)
                except _EXPECTED as problem:
                    error = claude_errors.translated(problem, self._key.get_secret_value())
                    pause = self._pause(problem, attempt)
                except TryLater as unfinished:
                    error, pause = unfinished, self._pause(unfinished, attempt)
                last = attempt == self._attempts or not isinstance(error, TryLater)
                if last or pause > LONGEST_WAIT or time.monotonic() + pause >= end:
                    break
                await asyncio.sleep(pause)
        raise error

    def _pause(self, problem: Exception, attempt: int) -> float:
        asked = claude_errors.wait(problem, time.time())
        own = self._patience * 2 ** (attempt - 1) * random.uniform(0.75, 1.0)
        return own if asked is None else asked

    async def _streamed(
        self, client: anthropic.AsyncAnthropic, request: claude_wire.Json, spent: list[Usage]
    ) -> claude_wire.Json:
        """One message, whole; what it took is in `spent` even where it breaks."""
        begun: Any = None
        opening = client.messages.stream(**request)
        try:
            async with opening as stream:
                async for event in stream:
                    if begun is not None or event.type == "message_start":
                        begun = stream.current_message_snapshot
        except claude_errors.DAMAGED as problem:
            raise claude_errors.translated(problem) from None
        finally:
            if begun is not None:
                spent.append(self._priced(begun))
        if begun is None or begun.stop_reason is None:
            raise TryLater("Claude's answer ended before it was whole: try again later")
        message: claude_wire.Json = begun.to_dict(mode="json")
        return message

    def _priced(self, message: BaseModel) -> Usage:
        counted = message.model_dump(mode="json", include={"usage"}).get("usage")
        return claude_models.priced(self._model, claude_wire.usage(counted or {}))

    async def _found_out(self, client: anthropic.AsyncAnthropic) -> Able:
        try:
            info: object = await client.models.retrieve(self._model)
        except anthropic.NotFoundError as problem:
            if self._compatible and self._model not in str(problem.api_message):
                return Able(model=self._model)
            advice = claude_models.replacement(Able(model=self._model))
            raise StopTheNight(
                f"there is no model {self._model[:80]!r} for this key: choose {advice}, or "
                "another one, with --model or NIGHTWATCH_MODEL"
            ) from None
        except anthropic.APIStatusError as problem:
            if self._compatible and problem.status_code in _NO_MODELS_API:
                return Able(model=self._model)
            raise
        if isinstance(info, anthropic.BaseModel):
            return claude_models.able(self._model, info.to_dict(mode="json"))
        if self._compatible:
            return Able(model=self._model)
        raise TryLater("the Models API's answer cannot be read: try again later")

    def _client(self) -> anthropic.AsyncAnthropic:
        key = self._key.get_secret_value()
        return anthropic.AsyncAnthropic(
            api_key=key,
            base_url=self._address,
            max_retries=0,
            timeout=httpx2.Timeout(None, connect=CONNECTING),
            default_headers={"x-api-key": key} if self._compatible else {},
            # The key goes to the address it was given for and nowhere else.
            http_client=anthropic.DefaultAsyncHttpxClient(
                follow_redirects=False, verify=_trusted()
            ),
        )

    def _sum(self, spent: list[Usage]) -> Usage:
        return sum(spent, Usage())


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates count; reading them takes longer than the rest of a client."""
    return httpx2.create_ssl_context()


def _address(base_url: str) -> str:
    """The address as the client library wants it: without the version at its end.

    >>> _address(" http://localhost:11434/v1/ "), _address("")
    ('http://localhost:11434', 'https://api.anthropic.com')
    """
    address = base_url.strip().rstrip("/").removesuffix("/v1") or ADDRESS
    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("https", "http") or not url.host or url.userinfo:
        raise StopTheNight("ANTHROPIC_BASE_URL has to be like https://host or http://host:port")
    return address
