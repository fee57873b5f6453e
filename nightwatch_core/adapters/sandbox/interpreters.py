"""Find the interpreters and environments of this machine by their folders."""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from nightwatch_core.models.proposals import Bounds
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table


class Machine(Value):
    """`machine.toml`."""

    few: tuple[str, ...]
    fetching: tuple[str, ...]
    etc: dict[str, str]
    bounds: Bounds
    places: dict[str, tuple[str, ...]]
    texts: dict[str, str]


MACHINE = data_table(__package__, "machine.toml", Machine)
_PROGRAMS = {"python": "python3.[0-9]*", "javascript": "node", "ruby": "ruby", "Go": "go"}
_SYSTEM = (Path("/usr/local"), Path("/usr"))
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?")


class Interpreter(NamedTuple):
    """A program that runs a language."""

    program: Path
    prefix: Path  # the folder that has to be seen
    version: str  # as far as its name tells: 3.12.1, 3.12, or nothing

    @property
    def shown(self) -> str:
        """Return its name for people."""
        return f"{self.program.name.rstrip('.0123456789')} {self.version}".rstrip()


class BesideEnvironment(NamedTuple):
    """A virtual environment of Python, and the interpreter that it was made with."""

    folder: Path
    interpreter: Interpreter


def interpreters(language: str, home: Path, named: Sequence[Path]) -> tuple[Interpreter, ...]:
    """List the interpreters of a language: of named folders, the system's, version managers'."""
    places = [*named]
    if language == "python":
        places.append(Path(sys.base_prefix))
    places += _SYSTEM
    for pattern in MACHINE.places.get(language, ()):
        base, inner = (Path("/"), pattern[1:]) if pattern.startswith("/") else (home, pattern)
        places += sorted(base.glob(inner), reverse=True)
    found = (item for place in places for item in _of(language, place))
    return tuple({item.program.resolve(): item for item in found}.values())


def _of(language: str, place: Path) -> Iterator[Interpreter]:
    pattern = _PROGRAMS.get(language)
    for program in sorted((place / "bin").glob(pattern), reverse=True) if pattern else ():
        real = program.resolve()
        if language == "python" and not re.fullmatch(r"python3\.\d+", program.name):
            continue
        if language == "python" and not (place / "lib" / program.name / "os.py").exists():
            continue
        if real.is_file():
            whole = _VERSION.search(place.name)
            own = program.name.removeprefix("python")  # a folder may have a number of its own
            is_its = whole and whole[0].startswith(own if own[:1].isdigit() else tuple("123456789"))
            version = whole[0] if whole and is_its else own
            yield Interpreter(program, place, version if version[:1].isdigit() else _asked(program))


def _asked(program: Path) -> str:
    """Return the version that the system's own program says it has; empty where it does not."""
    try:
        words = [program, "version" if program.name == "go" else "--version"]
        said = subprocess.run(
            words, capture_output=True, text=True, timeout=10, env={}, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    found = _VERSION.search(said.stdout)
    return found[0] if found else ""


def choose(found: Sequence[Interpreter], asked: Sequence[str]) -> tuple[Interpreter | None, bool]:
    """Return the interpreter that fits the first of the asked versions, and whether one fits.

    Where several fit, the one nearest to ours is taken; where none does, the nearest to them. A
    version that a range excludes is that of something else in the repository.

    >>> two = [Interpreter(Path(), Path(), version) for version in ("3.8", "3.11")]
    >>> choose(two, ("==3.8.*", ">=3.9,<4"))[0].version, choose(two, ("==3.8.*",))[0].version
    ('3.11', '3.8')
    """
    ranges = [item for item in asked if ">" in item and "||" not in item]
    allowed = [item for item in found if all(_fits(item.version, one) for one in ranges)]
    for specifier in asked:
        if fitting := [item for item in allowed or found if _fits(item.version, specifier)]:
            return min(fitting, key=lambda item: _distance(item, sys.version_info.minor)), True
    minor = re.search(r"\d\.(\d+)", " ".join(asked))
    wanted = int(minor[1]) if minor else sys.version_info.minor
    first = min(found, key=lambda item: _distance(item, wanted)) if found else None
    return first, not asked or first is None or not first.version


def _fits(version: str, asked: str) -> bool:
    return any(_fits_one(version, item.strip()) for item in asked.split("||"))


def _fits_one(version: str, specifier: str) -> bool:
    try:
        asked = SpecifierSet(specifier)
    except InvalidSpecifier:
        return False
    # of many only the minor version is known: it fits if any of its releases may
    tries = (version, f"{version}.99") if version.count(".") == 1 else (version,)
    return bool(version) and any(asked.contains(item, prereleases=True) for item in tries)


def _distance(item: Interpreter, minor: int) -> int:
    parts = item.version.split(".")
    return abs(int(parts[1]) - minor) if len(parts) > 1 else 0


def environment_of(folder: Path) -> BesideEnvironment | None:
    """Return the virtual environment in a folder, whatever its version; None where it is none."""
    try:
        text = (folder / "pyvenv.cfg").read_text("utf-8", errors="replace")
    except OSError:
        return None
    facts = dict(re.findall(r"(?m)^\s*([\w-]+)\s*=\s*(.*?)\s*$", text))
    version = _VERSION.match(facts.get("version") or facts.get("version_info") or "")
    if not version:
        return None
    minor = ".".join(version[0].split(".")[:2])
    prefix = Path(facts.get("home", "")).parent
    program = prefix / "bin" / f"python{minor}"
    if not (folder / "lib" / f"python{minor}" / "site-packages").is_dir() or not program.exists():
        return None
    return BesideEnvironment(folder, Interpreter(program, prefix, version[0]))
