"""What a confined program sees: the one description that every kind of confinement follows."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from nightwatch_core.models.proposals import Bounds

TREE, CHANGES, WORK, ENV = "/tree", "/changes", "/work", "/env"


class Mount(NamedTuple):
    """A folder or file of this machine, and where the program sees it."""

    source: Path
    target: str
    writable: bool = False


class Cell(NamedTuple):
    """One program, everything it sees, and what it may take."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    mounts: tuple[Mount, ...]
    bounds: Bounds
    network: bool = False
    image: str = ""  # that a container is made of; nothing else reads it
