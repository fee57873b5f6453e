"""What we ask of the repository that the errors come from, as we would like to ask it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol, runtime_checkable

from nightwatch_core.models.code import (
    Blame,
    ChangedFile,
    CodeReads,
    Commit,
    CommitDiff,
    Ecosystem,
    FolderEntry,
    Library,
    LoggedCommit,
    MergedPull,
    Release,
    SearchHit,
)


class CodeReader(Protocol):
    """The source tree at one commit; paths are relative to the repository, with slashes.

    A path that leaves the tree, or names something that is not there, is None or empty. What was
    committed later than that commit is never shown.
    """

    @property
    def commit(self) -> Commit:
        """The commit everything is read at."""
        ...

    def paths(self) -> tuple[str, ...]:
        """Every file of the tree, sorted."""
        ...

    def read_file(self, path: str) -> str | None:
        """The text at `path`; None where there is no such file, or it is not text."""
        ...

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Lines that hold `query` literally, below folder or file `path`."""
        ...

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        """The names in a folder."""
        ...

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        """Who last wrote lines `start` to `end` (included; one line without it), line by line.

        Reformatting, moved lines and ignored revisions are looked through where that is known.
        """
        ...

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        """What a commit changed, or below file or folder `path` alone; None where it is not known.

        `sha` may be shortened to seven digits, or be "#12" for what merged that pull request.
        """
        ...

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Commits, newest first, below `path`; with `text` those that added or removed it.

        Raises `GiveUp` where past texts cannot be searched.
        """
        ...

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        """What differs between two commits, below `path`; of many files only the first.

        Raises `GiveUp` where one of them is not known.
        """
        ...

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        """Paths of files that differ between two commits, sorted.

        Raises `GiveUp` where one of them is not known.
        """
        ...


class LibraryReader(Protocol):
    """The source of libraries that the application is built on, where they are installed."""

    def copies(self, ecosystem: Ecosystem, package: str) -> tuple[Library, ...]:
        """Every copy of a package, the application's own first; empty where none is here."""
        ...

    def paths(self, library: Library) -> tuple[str, ...]:
        """Its source files as its frames name them: below site-packages, or its own folder."""
        ...

    def read_file(self, library: Library, path: str) -> str | None:
        """The text at one of these paths; None where it is none of them, or not text."""
        ...


@runtime_checkable
class CountsReads(Protocol):
    """A `CodeReader` that counts where what it read came from."""

    @property
    def code_reads(self) -> CodeReads:
        """What was read since this reader was made."""
        ...


@runtime_checkable
class KeepsFiles(Protocol):
    """A `CodeReader` that can be told what was read of its commit before."""

    def read_files(self, paths: Iterable[str]) -> dict[str, str | None]:
        """The texts at all `paths`, asked for together where that is quicker."""
        ...

    def remember_files(self, texts: Mapping[str, str | None]) -> None:
        """Take texts that were read and kept before."""
        ...


@runtime_checkable
class LaysOut(Protocol):
    """A `CodeReader` that can write all files of its commit into an empty folder."""

    def lay_out(self, folder: str, most_bytes: int, most_files: int) -> int:
        """Write files, modes and links; returns how many are not here.

        Raises `GiveUp` where they are too many or too large.
        """
        ...


class CodeHost(Protocol):
    """The repository the errors come from."""

    def head(self) -> Commit:
        """The newest commit of the base branch, which fixes aim at."""
        ...

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """The commit of a release: a tag, a sha or the beginning of one; with `branches` a branch.

        None where no commit here goes by that name, or several do.
        """
        ...

    def commit_at(self, moment: datetime) -> Commit:
        """The newest commit that the base branch had then, its head where it had none.

        `because` says which it is. A merge counts from its own time, not from its commits'.
        """
        ...

    def reader(self, commit: Commit) -> CodeReader:
        """The tree at that commit, by a reader of the caller's own."""
        ...

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Pull requests merged into the base branch, newest first."""
        ...

    def releases(self) -> tuple[Release, ...]:
        """Releases, newest first."""
        ...

    def probe(self) -> str:
        """Say what is there."""
        ...
