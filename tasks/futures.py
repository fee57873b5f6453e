"""Turn futures and failures into values: a step that fails is a line in the report."""

import inspect
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from prefect import Task, unmapped
from prefect.futures import PrefectFuture, wait
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.utilities.annotations import opaque

from nightwatch_core.analysis.endings import failure
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import Assignment, Wave
from nightwatch_core.models.options import NightOptions

T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """A step's value, or its stand-in and what went wrong."""

    value: T
    trouble: str = ""


def attempt(
    what: str, step: Callable[..., T], *args: Any, otherwise: T, **kwargs: Any
) -> Attempt[T]:
    """Run a step the night can do without; `StopTheNight` still stops it."""
    try:
        return Attempt(step(*args, **kwargs))
    except StopTheNight:
        raise
    except NightWatchError as trouble:
        log.warning("%s: %s", what, trouble)
        return Attempt(otherwise, f"{what}: {trouble}")


def settled(futures: Iterable[PrefectFuture[Analysis]], asked: Sequence[Assignment]) -> Wave:
    """Wait for a mapped step; what failed becomes a `Failure` beside what came about.

    Raises `StopTheNight` where one of them says that nothing can be done tonight.
    """
    analyses, failures = [], []
    for future, assignment in zip(futures, asked, strict=True):
        end = future.result(raise_on_failure=False)
        if isinstance(end, StopTheNight):
            raise end
        if isinstance(end, BaseException):
            failures.append(failure(assignment.case, end))
        else:
            analyses.append(end)
    return Wave(analyses=tuple(analyses), failures=tuple(failures))


def fan_out(
    step: Task[..., T], items: Sequence[Any], options: NightOptions, *rest: Any
) -> Sequence[PrefectFuture[T]]:
    """Map a task over items on threads, `options.concurrency` at a time; all are done on return.

    The task takes an item, the options, and the rest: values, in which Prefect need not look for
    futures (`opaque`), because looking takes longer than most steps.
    """
    if not items:
        return ()
    names = list(inspect.signature(step.fn).parameters)
    fixed = {
        name: opaque(unmapped(value))
        for name, value in zip(names[1:], (options, *rest), strict=False)
    }
    threads: ThreadPoolTaskRunner[T] = ThreadPoolTaskRunner(max_workers=options.concurrency)
    with threads as runner:
        futures = list(runner.map(step, {names[0]: opaque(list(items)), **fixed}))
        wait(futures)
    return cast(Sequence[PrefectFuture[T]], futures)


def all_of(futures: Iterable[PrefectFuture[T]]) -> tuple[T, ...]:
    """Wait for a mapped step whose every part is needed; raises the first failure."""
    return tuple(future.result() for future in futures)


def one_by_one(step: Task[..., T], items: Iterable[Any], *rest: Any) -> tuple[T, ...]:
    """Run a task on every item, in order: for side effects, which are never parallel."""
    told = tuple(map(opaque, rest))
    return tuple(step(opaque(item), *told) for item in items)
