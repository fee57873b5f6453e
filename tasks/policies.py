"""When a step is tried again, and when its result is kept."""

import hashlib
from collections.abc import Callable
from typing import Any

from prefect import Task
from prefect.cache_policies import CacheKeyFnPolicy
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import TaskRunContext
from prefect.tasks import exponential_backoff

from nightwatch_core.errors import TryLater


def when_unwell(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    """Retry only what the core calls temporary."""
    return isinstance(state.result(raise_on_failure=False), TryLater)


PATIENTLY: dict[str, Any] = {
    "retries": 3,
    "retry_delay_seconds": exponential_backoff(backoff_factor=2),
    "retry_jitter_factor": 0.5,
    "retry_condition_fn": when_unwell,
}
"""For steps that touch the outside: 2, 4, 8 seconds and up to half as much again."""

KEPT: dict[str, Any] = {"persist_result": True, "result_serializer": "json"}
"""For steps that a Retry of the run need not do again: their results are kept as records."""


def kept_by_night(
    step: str, shape: Callable[[dict[str, Any]], tuple[str, ...]]
) -> CacheKeyFnPolicy:
    """Keep a step's result under its night's name: what is learned meanwhile does not change it.

    `shape` tells of the step's parameters what does, as texts; one of them is the night.
    """

    def key(_context: TaskRunContext, parameters: dict[str, Any]) -> str:
        return f"night/{parameters['night'].id}/{step}-{digest(*shape(parameters))}"

    return CacheKeyFnPolicy(cache_key_fn=key)


def digest(*texts: str) -> str:
    """Name texts by 24 digits.

    >>> len(digest("a", "b")), digest("ab", "") == digest("a", "b")
    (24, False)
    """
    return hashlib.sha256("\0".join(texts).encode(errors="replace")).hexdigest()[:24]
