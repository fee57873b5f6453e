"""The key that masks are made with: one for a state folder, made once, never shown."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import StopTheNight

_BYTES = 32


def mask_key(state: Path) -> bytes:
    """Return the key of a state folder, made where there is none; raises `StopTheNight`.

    One that was torn is made again: by a short key, or none, values could be told from their masks.
    """
    path = state / "mask-key"
    try:
        if path.exists() and len(path.read_bytes()) != _BYTES:
            path.unlink(missing_ok=True)
        if not path.exists():
            _make(path)
        return path.read_bytes()
    except OSError as error:
        raise StopTheNight(
            f"{path} cannot be made or read ({error.strerror}): change NIGHTWATCH_STATE"
        ) from error


def _make(path: Path) -> None:
    """Of several processes the first one's key stays."""
    own = path.with_name(f"{atomic_files.TEMPORARY}{secrets.token_hex(8)}")
    try:
        atomic_files.write(own, secrets.token_bytes(_BYTES))
        with suppress(FileExistsError):
            os.link(own, path)
    finally:
        own.unlink(missing_ok=True)
