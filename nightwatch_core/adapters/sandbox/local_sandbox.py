"""A `Sandbox` on this machine."""

import hashlib
import importlib.util
import os
import shlex
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from nightwatch_core.adapters.sandbox.ladder import LADDER, Confinement, first_that_holds
from nightwatch_core.adapters.sandbox.supervision import (
    CHANGES,
    ENV,
    TREE,
    WORK,
    Cell,
    Mount,
    run_bounded,
    runner,
)
from nightwatch_core.errors import GiveUp
from nightwatch_core.models import proposals
from nightwatch_core.models.code import Commit

PREPARE_SECONDS = 600.0
PREPARED_MB = 4_096  # of one project's dependencies
PREPARED_FILES = 400_000
KEPT_DAYS = 14  # dependencies that nobody used
KEPT_COUNT = 8
ROOM_SECONDS = 5.0  # between two looks at how much was fetched
LEFT_SECONDS = 12 * 3_600.0  # from then on a tree is nobody's any more

# The folder of trees, changes and dependencies.

_FILES = {  # of /etc: this machine's are not shown
    "passwd": "root:x:0:0::/tmp:/bin/sh\nuser:x:{user}:{user}::/tmp:/bin/sh\n",
    "group": "root:x:0:\nuser:x:{user}:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


def open_place(state: Path, user: int) -> Path:
    """Return the sandbox's folder, made where it is missing; raises `GiveUp` if it is not ours.

    It is below the state folder; root has it elsewhere, because nobody may look into root's state.
    """
    place, folder_mode, file_mode = state / "sandbox", 0o700, 0o600
    if user != os.geteuid():
        place = Path(tempfile.gettempdir()) / f"nightwatch-sandbox-{os.geteuid()}"
        folder_mode, file_mode = 0o711, 0o644
    try:
        place.mkdir(mode=folder_mode, parents=True, exist_ok=True)
        about = place.lstat()
        if place.is_symlink() or about.st_uid != os.geteuid() or about.st_mode & 0o022:
            raise GiveUp(f"the sandbox is disabled: other users can write to {place}, remove it")
        place.chmod(folder_mode)
        for name in ("trees", "prepared", "etc"):
            (place / name).mkdir(mode=folder_mode, exist_ok=True)
            (place / name).chmod(folder_mode)
        for name, text in _FILES.items():
            (place / "etc" / name).write_text(text.format(user=user))
            (place / "etc" / name).chmod(file_mode)
        # delete what runs that were killed have left; others may be at work
        trees = place / "trees"
        for left in trees.iterdir():
            if left.lstat().st_mtime < time.time() - LEFT_SECONDS:
                delete(left)
    except OSError as error:
        raise GiveUp(f"nothing can be run in a sandbox: {error}") from error
    return place


def new_folder(below: Path, user: int) -> Path:
    """Make a folder with a name that nobody can guess, which that user owns."""
    folder = Path(tempfile.mkdtemp(dir=below))
    if user != os.geteuid():
        os.chown(folder, user, user)
    return folder


def lay_changes(changes: tuple[proposals.FileChange, ...], folder: Path) -> tuple[str, ...]:
    """Write changed files below an empty folder; returns what is deleted; raises `GiveUp`."""
    for change in changes:
        parts = change.path.split("/")
        if "\0" in change.path or any(part in ("", ".", "..") for part in parts):
            raise GiveUp(f"{change.path[:80]!a} is no path of a tree")
        if change.text is not None:
            path = folder.joinpath(*parts)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(change.text, "utf-8", newline="")
                path.chmod(0o644)
            except (OSError, UnicodeEncodeError) as error:
                raise GiveUp(f"{change.path[:80]!a} cannot be laid out: {error}") from error
    for inner in (item for item in folder.rglob("*") if item.is_dir()):
        inner.chmod(0o755)
    return tuple(change.path for change in changes if change.text is None)


def delete(folder: Path) -> None:
    """Delete a folder and all below it, as far as that goes."""
    shutil.rmtree(folder, ignore_errors=True)


# Programs of this machine, read-only.

_SYSTEM = ("/usr",)
_FEW = (  # of /etc and /var: what programs cannot do without
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/mime.types",
    "/usr/share/zoneinfo",
    "/var/lib/gems",
)
_NETWORK = ("/etc/resolv.conf", "/etc/nsswitch.conf")
_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


class Toolchain:
    """Folders of programs; those a `user` may not enter are left out."""

    def __init__(self, named: Sequence[Path], user: int) -> None:
        """Take folders that a person has named, besides the system's."""
        self._named, self._user = tuple(named), user

    @cached_property
    def mounts(self) -> tuple[Mount, ...]:
        """Return everything that is seen in every run."""
        system = tuple(map(Path, _SYSTEM))
        named = (*self._own, *(item for item in self._named if item.is_dir()))
        return tuple(
            Mount(item, str(item))
            for item in (*system, *map(Path, _FEW), *named)
            if item.exists() and not any(folder in item.parents for folder in system)
        )

    @cached_property
    def network(self) -> tuple[Mount, ...]:
        """Return what a program needs besides to look names up."""
        files = (Path(item) for item in _NETWORK)
        return tuple(Mount(item.resolve(), str(item)) for item in files if item.exists())

    @cached_property
    def path(self) -> str:
        """Return the PATH of programs, dependencies first."""
        named = (
            str(item / "bin") for item in (*self._own, *self._named) if (item / "bin").is_dir()
        )
        return ":".join(("/env/bin", *named, *_PATH))

    @cached_property
    def python(self) -> str:
        """Return the first Python's name and version (python3.12); empty where there is none."""
        places = (Path(folder) / "python3" for folder in self.path.split(":")[1:])
        return next((item.resolve().name for item in places if item.exists()), "")

    @cached_property
    def _own(self) -> tuple[Path, ...]:
        """Return the Python that runs us, where it is not the system's and may be entered."""
        own = Path(sys.base_prefix).resolve()
        if own.is_relative_to("/usr") or not may_enter(own, self._user):
            return ()
        return (own,)


def may_enter(folder: Path, user: int) -> bool:
    """Tell whether a user who is in no group of its owners may walk to it."""
    if user == os.geteuid():
        return os.access(folder, os.R_OK | os.X_OK)
    return all(item.stat().st_mode & 0o005 == 0o005 for item in (folder, *folder.parents))


# Dependencies of projects: beside the checkout, kept from before, or fetched once.

NOT_HERE = (
    "its dependencies are not on this machine: install them in the checkout, set "
    "NIGHTWATCH_LIBRARIES to their folder, or set NIGHTWATCH_PREPARE_NETWORK=true to download them"
)
_SHELVES = {"python": "python", "javascript": "node_modules", "ruby": "bundle"}  # below /env
_BESIDE = "beside:"
_TOOLS = "/tools"
_BOUNDS = proposals.Bounds(
    seconds=PREPARE_SECONDS,
    cpu_seconds=int(PREPARE_SECONDS),
    file_mb=1_024,
    work_mb=2_048,
    temporary_mb=2_048,
    processes=512,
)


class _Room:
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


LayOut = Callable[[Commit, Path], int]  # returns how many files could not be had
_TREES = 2  # kept laid out: the commit that failed and the base


class LocalSandbox:
    """Programs run one at a time; trees are laid out once a commit, copied afresh for every run."""

    def __init__(
        self,
        state: Path,
        lay_out: LayOut,
        folders: tuple[Path, ...] = (),
        network: bool = False,
        libraries: tuple[Path, ...] = (),
        ladder: tuple[Confinement, ...] = LADDER,
    ) -> None:
        """Make nothing yet; `folders` are shown read-only besides the system's programs.

        Dependencies are those of `libraries`, else fetched where `network` allows it.
        """
        self._state, self._lay_out, self._ladder = state, lay_out, ladder
        self._user = runner()
        self._tools = Toolchain(folders, self._user)
        self._network, self._libraries = network, libraries
        self._trees: dict[str, Path] = {}
        self._lock = threading.RLock()

    def confinement(self) -> str:
        """Say what confines programs here; raises `GiveUp` where nothing does."""
        return f"programs run isolated by {self._confinement.name}"

    def prepare(self, commit: Commit, preparation: proposals.Preparation) -> proposals.Prepared:
        """Have dependencies at hand; raises `GiveUp`, with what to set, where that cannot be."""
        with self._lock:
            tree = self._tree(commit) if preparation.whole_tree else None
            if self._beside(preparation.language):
                return proposals.Prepared(
                    key=f"{_BESIDE}{preparation.language}", how="beside the checkout"
                )
            texts = [preparation.model_dump_json(), self._tools.python, self._tools.path]
            texts += [tree.name] if tree else []  # what a person set may read all of the tree
            key = hashlib.sha256("\0".join(texts).encode(errors="replace")).hexdigest()[:32]
            folder = self._place / "prepared" / key
            if folder.is_dir():
                os.utime(folder)
                return proposals.Prepared(key=key, how="kept")
            if not self._network and not preparation.whole_tree:
                raise GiveUp(NOT_HERE)
            self._prune()
            return proposals.Prepared(key=key, seconds=self._fetch(preparation, tree, folder))

    def run(
        self, commit: Commit, changes: tuple[proposals.FileChange, ...], command: proposals.Command
    ) -> proposals.Run:
        """Run a command in a copy of the tree; raises `GiveUp` where that cannot be."""
        with self._lock:
            tree = self._tree(commit)
            overlay = new_folder(self._place / "trees", self._user)
            try:
                gone = lay_changes(changes, overlay)
                mounts = [Mount(tree, TREE), Mount(overlay, CHANGES)]
                mounts += self._dependencies(command.prepared)
                script = laid_out(gone, command.links) + ' && exec "$@"'
                words = ("/bin/sh", "-c", script, "sh", *command.words)
                return self.start(words, dict(command.environment), mounts, command.bounds)
            finally:
                delete(overlay)

    def start(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        mounts: list[Mount],
        bounds: proposals.Bounds,
        network: bool = False,
        enough: Callable[[], bool] | None = None,
    ) -> proposals.Run:
        """Run in a cell; the environment is ours and what is given, nothing of this machine's."""
        own = {"PATH": self._tools.path, "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}
        own |= {"TZ": "UTC", "CI": "1", **environment}
        seen = (*self._shown, *(self._tools.network if network else ()), *mounts)
        cell = Cell(words, own, seen, bounds, network)
        return run_bounded(self._confinement.start_words(cell), bounds, enough)

    def close(self) -> None:
        with self._lock:
            for tree in self._trees.values():
                delete(tree)
            self._trees.clear()

    @cached_property
    def _place(self) -> Path:
        return open_place(self._state, self._user)

    @cached_property
    def _confinement(self) -> Confinement:
        return first_that_holds(self._shown, self._ladder)

    @cached_property
    def _shown(self) -> tuple[Mount, ...]:
        etc = tuple(
            Mount(item, f"/etc/{item.name}") for item in sorted((self._place / "etc").iterdir())
        )
        return (*self._tools.mounts, *etc)

    def _dependencies(self, key: str) -> tuple[Mount, ...]:
        if key.startswith(_BESIDE):
            language = key.removeprefix(_BESIDE)
            shelf = self._beside(language)
            return (Mount(shelf, f"{ENV}/{_SHELVES[language]}"),) if shelf else ()
        folder = self._place / "prepared" / key
        return (Mount(folder, ENV),) if key.isalnum() and folder.is_dir() else ()

    def _fetch(self, preparation: proposals.Preparation, tree: Path | None, folder: Path) -> float:
        user = self._user
        new, manifests = new_folder(folder.parent, user), new_folder(folder.parent, user)
        try:
            lay_changes(preparation.files, manifests)
            mounts = [Mount(new, ENV, writable=True), Mount(manifests, CHANGES)]
            pip = importlib.util.find_spec("pip")
            if pip and pip.origin and may_enter(Path(pip.origin).parent, user):
                mounts.append(Mount(Path(pip.origin).parent, f"{_TOOLS}/pip"))
            mounts += [Mount(tree, TREE)] if tree else []
            copied = [f"cp -dR {item}/. {WORK}" for item in (*([TREE] if tree else []), CHANGES)]
            script = f'{" && ".join(copied)} && exec "$@"'
            words = ("/bin/sh", "-c", script, "sh", *preparation.words)
            environment = {"PYTHONPATH": _TOOLS, **dict(preparation.environment)}
            is_full = _Room(new).is_taken
            run = self.start(words, environment, mounts, _BOUNDS, self._network, is_full)
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

    def _prune(self) -> None:
        folders = [(item.stat().st_mtime, item) for item in (self._place / "prepared").iterdir()]
        folders.sort(reverse=True)
        oldest = time.time() - KEPT_DAYS * 86_400
        for at, (used, folder) in enumerate(folders):
            if used < oldest or at >= KEPT_COUNT:
                delete(folder)

    def _beside(self, language: str) -> Path | None:
        for root in self._libraries:
            packages = root / "lib" / self._tools.python
            folders = {
                "python": [packages / "site-packages", packages / "dist-packages"],
                "javascript": [root] if root.name == "node_modules" else [],
                "ruby": [item for item in (root / "bundle", root) if (item / "ruby").is_dir()],
            }
            for folder in folders.get(language, []):
                if folder.is_dir() and may_enter(folder, self._user):
                    return folder
        return None

    def _tree(self, commit: Commit) -> Path:
        if commit.sha not in self._trees:
            assert self._confinement  # where nothing confines, nothing is laid out
            while len(self._trees) >= _TREES:
                delete(self._trees.pop(next(iter(self._trees))))
            folder = new_folder(self._place / "trees", self._user)
            folder.chmod(0o755)
            self._lay_out(commit, folder)
            self._trees[commit.sha] = folder
        return self._trees[commit.sha]


def laid_out(gone: tuple[str, ...], links: tuple[tuple[str, str], ...]) -> str:
    """Return the shell's words that copy tree and changes into the work folder."""
    steps = [f"cp -dR {TREE}/. {WORK}"]
    steps += [f"rm -f -- {shlex.quote(f'{WORK}/{path}')}" for path in gone]
    steps += [f"cp -dR {CHANGES}/. {WORK}", f"cd {WORK}"]
    for name, target in links:
        steps.append(f"{{ test -e {shlex.quote(name)} || ln -s {target} {shlex.quote(name)}; }}")
    return f"{{ {' && '.join(steps)}; }} || exit {proposals.NOT_LAID_OUT}"
