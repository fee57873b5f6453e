"""Folders of a repository on GitHub, and what differs between two."""

from collections.abc import Iterable, Iterator

from nightwatch_core.adapters.git.branch_changes import PathState
from nightwatch_core.adapters.git.objects import FILE, FOLDER, GONE, Node, parent_folders
from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.limits import CHANGED_PATHS
from nightwatch_core.adapters.github.rows import TreeRow


class Trees:
    """Folders by the sha of their tree, each asked for once."""

    def __init__(self, repository: Repository) -> None:
        """Ask nothing before the first listing."""
        self._repository = repository
        self._listed: dict[str, dict[str, Node]] = {}

    def list(self, sha: str) -> dict[str, Node]:
        """Return what is in the folder; raises `Rejected` where GitHub does not tell all of it."""
        if sha not in self._listed:
            tree = self._repository.read(TreeRow, lambda rest, at: rest.git.get_tree(*at, sha))
            if tree.truncated:
                raise Rejected("a folder of the repository is too large for GitHub's API")
            self._listed[sha] = tree.nodes
        return self._listed[sha]

    def list_around(self, root: str, paths: Iterable[str]) -> dict[str, Node]:
        """Return everything in the folders that the paths go through, by path."""
        nodes = dict(self.list(root))
        for folder in sorted(parent_folders(paths), key=lambda path: path.count("/")):
            entry = nodes.get(folder)
            if entry and entry.mode == FOLDER:
                below = self.list(entry.oid)
                nodes |= {f"{folder}/{name}": node for name, node in below.items()}
        return nodes

    def differences(self, before: str, after: str) -> dict[str, PathState]:
        """Return paths at which two trees differ, and what stands there after.

        A file whose mode differs has the mode "was → is" and fits nothing.
        """
        states: dict[str, PathState] = {}
        for path, state in self._differences(before, after, ""):
            states[path] = state
            if len(states) > CHANGED_PATHS:
                raise Rejected(f"more than {CHANGED_PATHS} files differ")
        return states

    def _differences(self, before: str, after: str, above: str) -> Iterator[tuple[str, PathState]]:
        was, now = (self.list(sha) if sha else {} for sha in (before, after))
        for name in sorted({*was, *now}):
            old, new = was.get(name), now.get(name)
            if old == new:
                continue
            path = f"{above}{name}"
            old_tree, new_tree = (n.oid if n and n.mode == FOLDER else "" for n in (old, new))
            if old_tree or new_tree:
                yield from self._differences(old_tree, new_tree, f"{path}/")
            was_file = old if old and not old_tree else None
            now_file = new if new and not new_tree else None
            if was_file or now_file:
                yield path, _state(was_file, now_file)


def _state(old: Node | None, new: Node | None) -> PathState:
    if new is None:
        return PathState(GONE, "")
    is_plain = new.mode == FILE if old is None else old.mode == new.mode
    mode = new.mode if is_plain else f"{old.mode if old else GONE} → {new.mode}"
    return PathState(mode, new.oid)
