"""Calls to one address with one key: tried again when they break, and over when their time is.

The client library's own retries are off: they wait as long as the service asks, without a bound.
"""

import asyncio
import hashlib
import random
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import anthropic
from pydantic import SecretStr

from nightwatch_core.adapters.claude import client as library
from nightwatch_core.adapters.claude.features import (
    Features,
    check_lifecycle,
    features_of,
    is_description,
)
from nightwatch_core.adapters.claude.limits import ASKING, LONGEST_WAIT, SILENCE
from nightwatch_core.adapters.stores.service_meter import PROCESS, ServiceMeter
from nightwatch_core.errors import MayHaveArrived, StopTheNight, TryLater

_NO_MODELS_API = (400, 405, 501)  # how compatible servers say so, besides 404
EXPECTED = (anthropic.APIError, *library.BROKEN, ValueError, RecursionError)  # these: no JSON
T = TypeVar("T")


class Calls:
    """Calls to Anthropic's address, or to `base_url`, on behalf of one key.

    `attempts` are made for one call, the first included; between them the service's own wish
    counts, else `patience` seconds, doubled each time. An answer that says nothing for `silence`
    seconds is taken for broken. `client`, `features` and `pause` are as in `Claude`.
    """

    def __init__(
        self,
        api_key: SecretStr,
        model: str,
        base_url: str = "",
        attempts: int = 3,
        patience: float = 0.5,
        silence: float = SILENCE,
        client: Callable[[], Any] | None = None,
        features: Features | None = None,
        meter: ServiceMeter = PROCESS,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Make no request yet; raises `StopTheNight` where key or address cannot be one."""
        self.key, self.model = api_key.get_secret_value(), model
        self.address = library.address(base_url)
        self.attempts, self._patience = max(attempts, 1), patience
        self._compatible = client is not None or self.address != library.ADDRESS
        self._client = client or library.client_maker(api_key, self.address, silence)
        self._asked, self._meter = features, meter
        self._asking = threading.Lock()
        self._sleep = pause

    @property
    def account(self) -> str:
        """A name for address and key that gives neither away."""
        whose = f"{self.address}\n{self.key}".encode()
        return hashlib.sha256(whose).hexdigest()[:16]

    def features(self, end: float) -> Features:
        """What the model can do; whoever asks first finds out for all."""
        if not self._asking.acquire(timeout=max(end - time.monotonic(), 0.0)):
            raise TryLater("Claude did not say in time what the model can do: try again later")
        try:
            if self._asked is None:
                soon = min(end, time.monotonic() + ASKING)
                self._asked = self.run(self.patiently(self._ask_features, soon), soon)
        finally:
            self._asking.release()
        check_lifecycle(self._asked)
        return self._asked

    def run(self, work: Coroutine[Any, Any, T], end: float) -> T:
        """Do it now, until `end` (monotonic seconds) at the latest."""

        async def bounded() -> T:
            try:
                async with asyncio.timeout(max(end - time.monotonic(), 0.0)):
                    return await work
            except TimeoutError as late:
                error = library.translated(late)
                self._meter.count(library.SERVICE, error)
                raise error from None

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(bounded())
        with ThreadPoolExecutor(1) as beside:  # a notebook's thread has a loop of its own
            return beside.submit(asyncio.run, bounded()).result()

    async def patiently(
        self, once: Callable[[Any], Awaitable[T]], end: float, attempts: int = 0
    ) -> T:
        """Attempts until one succeeds, or the next one makes no sense.

        What may have been done is never asked for again.
        """
        most = attempts or self.attempts
        async with self._client() as client:
            for attempt in range(1, most + 1):
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
                last = attempt == most or not isinstance(error, TryLater)
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
        models = getattr(client, "models", None)
        if models is None:  # clouds of others have no such list
            return unknown
        try:
            info: object = await models.retrieve(self.model)
        except anthropic.NotFoundError as problem:
            if self._compatible and self.model not in str(problem.api_message):
                return unknown
            raise StopTheNight(
                f"there is no model {self.model[:80]!r} for this key: choose "
                f"{unknown.replacement}, or another one, with --model or NIGHTWATCH_MODEL"
            ) from None
        except anthropic.APIStatusError as problem:
            if self._compatible and problem.status_code in _NO_MODELS_API:
                return unknown
            raise
        described = {}
        if isinstance(info, anthropic.BaseModel):
            described = info.to_dict(mode="json", warnings=False)
        if is_description(described):
            return features_of(self.model, described)
        if self._compatible and not described.get("id"):
            return unknown
        raise TryLater("the Models API's answer cannot be read: try again later")
