"""Agent files: one Markdown file an agent in one folder."""

from pathlib import Path

from nightwatch_core.adapters.document_folder import documents, text_of
from nightwatch_core.agent.specs import BASE, BUILT_IN, spec_from
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.escaping import line
from nightwatch_core.models.agent import AgentSpec

MOST_BYTES = 256 * 1024


class AgentFiles:
    """An AgentShelf over a folder; None, or a folder that is not there, has no agents."""

    def __init__(self, folder: Path | None) -> None:
        """Use the `*.md` files right in `folder`."""
        self._folder = folder.resolve() if folder else None

    def names(self) -> tuple[str, ...]:
        """Agents that can be chosen, sorted; raises `StopTheNight` for an unreadable folder."""
        if self._folder is None:
            return ()
        try:
            found = documents(self._folder.parent, self._folder.name)
        except OSError as error:
            raise StopTheNight(
                f"cannot read the agents' folder {self._folder} ({error.strerror}): check its "
                "permissions, or set NIGHTWATCH_AGENTS_ENABLED=false to use the built-in prompt"
            ) from error
        return tuple(Path(file).stem for file in found)

    def agent(self, name: str) -> AgentSpec:
        """One agent; the built-in one stands in for a base agent without a file.

        Raises `StopTheNight` with what to do where the file is missing or wrong.
        """
        names = self.names()
        if name in names and self._folder is not None:
            return self._read(self._folder / f"{name}.md", name)
        if name == BASE:
            return BUILT_IN
        known = ", ".join(dict.fromkeys((*names, BASE)))
        raise StopTheNight(f"there is no agent {line(name, 60)!r}: choose {known}")

    def _read(self, path: Path, name: str) -> AgentSpec:
        try:
            return spec_from(text_of(path, MOST_BYTES), name)
        except (GiveUp, OSError) as error:
            raise StopTheNight(f"cannot read agents/{name}.md: {error}") from error
