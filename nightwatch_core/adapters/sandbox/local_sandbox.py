"""A `Sandbox` on this machine."""

import hashlib
import importlib.util
import os
import shlex
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from nightwatch_core.adapters.sandbox.interpreters import (
    MACHINE,
    Interpreter,
    choose,
    environment_of,
    interpreters,
)
from nightwatch_core.adapters.sandbox.ladder import LADDER, Confinement, first_that_holds
from nightwatch_core.adapters.sandbox.supervision import (
    CHANGES,
    ENV,
    MADE,
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
from nightwatch_core.text.plain_text import error_line

PREPARED_MB = 4_096  # of one project's dependencies
PREPARED_FILES = 400_000
KEPT_DAYS = 14  # dependencies that nobody used
KEPT_COUNT = 20
IN_USE_SECONDS = 6 * 3_600.0  # another process may run in it
ROOM_SECONDS = 5.0  # between two looks at how much was fetched
LEFT_SECONDS = 12 * 3_600.0  # from then on a tree is nobody's any more

# The folder of trees, changes and dependencies.


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
        for name in ("trees", "prepared", "copies", "etc"):
            (place / name).mkdir(mode=folder_mode, exist_ok=True)
            (place / name).chmod(folder_mode)
        for name, text in MACHINE.etc.items():
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
_NETWORK = ("/etc/resolv.conf", "/etc/nsswitch.conf")
_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


@dataclass(frozen=True)
class Toolchain:
    """Folders of programs: the system's, and those that a person has named."""

    named: tuple[Path, ...]  # by a person

    @cached_property
    def mounts(self) -> tuple[Mount, ...]:
        """Return everything that is seen in every run."""
        system = tuple(map(Path, _SYSTEM))
        return tuple(
            Mount(item, str(item))
            for item in (*system, *map(Path, MACHINE.few), *self.named)
            if item.exists() and not any(folder in item.parents for folder in system)
        )

    @cached_property
    def network(self) -> tuple[Mount, ...]:
        """Return what a program needs besides to look names up."""
        files = (Path(item) for item in _NETWORK)
        return tuple(Mount(item.resolve(), str(item)) for item in files if item.exists())

    @cached_property
    def path(self) -> str:
        """Return the PATH of programs."""
        named = (str(item / "bin") for item in self.named if (item / "bin").is_dir())
        return ":".join((*named, *_PATH))


def may_enter(folder: Path, user: int) -> bool:
    """Tell whether a user who is in no group of its owners may walk to it."""
    if user == os.geteuid():
        return os.access(folder, os.R_OK | os.X_OK)
    return all(item.stat().st_mode & 0o005 == 0o005 for item in (folder, *folder.parents))


# Dependencies of projects: beside the checkout, kept from before, or fetched once.

_SHELVES = {"javascript": "node_modules", "ruby": "bundle"}  # below /env
_PARTS = ("bin", "lib", "lib64", "include", "share", "pyvenv.cfg")  # no pip.conf: it has passwords
_TOOLS = "/tools"


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


class Shelf(NamedTuple):
    """What a run sees of one project's dependencies, and the interpreter that runs it."""

    mounts: tuple[Mount, ...] = ()
    interpreter: Interpreter | None = None
    is_asked: bool = True

    def environment(self, path: str) -> dict[str, str]:
        """Return the variables that let its programs be found before those of `path`."""
        first = [f"{ENV}/bin"]
        if self.interpreter:
            first.append(str(self.interpreter.program.parent))
        named = {"PATH": ":".join((*first, path)), "PYTHONNOUSERSITE": "1"}
        if self.interpreter:
            named["NIGHTWATCH_INTERPRETER"] = str(self.interpreter.program)
        return named


def _fetching(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that say where packages come from; none that holds a password."""
    named = {name: environment.get(name, "") for name in MACHINE.fetching}
    return {name: text for name, text in named.items() if text and not urlsplit(text).username}


def _linked(source: str, target: str) -> str:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
    return target


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
        self._tools = Toolchain(folders)
        self._network, self._libraries = network, libraries
        self._trees: dict[str, Path] = {}
        self._shelves: dict[str, Shelf] = {}
        self._lock = threading.RLock()

    def confinement(self) -> str:
        """Say what confines programs here; raises `GiveUp` where nothing does."""
        return f"programs run isolated by {self._confinement.name}"

    def prepare(self, commit: Commit, preparation: proposals.Preparation) -> proposals.Prepared:
        """Have dependencies at hand; raises `GiveUp`, with what to set, where that cannot be."""
        with self._lock:
            tree = self._tree(commit) if preparation.whole_tree or preparation.build else None
            language, versions = preparation.language, preparation.versions
            if preparation.beside and (shelf := self._beside(language, versions)):
                return self._put(shelf, f"beside-{language}", "beside the checkout")
            found = interpreters(language, Path.home(), self._tools.named)
            chosen, is_asked = choose(found, versions)
            texts = [preparation.model_dump_json(exclude={"beside"}), str(chosen), self._tools.path]
            texts += [tree.name] if tree and preparation.whole_tree else []
            key = hashlib.sha256("\0".join(texts).encode(errors="replace")).hexdigest()[:32]
            folder = self._place / "prepared" / key
            shelf = self._seen_with(chosen, is_asked, Mount(folder, ENV))
            if folder.is_dir():
                os.utime(folder)
                return self._put(shelf, key, "kept")
            if preparation.fetches and not (self._network or preparation.whole_tree):
                raise GiveUp(MACHINE.texts["not_here"])
            self._prune()
            seconds = self._fetch(preparation, tree, folder, shelf)
            return self._put(shelf, key, "installed", seconds)

    def run(
        self, commit: Commit, changes: tuple[proposals.FileChange, ...], command: proposals.Command
    ) -> proposals.Run:
        """Run a command in a copy of the tree; raises `GiveUp` where that cannot be."""
        with self._lock:
            tree = self._tree(commit)
            overlay = new_folder(self._place / "trees", self._user)
            try:
                gone = lay_changes(changes, overlay)
                shelf = self._shelves.get(command.prepared, Shelf())
                mounts = [Mount(tree, TREE), Mount(overlay, CHANGES), *shelf.mounts]
                script = laid_out(gone, command.links) + ' && exec "$@"'
                words = ("/bin/sh", "-c", script, "sh", *command.words)
                environment = shelf.environment(self._tools.path) | dict(command.environment)
                return self.start(words, environment, mounts, command.bounds)
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
        for folder in self._tools.named:
            if not os.access(folder, os.R_OK | os.X_OK):
                raise GiveUp(
                    f"NIGHTWATCH_SANDBOX_FOLDERS names {folder}, which is no folder that can be "
                    "read: correct it, or leave it out"
                )
        etc = tuple(
            Mount(item, f"/etc/{item.name}") for item in sorted((self._place / "etc").iterdir())
        )
        return (*self._tools.mounts, *etc)

    def _put(
        self,
        shelf: Shelf,
        key: str,
        how: Literal["installed", "kept", "beside the checkout"],
        seconds: float = 0.0,
    ) -> proposals.Prepared:
        self._shelves[key] = shelf
        shown = shelf.interpreter.shown if shelf.interpreter else ""
        return proposals.Prepared(
            key=key, how=how, interpreter=shown, is_asked=shelf.is_asked, seconds=seconds
        )

    def _seen_with(self, interpreter: Interpreter | None, is_asked: bool, *mounts: Mount) -> Shelf:
        if interpreter and not interpreter.prefix.is_relative_to("/usr"):
            prefix = interpreter.prefix.resolve()  # a virtual environment names it so
            source = self._entered(prefix)
            places = dict.fromkeys((str(interpreter.prefix), str(prefix)))
            mounts = (*mounts, *(Mount(source, place) for place in places))
        return Shelf(mounts, interpreter, is_asked)

    def _entered(self, folder: Path) -> Path:
        """Return the folder, or where its user may not walk to it, a copy made of links."""
        if may_enter(folder, self._user):
            return folder
        about = max(item.stat().st_mtime_ns for item in (folder, *folder.glob("lib/*/*-packages")))
        name = hashlib.sha256(f"{folder} {about}".encode()).hexdigest()[:32]
        copy = self._place / "copies" / name
        if not copy.is_dir():
            new = new_folder(copy.parent, os.geteuid())
            shutil.copytree(folder, new, symlinks=True, dirs_exist_ok=True, copy_function=_linked)
            new.chmod(0o755)
            new.rename(copy)
        return copy

    def _fetch(
        self, preparation: proposals.Preparation, tree: Path | None, folder: Path, shelf: Shelf
    ) -> float:
        user = self._user
        new, manifests = new_folder(folder.parent, user), new_folder(folder.parent, user)
        try:
            lay_changes(preparation.files, manifests)
            mounts = [*shelf.mounts[1:], Mount(new, ENV, writable=True), *self._installers]
            environment = shelf.environment(self._tools.path) | dict(preparation.environment)
            is_full = _Room(new).is_taken
            seconds = 0.0
            is_whole = preparation.whole_tree
            for words, sees_tree in ((preparation.words, is_whole), (preparation.build, True)):
                if not words:
                    continue
                laid = [Mount(tree, TREE)] if tree and sees_tree else []
                laid.append(Mount(manifests, CHANGES))
                script = " && ".join(f"cp -dR {item.target}/. {WORK}" for item in laid)
                inner = ("/bin/sh", "-c", f'{script} && exec "$@"', "sh", *words)
                network = self._network and words is preparation.words
                own = environment | (_fetching(os.environ) if network else {})
                run = self.start(inner, own, [*mounts, *laid], MACHINE.bounds, network, is_full)
                seconds += run.seconds
                # a project that cannot be built is tested from its tree all the same
                if not run.went_well and words is preparation.words:
                    kept = self._state / f"prepare-{preparation.language}.txt"
                    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    kept.write_text(run.output, "utf-8", errors="replace")
                    why = run.ended if run.ended != "exited" else error_line(run.output, 180)
                    failed = GiveUp(f"its dependencies could not be prepared: {why} (see {kept})")
                    failed.printed = run.output
                    raise failed
            with suppress(OSError):  # another process has been quicker
                new.rename(folder)
            return seconds
        finally:
            delete(new)
            delete(manifests)

    def _prune(self) -> None:
        folders = [(item.stat().st_mtime, item) for item in (self._place / "prepared").iterdir()]
        folders.sort(reverse=True)
        oldest = time.time() - KEPT_DAYS * 86_400
        old = [
            folder
            for at, (used, folder) in enumerate(folders)
            if used < oldest or (at >= KEPT_COUNT and used < time.time() - IN_USE_SECONDS)
        ]
        for folder in old[-2:]:  # of many it would take minutes
            delete(folder)

    @cached_property
    def _installers(self) -> tuple[Mount, ...]:
        """Return what installs packages of Python, where this machine has it."""
        pip, uv = importlib.util.find_spec("pip"), shutil.which("uv")
        found = [Mount(Path(pip.origin).parent, f"{_TOOLS}/pip")] if pip and pip.origin else []
        found += [Mount(Path(uv).resolve(), f"{_TOOLS}/uv")] if uv else []
        return tuple(item for item in found if may_enter(item.source.parent, self._user))

    def _beside(self, language: str, versions: Sequence[str]) -> Shelf | None:
        if language == "python":
            return self._environment_beside(versions)
        chosen, is_asked = choose(interpreters(language, Path.home(), self._tools.named), versions)
        for root in self._libraries:
            folders = {
                "javascript": [root] if root.name == "node_modules" else [],
                "ruby": [item for item in (root / "bundle", root) if (item / "ruby").is_dir()],
            }
            for folder in folders.get(language, []):
                if folder.is_dir():
                    mount = Mount(self._entered(folder), f"{ENV}/{_SHELVES[language]}")
                    return self._seen_with(chosen, is_asked, mount)
        return None

    def _environment_beside(self, versions: Sequence[str]) -> Shelf | None:
        found = [item for root in self._libraries if (item := environment_of(root))]
        chosen, is_asked = choose([item.interpreter for item in found], versions)
        for item in found:
            if item.interpreter != chosen:
                continue
            folder = self._entered(item.folder)
            parts = [part for part in _PARTS if (folder / part).exists()]
            mounts = [Mount(folder / part, f"{ENV}/{part}") for part in parts]
            return self._seen_with(chosen, is_asked, *mounts)
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
    steps = [f"cp -dR {TREE}/. {WORK}", f"{{ ! test -d {MADE} || cp -dR {MADE}/. {WORK}; }}"]
    steps += [f"rm -f -- {shlex.quote(f'{WORK}/{path}')}" for path in gone]
    steps += [f"cp -dR {CHANGES}/. {WORK}", f"cd {WORK}"]
    for name, target in links:  # a folder of links, because some tools write into node_modules
        place = shlex.quote(name)
        linked = f"find {target}/ -mindepth 1 -maxdepth 1 -exec ln -s -t {place} {{}} +"
        steps.append(f"{{ test -e {place} || {{ mkdir {place} && {linked}; }}; }}")
    return f"{{ {' && '.join(steps)}; }} || exit {proposals.NOT_LAID_OUT}"
