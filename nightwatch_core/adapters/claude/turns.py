"""One turn of a model: a request streamed, its answer whole, and everything it took counted."""

import time
from collections.abc import Callable
from typing import Any

from nightwatch_core.adapters.claude import client as library
from nightwatch_core.adapters.claude.cache_gate import Ended, Gate, beginning
from nightwatch_core.adapters.claude.calls import Calls
from nightwatch_core.adapters.claude.features import Features, Json
from nightwatch_core.adapters.claude.reply import reply_of, usage_of
from nightwatch_core.errors import NightWatchError, TryLater
from nightwatch_core.models.conversation import AssistantTurn, Reply
from nightwatch_core.models.usage import Usage


def _no_more(request: Json, message: Json, end: float) -> Usage:
    return Usage()


def answer_to(
    request_of: Callable[[Features], Json],
    calls: Calls,
    timeout: float,
    gate: Gate,
    more_of: Callable[[Json, Json, float], Usage] = _no_more,
) -> Reply:
    """What the model answers to the request its features make; see `Claude.reply`.

    `more_of` says of the request and its message, until the end of the call, what the message does
    not say.
    """
    end, spent = time.monotonic() + timeout, list[Usage]()
    try:
        request = request_of(calls.features(end))
        cached = beginning(request, (calls.address, calls.key))
        with gate.entered(cached, end - time.monotonic()) as ended:
            message = calls.run(_turn(calls, request, spent, end, ended), end)
    except library.TooLong as long:
        usage = sum(spent, Usage())
        turn = AssistantTurn()
        return Reply(turn=turn, stop="context exceeded", usage=usage, detail=str(long))
    except NightWatchError as trouble:
        trouble.usage = sum(spent, Usage())
        raise
    return reply_of(message, sum(spent, more_of(request, message, end)))


async def _turn(calls: Calls, request: Json, spent: list[Usage], end: float, ended: Ended) -> Json:
    async def once(client: Any) -> Json:
        try:
            return await _streamed(client, request, spent, ended)
        finally:
            ended(False)

    return await calls.patiently(once, end)


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
