"""Folders of a repository on GitHub, listed one at a time, so that no repository is too large."""

from collections.abc import Iterable, Iterator

from nightwatch_core.adapters.git.branch_changes import FOLDER, GONE, Stand
from nightwatch_core.adapters.git.tree import Node, folders
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.rows import Place, Tree, read

MOST_DIFFERENCES = 1_000


class Trees:
    """Folders by the sha of their tree, each asked for once."""

    def __init__(self, place: Place) -> None:
        """Nothing is asked before the first listing."""
        self._place = place
        self._listed: dict[str, dict[str, Node]] = {}

    def listing(self, sha: str) -> dict[str, Node]:
        """What is in the folder; raises `Rejected` where GitHub does not tell all of it."""
        if sha not in self._listed:
            place = self._place
            answer = place.client.ask(lambda rest: rest.git.get_tree(*place.at, sha))
            tree = read(Tree, answer)
            if tree.truncated:
                raise Rejected("a folder of the repository is too large for GitHub's API")
            self._listed[sha] = {
                entry.path: Node(entry.path, entry.mode, entry.sha, entry.size, entry.path)
                for entry in tree.tree
            }
        return self._listed[sha]

    def around(self, root: str, paths: Iterable[str]) -> dict[str, Node]:
        """Everything in the folders that the paths go through, by path."""
        paths = tuple(paths)
        found = dict(self.listing(root))
        for folder in sorted(folders(paths), key=lambda path: path.count("/")):
            entry = found.get(folder)
            if entry and entry.mode == FOLDER:
                below = self.listing(entry.oid)
                found |= {f"{folder}/{name}": one for name, one in below.items()}
        return found

    def differences(self, before: str, after: str) -> dict[str, Stand]:
        """Paths at which two trees differ, and what stands there after.

        A file whose mode differs has the mode "was → is" and fits nothing.
        """
        found: dict[str, Stand] = {}
        for path, stand in self._differing(before, after, ""):
            found[path] = stand
            if len(found) > MOST_DIFFERENCES:
                raise Rejected(f"more than {MOST_DIFFERENCES} files differ")
        return found

    def _differing(self, before: str, after: str, above: str) -> Iterator[tuple[str, Stand]]:
        was, now = (self.listing(sha) if sha else {} for sha in (before, after))
        for name in sorted({*was, *now}):
            old, new = was.get(name), now.get(name)
            if old == new:
                continue
            path = f"{above}{name}"
            old_tree, new_tree = (e.oid if e and e.mode == FOLDER else "" for e in (old, new))
            if old_tree or new_tree:
                yield from self._differing(old_tree, new_tree, f"{path}/")
            was_file = old if old and not old_tree else None
            now_file = new if new and not new_tree else None
            if was_file or now_file:
                yield path, _stand(was_file, now_file)


def _stand(old: Node | None, new: Node | None) -> Stand:
    if new is None:
        return Stand(GONE, "")
    plain = new.mode == "100644" if old is None else old.mode == new.mode
    return Stand(new.mode if plain else f"{old.mode if old else GONE} → {new.mode}", new.oid)
