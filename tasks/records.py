"""Prefect's result records as a store, of model turns and of code that was read.

Nested task results are written only when the outermost task succeeds, and a task run a read would
drown the page; records are written at once, cost half a millisecond and survive a failed analysis.
Records of code never expire, for their keys hold the commit; `prune` bounds them.
"""

import logging
import os
import time
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Literal, cast

from prefect.filesystems import LocalFileSystem
from prefect.results import ResultStore
from prefect.serializers import JSONSerializer
from prefect.settings import get_current_settings
from prefect.types._datetime import now
from pydantic import AwareDatetime, BaseModel, Json

KEEP = timedelta(hours=20)
DAY = 86_400  # seconds
log = logging.getLogger(__name__)


class JSONOnly(BaseModel):
    """A record's serializer: whoever can change the folder must not have us unpickle."""

    type: Literal["json"]


class Metadata(BaseModel):
    """When a record expires, and how it was written."""

    expiration: AwareDatetime | None = None  # None: what it says never changes
    serializer: JSONOnly


class Kept(BaseModel):
    """A text as Prefect's result record."""

    metadata: Metadata
    result: Json[str]


class PrefectRecords:
    """The Records port on Prefect's result storage; who wants them faster puts memory in front."""

    def __init__(self, folder: Path, keep: timedelta | None = KEEP) -> None:
        """Keep records below `folder` for `keep`; None is for good."""
        self._keep = keep
        self._folder = folder
        self._storage = LocalFileSystem(basepath=str(folder))
        self._store = ResultStore(
            result_storage=self._storage, serializer=JSONSerializer(), cache_result_in_memory=False
        )

    def get(self, key: str) -> str | None:
        """Return the record unless it has expired; a damaged one counts as absent."""
        try:
            kept = Kept.model_validate_json(cast(bytes, self._storage.read_path(key)))
        except (OSError, ValueError):  # absent, torn, or not ours
            return None
        until = kept.metadata.expiration
        if until is not None and until <= now("UTC"):
            return None
        self._mark_used(key)
        return kept.result

    def _mark_used(self, key: str) -> None:
        """Note that a record was used, once a day: pruning begins with what was used least."""
        path = self._folder / key
        try:
            if time.time() - path.stat().st_mtime > DAY:
                os.utime(path)
        except OSError:  # pruned in between, or not ours
            return

    def put(self, key: str, text: str) -> None:
        """Keep it, at once; a full disk costs the next reader time, not this one its answer."""
        until = now("UTC") + self._keep if self._keep else None
        try:
            self._store.write(text, key=key, expiration=until)  # type: ignore[arg-type]
        except (OSError, ValueError) as error:  # a folder lies in its place
            log.warning("a record could not be kept: %s", error)


@lru_cache(maxsize=4)
def _records_in(folder: Path, keep: timedelta | None) -> PrefectRecords:
    return PrefectRecords(folder, keep)


def results() -> Path:
    """Return the folder where this run keeps its results."""
    return Path(get_current_settings().results.local_storage_path)


def records() -> PrefectRecords:
    """Return records of this run, kept while the night may be resumed."""
    return _records_in(results(), KEEP)


def code_records() -> PrefectRecords:
    """Return records of code that was read, kept for later nights."""
    return _records_in(results(), None)
