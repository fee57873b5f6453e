"""The Model port over Anthropic's Messages API and servers that speak it.

One call of `reply` is one turn: streamed, tried again when it breaks (a stream that has begun is
never resumed by the client library), and over when its time is, whatever the other end does.
"""

import time
from collections.abc import Callable
from typing import Any

from pydantic import SecretStr

from nightwatch_core.adapters.claude import clearing
from nightwatch_core.adapters.claude import client as library
from nightwatch_core.adapters.claude.cache_gate import PROCESS, Gate
from nightwatch_core.adapters.claude.calls import Calls
from nightwatch_core.adapters.claude.features import Features, Json, Tuning, betas, capabilities_of
from nightwatch_core.adapters.claude.limits import ASKING, COUNTING, SILENCE
from nightwatch_core.adapters.claude.request import request_for
from nightwatch_core.adapters.claude.turns import answer_to
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.conversation import Capabilities, Conversation, Reply
from nightwatch_core.models.usage import Usage


class Claude:
    """A model at Anthropic's address, or at `base_url` (with or without `/v1`).

    `attempts` are made for one turn, the first included; between them the service's own wish
    counts, else `patience` seconds, doubled each time. A stream that says nothing for `silence`
    seconds is taken for broken; `pause` waits that many.

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
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Make no request yet; raises `StopTheNight` where key or address cannot be one."""
        self._calls = Calls(
            api_key, model, base_url, attempts, patience, silence, client, features, pause=pause
        )
        self._tuning, self._gate = tuning or Tuning(), gate
        self._tells = False  # whether the server says what it cleared, as soon as it once did
        self._counts = True  # whether the server can count tokens, until it shows that it cannot

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """The next turn, within `timeout` seconds.

        The usage holds what broken attempts took, as far as the service had said so; an error
        carries it too.
        """

        def request_of(features: Features) -> Json:
            request = request_for(conversation, features, self._tuning)
            announced = betas(features, self._tuning)
            return request | ({"betas": announced} if announced else {})

        return answer_to(request_of, self._calls, timeout, self._gate, self._uncounted)

    def capabilities(self) -> Capabilities:
        """What the Models API says, asked once; raises `StopTheNight` where it is retired."""
        return capabilities_of(self._calls.features(time.monotonic() + ASKING))

    def probe(self) -> str:
        """Say that the key is valid and the model there, or raise what is wrong."""
        features = self._calls.features(time.monotonic() + ASKING)
        at = f"{features.model} at {self._calls.address}"
        if not features.listed:
            return f"{at}, unproven: the server has no Models API"
        note = capabilities_of(features).note
        return f"{at}, {features.context:,} tokens of context{'; ' if note else ''}{note}"

    def _uncounted(self, request: Json, message: Json, end: float) -> Usage:
        """What was cleared from a request whose answer does not say so; it never fails."""
        self._tells = self._tells or clearing.is_told(message)
        if self._tells or not clearing.is_silent(request, message):
            return Usage()
        if not self._counts:
            return clearing.UNTOLD

        async def count(client: Any) -> Json:
            wanted = clearing.count_request(request)
            answer: Json = (await client.beta.messages.count_tokens(**wanted)).to_dict()
            return answer

        soon = min(end, time.monotonic() + COUNTING)
        try:
            return clearing.counted(self._calls.run(self._calls.patiently(count, soon, 1), soon))
        except (*library.DAMAGED, NightWatchError):
            self._counts = False  # it would be asked in vain at every turn
            return clearing.UNTOLD
