"""The standard library of the interpreter that runs this: its modules' source, nothing else."""

import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_FILES = 1_000  # of a module
_FOLDERS = ("__pycache__", "test", "tests")  # that are left out


def standard_library() -> Path:
    """Return the folder that holds it."""
    return Path(sysconfig.get_path("stdlib"))


def version() -> str:
    """Return the interpreter's version, as folders are called: 3.11."""
    return sysconfig.get_python_version()


@lru_cache(maxsize=64)
def files_of_module(folder: Path, module: str) -> tuple[str, ...]:
    """Return the source files of a top-level module below `folder`, sorted.

    Empty for what is no module of the standard library, or has no source in Python.
    """
    if module not in sys.stdlib_module_names:
        return ()
    if (folder / f"{module}.py").is_file():
        return (f"{module}.py",)
    return tuple(sorted(_below(folder, module)))[:_FILES]


def _below(folder: Path, module: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder / module):
        folders[:] = sorted(name for name in folders if name not in _FOLDERS)
        for name in names:
            if name.endswith(".py"):
                yield (Path(place) / name).relative_to(folder).as_posix()
