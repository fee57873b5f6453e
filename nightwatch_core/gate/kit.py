"""How one project is tested and checked, in words for the sandbox."""

from collections.abc import Callable
from typing import NamedTuple

from nightwatch_core.models.sandbox import Preparation

Words = tuple[str, ...]


class Runner(NamedTuple):
    """A test runner: the words for its whole suite, and those for some files of it."""

    name: str
    whole: Words
    some: Callable[[tuple[str, ...]], Words]
    form: str  # of what it prints, in `readings`
    only_after: int | None = None  # exit code of the one before it, without which it is not tried


class Inspection(NamedTuple):
    """A check that complains in lines, of changed files or of everything; `{}` are the files."""

    name: str  # syntax | imports | lint | types
    words: Callable[[tuple[str, ...]], Words]
    endings: tuple[str, ...]
    of_tests: bool = True  # whether it looks at files of tests


class Kit(NamedTuple):
    """What a project needs, and how it is tested; `root` ends with a slash or is empty."""

    language: str
    root: str = ""
    preparation: Preparation | None = None  # None: it needs nothing
    runners: tuple[Runner, ...] = ()  # the first whose run on the base can be read
    inspections: tuple[Inspection, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()  # its scripts make them before anything runs
    verify: str = ""  # a person's own words for all of it
    snippet: Callable[[str], Words] | None = None  # words that run code in its language

    def inner(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """The paths that are below its root, as seen from there."""
        return tuple(p.removeprefix(self.root) for p in paths if p.startswith(self.root))
