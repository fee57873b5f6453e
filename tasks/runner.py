"""Where mapped steps run: the one place that chooses a task runner for the flows."""

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, Self

from prefect import Task
from prefect.client.schemas.objects import RunInput
from prefect.context import FlowRunContext
from prefect.futures import PrefectFuture
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from nightwatch_core.settings import night_options


def new_runner(concurrency: int) -> TaskRunner[Any]:
    """A runner of `concurrency` places: threads, because an analysis waits for its model."""
    return ThreadPoolTaskRunner(max_workers=concurrency)


class NightRunner(TaskRunner[PrefectFuture[Any]]):
    """The runner of a flow whose `concurrency` is a parameter of the run.

    Prefect opens a flow's runner before the flow knows its parameters, so this one opens the real
    one with the first task.
    """

    def __init__(self) -> None:
        """Hold nothing until the first task comes."""
        super().__init__()  # type: ignore[no-untyped-call]
        self._opened = ExitStack()
        self._runner: TaskRunner[Any] | None = None

    def duplicate(self) -> Self:
        """Return another one that holds nothing."""
        return type(self)()

    def submit(
        self,
        task: Task[..., Any],
        parameters: dict[str, Any],
        wait_for: Iterable[PrefectFuture[Any]] | None = None,
        dependencies: dict[str, set[RunInput]] | None = None,
    ) -> PrefectFuture[Any]:
        """Start one task run beside the others."""
        if self._runner is None:
            self._runner = self._opened.enter_context(new_runner(_concurrency()))
        future: PrefectFuture[Any] = self._runner.submit(task, parameters, wait_for, dependencies)
        return future

    def cancel_all(self) -> None:
        """Tell every task run to end, where the runner can."""
        cancel = getattr(self._runner, "cancel_all", None)
        if cancel:
            cancel()

    def __exit__(self, *error: Any) -> None:
        """Close the real runner, too."""
        self._opened.close()
        super().__exit__(*error)


def _concurrency() -> int:
    """What the flow was started with, else what the settings say."""
    context = FlowRunContext.get()
    given = (context.parameters if context else None) or {}
    return night_options({"concurrency": given.get("concurrency")}).concurrency
