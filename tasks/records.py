"""Prefect's result records as a store: model turns for resuming, code reads that crossed a network.

Nested task results are written only when the outermost task succeeds, and a task run a read would
drown the page; records are written at once, cost half a millisecond and survive a failed analysis.
"""

import logging
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
log = logging.getLogger(__name__)


class JSONOnly(BaseModel):
    """A record's serializer: whoever can change the folder must not have us unpickle."""

    type: Literal["json"]


class Metadata(BaseModel):
    """When a record expires, and how it was written."""

    expiration: AwareDatetime
    serializer: JSONOnly


class Kept(BaseModel):
    """A text as Prefect's result record."""

    metadata: Metadata
    result: Json[str]


class PrefectRecords:
    """The Records port on Prefect's result storage; who wants them faster puts memory in front."""

    def __init__(self, folder: Path, keep: timedelta = KEEP) -> None:
        """Keep records below `folder` for `keep`."""
        self._keep = keep
        self._storage = LocalFileSystem(basepath=str(folder))
        self._store = ResultStore(
            result_storage=self._storage,
            serializer=JSONSerializer(),
            cache_result_in_memory=False,
        )

    def get(self, key: str) -> str | None:
        """What was put there and has not expired; damage counts as absence."""
        try:
            kept = Kept.model_validate_json(cast(bytes, self._storage.read_path(key)))
        except (OSError, ValueError):  # absent, torn, or not ours
            return None
        return kept.result if kept.metadata.expiration > now("UTC") else None

    def put(self, key: str, text: str) -> None:
        """Keep it, at once; a full disk costs the next reader time, not this one its answer."""
        until = now("UTC") + self._keep
        try:
            self._store.write(text, key=key, expiration=until)  # type: ignore[arg-type]
        except OSError as error:
            log.warning("a record could not be kept: %s", error)


@lru_cache(maxsize=4)
def _records_in(folder: Path) -> PrefectRecords:
    return PrefectRecords(folder)


def records() -> PrefectRecords:
    """Records in the folder where this run keeps its results."""
    return _records_in(Path(get_current_settings().results.local_storage_path))
