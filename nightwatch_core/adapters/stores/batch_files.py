"""The BatchStore port on a folder: one file for each batch, `batches/<digest>.json`.

A file that cannot be read is left as it is, and named.
"""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.limits import (
    BATCH_BYTES,
    COLLECTED_DAYS,
    COLLECTED_ERRORS,
    PATIENCE,
)
from nightwatch_core.adapters.stores.private_folder import make_private
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.batch import Batch

SCHEMA = 1
_ADVICE = "it stays as it is. Mend it, or move it away"


class BatchFiles:
    """Batches below the folder `state`."""

    def __init__(
        self, state: Path, most_collected: int = COLLECTED_ERRORS, patience: float = PATIENCE
    ) -> None:
        """Nothing is touched before it is needed; `most_collected` errors were, and are kept.

        `patience` are seconds that another process may take.
        """
        self._folder = state / "batches"
        self._most, self._patience = most_collected, patience

    def alone(self) -> AbstractContextManager[None]:
        """Keep every other process from submitting meanwhile; raises `TryLater` where one does."""
        make_private(self._folder)
        lock, place = self._folder / ".lock", str(self._folder)
        return atomic_files.only_writer(lock, self._patience, place, StopTheNight)

    def keep(self, batch: Batch) -> None:
        """Write or replace a batch, by its digest; raises `StopTheNight` where that cannot be.

        With a new intent those go that were collected long before, or are too many, oldest first.
        """
        kept = {"schema": SCHEMA, "batch": batch.model_dump(mode="json", exclude_defaults=True)}
        raw = json.dumps(kept, ensure_ascii=False).encode("utf-8", "replace")
        try:
            make_private(self._folder)
            atomic_files.write(self._file(batch), raw, mode=atomic_files.OWNERS)
            for old in self._outlived(batch.submitted) if batch.is_intent else ():
                atomic_files.remove(self._file(old))
        except OSError as error:
            raise self._unwritable(error) from error

    def drop(self, batch: Batch) -> None:
        """Forget an intent; a file that has an id by now stays."""
        kept, _ = _read(self._file(batch))
        if kept is None or not kept.is_intent:
            return
        try:
            atomic_files.remove(self._file(batch))
        except OSError as error:
            raise self._unwritable(error) from error

    def batches(self) -> tuple[Batch, ...]:
        """Those that can be read, oldest first."""
        read = (batch for batch, _ in map(_read, self._files()) if batch)
        return tuple(sorted(read, key=lambda one: (one.submitted, one.digest)))

    def complaints(self) -> tuple[str, ...]:
        """What cannot be read, why, and what to do."""
        complaints = ((file, reason) for file in self._files() if (reason := _read(file)[1]))
        return tuple(f"{file}: {reason}: {_ADVICE}" for file, reason in complaints)

    def _outlived(self, now: datetime) -> Iterator[Batch]:
        """Collected batches that are too old at this time, or beyond the errors that are kept."""
        errors, oldest = 0, now - timedelta(days=COLLECTED_DAYS)
        for batch in reversed(self.batches()):
            errors += len(batch.items) if batch.collected_by else 0
            if batch.collected_by and (batch.submitted < oldest or errors > self._most):
                yield batch

    def _file(self, batch: Batch) -> Path:
        return self._folder / f"{batch.digest}.json"

    def _files(self) -> list[Path]:
        try:
            return sorted(self._folder.glob("*.json"))
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> StopTheNight:
        return StopTheNight(
            f"{self._folder} cannot be used ({error.strerror or error}): free some space, check "
            "who may write there, or name another state folder with NIGHTWATCH_STATE"
        )


def _read(file: Path) -> tuple[Batch | None, str]:
    """The batch, or why there is none; no reason where there is no file."""
    try:
        if file.stat().st_size > BATCH_BYTES:
            return None, f"it is larger than {BATCH_BYTES:,} bytes"
        raw = file.read_bytes()
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"it cannot be read ({error.strerror or error})"
    try:
        kept = from_json(raw)
        schema = kept.get("schema") if isinstance(kept, dict) else None
        if isinstance(schema, int) and schema > SCHEMA:
            return None, f"a later version wrote it (schema {schema}): update NightWatch"
        batch = Batch.model_validate(kept.get("batch") if isinstance(kept, dict) else None)
    except ValidationError as error:
        return None, f"it is no batch ({error.error_count()} fields do not fit)"
    except ValueError:
        return None, "it is not whole JSON"
    if file.stem != batch.digest:
        return None, f"it is the batch {batch.digest} under another name"
    return batch, ""
