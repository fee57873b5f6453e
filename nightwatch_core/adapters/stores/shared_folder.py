"""A folder of several workers, by URL. Each has files of its own, which are brought together."""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.atomic_files import PATIENCE, only_writer
from nightwatch_core.errors import StopTheNight, TryLater
from nightwatch_core.ports import Clock, Records

EXTRAS = {"s3": "s3", "gs": "gcs"}  # of the package, by scheme
_FOREIGN = (  # what the clouds' libraries raise beside `OSError`
    *(("botocore.exceptions", "BotoCoreError"), ("botocore.exceptions", "ClientError")),
    *(("google.auth.exceptions", "GoogleAuthError"), ("gcsfs.retry", "HttpError")),
    ("aiohttp", "ClientError"),
)
_AT_ONCE = 100  # files that are read or written together
_SEEN = ".shared.json"  # in each folder: what was last brought together
log = logging.getLogger(__name__)


class SharedFolder:
    """Files below a URL; raises `TryLater` where it does not answer."""

    def __init__(self, url: str) -> None:
        """Find the library for it; raises `StopTheNight` where that is not installed."""
        from fsspec.core import url_to_fs

        scheme, self._url = url.partition("://")[0], url
        try:
            self._files, root = url_to_fs(url)
        except ImportError:
            extra = EXTRAS.get(scheme, scheme)
            raise StopTheNight(
                f'{scheme}:// needs an extra: pip install "nightwatch[{extra}]", or in a checkout '
                f'.venv/bin/pip install -c constraints.txt -e ".[{extra}]"'
            ) from None
        self._root = root.rstrip("/")
        self._is_mounted = scheme == "file"  # such a folder is written as the state folder is

    def stamps(self, name: str) -> dict[str, str]:
        """Return the files below a folder, with what changes when they do; its size first."""
        place = f"{self._root}/{name}/"
        with self._told():
            self._files.invalidate_cache()
            found: Mapping[str, dict[str, Any]] = self._files.find(place, detail=True)
        marks = ("size", "ETag", "md5Hash", "mtime", "created")
        return {
            path.removeprefix(place): " ".join(str(about.get(mark)) for mark in marks)
            for path, about in found.items()
            if not any(part.startswith(".") for part in path.removeprefix(place).split("/"))
        }

    def read(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of those files that are there."""
        paths = {f"{self._root}/{name}": name for name in names}
        with self._told():
            found = self._files.cat([*paths], on_error="return") if paths else {}
            for item in found.values():
                if isinstance(item, Exception) and not isinstance(item, FileNotFoundError):
                    raise item
        return {paths[path]: item for path, item in found.items() if isinstance(item, bytes)}

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Write or replace files: each is whole or not there."""
        paths = {f"{self._root}/{name}": content for name, content in contents.items()}
        with self._told():
            if self._is_mounted:
                for path, content in paths.items():
                    atomic_files.write(Path(path), content)
            elif paths:
                self._files.pipe(paths)

    def create(self, name: str, content: bytes) -> bytes:
        """Write a file unless there is one; returns what it holds: of several writers the first."""
        path = f"{self._root}/{name}"
        with self._told():
            try:
                if self._is_mounted:
                    atomic_files.create(Path(path), content)
                else:
                    self._files.pipe_file(path, content, mode="create")
            except FileExistsError:
                return self.read([name])[name]
        return content

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are not there are removed already."""
        with self._told():
            for name in names:
                with suppress(FileNotFoundError):
                    self._files.rm_file(f"{self._root}/{name}")

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except _troubles() as error:
            if isinstance(error, FileExistsError):
                raise
            why = f"{type(error).__name__}: {str(error)[:200]}"
            raise TryLater(
                f"{self._url} does not answer as it should ({why}): see NIGHTWATCH_SHARED, and "
                "what this machine may do there"
            ) from None


def _troubles() -> tuple[type[Exception], ...]:
    loaded = ((sys.modules.get(module), name) for module, name in _FOREIGN)
    return (OSError, ValueError, *(getattr(module, name) for module, name in loaded if module))


class Seen(NamedTuple):
    """A file when it was last brought together."""

    shared: str  # its stamp; empty: just sent
    own: tuple[int, int]  # time of change in ns, size


_SEEN_FILES = TypeAdapter(dict[str, Seen])


class SharedFiles:
    """Folders of this worker that are brought together with the shared one."""

    def __init__(self, shared: SharedFolder, folders: Mapping[str, Path], lock: Path) -> None:
        self._shared, self._folders, self._lock = shared, folders, lock

    def fetch(self) -> None:
        """Get what others wrote or removed; what was changed here and not sent yet stays."""
        for name, folder, seen in self._alone(self._folders):
            there, here = self._shared.stamps(name), _own(folder)
            for file in seen.keys() - there.keys():
                if here.get(file) == seen[file].own:
                    (folder / file).unlink(missing_ok=True)
                    del seen[file]
            for file, stamp in there.items():
                known = seen.get(file)
                if known and not known.shared and stamp.split()[0] == str(known.own[1]):
                    seen[file] = Seen(stamp, known.own)  # it is ours
            changed = [
                file
                for file, stamp in there.items()
                if (known := seen.get(file)) is None
                or (known.shared != stamp and here.get(file) in (known.own, None))
            ]
            for some in _parts(changed):
                contents = self._shared.read(f"{name}/{file}" for file in some)
                for file in some:
                    content = contents.get(f"{name}/{file}")
                    path = folder / file
                    is_inside = path.parent.resolve().is_relative_to(folder.resolve())
                    if content is not None and is_inside:
                        atomic_files.write(path, content)
                        seen[file] = Seen(there[file], _stamp(path))

    def send(self, *names: str) -> None:
        """Bring there what was written or removed here, of all folders unless some are named."""
        for name, folder, seen in self._alone(names or self._folders):
            here = _own(folder)
            changed = [file for file in here if file not in seen or seen[file].own != here[file]]
            for some in _parts(changed):
                contents = {f"{name}/{file}": (folder / file).read_bytes() for file in some}
                self._shared.write(contents)
                seen |= {file: Seen("", here[file]) for file in some}
            gone = [*(seen.keys() - here.keys())]
            self._shared.remove(f"{name}/{file}" for file in gone)
            for file in gone:
                del seen[file]

    def _alone(self, names: Iterable[str]) -> Iterator[tuple[str, Path, dict[str, Seen]]]:
        """Yield folders, and what is known of their files, which is kept afterwards."""
        with only_writer(self._lock, PATIENCE, str(self._lock.parent), StopTheNight):
            for name in names:
                folder = self._folders[name]
                seen = _seen(folder / _SEEN)
                before = dict(seen)
                yield name, folder, seen
                if seen != before:
                    atomic_files.write(folder / _SEEN, json.dumps(seen).encode())


def _seen(file: Path) -> dict[str, Seen]:
    try:
        return _SEEN_FILES.validate_json(file.read_bytes())
    except (OSError, ValueError):
        return {}  # everything is compared anew


def _own(folder: Path) -> dict[str, tuple[int, int]]:
    """The plain files below a folder with their stamps; links and what begins with a dot are not.

    A link that somebody puts there must not send away what it leads to.
    """
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [item for item in folders if not item.startswith(".")]
        for path in (Path(place, item) for item in files if not item.startswith(".")):
            if path.is_file() and not path.is_symlink():
                found[path.relative_to(folder).as_posix()] = _stamp(path)
    return found


def _stamp(path: Path) -> tuple[int, int]:
    about = path.stat()
    return about.st_mtime_ns, about.st_size


def _parts(files: list[str]) -> Iterator[list[str]]:
    yield from (files[at : at + _AT_ONCE] for at in range(0, len(files), _AT_ONCE))


class SharedRecords:
    """Records of this worker, behind which are those of all."""

    def __init__(self, own: Records, shared: SharedFolder, clock: Clock, keep: timedelta | None):
        self._own, self._shared, self._clock, self._keep = own, shared, clock, keep

    def get(self, key: str) -> str | None:
        """Return a record of this worker, else of another one; a damaged one counts as absent."""
        text = self._own.get(key)
        return text if text is not None else self._or_log(self._fetched, key)

    def put(self, key: str, text: str) -> None:
        """Keep it for all first; where that cannot be this worker has it all the same."""
        until = (self._clock.now() + self._keep).isoformat() if self._keep else ""
        content = f"{until}\n{text}".encode("utf-8", "replace")
        self._or_log(self._shared.write, {f"records/{key}": content})
        self._own.put(key, text)

    def _fetched(self, key: str) -> str | None:
        content = self._shared.read([f"records/{key}"]).get(f"records/{key}", b"")
        until, found, text = content.decode("utf-8", "replace").partition("\n")
        if not found or (until and datetime.fromisoformat(until) <= self._clock.now()):
            return None
        self._own.put(key, text)
        return text

    def _or_log(self, function: Callable[[Any], Any], value: Any) -> Any:
        try:
            return function(value)
        except (TryLater, ValueError) as trouble:
            log.warning("records of other workers cannot be used: %s", trouble)
            return None
