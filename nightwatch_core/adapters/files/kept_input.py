"""What a person pasted or piped in, kept as a file, so that it can be read again."""

import hashlib
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from nightwatch_core.adapters.files.limits import CHUNK, KEPT_DAYS, MOST_BYTES, PASTE_LIMIT
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import StopTheNight


def keep_pasted(text: str, folder: Path) -> Path:
    """Write what a person pasted to a file of its own.

    Raises `StopTheNight` where it is empty or huge, or cannot be written.
    """
    if not text.strip() or len(text) > PASTE_LIMIT:
        raise StopTheNight("paste one record: JSON, or a log excerpt with its stack trace")
    content = text.encode(errors="replace")
    path = folder / f"{hashlib.sha256(content).hexdigest()[:16]}.txt"
    try:
        _forget_old(folder)
        atomic_files.write(path, content)
    except OSError as error:
        raise _not_written(path, error) from error
    return path


def keep_stream(stream: IO[bytes], folder: Path, most: int = MOST_BYTES) -> Path:
    """Write all of a stream to a file that is named by its content, so that the same is kept once.

    Files of streams that were given long ago are deleted.
    Raises `StopTheNight` where it is empty, longer than `most` bytes, or cannot be written.
    """
    temporary = folder / f"{atomic_files.TEMPORARY}{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _forget_old(folder)
        with temporary.open("wb") as file:
            name = _copied(stream, file, most)
        return temporary.replace(folder / f"{name}.txt")
    except OSError as error:
        raise _not_written(folder, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _forget_old(folder: Path) -> None:
    """Delete inputs that were not given again for long: they may be large, and hold anything."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for path in folder.glob("*.txt"):
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)


def _copied(stream: IO[bytes], file: IO[bytes], most: int) -> str:
    digest, size = hashlib.sha256(), 0
    while block := stream.read(CHUNK):
        size += len(block)
        if size > most:
            raise StopTheNight(f"the input is longer than {most / 1e6:,.0f} MB: give a file")
        digest.update(block)
        file.write(block)
    if not size:
        raise StopTheNight("the input is empty: `--errors -` reads records from it")
    return digest.hexdigest()[:16]


def _not_written(path: Path, error: OSError) -> StopTheNight:
    return StopTheNight(
        f"cannot write {path}: {error}; name another state folder with NIGHTWATCH_STATE"
    )
