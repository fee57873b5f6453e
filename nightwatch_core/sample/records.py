"""The sample's captured day of errors, as an error source."""

from pathlib import Path

from nightwatch_core import sample
from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.adapters.stores import atomic_files


def sample_errors(folder: Path) -> ErrorFiles:
    """Unpack the records into `folder` and read them as any other export."""
    path = folder / sample.ERRORS
    records = sample.errors()
    if not path.is_file() or path.read_bytes() != records:
        atomic_files.write(path, records)
    return ErrorFiles((path,), name="sample")
