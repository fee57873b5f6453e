"""Counts what one reader's reads took."""

import threading
from collections import Counter
from collections.abc import Iterable

from nightwatch_core.adapters.github.code_cache import Told
from nightwatch_core.models.code import CodeReads

MOST_FILES = 2_000  # that are named; the rest is counted


class Tally:
    """Counts for one reader; safe for its threads."""

    def __init__(self) -> None:
        """Nothing has been read."""
        self._guard = threading.Lock()
        self._sources: Counter[str] = Counter()
        self._files: dict[str, None] = {}
        self._requests = self._saved = 0

    def request(self) -> None:
        """A question is sent."""
        with self._guard:
            self._requests += 1

    def note(self, told: Iterable[Told], files: Iterable[str]) -> None:
        """Reads of `files` were answered that together are worth one question."""
        sources = Counter(one.source for one in told)
        with self._guard:
            self._sources += sources
            self._saved += not sources["asked"]
            self._files.update(dict.fromkeys(files))

    def counted(self) -> CodeReads:
        """The counts so far."""
        with self._guard:
            return CodeReads(
                memory=self._sources["memory"],
                disk=self._sources["disk"],
                asked=self._sources["asked"],
                requests=self._requests,
                saved=self._saved,
                files=tuple(self._files)[:MOST_FILES],
                more_files=max(0, len(self._files) - MOST_FILES),
            )
