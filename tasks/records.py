"""Prefect's result records as a store: model turns for resuming, code reads that crossed a network.

Nested task results are written only when the outermost task succeeds, and a task run a read would
drown the page; records are written at once, cost half a millisecond and survive a failed analysis.
"""

import threading
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from prefect.filesystems import LocalFileSystem
from prefect.results import ResultStore
from prefect.serializers import JSONSerializer
from prefect.settings import get_current_settings
from prefect.types._datetime import now

KEEP = timedelta(hours=20)


class PrefectRecords:
    """The Records port on Prefect's result storage; one flight a key in this process."""

    def __init__(self, folder: Path, keep: timedelta = KEEP) -> None:
        """Keep records below `folder` for `keep`."""
        self._keep = keep
        self._store = ResultStore(
            result_storage=LocalFileSystem(basepath=str(folder)),
            serializer=JSONSerializer(),
            cache_result_in_memory=False,
        )
        self._memory: dict[str, str] = {}
        self._guard = threading.Lock()

    def get(self, key: str) -> str | None:
        """What was put there and has not expired; damage counts as absence."""
        with self._guard:
            if key in self._memory:
                return self._memory[key]
        if not self._store.exists(key):
            return None
        text = self._store.read(key).result
        return text if isinstance(text, str) else None

    def put(self, key: str, text: str) -> None:
        """Keep it, at once."""
        with self._guard:
            self._memory[key] = text
        until = now("UTC") + self._keep
        self._store.write(text, key=key, expiration=until)  # type: ignore[arg-type]


@lru_cache(maxsize=4)
def _records_in(folder: Path) -> PrefectRecords:
    return PrefectRecords(folder)


def records() -> PrefectRecords:
    """Records in the folder where this run keeps its results."""
    return _records_in(Path(get_current_settings().results.local_storage_path))
