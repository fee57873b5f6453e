"""Turn futures and failures into values: a step that fails is a line in the report."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from prefect import Task, unmapped
from prefect.futures import PrefectFuture, wait
from prefect.utilities.annotations import opaque

from nightwatch_core.analysis.endings import failure
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import Assignment, WaveResult
from tasks.prefect_server import GONE, gone_text

T = TypeVar("T")
log = logging.getLogger(__name__)


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
    """Wait for a mapped step; what failed becomes a `Failure` beside what came about.

    Where one of them says that nothing can be done tonight, the wave says why it was `stopped`:
    what others brought, and what it cost, is not lost with it.
    """
    pairs = tuple(zip(ends(futures), asked, strict=True))
    failed = [(end, one.case) for end, one in pairs if isinstance(end, BaseException)]
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
    """Marks what a step is mapped over: one task run each.

    Prefect does not look for futures inside (`opaque`): looking takes longer than most steps.
    """
    return opaque(list(items))


def same(value: object) -> Any:
    """Marks what every task run of a mapped step gets; Prefect does not look inside."""
    return opaque(unmapped(value))


def as_is(value: object) -> Any:
    """Marks what a step is given as it is: Prefect does not look inside."""
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

    `hear` is told of every result as it comes, for steps that do not come to their end.
    """
    told, results = tuple(map(opaque, rest)), []
    for item in items:
        results.append(step(opaque(item), *told))
        hear(results[-1])
    return tuple(results)
