"""Several calls at the same time, their results in order."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

MOST_AT_ONCE = 8
A = TypeVar("A")
B = TypeVar("B")


def in_order(work: Callable[[A], B], items: Sequence[A]) -> tuple[B, ...]:
    """`work` on every item, at most eight at a time, each in a copy of the caller's context.

    Raises what the first item that failed raised; what has not begun by then is not begun.

    >>> in_order(abs, (-3, 2, -1))
    (3, 2, 1)
    """
    if len(items) < 2:
        return tuple(map(work, items))
    with ThreadPoolExecutor(min(len(items), MOST_AT_ONCE)) as pool:
        begun = [pool.submit(copy_context().run, work, item) for item in items]
        try:
            return tuple(one.result() for one in begun)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
