"""The code cache: what is read of a commit is read once, and kept as a record.

Memory stands in front of the records, which other processes and later nights see too, and these in
front of a repository or the network. One thread asks for what the others wait for; a failure is not
kept.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from nightwatch_core.adapters.stores.limits import CACHED_CHARACTERS, NAMED_FILES
from nightwatch_core.adapters.stores.single_flight import SingleFlight
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import CodeReads
from nightwatch_core.ports import Records

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
        """Keep values in `records`, which outlive us, and `room` characters of them in memory."""
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
        """Begin with nothing read."""
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
