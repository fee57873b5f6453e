"""The documents that say how projects are tested, one file a project."""

from pathlib import Path

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.documents import text_of
from nightwatch_core.errors import GiveUp

_FOLDER = "projects"


class ProjectFiles:
    """`ProjectDocuments` in a folder of the knowledge folder."""

    def __init__(self, knowledge: Path) -> None:
        """Take the knowledge folder; nothing is made before the first document."""
        self._folder = knowledge / _FOLDER

    def read(self, name: str) -> str:
        try:
            return text_of(self._folder / f"{name}.md")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise GiveUp(f"{_FOLDER}/{name}.md cannot be read: {error}") from error

    def write(self, name: str, text: str) -> str:
        path = self._folder / f"{name}.md"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            atomic_files.write(path, text.encode("utf-8"), through=self._folder)
        except OSError as error:
            raise GiveUp(f"{path} cannot be written: {error}") from error
        return str(path)
