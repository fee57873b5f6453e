"""Run mapped steps, retry them, keep their results, and turn their failures into values."""

import hashlib
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Self, TypeVar

import httpx
from prefect import Flow, Task, unmapped
from prefect.cache_policies import CacheKeyFnPolicy
from prefect.client.schemas.objects import RunInput, State, TaskRun
from prefect.context import FlowRunContext, TaskRunContext
from prefect.exceptions import PrefectHTTPStatusError
from prefect.futures import PrefectFuture, wait
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from prefect.tasks import exponential_backoff
from prefect.utilities.annotations import opaque

from nightwatch_core.analysis.loop import failure
from nightwatch_core.errors import NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import Assignment, WaveResult
from nightwatch_core.models.report import RunReport
from nightwatch_core.report import builder
from nightwatch_core.settings import night_options
from tasks.wiring import nights

KEPT: dict[str, Any] = {"persist_result": True, "result_serializer": "json"}
"""For steps that a Retry of the run need not do again: their results are kept as records."""
GONE = (httpx.TransportError, PrefectHTTPStatusError)  # our adapters let neither through
ADVICE = "unset PREFECT_API_URL for the embedded server, or start the one it names"
T = TypeVar("T")
log = logging.getLogger(__name__)


def new_runner(concurrency: int) -> TaskRunner[Any]:
    """Make a runner of `concurrency` threads: an analysis waits for its model."""
    return ThreadPoolTaskRunner(max_workers=concurrency)


class NightRunner(TaskRunner[PrefectFuture[Any]]):
    """Run a flow whose `concurrency` is a parameter of the run.

    Prefect opens a flow's runner before the flow knows its parameters, so this one opens the real
    one with the first task.
    """

    def __init__(self) -> None:
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
            context = FlowRunContext.get()
            given = (context.parameters if context else None) or {}
            concurrency = night_options({"concurrency": given.get("concurrency")}).concurrency
            self._runner = self._opened.enter_context(new_runner(concurrency))
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


# When a step is tried again, and when its result is kept.


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


# Prefect's server keeps the record of a run and no more: when it goes away, a night goes on.


def gone_text(trouble: Exception) -> str:
    """Describe the failure."""
    return f"Prefect's server went away ({type(trouble).__name__}: {str(trouble)[:200]})"


class Ended(NamedTuple):
    """Result of a flow run by hand: its report, and why Prefect's server lost it."""

    report: RunReport | None
    gone: str = ""


def run_flow(run: Callable[..., RunReport], **parameters: Any) -> Ended:
    """Run a flow by hand; where the server went away, what was done all the same is its report."""
    before = next(nights().reports(), None)
    try:
        return Ended(run(**parameters))
    except GONE as trouble:
        kept, gone = next(nights().reports(), None), gone_text(trouble)
        if kept is None or kept == before:
            return Ended(None, f"{gone} before there was a report: {ADVICE}")
        report = builder.degrade(kept, f"{gone}: it does not know how this run ended")
        nights().keep(report)
        return Ended(report, gone)


def run_subflow(subflow: Flow[..., T], **parameters: Any) -> T:
    """Run a flow within another one; without a server its steps are done all the same.

    A subflow that had come to its end by then is done again: it has to be one that may be.
    """
    try:
        ended: T = subflow(**parameters)
    except GONE:
        ended = subflow.fn(**parameters)
    return ended


# Turn futures and failures into values: a step that fails is a line in the report.


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """A step's value, or its stand-in and what went wrong."""

    value: T
    trouble: str = ""
    stop: str = ""  # why nothing more can be done tonight, once the rest is saved


def attempt(
    what: str, step: Callable[..., T], *args: Any, otherwise: T, **kwargs: Any
) -> Attempt[T]:
    """Run a step the night can do without, as it can without Prefect's server.

    `StopTheNight` still stops it.
    """
    try:
        return Attempt(step(*args, **kwargs))
    except StopTheNight:
        raise
    except NightWatchError as trouble:
        log.warning("%s: %s", what, trouble)
        return Attempt(otherwise, f"{what}: {trouble}")
    except GONE as trouble:
        log.warning("%s: %s", what, gone_text(trouble))
        return Attempt(otherwise, f"{what}: {gone_text(trouble)}")


def attempt_and_go_on(
    what: str, step: Callable[..., T], *args: Any, otherwise: T, **kwargs: Any
) -> Attempt[T]:
    """Run a step after which there is more to save; what stops the night is left to the caller."""
    try:
        return attempt(what, step, *args, otherwise=otherwise, **kwargs)
    except StopTheNight as stop:
        return Attempt(otherwise, stop=str(stop))


def ends(futures: Iterable[PrefectFuture[Any]]) -> tuple[Any, ...]:
    """Wait for all of a mapped step; each run's value, or the exception it ended with."""
    runs = list(futures)
    wait(runs)
    return tuple(run.result(raise_on_failure=False) for run in runs)


def settled(futures: Iterable[PrefectFuture[Analysis]], asked: Sequence[Assignment]) -> WaveResult:
    """Wait for a mapped step; what failed becomes a `Failure`.

    Where one of them says that nothing can be done tonight, the wave says why it was `stopped`:
    what others brought, and what it cost, is not lost with it.
    """
    pairs = tuple(zip(ends(futures), asked, strict=True))
    failed = [(end, pair.case) for end, pair in pairs if isinstance(end, BaseException)]
    return WaveResult(
        analyses=tuple(end for end, _ in pairs if isinstance(end, Analysis)),
        failures=tuple(failure(case, end) for end, case in failed),
        stopped=next((str(end) for end, _ in failed if isinstance(end, StopTheNight)), ""),
    )


def stop_where_stopped(*reasons: str) -> None:
    """Raise `StopTheNight` for the first reason why nothing more can be done tonight."""
    why = next(filter(None, reasons), "")
    if why:
        raise StopTheNight(why)


def each(items: Iterable[T]) -> Any:
    """Mark what a step is mapped over: one task run each.

    Prefect does not look for futures inside (`opaque`): looking takes longer than most steps.
    """
    return opaque(list(items))


def same(value: object) -> Any:
    """Mark what every task run of a mapped step gets; Prefect does not look inside."""
    return opaque(unmapped(value))


def as_is(value: object) -> Any:
    """Mark what a step is given as it is: Prefect does not look inside."""
    return opaque(value)


def all_of(futures: Iterable[PrefectFuture[T]]) -> tuple[T, ...]:
    """Wait for a mapped step whose every part is needed; raises the first failure."""
    return tuple(future.result() for future in futures)


def one_by_one(
    step: Task[..., T],
    items: Iterable[Any],
    *rest: Any,
    hear: Callable[[T], object] = lambda _: None,
) -> tuple[T, ...]:
    """Run a task on every item, in order: for side effects, which are never parallel.

    `hear` is called with every result, for steps that may not reach their end.
    """
    arguments, results = tuple(map(opaque, rest)), []
    for item in items:
        results.append(step(opaque(item), *arguments))
        hear(results[-1])
    return tuple(results)
