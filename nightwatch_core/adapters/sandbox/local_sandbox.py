"""A `Sandbox` on this machine."""

import shlex
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from nightwatch_core.adapters.sandbox.cell import CHANGES, TREE, WORK, Cell, Mount
from nightwatch_core.adapters.sandbox.dependencies import Dependencies
from nightwatch_core.adapters.sandbox.ladder import LADDER, Confinement, first_that_holds
from nightwatch_core.adapters.sandbox.place import delete, lay_changes, new_folder, open_place
from nightwatch_core.adapters.sandbox.supervision import runner
from nightwatch_core.adapters.sandbox.toolchain import Toolchain
from nightwatch_core.models.code import Commit
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.models.sandbox import (
    NOT_LAID_OUT,
    Bounds,
    Command,
    Preparation,
    Prepared,
    Run,
)

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
        image: str = "",
    ) -> None:
        """Nothing is made before the first call.

        `folders` are shown read-only besides the system's programs; dependencies are those of
        `libraries`, installed before, else fetched where `network` allows it. `image`: what a
        container is made of, should it come to that.
        """
        self._state, self._lay_out, self._ladder = state, lay_out, ladder
        self._libraries = libraries
        self._user = runner()
        self._tools = Toolchain(folders, self._user, image)
        self._dependencies = Dependencies(self.start, lambda: self._place, self._tools, network)
        self._trees: dict[str, Path] = {}
        self._lock = threading.RLock()

    def confinement(self) -> str:
        """Say what confines programs here; raises `GiveUp` where nothing does."""
        return f"programs are confined by {self._confinement.name}"

    def prepare(self, commit: Commit, preparation: Preparation) -> Prepared:
        """Have dependencies at hand; raises `GiveUp`, with what to set, where that cannot be."""
        with self._lock:
            whole = self._tree(commit) if preparation.whole_tree else None
            return self._dependencies.prepare(preparation, self._libraries, whole)

    def run(self, commit: Commit, changes: tuple[FileChange, ...], command: Command) -> Run:
        """Run a command in a copy of the tree; raises `GiveUp` where that cannot be."""
        with self._lock:
            tree = self._tree(commit)
            overlay = new_folder(self._place / "trees", self._user)
            try:
                gone = lay_changes(changes, overlay)
                mounts = [Mount(tree, TREE), Mount(overlay, CHANGES)]
                mounts += self._dependencies.mounts(command.prepared, self._libraries)
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
        bounds: Bounds,
        network: bool = False,
        enough: Callable[[], bool] | None = None,
    ) -> Run:
        """Run in a cell; the environment is ours and what is given, nothing of this machine's."""
        own = {"PATH": self._tools.path, "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}
        own |= {"TZ": "UTC", "CI": "1", **environment}
        seen = (*self._shown, *(self._tools.network if network else ()), *mounts)
        cell = Cell(words, own, seen, bounds, network, self._tools.image)
        confinement = self._confinement
        return confinement.run(confinement.start_words(cell), bounds, enough)

    def close(self) -> None:
        """Delete the trees that were laid out."""
        with self._lock:
            for tree in self._trees.values():
                delete(tree)
            self._trees.clear()

    @cached_property
    def _place(self) -> Path:
        return open_place(self._state, self._user)

    @cached_property
    def _confinement(self) -> Confinement:
        return first_that_holds(self._shown, self._ladder, self._tools.image)

    @cached_property
    def _shown(self) -> tuple[Mount, ...]:
        etc = tuple(
            Mount(one, f"/etc/{one.name}") for one in sorted((self._place / "etc").iterdir())
        )
        return (*self._tools.mounts, *etc)

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
    """The shell's words that copy tree and changes into the work folder."""
    steps = [f"cp -dR {TREE}/. {WORK}"]
    steps += [f"rm -f -- {shlex.quote(f'{WORK}/{path}')}" for path in gone]
    steps += [f"cp -dR {CHANGES}/. {WORK}", f"cd {WORK}"]
    for name, target in links:
        steps.append(f"{{ test -e {shlex.quote(name)} || ln -s {target} {shlex.quote(name)}; }}")
    return f"{{ {' && '.join(steps)}; }} || exit {NOT_LAID_OUT}"
