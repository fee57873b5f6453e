"""Run mapped steps, retry them, keep their results, and turn their failures into values."""

import hashlib
import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, Self, TypeVar

import httpx
from prefect import Flow, Task, unmapped
from prefect.cache_policies import DEFAULT, NO_CACHE, CacheKeyFnPolicy
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import FlowRunContext, TaskRunContext
from prefect.exceptions import PrefectHTTPStatusError
from prefect.futures import PrefectFuture, wait
from prefect.tasks import exponential_backoff
from prefect.transactions import get_transaction
from prefect.utilities.annotations import opaque
from pydantic import model_validator

from nightwatch_core.analysis.loop import failure
from nightwatch_core.errors import NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import Assignment, WaveResult
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table
from tasks.parameters import ungrouped
from tasks.wiring.opening import working_for

KEPT = DEFAULT - "night"
"""An open night is no part of a key: it holds clients, and a run has one alone."""
GONE = (httpx.TransportError, PrefectHTTPStatusError)  # our adapters let neither through
T = TypeVar("T")
P = ParamSpec("P")
log = logging.getLogger(__name__)


def run_parameters() -> dict[str, Any]:
    """Return the parameters of this run, those in groups too; none outside of one."""
    context = FlowRunContext.get()
    parameters = (context.parameters if context else None) or {}
    return {**ungrouped(parameters), **(parameters.get("others") or {})}


# Steps: when one is tried again, and when its result is kept.


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
Key = Callable[[TaskRunContext, dict[str, Any]], str]


class Step(Task[P, T]):
    """A task whose arguments Prefect does not search for futures: that takes longer than most.

    Outside of a flow's run it is the function, tried again as often: a replay needs no Prefect.
    """

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:  # type: ignore[override]
        """Run it now."""
        if not in_a_run():
            return plainly(self, *args, **kwargs)
        named = {name: opaque(value) for name, value in kwargs.items()}
        result: T = super().__call__(*map(opaque, args), **named)  # type: ignore[arg-type]
        return result


def in_a_run() -> bool:
    """Tell whether this is a flow's run, with a Prefect server behind it."""
    return FlowRunContext.get() is not None


def plainly(task: Task[..., T], *args: Any, **kwargs: Any) -> T:
    """Call a step's function, as often as Prefect would where it fails for the moment."""
    given = inspect.signature(task.fn).bind(*args, **kwargs)
    given.apply_defaults()
    with working_for(str(task.task_run_name).format(**given.arguments)):
        for _ in range(int(task.retries or 0)):
            with suppress(TryLater):
                return task.fn(*args, **kwargs)
        return task.fn(*args, **kwargs)


def as_subflow(flow: Flow[..., T]) -> Callable[..., T]:
    """Return a flow, to be run as a subflow; outside of a flow's run its function."""
    return flow if in_a_run() else flow.fn


@dataclass(frozen=True)
class Ended(Generic[T]):
    """A run that has ended, where there is no Prefect: a value, or what was raised."""

    end: T | Exception

    def result(self, raise_on_failure: bool = True) -> Any:
        """Return the value; with `raise_on_failure` raises what was raised."""
        if raise_on_failure and isinstance(self.end, Exception):
            raise self.end
        return self.end


Run = PrefectFuture[T] | Ended[T]


class Row(Value):
    """Treatment of a step: each answer is a reason, and of each pair one is given."""

    retried: str = ""
    not_retried: str = ""
    kept: str = ""
    not_kept: str = ""

    @model_validator(mode="after")
    def _decided(self) -> Self:
        pairs = ((self.retried, self.not_retried), (self.kept, self.not_kept))
        if any(bool(yes.strip()) == bool(no.strip()) for yes, no in pairs):
            raise ValueError("give one of retried and not_retried, and one of kept and not_kept")
        return self


STEPS: Mapping[str, Row] = data_table("tasks", "steps.toml", dict[str, Row])
"""Every step by its name."""


def step(
    name: str, of: str = "", *, key: Key | None = None
) -> Callable[[Callable[P, T]], Step[P, T]]:
    """Make a step of a function; Prefect shows its runs as `name · of`, filled from its arguments.

    steps.toml says whether it is retried while the core calls its failure temporary, and whether
    its result is kept. A Retry of the run finds a kept result, every other run one with a `key`.
    """
    row, label = STEPS[name], f"{name} · {of}" if of else name
    options: dict[str, Any] = {"task_run_name": label, "cache_policy": NO_CACHE}
    if row.kept:
        options |= {"persist_result": True, "result_serializer": "json", "cache_policy": KEPT}
        if key:
            options["cache_policy"] = CacheKeyFnPolicy(cache_key_fn=key)
    if row.retried:
        options |= PATIENTLY
    return lambda function: Step(function, name=name, **options)


def do_not_keep() -> None:
    """Keep no result of the step that runs: a Retry runs it again."""
    if transaction := get_transaction():
        transaction.write_on_commit = False


def key_by_night(name: str, shape: Callable[[dict[str, Any]], tuple[str, ...]]) -> Key:
    """Make a key of the night's name: what is learned meanwhile does not change the result.

    `shape` returns the texts that decide on the result, given the step's parameters.
    """
    return lambda _, given: f"night/{given['night'].id}/{name}-{digest(*shape(given))}"


def digest(*texts: str) -> str:
    """Name texts by 24 digits.

    >>> len(digest("a", "b")), digest("ab", "") == digest("a", "b")
    (24, False)
    """
    return hashlib.sha256("\0".join(texts).encode(errors="replace")).hexdigest()[:24]


# Turn futures and failures into values: a step that fails is a line in the report.


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """A step's value, or its stand-in and what went wrong."""

    value: T
    trouble: str = ""
    stop: str = ""  # why nothing more can be done tonight, once the rest is saved


def attempt(
    what: str, function: Callable[..., T], *args: Any, otherwise: T, **kwargs: Any
) -> Attempt[T]:
    """Run a step the night can do without, even without Prefect's server."""
    try:
        return Attempt(function(*args, **kwargs))
    except StopTheNight:
        raise
    except NightWatchError as trouble:
        reason = f"{what}: {trouble}"
    except GONE as trouble:
        reason = f"{what}: {gone_text(trouble)}"
    log.warning("%s", reason)
    return Attempt(otherwise, reason)


def attempt_and_go_on(
    what: str, function: Callable[..., T], *args: Any, otherwise: T, **kwargs: Any
) -> Attempt[T]:
    """Run a step after which there is more to save; what stops the night is left to the caller."""
    try:
        return attempt(what, function, *args, otherwise=otherwise, **kwargs)
    except StopTheNight as stop:
        return Attempt(otherwise, stop=str(stop))


def gone_text(trouble: Exception) -> str:
    """Describe why Prefect's server cannot be reached any more."""
    return f"Prefect's server went away ({type(trouble).__name__}: {str(trouble)[:200]})"


def stop_where_stopped(*reasons: str) -> None:
    """Raise `StopTheNight` for the first reason why nothing more can be done tonight."""
    reason = next(filter(None, reasons), "")
    if reason:
        raise StopTheNight(reason)


def each(task: Task[..., T], items: Iterable[Any], *rest: Any) -> list[Run[T]]:
    """Start a run of the task for every item; all get the `rest`."""
    if not in_a_run():
        return [_ended(task, item, *rest) for item in items]
    listed = opaque(list(items))
    return list(task.map(listed, *(opaque(unmapped(value)) for value in rest)))


def _ended(task: Task[..., T], *given: Any) -> Ended[T]:
    try:
        return Ended(plainly(task, *given))
    except NightWatchError as trouble:
        return Ended(trouble)


def ends(runs: Sequence[Run[Any]]) -> tuple[Any, ...]:
    """Wait for all runs; return each one's value, or the exception it ended with."""
    wait([run for run in runs if isinstance(run, PrefectFuture)])
    return tuple(run.result(raise_on_failure=False) for run in runs)


def all_of(runs: Iterable[Run[T]]) -> tuple[T, ...]:
    """Wait for runs whose every result is needed; raises the first failure."""
    return tuple(run.result() for run in runs)


def settled(runs: Sequence[Run[Analysis]], asked: Sequence[Assignment]) -> WaveResult:
    """Wait for analyses; what failed becomes a `Failure`.

    Where one of them says that nothing can be done tonight, the wave says why it was `stopped`:
    what others brought, and what it cost, is not lost with it.
    """
    pairs = tuple(zip(ends(runs), asked, strict=True))
    failed = [(end, pair.case) for end, pair in pairs if isinstance(end, BaseException)]
    return WaveResult(
        analyses=tuple(end for end, _ in pairs if isinstance(end, Analysis)),
        failures=tuple(failure(case, end) for end, case in failed),
        stopped=next((str(end) for end, _ in failed if isinstance(end, StopTheNight)), ""),
    )


def one_by_one(
    function: Callable[..., T],
    items: Iterable[Any],
    *rest: Any,
    on_result: Callable[[T], object] = lambda _: None,
) -> tuple[T, ...]:
    """Run a step on every item, in order: for side effects, which are never parallel.

    `on_result` is called with every result, for steps that may not reach their end.
    """
    results = []
    for item in items:
        results.append(function(item, *rest))
        on_result(results[-1])
    return tuple(results)
