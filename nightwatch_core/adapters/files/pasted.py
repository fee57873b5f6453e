"""Records that a person pasted, kept as files."""

import hashlib
from pathlib import Path

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import StopTheNight

LONGEST = 4_000_000  # characters


def keep_pasted(text: str, folder: Path) -> Path:
    """Write the text to a file of its own.

    Raises `StopTheNight` where it is empty or huge, or cannot be written.
    """
    if not text.strip() or len(text) > LONGEST:
        raise StopTheNight("paste one record: JSON, or a log excerpt with its stack trace")
    content = text.encode(errors="replace")
    path = folder / f"{hashlib.sha256(content).hexdigest()[:16]}.txt"
    try:
        atomic_files.write(path, content)
    except OSError as error:
        raise StopTheNight(
            f"cannot write {path}: {error}; name another state folder with NIGHTWATCH_STATE"
        ) from error
    return path
