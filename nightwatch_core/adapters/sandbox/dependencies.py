"""Dependencies of projects: those beside a checkout, those kept from before, or fetched once."""

import hashlib
import importlib.util
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from nightwatch_core.adapters.sandbox.cell import CHANGES, ENV, TREE, WORK, Mount
from nightwatch_core.adapters.sandbox.limits import (
    KEPT_COUNT,
    KEPT_DAYS,
    PREPARE_SECONDS,
    PREPARED_FILES,
    PREPARED_MB,
    ROOM_SECONDS,
)
from nightwatch_core.adapters.sandbox.place import delete, lay_changes, new_folder
from nightwatch_core.adapters.sandbox.supervision import runner
from nightwatch_core.adapters.sandbox.toolchain import Toolchain, may_enter
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.sandbox import Bounds, Preparation, Prepared, Run

NOT_HERE = (
    "its dependencies are not on this machine: install them beside the checkout, name their "
    "folder with NIGHTWATCH_LIBRARIES, or let them be fetched with NIGHTWATCH_PREPARE_NETWORK=true"
)
_SHELVES = {"python": "python", "javascript": "node_modules", "ruby": "bundle"}  # below /env
_BESIDE = "beside:"
_TOOLS = "/tools"
_BOUNDS = Bounds(
    seconds=PREPARE_SECONDS,
    cpu_seconds=int(PREPARE_SECONDS),
    file_mb=1_024,
    work_mb=2_048,
    temporary_mb=2_048,
    processes=512,
)


class Start(Protocol):
    """Runs words in a cell."""

    def __call__(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        mounts: list[Mount],
        bounds: Bounds,
        network: bool = False,
        enough: Callable[[], bool] | None = None,
    ) -> Run:
        """Run them."""
        ...


class Dependencies:
    """What projects need, by the content of their manifests."""

    def __init__(
        self, start: Start, place: Callable[[], Path], tools: Toolchain, network: bool
    ) -> None:
        """Fetch nothing where `network` is not allowed."""
        self._start, self._place, self._tools = start, place, tools
        self._network = network

    def prepare(
        self, preparation: Preparation, libraries: Sequence[Path], tree: Path | None
    ) -> Prepared:
        """Return what is there, else fetch it; raises `GiveUp` where that cannot be."""
        if self._beside(preparation.language, libraries):
            return Prepared(key=f"{_BESIDE}{preparation.language}", how="beside the checkout")
        key = self._key(preparation, tree)
        folder = self._place() / "prepared" / key
        if folder.is_dir():
            os.utime(folder)
            return Prepared(key=key, how="kept")
        if not self._network and not preparation.whole_tree:
            raise GiveUp(NOT_HERE)
        self._prune()
        return Prepared(key=key, seconds=self._fetch(preparation, tree, folder))

    def mounts(self, key: str, libraries: Sequence[Path]) -> tuple[Mount, ...]:
        """What a run with these dependencies sees of them; none for a key that is not known."""
        if key.startswith(_BESIDE):
            language = key.removeprefix(_BESIDE)
            shelf = self._beside(language, libraries)
            return (Mount(shelf, f"{ENV}/{_SHELVES[language]}"),) if shelf else ()
        folder = self._place() / "prepared" / key
        return (Mount(folder, ENV),) if key.isalnum() and folder.is_dir() else ()

    def _fetch(self, preparation: Preparation, tree: Path | None, folder: Path) -> float:
        user = runner()
        new, manifests = new_folder(folder.parent, user), new_folder(folder.parent, user)
        room = _Room(new)
        try:
            lay_changes(preparation.files, manifests)
            mounts = [Mount(new, ENV, writable=True), Mount(manifests, CHANGES), *_own_pip(user)]
            mounts += [Mount(tree, TREE)] if tree else []
            copied = [f"cp -dR {one}/. {WORK}" for one in (*([TREE] if tree else []), CHANGES)]
            script = f'{" && ".join(copied)} && exec "$@"'
            words = ("/bin/sh", "-c", script, "sh", *preparation.words)
            environment = {"PYTHONPATH": _TOOLS, **dict(preparation.environment)}
            run = self._start(words, environment, mounts, _BOUNDS, self._network, room.is_taken)
            if not run.went_well:
                last = " ".join(run.output.split())[-300:]
                why = run.ended if run.ended != "exited" else last
                raise GiveUp(f"its dependencies could not be prepared: {why}")
            with suppress(OSError):  # another process has been quicker
                new.rename(folder)
            return run.seconds
        finally:
            delete(new)
            delete(manifests)

    def _key(self, preparation: Preparation, tree: Path | None) -> str:
        """Name what comes out: by everything that goes in."""
        texts = [preparation.model_dump_json(), self._tools.python, self._tools.path]
        texts += [self._tools.image] if self._tools.image else []
        texts += [tree.name] if tree else []  # what a person set may read all of the tree
        return hashlib.sha256("\0".join(texts).encode(errors="replace")).hexdigest()[:32]

    def _prune(self) -> None:
        """Delete what no night has used for long, and the oldest of too many."""
        folders = [(one.stat().st_mtime, one) for one in (self._place() / "prepared").iterdir()]
        folders.sort(reverse=True)
        oldest = time.time() - KEPT_DAYS * 86_400
        for at, (used, folder) in enumerate(folders):
            if used < oldest or at >= KEPT_COUNT:
                delete(folder)

    def _beside(self, language: str, libraries: Sequence[Path]) -> Path | None:
        """The folder of that language's packages below those that were named or found."""
        python = self._tools.python
        inner = {
            "python": (f"lib/{python}/site-packages", f"lib/{python}/dist-packages"),
            "javascript": (".",),
            "ruby": ("bundle", "."),
        }
        user = runner()
        for root in libraries:
            for name in inner.get(language, ()):
                folder = root / name
                fits = language == "python" or _holds(language, folder)
                if fits and folder.is_dir() and may_enter(folder, user):
                    return folder
        return None


def _holds(language: str, folder: Path) -> bool:
    if language == "javascript":
        return folder.name == "node_modules"
    return (folder / "ruby").is_dir()


class _Room:
    """Tells whether a folder holds more than it may; looked at now and then."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._next = folder, time.monotonic() + ROOM_SECONDS

    def is_taken(self) -> bool:
        if time.monotonic() < self._next:
            return False
        size = count = 0
        waiting = [str(self._folder)]
        while waiting and count < PREPARED_FILES:
            with suppress(OSError), os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    with suppress(OSError):
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        self._next = time.monotonic() + ROOM_SECONDS
        return size > PREPARED_MB * 1024 * 1024 or count >= PREPARED_FILES


def _own_pip(user: int) -> list[Mount]:
    """Our own pip, for a Python that has none."""
    spec = importlib.util.find_spec("pip")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    return [Mount(folder, f"{_TOOLS}/pip")] if folder and may_enter(folder, user) else []
