"""When a step is tried again, and when its result is kept."""

from typing import Any

from prefect import Task
from prefect.client.schemas.objects import State, TaskRun
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
