"""How one project is tested and checked, in words for the sandbox."""

import re
from collections.abc import Callable
from typing import NamedTuple

from nightwatch_core.models.proposals import Preparation, Run

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


# The bounds of this room, each with its unit.

NAMES = 20  # tests that are named
NAME_CHARACTERS = 200  # of a test
OUTPUT_CHARACTERS = 4_000  # of a failed check, from the end
NEAREST_FILES = 6  # tests of one changed file
LEAST_SECONDS = 5.0  # for a command to be worth starting
CHECK_SECONDS = 60.0  # of a check that is no test
MANIFEST_CHARACTERS = 200_000
SCRIPTS = 30  # that are looked at for folders they make
MADE_FOLDERS = 20
READ_CHARACTERS = 262_144  # of an output
EXPLAINED_CHARACTERS = 300  # of a reason
RUN_SECONDS = 40.0  # of a test or snippet that an analyst asks for
TEST_NAME = 200  # characters of a test that an analyst names

# Folders that a project's own scripts make before anything of it runs: for its data, its logs.

_SCRIPT = re.compile(
    r"^(\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|(?:docker/)?[^/]*Dockerfile[^/]*"
    r"|Makefile|(?:bin/|scripts?/)?[^/]+\.sh)$"
)
_MADE = re.compile(r"\bmkdir(?: -p| --parents)?((?: +\w[\w./-]*)+)[ \t]*(?=$|&|;|\|)", re.M)


def made_folders(
    root: str, paths: tuple[str, ...], read: Callable[[str], str | None]
) -> tuple[str, ...]:
    """List folders of the project below `root` that its scripts make and its tree has not.

    >>> files = {"run.sh": "mkdir -p data/images logs shop && run\\nmkdir -p /srv/x $HOME/y ../z"}
    >>> made_folders("", (*files, "shop/a.py"), files.get)
    ('data/images', 'logs')
    """
    inside = [path.removeprefix(root) for path in paths if path.startswith(root)]
    there = {folder for path in inside for folder in _above(path)} | set(inside)
    scripts = sorted(filter(_SCRIPT.match, inside))[:SCRIPTS]
    texts = ((read(root + one) or "")[:MANIFEST_CHARACTERS] for one in scripts)
    calls = (call for text in texts for call in _MADE.findall(text))
    named = (name.rstrip("/") for call in calls for name in call.split())
    new = (name for name in named if name not in there and ".." not in name.split("/"))
    return tuple(dict.fromkeys(new))[:MADE_FOLDERS]


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


# Reads from what test runners print which tests failed, and how many were run.


class Reading(NamedTuple):
    """What a run of tests says; a number of None is not known."""

    failed: frozenset[str]
    ran: int | None
    run: Run

    @property
    def is_green(self) -> bool:
        """Whether all went well, as far as it says."""
        return self.run.went_well and not self.failed

    @property
    def is_readable(self) -> bool:
        """Whether it can be compared: it came to its end, and tells which tests are red."""
        return self.is_green or (self.run.ended == "exited" and bool(self.failed))

    @property
    def tells(self) -> bool:
        """Whether it can be compared with, because some tests are green."""
        green = self.ran is None or self.ran > len(self.failed)
        return self.is_readable and self.ran != 0 and green


class Form(NamedTuple):
    """How a runner prints the name of a test that failed, and how many it ran."""

    failed: re.Pattern[str]
    counts: re.Pattern[str]


_FORMS: dict[str, Form] = {
    "pytest": Form(
        re.compile(r"^(?:FAILED|ERROR) (\S+?\.py\S*(?:\[[^\n]{0,150}?\])?)(?: - |$)", re.M),
        re.compile(r"(\d+) (?:passed|failed|errors?)\b(?=[^\n]{0,200} in \d)"),
    ),
    "unittest": Form(
        re.compile(r"^(?:FAIL|ERROR): (\S+ \([\w.]+\)|\S+)", re.M),
        re.compile(r"^Ran (\d+) tests? in ", re.M),
    ),
    "minitest": Form(
        re.compile(r"^ *\d+\) (?:Failure|Error):\n(\S+?)(?: \[|:$)", re.M),
        re.compile(r"^(\d+) (?:runs|tests), ", re.M),
    ),
    "rspec": Form(
        re.compile(r"^rspec (\./\S+)", re.M),
        re.compile(r"^(\d+) examples?, ", re.M),
    ),
    "tap": Form(
        re.compile(r"^ *not ok \d+ (?:- )?([^\n#]{1,200}?)\s*(?:# time.*)?$", re.M),
        re.compile(r"^# tests (\d+)", re.M),
    ),
    "jest": Form(
        re.compile(r"^ *[✕×] ([^\n]{1,200}?)(?: \(\d+ m?s\))?$", re.M),
        re.compile(r"^Tests:[^\n]{0,100}?(\d+) total", re.M),
    ),
}


def reading_of(run: Run, form: str) -> Reading:
    """Read a run; of a `form` that is not known any of them that fits.

    >>> text = "FAILED a/test_b.py::test_c - assert 1 == 2\\n1 failed, 2 passed in 0.01s"
    >>> reading = reading_of(Run(code=1, output=text), "pytest")
    >>> sorted(reading.failed), reading.ran, reading.is_readable
    (['a/test_b.py::test_c'], 3, True)
    """
    text = run.output[-READ_CHARACTERS:]
    forms = [_FORMS[form]] if form in _FORMS else list(_FORMS.values())
    failed = frozenset(name[:NAME_CHARACTERS] for one in forms for name in one.failed.findall(text))
    return Reading(failed, _count(text, forms), run)


def _count(text: str, forms: list[Form]) -> int | None:
    counts = [int(number) for one in forms for number in one.counts.findall(text)]
    return sum(counts) if counts else None
