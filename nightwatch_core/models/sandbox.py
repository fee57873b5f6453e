"""Words for running what nobody has read: what is run, within which bounds, and how it ended."""

from typing import Literal

from nightwatch_core.models.proposal import FileChange
from nightwatch_core.models.value import Value

Ended = Literal[
    "exited", "took too long", "printed too much", "took too much memory", "took too much room"
]
NOT_LAID_OUT = 119  # exit code where the tree did not fit into the bounded work folder


class Bounds(Value):
    """What one run may take; whatever goes beyond is killed, with everything it started."""

    seconds: float = 120  # wall time
    cpu_seconds: int = 120  # of each process
    memory_mb: int = 2_048  # of each process, and twice that of all together
    file_mb: int = 128  # of each file
    work_mb: int = 1_024  # of the work folder as a whole
    temporary_mb: int = 256
    processes: int = 256
    output_kb: int = 256  # that are kept, from the end; sixty-four times that ends the run


class Command(Value):
    """A program and its arguments, run in the root of a tree; no shell reads them."""

    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()  # besides PATH, HOME, LANG, TZ and CI
    links: tuple[tuple[str, str], ...] = ()  # made before it runs where nothing is: name, target
    prepared: str = ""  # the key of a `Prepared`, which is at /env
    bounds: Bounds = Bounds()


class Run(Value):
    """How a command ended."""

    code: int  # negative: the signal that ended it
    ended: Ended = "exited"
    output: str = ""  # both streams, as they came
    seconds: float = 0.0

    @property
    def went_well(self) -> bool:
        """Whether it came to its end, and says so."""
        return self.ended == "exited" and self.code == 0


class Preparation(Value):
    """What fetches the dependencies of a project into /env, given its manifests alone."""

    language: str
    files: tuple[FileChange, ...] = ()  # manifests and lock files: their content names the result
    words: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    whole_tree: bool = False  # it was set by a person, and sees all of the tree


class Prepared(Value):
    """Dependencies that are here, under a key that a `Command` may name."""

    key: str = ""
    how: Literal["installed", "kept", "beside the checkout"] = "installed"
    seconds: float = 0.0
