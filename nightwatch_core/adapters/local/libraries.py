"""The source of installed libraries: virtual environments, gems, node_modules, modules, vendor.

Nothing is executed, and nothing outside the package's own folder is read: a checkout may come from
a stranger.
"""

import csv
import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from nightwatch_core.adapters.git.command import FILE_BYTES
from nightwatch_core.adapters.git.objects import decode_text
from nightwatch_core.models.code import Ecosystem, Library
from nightwatch_core.text.plain_text import data_table

# Descriptions of installed packages.

_BYTES = 4 * 1024 * 1024  # of a list of files or packages
_DISTRIBUTIONS = 2_000  # of one folder


def _distribution_of(shelf: Path, package: str) -> Path | None:
    distributions = _distributions(shelf)
    by_name = {_plain(item.stem.rpartition("-")[0]): item for item in distributions}
    if own := by_name.get(_plain(package)):
        return own
    return next((item for item in distributions if package in _modules(item)), None)


def _listed_files(record: Path) -> tuple[str, ...]:
    rows = csv.reader((_text(record) or "").splitlines())
    names = (row[0].replace("\\", "/") for row in rows if row)
    return tuple(
        name
        for name in names
        if not (name.startswith("/") or ".." in name.split("/") or ".dist-info/" in name)
    )


@lru_cache(maxsize=64)
def _distributions(shelf: Path) -> tuple[Path, ...]:
    try:
        names = sorted(item.name for item in os.scandir(shelf) if item.name.endswith(".dist-info"))
    except OSError:
        return ()
    return tuple(shelf / name for name in names[:_DISTRIBUTIONS])


@lru_cache(maxsize=4_096)
def _modules(about: Path) -> frozenset[str]:
    tops = (name.split("/")[0] for name in _listed_files(about / "RECORD"))
    return frozenset(re.sub(r"\.(?:py|pyi|abi3\.so|so)$", "", top) for top in tops)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _stated(file: Path) -> dict[str, Any]:
    try:
        stated = json.loads(_text(file) or "null")
    except (ValueError, RecursionError):
        return {}
    return stated if isinstance(stated, dict) else {}


def _text(file: Path) -> str | None:
    try:
        if not file.is_file() or file.stat().st_size > _BYTES:
            return None
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


# The standard library of the running Python.


def standard_library() -> Path:
    """Return the folder that holds it."""
    return Path(sysconfig.get_path("stdlib"))


_MOST_FILES = 5_000  # of a package
_COPIES = 20  # of a package
_MOST_FOLDERS = 20_000  # of a folder of packages that are looked at
_NOT_OF_IT = ("node_modules", ".git", "__pycache__", "vendor")
_NOT_OF_STANDARD = ("__pycache__", "test", "tests")


class _Table(BaseModel):
    no_source: frozenset[str]
    shelves: dict[Ecosystem, tuple[str, ...]]


_TABLE = data_table("nightwatch_core.adapters.local", "libraries.toml", _Table)


class _Copy(NamedTuple):
    library: Library
    folder: Path  # that its paths count from
    record: Path | None = None
    module: str = ""  # of the standard library


class InstalledLibraries:
    """A `LibraryReader` over folders of this machine; safe for many threads."""

    def __init__(self, roots: Sequence[Path], standard: Path | None = None) -> None:
        self._roots, self._standard = tuple(roots), standard

    def copies(self, ecosystem: Ecosystem, package: str) -> tuple[Library, ...]:
        """Return the copies that are here, each version once."""
        return tuple(dict.fromkeys(copy.library for copy in self._copies(ecosystem, package)))

    def paths(self, library: Library) -> tuple[str, ...]:
        """Return its source files, sorted; of very many the first 5,000."""
        copy = self._copy(library)
        return _sources(copy) if copy else ()

    def read_file(self, library: Library, path: str) -> str | None:
        copy = self._copy(library)
        if copy is None or path not in self.paths(library):
            return None
        try:
            file = (copy.folder / path).resolve(strict=True)
            inside = file.is_relative_to(copy.folder.resolve()) and file.is_file()
            if not inside or file.stat().st_size > FILE_BYTES:
                return None
            return decode_text(file.read_bytes())
        except OSError:
            return None

    def _copy(self, library: Library) -> _Copy | None:
        copies = self._copies(library.ecosystem, library.package)
        return next((copy for copy in copies if copy.library == library), None)

    def _copies(self, ecosystem: Ecosystem, package: str) -> tuple[_Copy, ...]:
        shelves = tuple(shelf for kind, shelf in self._shelves if kind == ecosystem)
        standard = _of_standard(self._standard, package) if ecosystem == "python" else ()
        return (*_find(ecosystem, package, shelves), *standard)

    @cached_property
    def _shelves(self) -> tuple[tuple[Ecosystem, Path], ...]:
        found = (
            (ecosystem, shelf)
            for root in self._roots
            for ecosystem, patterns in _TABLE.shelves.items()
            for pattern in patterns
            for shelf in _package_folders(root, pattern)
        )
        return tuple(dict.fromkeys(found))


def beside(checkout: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return folders beside a checkout, and package caches, that may hold its libraries.

    Links beside the checkout are left out: they may come with it, and lead anywhere.
    """
    own = [checkout / name for name in (".venv", "venv", "env", "node_modules", "vendor")]
    own += [checkout.parent / name for name in (".venv", "venv")]
    own += [folder / "node_modules" for folder in _folders(checkout)]
    home = Path(environment.get("HOME") or "/nonexistent")
    named = (environment.get(name) for name in ("GEM_HOME", "BUNDLE_PATH", "GOMODCACHE", "GOPATH"))
    shared = [Path(item) for item in named if item]
    shared += [home / "go", Path(environment.get("UV_CACHE_DIR") or home / ".cache" / "uv")]
    kept = [item for item in own if item.is_dir() and not item.is_symlink()]
    return tuple(dict.fromkeys((*kept, *(item for item in shared if item.is_dir()))))


def _folders(checkout: Path) -> tuple[Path, ...]:
    try:
        entries = [item for item in os.scandir(checkout) if item.is_dir(follow_symlinks=False)]
    except OSError:
        return ()
    names = sorted(entry.name for entry in entries if entry.name not in _NOT_OF_IT)
    return tuple(checkout / name for name in names[:200])


def _package_folders(root: Path, pattern: str) -> Iterator[Path]:
    places = (root,) if pattern == "." else sorted(root.glob(pattern))[:_MOST_FOLDERS]
    for place in places:
        if place.is_dir() and place.resolve().is_relative_to(root.resolve()):
            yield place


def _of_standard(folder: Path | None, module: str) -> tuple[_Copy, ...]:
    if folder is None or module not in sys.stdlib_module_names:
        return ()
    version = sysconfig.get_python_version()  # as folders are called: 3.11
    library = Library(ecosystem="python", package=module, version=version, is_standard=True)
    copy = _Copy(library, folder, module=module)
    return (copy,) if _sources(copy) else ()  # one without source in Python is none


@lru_cache(maxsize=256)
def _find(ecosystem: Ecosystem, package: str, shelves: tuple[Path, ...]) -> tuple[_Copy, ...]:
    if not package or any(part in ("", ".", "..") for part in package.split("/")):
        return ()
    copies = (copy for shelf in shelves for copy in _FINDERS[ecosystem](shelf, package))
    roots = [shelf.resolve() for shelf in shelves]
    kept = (
        copy
        for copy in copies
        if copy.folder.is_dir() and any(map(copy.folder.resolve().is_relative_to, roots))
    )
    return tuple(copy for copy, _ in zip(kept, range(_COPIES), strict=False))


def _python(shelf: Path, package: str) -> Iterator[_Copy]:
    if about := _distribution_of(shelf, package):
        name, _, version = about.stem.rpartition("-")
        library = Library(ecosystem="python", package=name, version=version)
        yield _Copy(library, shelf, about / "RECORD")


def _ruby(shelf: Path, package: str) -> Iterator[_Copy]:
    for folder in _named(shelf, f"{package}-"):
        version = folder.name.removeprefix(f"{package}-")
        if version[:1].isdigit():
            yield _Copy(Library(ecosystem="ruby", package=package, version=version), folder)


def _javascript(shelf: Path, package: str) -> Iterator[_Copy]:
    stores = _named(shelf / ".pnpm", f"{package.replace('/', '+')}@")
    for folder in (shelf / package, *(store / "node_modules" / package for store in stores)):
        version = _stated(folder / "package.json").get("version")
        if version and isinstance(version, str):
            yield _Copy(Library(ecosystem="javascript", package=package, version=version), folder)


def _go(shelf: Path, package: str) -> Iterator[_Copy]:
    escaped = "".join(f"!{c.lower()}" if c.isupper() else c for c in package)
    parent, _, name = escaped.rpartition("/")
    for folder in _named(shelf / parent, f"{name}@"):
        version = folder.name.partition("@")[2]
        yield _Copy(Library(ecosystem="go", package=package, version=version), folder)


def _php(shelf: Path, package: str) -> Iterator[_Copy]:
    listed = _stated(shelf / "composer" / "installed.json").get("packages")
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and item.get("name") == package and item.get("version"):
            version = str(item["version"])
            yield _Copy(Library(ecosystem="php", package=package, version=version), shelf / package)


_FINDERS = {"python": _python, "ruby": _ruby, "javascript": _javascript, "go": _go, "php": _php}


def _named(folder: Path, start: str) -> tuple[Path, ...]:
    try:
        names = sorted(item.name for item in os.scandir(folder) if item.name.startswith(start))
    except OSError:
        return ()
    return tuple(folder / name for name in names[:_COPIES])


@lru_cache(maxsize=64)
def _sources(copy: _Copy) -> tuple[str, ...]:
    return tuple(sorted(_files(copy)))


def _files(copy: _Copy) -> Iterator[str]:
    if copy.record is not None:
        names: Iterable[str] = _listed_files(copy.record)
    elif copy.module and (copy.folder / f"{copy.module}.py").is_file():
        names = (f"{copy.module}.py",)
    else:
        left_out = _NOT_OF_STANDARD if copy.module else _NOT_OF_IT
        names = _below(copy.folder / copy.module, copy.folder, left_out)
    for name in islice(names, _MOST_FILES):
        if name.endswith(".py") if copy.module else Path(name).suffix not in _TABLE.no_source:
            yield name


def _below(folder: Path, root: Path, left_out: tuple[str, ...]) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in left_out)
        for name in sorted(names):
            yield (Path(place) / name).relative_to(root).as_posix()
