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
from datetime import datetime
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from pydantic import TypeAdapter

from nightwatch_core.adapters.stores.traffic import Traffic, watched
from nightwatch_core.errors import GiveUp, NightWatchError
from nightwatch_core.models.code import (
    Blame,
    ChangedFile,
    CodeReads,
    Commit,
    CommitDiff,
    FolderEntry,
    LoggedCommit,
    MergedPull,
    Release,
    SearchHit,
)
from nightwatch_core.ports import CodeHost, CodeReader, Records

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


Source = Literal["memory", "disk", "git", "asked"]
Ask = Callable[[tuple[str, ...]], Iterable[tuple[str, Any]]]
Shape = Callable[[Any], Any]
Lasts = Callable[[Any], bool]


def always(_: Any) -> bool:
    """Tell that every answer holds for good."""
    return True


class CachedRead(NamedTuple):
    """A value, shared by all who read it, and where it came from."""

    value: Any
    source: Source


class CodeCache:
    """Single flight in front of records; safe for many threads and many readers."""

    def __init__(self, records: Records, room: int = CACHED_CHARACTERS) -> None:
        self._records = records
        self._values: SingleFlight[str, tuple[Any, int]] = SingleFlight(room, lambda kept: kept[1])

    def read(
        self, key: str, ask: Callable[[], Any], shape: Shape, lasts: Lasts = always
    ) -> CachedRead:
        """Read one key; `ask` gets its JSON from the network, `shape` makes it a value."""
        return self.read_all((key,), lambda _: ((key, ask()),), shape, lasts)[key]

    def remember(self, key: str, answer: Any, shape: Shape) -> CachedRead:
        """Take what a record outside of ours holds, unless memory has it already."""
        sources: list[Source] = []

        def load(_: tuple[str, ...]) -> Iterator[tuple[str, tuple[Any, int]]]:
            sources.append("disk")
            yield key, (shape(answer), len(json.dumps(answer)))

        value, _ = self._values.get_all((key,), load)[key]
        return CachedRead(value, sources[0] if sources else "memory")

    def read_all(
        self, keys: Sequence[str], ask: Ask, shape: Shape, lasts: Lasts = always
    ) -> dict[str, CachedRead]:
        """Read all keys; `ask` gets pairs of key and JSON for every one that is missing.

        An answer of which `lasts` says no stays in memory and does not become a record.

        `ask` must not read from the cache itself. Raises what `ask` and `shape` raise; for what
        another thread failed to read, the same kind of error. A record that `shape` refuses is as
        good as none.
        """
        sources: dict[str, Source] = {}

        def load(missing: tuple[str, ...]) -> Iterator[tuple[str, tuple[Any, int]]]:
            for key in missing:
                if record := self._record(key, shape):
                    sources[key] = "disk"
                    yield key, record
            missing = tuple(key for key in missing if key not in sources)
            for key, answer in ask(missing) if missing else ():
                value, text = shape(answer), json.dumps(answer)
                if lasts(answer):
                    self._records.put(key, text)
                sources[key] = "asked"
                yield key, (value, len(text))

        values = self._values.get_all(keys, load)
        return {
            key: CachedRead(value, sources.get(key, "memory")) for key, (value, _) in values.items()
        }

    def _record(self, key: str, shape: Shape) -> tuple[Any, int] | None:
        """Return the record's value and size; None where it is not there, damaged or outdated."""
        text = self._records.get(key)
        try:
            return None if text is None else (shape(json.loads(text)), len(text))
        except (ValueError, GiveUp):
            return None


class ReadCounter:
    """Counts what one reader's reads took; safe for its threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._sources: Counter[str] = Counter()
        self._files: dict[str, None] = {}
        self._requests = self._saved = self._fetched = 0

    def add_request(self, requests: int = 1, fetched: int = 0) -> None:
        """Count requests that are sent, and files that git fetched by them."""
        with self._guard:
            self._requests += requests
            self._fetched += fetched

    def add_reads(self, reads: Iterable[CachedRead], files: Iterable[str]) -> None:
        """Count reads of `files` that together are worth one request."""
        sources = Counter(read.source for read in reads)
        with self._guard:
            self._sources += sources
            self._saved += bool(sources) and not (sources["asked"] or sources["git"])
            self._files.update(dict.fromkeys(files))

    def counts(self) -> CodeReads:
        """Return the counts so far; files beyond 2,000 are not named."""
        with self._guard:
            return CodeReads(
                memory=self._sources["memory"],
                disk=self._sources["disk"],
                git=self._sources["git"],
                asked=self._sources["asked"],
                requests=self._requests,
                fetched=self._fetched,
                saved=self._saved,
                files=tuple(self._files)[:NAMED_FILES],
                more_files=max(0, len(self._files) - NAMED_FILES),
            )


# A code host whose readers keep what they read of a commit as records: later nights find it.
#
# The key of a record holds the commit, so it never expires. What a repository tells because
# something
# could not be fetched, or was not found out in time, is no record.

T = TypeVar("T")


class Form(Generic[T]):
    """Write values of a type as JSON, and read them again."""

    def __init__(self, type: Any) -> None:
        self._adapter: TypeAdapter[T] = TypeAdapter(type)

    def written(self, value: T) -> Any:
        """Return the value as JSON."""
        return self._adapter.dump_python(value, mode="json")

    def __call__(self, answer: Any) -> T:
        """Return the value that JSON stands for; raises `ValueError` where it stands for none."""
        return self._adapter.validate_python(answer)


_TEXT: Form[str | None] = Form(str | None)
_HITS: Form[tuple[SearchHit, ...]] = Form(tuple[SearchHit, ...])
_BLAMES: Form[tuple[Blame, ...]] = Form(tuple[Blame, ...])
_DIFF: Form[CommitDiff | None] = Form(CommitDiff | None)
_LOG: Form[tuple[LoggedCommit, ...]] = Form(tuple[LoggedCommit, ...])
_CHANGES: Form[tuple[ChangedFile, ...]] = Form(tuple[ChangedFile, ...])
_PATHS: Form[tuple[str, ...]] = Form(tuple[str, ...])


class RecordedHost:
    """A `CodeHost` in front of another one, whose readers keep records."""

    def __init__(self, host: CodeHost, records: Records) -> None:
        self._host = host
        self._cache = CodeCache(records)
        self._openings: deque[Traffic] = deque()  # of readers, until one of them tells

    def head(self) -> Commit:
        return self._host.head()

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """Return the commit of a release; None where no commit goes by that name."""
        return self._host.commit_of(name, branches=branches)

    def commit_at(self, moment: datetime) -> Commit:
        return self._host.commit_at(moment)

    def reader(self, commit: Commit) -> CodeReader:
        with watched() as traffic:
            reader = self._host.reader(commit)
        if traffic.requests:
            self._openings.append(traffic)
        return RecordedReader(reader, self._cache, self._openings)

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        return self._host.pulls_merged_since(since)

    def releases(self) -> tuple[Release, ...]:
        return self._host.releases()

    def probe(self) -> str:
        return self._host.probe()


class RecordedReader:
    """A `CodeReader` that asks another one only for what no record holds; safe for threads."""

    def __init__(self, reader: CodeReader, cache: CodeCache, openings: deque[Traffic]) -> None:
        """Share the `cache`; what `openings` of readers sent counts where it is asked for first."""
        self._reader = reader
        self._cache = cache
        self._counter = ReadCounter()
        self._openings = openings
        self._records = record_folder(reader.commit)

    @property
    def commit(self) -> Commit:
        return self._reader.commit

    @property
    def code_reads(self) -> CodeReads:
        """Return the reads since this reader was made."""
        with suppress(IndexError):  # another one was quicker
            while self._openings:
                opened = self._openings.popleft()
                self._counter.add_request(opened.requests, opened.files)
        return self._counter.counts()

    def paths(self) -> tuple[str, ...]:
        with self._counted():
            return self._reader.paths()

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        with self._counted():
            return self._reader.list_directory(path)

    def read_file(self, path: str) -> str | None:
        """Return the text at `path`; None where there is no such file, or it is not text."""
        return self._once("read", (path,), _TEXT, lambda: self._reader.read_file(path), path)

    def read_files(self, paths: Iterable[str]) -> dict[str, str | None]:
        return {path: self.read_file(path) for path in paths}

    def remember_files(self, texts: Mapping[str, str | None]) -> None:
        for path, text in texts.items():
            read = self._cache.remember(self._key("read", (path,)), text, _TEXT)
            if read.source == "disk":
                self._counter.add_reads((read,), (path,))

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        asked = (query, path, limit)
        return self._once("search", asked, _HITS, lambda: self._reader.search(*asked))

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        asked = (path, start, end)
        return self._once("blame", asked, _BLAMES, lambda: self._reader.blame(*asked), path)

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        """Return what a commit changed; None where it is not known."""
        asked = (sha, path)
        return self._once("show", asked, _DIFF, lambda: self._reader.show_commit(*asked))

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return commits, newest first, below `path`; with `text` those that touched it."""
        asked = (path, text, limit)
        return self._once("log", asked, _LOG, lambda: self._reader.history(*asked))

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        asked = (old_sha, new_sha, path)
        return self._once("compare", asked, _CHANGES, lambda: self._reader.compare(*asked))

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        asked = (old_sha, new_sha)
        return self._once("changed", asked, _PATHS, lambda: self._reader.paths_changed(*asked))

    def _once(
        self,
        operation: str,
        asked: tuple[object, ...],
        form: Form[T],
        ask: Callable[[], T],
        file: str = "",
    ) -> T:
        lasts_empty = operation in ("read", "search")
        key = self._key(operation, asked)
        with self._counted() as traffic:
            read = self._cache.read(
                key,
                lambda: form.written(ask()),
                form,
                lambda answer: not traffic.failed and (lasts_empty or bool(answer)),
            )
        source: Source = "git" if read.source == "asked" and not traffic.requests else read.source
        self._counter.add_reads((CachedRead(read.value, source),), (file,) if file else ())
        value: T = read.value
        return value

    @contextmanager
    def _counted(self) -> Iterator[Traffic]:
        with watched() as traffic:
            yield traffic
        self._counter.add_request(traffic.requests, traffic.files)

    def _key(self, operation: str, asked: tuple[object, ...]) -> str:
        words = "\0".join(map(str, asked)).encode(errors="replace")
        return f"{self._records}/{operation}-{hashlib.sha256(words).hexdigest()[:24]}"


def record_folder(commit: Commit) -> str:
    """Return the folder of a commit's records.

    >>> record_folder(Commit(repository="Acme/Shop", sha="1a2b"))
    'code/acme__shop/1a2b'
    """
    name = re.sub(r"[^a-z0-9._-]", "_", commit.repository.lower().replace("/", "__"))
    return f"code/{name[:120].lstrip('.') or 'repository'}/{commit.sha}"
