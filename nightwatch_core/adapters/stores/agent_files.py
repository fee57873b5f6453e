"""Agent files: one Markdown file an agent in one folder."""

from pathlib import Path

from nightwatch_core.adapters.stores.document_folder import documents, text_of
from nightwatch_core.adapters.stores.limits import AGENT_BYTES
from nightwatch_core.analysis.agent_specs import BASE, BUILT_IN, BrokenFile, inherited
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.agent import AgentSpec
from nightwatch_core.text.escaping import line


class AgentFiles:
    """An AgentStore over a folder; None, or a folder that is not there, has no agents."""

    def __init__(self, folder: Path | None) -> None:
        """Use the `*.md` files right in `folder`."""
        self._folder = folder.resolve() if folder else None

    def names(self) -> tuple[str, ...]:
        """Agents that can be chosen, sorted; raises `StopTheNight` for an unreadable folder."""
        if self._folder is None:
            return ()
        try:
            files = documents(self._folder.parent, self._folder.name)
        except OSError as error:
            raise StopTheNight(
                f"cannot read the agents' folder {self._folder} ({error.strerror}): check its "
                "permissions, or set NIGHTWATCH_AGENTS_ENABLED=false to use the built-in prompt"
            ) from error
        return tuple(Path(file).stem for file in files)

    def agent(self, name: str) -> AgentSpec:
        """One agent with what its bases give; the built-in one for a base without a file.

        Raises `StopTheNight` with file, line and what to do where a file is missing or wrong.
        """
        names = self.names()
        if name in names:
            return inherited(name, lambda one: self._text(one) if one in names else None)
        if name == BASE:
            return BUILT_IN
        choices = ", ".join(dict.fromkeys((*names, BASE)))
        raise StopTheNight(f"there is no agent {line(name, 60)!r}: choose {choices}")

    def _text(self, name: str) -> str | None:
        if self._folder is None:
            return None
        try:
            return text_of(self._folder / f"{name}.md", AGENT_BYTES)
        except FileNotFoundError:
            return None
        except (GiveUp, OSError) as error:
            raise BrokenFile(f"cannot read agents/{name}.md: {error}") from error
