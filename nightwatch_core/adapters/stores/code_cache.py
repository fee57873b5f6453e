"""The code cache: what is read of a commit is read once, and kept as a record.

Memory stands in front of the records, which later nights see, too, and these in front of a
repository or the network.
"""

import hashlib
import json
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic_core import to_json, to_jsonable_python

from nightwatch_core.adapters.stores.traffic import watched
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.code import CodeAnswer, CodeRead, CodeReads, Commit
from nightwatch_core.ports import CodeCache, CodeHost, CodeReader, Records
from nightwatch_core.privacy.proxy import Member, members, passing, proxied

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


class Answer(NamedTuple):
    """An answer in memory."""

    value: Any
    size: int  # characters of its JSON
    is_whole: bool  # and may be kept


Answers = SingleFlight[str, Answer]
_NAMES = ("paths", "list_directory", "paths_changed")  # names of files, which are never masked
_KEPT_IF_EMPTY = ("read_file", "search")  # other empty answers may change
_RECORDED = (*_KEPT_IF_EMPTY, *_NAMES, "blame", "show_commit", "history", "compare")


def new_memory() -> Answers:
    """Return an empty memory of answers."""
    return SingleFlight(CACHED_CHARACTERS, lambda answer: answer.size)


class CodeMeter:
    """Counts of reads since the last reset; safe for threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forget everything: a night begins."""
        with self._guard:
            self._asked, self._known, self._read = Counter[str](), set[str](), set[str]()
            self._elsewhere: dict[str, CodeReads] = {}  # by process

    def count(self, key: str) -> None:
        """Count a read."""
        with self._guard:
            self._asked[key] += 1

    def read(self, key: str) -> None:
        """Note that the repository was asked for it."""
        with self._guard:
            self._read.add(key)

    def know(self, key: str) -> None:
        """Note that an earlier night, or another worker, has read it."""
        with self._guard:
            self._known.add(key)

    def count_elsewhere(self, process: str, reads: CodeReads) -> None:
        """Count what another process has read so far, in whatever order it is told."""
        with self._guard:
            both = reads, self._elsewhere.get(process, CodeReads())
            self._elsewhere[process] = max(both, key=lambda reads: reads.asked)

    def reads(self) -> CodeReads:
        """Return the counts so far, those of other processes too."""
        with self._guard:
            own = CodeReads(
                different=len(self._asked),
                known=len((self._known & self._asked.keys()) - self._read),
                asked=self._asked.total(),
            )
            return sum(self._elsewhere.values(), own)


READS = CodeMeter()
"""Of this process."""


def recorded_host(
    host: CodeHost,
    records: Records,
    names: Records | None = None,
    memory: Answers | None = None,
    meter: CodeMeter = READS,
) -> CodeHost:
    """Return a `CodeHost`, and `CodeCache`, in front of another one, whose readers keep records.

    `names` keeps names of files, where `records` would mask them. `host` is asked for a reader when
    neither memory nor a record has the answer.
    """
    cache = _Cache(host, records, names or records, memory or new_memory(), meter)
    replaced: dict[str, Callable[..., Any]] = {
        name: getattr(cache, name) for name in ("reader", "read_ahead", "take")
    }
    return proxied(host, CodeHost, CodeCache, replaced=replaced)


class _Cache:
    """Answers of the readers of one host."""

    def __init__(
        self, host: CodeHost, records: Records, names: Records, memory: Answers, meter: CodeMeter
    ) -> None:
        self._host, self._records, self._names = host, records, names
        self._memory, self._meter = memory, meter

    def reader(self, commit: Commit) -> CodeReader:
        made: CodeReader = passing(CodeReader, partial(self._ask, commit, lambda *_: None))
        return made

    def read_ahead(self, commit: Commit, ask: Callable[[CodeReader], object]) -> CodeRead:
        found: dict[tuple[str, tuple[Any, ...]], Any] = {}

        def keep(method: str, arguments: tuple[Any, ...], value: Any) -> None:
            found[method, arguments] = to_jsonable_python(value)

        ask(passing(CodeReader, partial(self._ask, commit, keep)))
        answers = (CodeAnswer(method=m, arguments=a, answer=v) for (m, a), v in found.items())
        return CodeRead(commit=commit, answers=tuple(answers))

    def take(self, read: CodeRead) -> None:
        """Keep answers in memory, except those that are there and those in an unknown form."""
        methods = {member.name: member for member in members(CodeReader)}
        for item in read.answers:
            key = _key(read.commit, item.method, item.arguments)
            with suppress(ValueError, KeyError):
                value = methods[item.method].value(item.answer)
                if not self._memory.kept([key]):
                    self._meter.know(key)
                    self._memory.put(key, Answer(value, len(to_json(item.answer)), True))

    def _ask(
        self,
        commit: Commit,
        on_answer: Callable[[str, tuple[Any, ...], Any], object],
        member: Member,
        given: tuple[Any, ...],
        named: Mapping[str, Any],
    ) -> Any:
        """Answer a call from memory, a record or the reader; a damaged record counts as none."""
        if member.name == "commit":
            return commit
        if member.name not in _RECORDED:
            return member.call(self._host.reader(commit), given, named)
        arguments = tuple(member.arguments(given, named).values())
        key = _key(commit, member.name, arguments)
        records = self._names if member.name in _NAMES else self._records

        def make() -> Answer:
            with suppress(ValueError):
                if text := records.get(key):
                    value = member.value(json.loads(text))
                    self._meter.know(key)
                    return Answer(value, len(text), True)
            with watched() as traffic:
                value = member.call(self._host.reader(commit), given, named)
            self._meter.read(key)
            text = to_json(value).decode()
            is_whole = not traffic.failed and bool(value or member.name in _KEPT_IF_EMPTY)
            if is_whole:
                records.put(key, text)
            return Answer(value, len(text), is_whole)

        self._meter.count(key)
        answer = self._memory.get(key, make)
        if answer.is_whole:
            on_answer(member.name, arguments, answer.value)
        return answer.value


def _key(commit: Commit, method: str, arguments: tuple[Any, ...]) -> str:
    words = "\0".join(map(str, arguments)).encode(errors="replace")
    return f"{commit.folder}/{method}-{hashlib.sha256(words).hexdigest()[:24]}"
