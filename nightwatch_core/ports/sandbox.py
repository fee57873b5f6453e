"""What we ask of the place where code is run that nobody has read."""

from typing import Protocol

from nightwatch_core.models.code import Commit
from nightwatch_core.models.proposals import Command, FileChange, Preparation, Prepared, Run


class Sandbox(Protocol):
    """Runs programs without network, credentials or the files of this machine, within bounds.

    Every method raises `GiveUp`, with what to do, where nothing here can confine a program: it is
    never run bare.
    """

    def confinement(self) -> str:
        """Say what confines programs here."""
        ...

    def prepare(self, commit: Commit, preparation: Preparation) -> Prepared:
        """Have the dependencies of a project at hand, before any change is applied.

        Raises `GiveUp`, with what to set, where they cannot be had.
        """
        ...

    def run(self, commit: Commit, changes: tuple[FileChange, ...], command: Command) -> Run:
        """Run a command in a fresh copy of the tree with the changes made; nothing of it stays."""
        ...

    def close(self) -> None:
        """Delete what was laid out for runs; what is asked for next is laid out again."""
        ...
