"""Values that cost something to make: made once for all threads, the ones used last are kept."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from typing import Generic, TypeVar

from nightwatch_core.errors import NightWatchError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SingleFlight(Generic[K, V]):
    """One thread makes what the others wait for; safe for many threads.

    A failure is not kept: whoever waited for it gets the same error, and whoever comes later makes
    the value again. Whoever waited for a bug makes it himself.
    """

    def __init__(self, room: int, size: Callable[[V], int] = lambda _: 1) -> None:
        """Keep values whose sizes sum up to at most `room`; without sizes, that many values."""
        self._room = room
        self._size = size
        self._used = 0
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._flights: dict[K, Future[V]] = {}
        self._guard = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; `make` must not ask for the value that it makes."""
        return self.get_all((key,), lambda _: ((key, make()),))[key]

    def get_all(
        self, keys: Sequence[K], make: Callable[[tuple[K, ...]], Iterable[tuple[K, V]]]
    ) -> dict[K, V]:
        """Return the values of all keys; `make` gets pairs for those that nobody makes yet.

        Raises what `make` raises, and `KeyError` where it leaves a key out.
        """
        values: dict[K, V] = {}
        while missing := [key for key in dict.fromkeys(keys) if key not in values]:
            kept, own, others = self._claim(missing)
            values |= kept | self._make(own, make)
            for key, flight in others.items():  # after our own: nobody waits in a circle
                try:
                    error = flight.exception()
                except CancelledError:
                    continue
                if error:
                    raise _copy(error)
                values[key] = flight.result()
        return values

    def _claim(
        self, keys: Iterable[K]
    ) -> tuple[dict[K, V], dict[K, "Future[V]"], dict[K, "Future[V]"]]:
        """Return what is kept, what this thread is to make, and what others are making."""
        kept: dict[K, V] = {}
        own: dict[K, Future[V]] = {}
        others: dict[K, Future[V]] = {}
        with self._guard:
            for key in keys:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    kept[key] = self._kept[key]
                elif flight := self._flights.get(key):
                    others[key] = flight
                else:
                    own[key] = self._flights[key] = Future()
        return kept, own, others

    def _make(
        self,
        flights: "dict[K, Future[V]]",
        make: Callable[[tuple[K, ...]], Iterable[tuple[K, V]]],
    ) -> dict[K, V]:
        values: dict[K, V] = {}
        try:
            for key, value in make(tuple(flights)) if flights else ():
                values[key] = value
                self._keep(key, value)
                flights[key].set_result(value)
        except NightWatchError as error:
            for key in flights.keys() - values.keys():
                flights[key].set_exception(_copy(error))
            raise
        finally:
            with self._guard:
                for key in flights.keys() - values.keys():
                    del self._flights[key]
            for flight in flights.values():
                flight.cancel()  # does nothing to one that ended
        if left_out := flights.keys() - values.keys():
            raise KeyError(f"nothing was made for {next(iter(left_out))}")
        return values

    def _keep(self, key: K, value: V) -> None:
        size = self._size(value)
        with self._guard:
            del self._flights[key]
            if size > self._room:
                return
            self._kept[key] = value
            self._used += size
            while self._used > self._room:
                _, forgotten = self._kept.popitem(last=False)
                self._used -= self._size(forgotten)


def _copy(error: BaseException) -> BaseException:
    """Copy an error for another thread: an exception notes what its own analysis has used."""
    copy = type(error).__new__(type(error), *error.args)
    vars(copy).update(vars(error))
    return copy
