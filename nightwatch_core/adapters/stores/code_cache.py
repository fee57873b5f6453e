"""The code cache: what is read of a commit is read once, and kept as a record.

Memory stands in front of the records, which other processes and later nights see too, and these in
front of a repository or the network. One thread asks for what the others wait for; a failure is not
kept.
"""

import hashlib
import json
import re
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from nightwatch_core.adapters.stores.traffic import Traffic, watched
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.code import (
    Blame,
    ChangedFile,
    CodeReads,
    Commit,
    CommitDiff,
    FolderEntry,
    LoggedCommit,
    SearchHit,
)
from nightwatch_core.ports import CodeHost, CodeReader, Records
from nightwatch_core.privacy.proxy import proxied

CACHED_CHARACTERS = 64_000_000  # of JSON whose values stay in memory

NAMED_FILES = 2_000  # of what a reader read; the rest is counted

# Values that cost something to make: made once for all threads, the ones used last are kept.

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
        self, flights: "dict[K, Future[V]]", make: Callable[[tuple[K, ...]], Iterable[tuple[K, V]]]
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


# A code host whose readers keep what they read of a commit as records: later nights find it.
#
# The key of a record holds the commit, so it never expires. What a repository answers because
# something could not be fetched, or was not found out in time, is no record.

T = TypeVar("T")
Values = SingleFlight[str, tuple[Any, int]]  # with their sizes as JSON
_FORMS: dict[str, TypeAdapter[Any]] = {
    "read": TypeAdapter(str | None),
    "search": TypeAdapter(tuple[SearchHit, ...]),
    "blame": TypeAdapter(tuple[Blame, ...]),
    "show": TypeAdapter(CommitDiff | None),
    "log": TypeAdapter(tuple[LoggedCommit, ...]),
    "compare": TypeAdapter(tuple[ChangedFile, ...]),
    "changed": TypeAdapter(tuple[str, ...]),
}


def recorded_host(host: CodeHost, records: Records, room: int = CACHED_CHARACTERS) -> CodeHost:
    """Return a `CodeHost` in front of another one, whose readers keep records."""
    values: Values = SingleFlight(room, lambda kept: kept[1])
    openings: deque[Traffic] = deque()  # of readers, until the counts of one are asked for

    def reader(commit: Commit) -> CodeReader:
        with watched() as traffic:
            opened = host.reader(commit)
        if traffic.requests:
            openings.append(traffic)
        return RecordedReader(opened, records, values, openings)

    return proxied(host, CodeHost, replaced={"reader": reader})


class RecordedReader:
    """A `CodeReader` that asks another one only for what no record holds; safe for threads."""

    def __init__(
        self, reader: CodeReader, records: Records, values: Values, openings: deque[Traffic]
    ) -> None:
        """Share `values`; what `openings` of readers sent counts where it is asked for first."""
        self._reader, self._records, self._values = reader, records, values
        self._openings, self._folder = openings, record_folder(reader.commit)
        self._guard = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._files: dict[str, None] = {}

    @property
    def commit(self) -> Commit:
        return self._reader.commit

    @property
    def code_reads(self) -> CodeReads:
        """Return the reads since this reader was made; files beyond 2,000 are not named."""
        with suppress(IndexError):  # another thread was quicker
            while self._openings:
                opened = self._openings.popleft()
                self._count(requests=opened.requests, fetched=opened.files)
        with self._guard:
            files, more = tuple(self._files)[:NAMED_FILES], len(self._files) - NAMED_FILES
            return CodeReads(**self._counts, files=files, more_files=max(0, more))

    def paths(self) -> tuple[str, ...]:
        with self._counted():
            return self._reader.paths()

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        with self._counted():
            return self._reader.list_directory(path)

    def read_file(self, path: str) -> str | None:
        """Return the text at `path`; None where there is no such file, or it is not text."""
        return self._once("read", (path,), self._reader.read_file, path)

    def read_files(self, paths: Iterable[str]) -> dict[str, str | None]:
        return {path: self.read_file(path) for path in paths}

    def remember_files(self, texts: Mapping[str, str | None]) -> None:
        for path, text in texts.items():

            def load(path: str = path, text: str | None = text) -> tuple[Any, int]:
                self._count(path, disk=1, saved=1)
                return text, len(text or "")

            self._values.get(self._key("read", (path,)), load)

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        return self._once("search", (query, path, limit), self._reader.search)

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        return self._once("blame", (path, start, end), self._reader.blame, path)

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        """Return what a commit changed; None where it is not known."""
        return self._once("show", (sha, path), self._reader.show_commit)

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return commits, newest first, below `path`; with `text` those that touched it."""
        return self._once("log", (path, text, limit), self._reader.history)

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        return self._once("compare", (old_sha, new_sha, path), self._reader.compare)

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        return self._once("changed", (old_sha, new_sha), self._reader.paths_changed)

    def _once(
        self, operation: str, asked: tuple[Any, ...], ask: Callable[..., T], file: str = ""
    ) -> T:
        """Return an answer from memory, a record or the reader; empty ones may change but for two.

        A record that is damaged is as good as none.
        """
        key, form, source = self._key(operation, asked), _FORMS[operation], "memory"

        def make() -> tuple[T, int]:
            nonlocal source
            with suppress(ValueError):
                if text := self._records.get(key):
                    source = "disk"
                    return form.validate_python(json.loads(text)), len(text)
            with self._counted() as traffic:
                value = ask(*asked)
            source = "asked" if traffic.requests else "git"
            text = json.dumps(form.dump_python(value, mode="json"))
            if not traffic.failed and (value or operation in ("read", "search")):
                self._records.put(key, text)
            return value, len(text)

        value: T = self._values.get(key, make)[0]
        self._count(file, **{source: 1}, saved=source in ("memory", "disk"))
        return value

    @contextmanager
    def _counted(self) -> Iterator[Traffic]:
        with watched() as traffic:
            yield traffic
        self._count(requests=traffic.requests, fetched=traffic.files)

    def _count(self, file: str = "", **counts: int) -> None:
        with self._guard:
            self._counts.update(counts)
            if file:
                self._files[file] = None

    def _key(self, operation: str, asked: tuple[object, ...]) -> str:
        words = "\0".join(map(str, asked)).encode(errors="replace")
        return f"{self._folder}/{operation}-{hashlib.sha256(words).hexdigest()[:24]}"


def record_folder(commit: Commit) -> str:
    """Return the folder of a commit's records.

    >>> record_folder(Commit(repository="Acme/Shop", sha="1a2b"))
    'code/acme__shop/1a2b'
    """
    name = re.sub(r"[^a-z0-9._-]", "_", commit.repository.lower().replace("/", "__"))
    return f"code/{name[:120].lstrip('.') or 'repository'}/{commit.sha}"
