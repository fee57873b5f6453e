"""The code cache: what is read of a commit is read once, and kept as a record.

Memory stands in front of the records, which later nights see, too, and these in front of a
repository or the network.
"""

import hashlib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Generic, TypeVar

from pydantic_core import to_json

from nightwatch_core.adapters.stores.traffic import watched
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.code import Commit
from nightwatch_core.ports import CodeHost, CodeReader, Records
from nightwatch_core.privacy.proxy import Member, passing, proxied

CACHED_CHARACTERS = 64_000_000  # of JSON whose values stay in memory

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SingleFlight(Generic[K, V]):
    """Values that one thread makes and the others wait for; the ones used last are kept.

    A failure is not kept: the threads that waited get a copy of the error.
    """

    def __init__(self, room: int, size: Callable[[V], int] = lambda _: 1) -> None:
        """Keep values whose sizes sum up to at most `room`; without sizes, that many values."""
        self._room, self._size, self._used = room, size, 0
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._flights: dict[K, Future[V]] = {}
        self._guard = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; `make` must not ask for the value that it makes."""
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            flight = self._flights.get(key)
            own = self._flights[key] = flight or Future()
        if flight:
            error = flight.exception()
            if error:
                raise _copy(error)
            return flight.result()
        try:
            value = make()
        except BaseException as error:
            with self._guard:
                del self._flights[key]
            own.set_exception(error)
            raise
        self.put(key, value)
        own.set_result(value)
        return value

    def put(self, key: K, value: V) -> None:
        """Keep a value that was made elsewhere."""
        size = self._size(value)
        with self._guard:
            self._flights.pop(key, None)
            if size > self._room or key in self._kept:
                return
            self._kept[key] = value
            self._used += size
            while self._used > self._room:
                _, forgotten = self._kept.popitem(last=False)
                self._used -= self._size(forgotten)

    def kept(self, keys: Iterable[K]) -> dict[K, V]:
        with self._guard:
            return {key: self._kept[key] for key in keys if key in self._kept}


def _copy(error: BaseException) -> BaseException:
    if not isinstance(error, NightWatchError):
        return error
    copy = type(error).__new__(type(error), *error.args)
    vars(copy).update(vars(error))
    return copy


# Readers that keep what they read of a commit as records. The key holds the commit, so a record
# never expires; an answer that lacks something, because a request failed, is no record.

Values = SingleFlight[str, tuple[Any, int]]  # with their sizes as JSON
_KEPT_IF_EMPTY = ("read_file", "search")  # other empty answers may change
_RECORDED = (*_KEPT_IF_EMPTY, "blame", "show_commit", "history", "compare", "paths_changed")


def recorded_host(host: CodeHost, records: Records) -> CodeHost:
    """Return a `CodeHost` in front of another one, whose readers keep records."""
    values: Values = SingleFlight(CACHED_CHARACTERS, lambda kept: kept[1])

    def reader(commit: Commit) -> CodeReader:
        recorded = _Recorded(host.reader(commit), records, values)
        made: CodeReader = passing(CodeReader, recorded.ask)
        return made

    return proxied(host, CodeHost, replaced={"reader": reader})


class _Recorded:
    """Answers of one `CodeReader`, recorded."""

    def __init__(self, reader: CodeReader, records: Records, values: Values) -> None:
        self._reader, self._records, self._values = reader, records, values
        self._folder = record_folder(reader.commit)

    def ask(self, member: Member, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Answer a call from memory, a record or the reader; a damaged record counts as none."""
        if member.name not in _RECORDED:
            return member.call(self._reader, given, named)
        arguments = member.arguments(given, named).values()
        words = "\0".join(map(str, arguments)).encode(errors="replace")
        key = f"{self._folder}/{member.name}-{hashlib.sha256(words).hexdigest()[:24]}"

        def make() -> tuple[Any, int]:
            with suppress(ValueError):
                if text := self._records.get(key):
                    return member.value(json.loads(text)), len(text)
            with watched() as traffic:
                value = member.call(self._reader, given, named)
            text = to_json(value).decode()
            if not traffic.failed and (value or member.name in _KEPT_IF_EMPTY):
                self._records.put(key, text)
            return value, len(text)

        return self._values.get(key, make)[0]


def record_folder(commit: Commit) -> str:
    """Return the folder of a commit's records.

    >>> record_folder(Commit(repository="Acme/Shop", sha="1a2b"))
    'code/acme__shop/1a2b'
    """
    name = re.sub(r"[^a-z0-9._-]", "_", commit.repository.lower().replace("/", "__"))
    return f"code/{name[:120].lstrip('.') or 'repository'}/{commit.sha}"
