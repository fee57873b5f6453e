"""The code cache: what has to cross the network is read once, and kept as a record.

Memory stands in front of the records, which other processes see too, and these in front of the
network. One thread asks for what the others wait for. A failure is not kept: whoever waited for
it is told, and whoever comes later asks again.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.ports import Records

ROOM = 64_000_000  # characters of JSON whose values stay in memory
Source = Literal["memory", "disk", "asked"]
Ask = Callable[[tuple[str, ...]], Iterable[tuple[str, Any]]]
Shape = Callable[[Any], Any]


class Told(NamedTuple):
    """A value, shared by all who read it, and where it came from."""

    value: Any
    source: Source


class Flight:
    """A reading under way, for those who wait for it."""

    def __init__(self) -> None:
        """Neither `told` nor `trouble` once it is over: it met a bug, and may be tried again."""
        self.over = threading.Event()
        self.told: Told | None = None
        self.trouble: NightWatchError | None = None


class Memory:
    """The values used last, as many as there is room for."""

    def __init__(self, room: int) -> None:
        """`room` is in characters of the values' JSON."""
        self._room = room
        self._used = 0
        self._kept: OrderedDict[str, tuple[Told, int]] = OrderedDict()

    def find(self, key: str) -> Told | None:
        """What is kept there, which now was used last."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def keep(self, key: str, value: Any, size: int) -> None:
        """Keep it, and forget what was not used for longest."""
        if size > self._room:
            return
        self._kept[key] = Told(value, "memory"), size
        self._used += size
        while self._used > self._room:
            _, (_, freed) = self._kept.popitem(last=False)
            self._used -= freed


class CodeCache:
    """Single flight in front of records; safe for many threads and many readers."""

    def __init__(self, records: Records, room: int = ROOM) -> None:
        """`records` outlive the process; `room` bounds what stays in memory."""
        self._records = records
        self._memory = Memory(room)
        self._flights: dict[str, Flight] = {}
        self._guard = threading.Lock()

    def read(self, key: str, ask: Callable[[], Any], shape: Shape) -> Told:
        """The value of one key; `ask` gets its JSON from the network, `shape` makes it a value."""
        return self.read_all((key,), lambda _: ((key, ask()),), shape)[key]

    def read_all(self, keys: Sequence[str], ask: Ask, shape: Shape) -> dict[str, Told]:
        """The values of all keys; `ask` gets pairs of key and JSON for every one that is missing.

        `ask` must not read from the cache itself. Raises what `ask` and `shape` raise; for what
        another thread failed to read, the same kind of error. A record that `shape` refuses is as
        good as none.
        """
        told: dict[str, Told] = {}
        while left := [key for key in keys if key not in told]:
            known, mine, others = self._claimed(left)
            told |= known | self._flown(mine, ask, shape)
            for key, flight in others.items():  # after our own: nobody waits in a circle
                flight.over.wait()
                if flight.trouble:
                    raise _retold(flight.trouble)
                if flight.told:
                    told[key] = flight.told
        return told

    def _claimed(
        self, keys: Iterable[str]
    ) -> tuple[dict[str, Told], dict[str, Flight], dict[str, Flight]]:
        """What is in memory, what this thread is to read, and what others are reading."""
        known: dict[str, Told] = {}
        mine: dict[str, Flight] = {}
        others: dict[str, Flight] = {}
        with self._guard:
            for key in dict.fromkeys(keys):
                if told := self._memory.find(key):
                    known[key] = told
                elif flight := self._flights.get(key):
                    others[key] = flight
                else:
                    mine[key] = self._flights[key] = Flight()
        return known, mine, others

    def _flown(self, mine: dict[str, Flight], ask: Ask, shape: Shape) -> dict[str, Told]:
        told: dict[str, Told] = {}
        try:
            for key in mine:
                if kept := self._kept(key, shape):
                    told[key] = self._landed(key, mine[key], *kept, "disk")
            missing = tuple(key for key in mine if key not in told)
            for key, answer in ask(missing) if missing else ():
                value, text = shape(answer), json.dumps(answer)
                self._records.put(key, text)
                told[key] = self._landed(key, mine[key], value, len(text), "asked")
        except NightWatchError as trouble:
            for key in mine.keys() - told.keys():
                mine[key].trouble = trouble
            raise
        finally:
            self._end(mine)
        if forgotten := mine.keys() - told.keys():
            raise KeyError(f"nothing was answered for {min(forgotten)}")
        return told

    def _kept(self, key: str, shape: Shape) -> tuple[Any, int] | None:
        """The record's value and size; None where there is none, or it is damaged or outdated."""
        text = self._records.get(key)
        if text is None:
            return None
        try:
            return shape(json.loads(text)), len(text)
        except (ValueError, GiveUp):
            return None

    def _landed(self, key: str, flight: Flight, value: Any, size: int, source: Source) -> Told:
        with self._guard:
            self._memory.keep(key, value, size)
            self._flights.pop(key)
        flight.told = Told(value, "memory")
        flight.over.set()
        return Told(value, source)

    def _end(self, flights: dict[str, Flight]) -> None:
        """Nobody waits any longer, however it ended."""
        with self._guard:
            for key, flight in flights.items():
                if self._flights.get(key) is flight:
                    del self._flights[key]
        for flight in flights.values():
            flight.over.set()


def _retold(trouble: NightWatchError) -> NightWatchError:
    """The same news for another thread: an exception notes what its own analysis has used."""
    kinds = (StopTheNight, TryLater, GiveUp)
    return next((kind for kind in kinds if isinstance(trouble, kind)), GiveUp)(str(trouble))
