"""One file at the top of a checkout's working tree: read and replaced as it lies there.

Nothing is committed and git is not asked. Links are not followed, and what is no UTF-8 text is left
alone.
"""

from pathlib import Path

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.document_folder import text_of
from nightwatch_core.errors import GiveUp, StopTheNight


class WorkingCopy:
    """The working tree that `folder` is in."""

    def __init__(self, folder: Path) -> None:
        """Touch nothing yet."""
        self._folder = folder

    @property
    def top(self) -> Path:
        """The tree's top folder; raises `StopTheNight` where there is no checkout."""
        there = self._folder.resolve()
        tops = (place for place in (there, *there.parents) if (place / ".git").exists())
        if top := next(tops, None):
            return top
        raise StopTheNight(f"{self._folder} is in no git checkout: name one with --repo")

    def read(self, name: str) -> str | None:
        """The text of the file `name`, byte for byte; None where there is none.

        Raises `GiveUp` where it is a link, no plain file, no UTF-8 text, or cannot be read.
        """
        path = self._path(name)
        try:
            return text_of(path) if path.exists() else None
        except GiveUp as wrong:
            raise GiveUp(f"{path}: {wrong}") from None
        except OSError as error:
            raise GiveUp(f"{path} cannot be read: {error.strerror}") from error

    def write(self, name: str, text: str, before: str | None) -> str:
        """Replace the file, whole or not at all, with the permissions it had; returns its path.

        Raises `GiveUp` where it no longer says what it said `before`, or cannot be written.
        """
        path = self._path(name)
        if self.read(name) != before:
            raise GiveUp(f"{path} has changed meanwhile: try again")
        try:
            atomic_files.rewrite(path, text.encode())
        except OSError as error:
            raise GiveUp(f"{path} cannot be written: {error.strerror}") from error
        return str(path)

    def _path(self, name: str) -> Path:
        if Path(name).name != name or name in ("", ".", ".."):
            raise GiveUp(f"{name[:80]!r} is no file at the top of a checkout")
        path = self.top / name
        if path.is_symlink():
            raise GiveUp(f"{path} is a link: name the checkout its target is in, or edit that")
        return path


class QuietCopy(WorkingCopy):
    """A working tree that nothing is written into: a dry run's."""

    def write(self, name: str, text: str, before: str | None) -> str:
        """Leave the file as it is; returns no path."""
        return ""
