"""Values that cost something to make: made once for all threads, the ones used last are kept."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Latest(Generic[K, V]):
    """One thread makes what the others wait for; safe for many threads.

    A failure is not kept: whoever waited for it is told, and whoever comes later makes it again.
    """

    def __init__(self, make: Callable[[K], V], most: int) -> None:
        """`most` values are kept; `make` must not ask for the value that it makes."""
        self._make = make
        self._most = most
        self._kept: OrderedDict[K, Future[V]] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, key: K) -> V:
        """The value of that key; raises what `make` raises."""
        with self._guard:
            kept = self._kept.get(key)
            mine = kept or Future[V]()
            self._kept[key] = mine
            self._kept.move_to_end(key)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        if kept is None:
            return self._made(key, mine)
        if trouble := kept.exception():
            raise _told_again(trouble)
        return kept.result()

    def _made(self, key: K, future: "Future[V]") -> V:
        try:
            value = self._make(key)
        except BaseException as trouble:
            with self._guard:
                if self._kept.get(key) is future:
                    del self._kept[key]
            future.set_exception(trouble)
            raise
        future.set_result(value)
        return value


def _told_again(trouble: BaseException) -> BaseException:
    """The same for another thread: an exception notes what its own analysis has used."""
    again = type(trouble).__new__(type(trouble), *trouble.args)
    vars(again).update(vars(trouble))
    return again
