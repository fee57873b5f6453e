"""Files that are either whole or not there, whenever the power goes."""

import os
import secrets
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write or replace a file, and its folder where it is missing; raises `OSError`.

    The content goes to a temporary neighbour, to the disk, and only then to its name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".tmp-{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
