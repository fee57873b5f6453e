"""What installed packages say about themselves: version, files, names of their modules."""

import csv
import json
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

_BYTES = 4 * 1024 * 1024  # of a list of files or packages
_DISTRIBUTIONS = 2_000  # of one folder


def distribution_of(shelf: Path, package: str) -> Path | None:
    """Return the .dist-info folder of a distribution, or of the one that brings a module."""
    wanted = _plain(package)
    known = _distributions(shelf)
    by_name = {_plain(one.name.removesuffix(".dist-info").rpartition("-")[0]): one for one in known}
    if wanted in by_name:
        return by_name[wanted]
    return next((one for one in known if package in _modules(one)), None)


def listed_files(record: Path) -> tuple[str, ...]:
    """Return the files a RECORD lists, those that leave the folder left out."""
    rows = csv.reader((_text(record) or "").splitlines())
    names = (row[0].replace("\\", "/") for row in rows if row)
    return tuple(name for name in names if not _leaves(name))


def package_version(file: Path) -> str:
    """Return the version a package.json states; empty where there is none."""
    stated = _json(file)
    version = stated.get("version") if isinstance(stated, dict) else None
    return version if isinstance(version, str) else ""


def composer_version(file: Path, package: str) -> str:
    """Return the version of a package in composer's installed.json; empty where it has none."""
    stated = _json(file)
    listed = stated.get("packages") if isinstance(stated, dict) else stated
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and one.get("name") == package:
            return str(one.get("version") or "")
    return ""


@lru_cache(maxsize=64)
def _distributions(shelf: Path) -> tuple[Path, ...]:
    try:
        names = sorted(one.name for one in os.scandir(shelf) if one.name.endswith(".dist-info"))
    except OSError:
        return ()
    return tuple(shelf / name for name in names[:_DISTRIBUTIONS])


@lru_cache(maxsize=4_096)
def _modules(about: Path) -> frozenset[str]:
    """Names that can be imported, the first part each."""
    tops = (name.split("/")[0] for name in listed_files(about / "RECORD"))
    return frozenset(re.sub(r"\.(?:py|pyi|abi3\.so|so)$", "", top) for top in tops)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _leaves(name: str) -> bool:
    return name.startswith("/") or ".." in name.split("/") or ".dist-info/" in name


def _json(file: Path) -> Any:
    try:
        return json.loads(_text(file) or "null")
    except (ValueError, RecursionError):
        return None


def _text(file: Path) -> str | None:
    try:
        if not file.is_file() or file.stat().st_size > _BYTES:
            return None
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
