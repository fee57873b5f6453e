"""A tree in which some edits were made, read like any other."""

from nightwatch_core.code.edits import apply
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import (
    Blame,
    ChangedFile,
    Commit,
    CommitDiff,
    FolderEntry,
    LoggedCommit,
    SearchHit,
)
from nightwatch_core.ports import CodeReader


class ChangedCode:
    """A `CodeReader` of a tree with edits made; its history, and who wrote what, are the tree's."""

    def __init__(self, code: CodeReader, edits: tuple[Edit, ...]) -> None:
        """Make the edits on what `code` reads; raises `GiveUp` where they cannot be made."""
        applied = apply(edits, code.read_file, code.paths())
        if edits and applied.refusal:
            raise GiveUp(applied.refusal)
        self._code = code
        self._texts = {change.path: change.text for change in applied.changes}

    @property
    def commit(self) -> Commit:
        """Return the commit of the tree."""
        return self._code.commit

    def paths(self) -> tuple[str, ...]:
        """Return every file that is there now, sorted."""
        there = {path for path, text in self._texts.items() if text is not None}
        return tuple(sorted(there.union(self._code.paths()) - (self._texts.keys() - there)))

    def read_file(self, path: str) -> str | None:
        """Return the text as it is now."""
        return self._texts[path] if path in self._texts else self._code.read_file(path)

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Find lines as they are now, those of changed files first."""
        new = tuple(
            SearchHit(path=name, line=number, text=line)
            for name, text in self._texts.items()
            if not path or name == path or name.startswith(f"{path.rstrip('/')}/")
            for number, line in enumerate((text or "").splitlines(), 1)
            if query in line
        )
        rest = self._code.search(query, path, limit)
        return (*new, *(hit for hit in rest if hit.path not in self._texts))[:limit]

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        """Return the names in a folder, as the tree has them."""
        return self._code.list_directory(path)

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        """Return who last wrote lines of the tree."""
        return self._code.blame(path, start, end)

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        """Return what a commit changed."""
        return self._code.show_commit(sha, path)

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return commits of the tree."""
        return self._code.history(path, text, limit)

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        """Return what differs between two commits."""
        return self._code.compare(old_sha, new_sha, path)

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        """Return paths that differ between two commits."""
        return self._code.paths_changed(old_sha, new_sha)
