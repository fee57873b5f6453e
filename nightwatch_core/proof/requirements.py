"""List what a Python project needs to be tested, from the files that declare it; run nothing."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

MANIFEST_CHARACTERS = 200_000
_LISTS = re.compile(r"^requirements([._-](dev|test|tests|testing|ci))?\.txt$")
_FOLDERS = re.compile(r"^requirements/(base|main|common|dev|development|test|tests|testing)\.txt$")
_FOR_TESTS = re.compile(r"^(dev|develop|development|tests?|testing|ci|all|full)$", re.IGNORECASE)
_OWN = re.compile(r"^(-e|--editable)[ =]|^(\.|file:|/)")  # the project itself: it is in the tree
_NAME = re.compile(r"^[A-Za-z0-9][\w.-]*")
_MOST = 400  # lines


def requirements(paths: tuple[str, ...], text: Callable[[str], str]) -> tuple[str, ...]:
    """Return what pip is to install for the project of `paths`; empty for nothing."""
    lines: list[str] = []
    for name in sorted(paths):
        if _LISTS.match(name) or _FOLDERS.match(name):
            lines += _listed(name, text)
    lines += _of_pyproject(text("pyproject.toml"))
    return tuple(dict.fromkeys(lines))[:_MOST]


def names_of(lines: tuple[str, ...]) -> frozenset[str]:
    """Return the packages that lines name, as they are compared."""
    named = (_NAME.match(line) for line in lines)
    return frozenset(re.sub(r"[-_.]+", "-", item[0]).lower() for item in named if item)


def _listed(name: str, text: Callable[[str], str]) -> Iterator[str]:
    """Return lines of a file and of those that it names, without options that say where to look."""
    folder, waiting, seen = name.rpartition("/")[0], [name], {name}
    while waiting and len(seen) < 20:
        for line in re.sub(r"\\\n", " ", text(waiting.pop(0))).splitlines():
            line = re.sub(r"(^|\s)#.*| --hash=\S+", "", line).strip()
            if other := re.match(r"^(?:-r|--requirement)[ =]\s*(\S+)", line):
                inner = f"{folder}/{other[1]}".lstrip("/")
                waiting += [inner] if inner not in seen else []
                seen.add(inner)
            elif line and not line.startswith("-") and not _OWN.match(line):
                yield line


def _of_pyproject(text: str) -> Iterator[str]:
    try:
        declared = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    project, tool = _table(declared, "project"), _table(declared, "tool")
    yield from _texts(project.get("dependencies"))
    for groups in (_table(project, "optional-dependencies"), _table(declared, "dependency-groups")):
        for name, lines in groups.items():
            if _FOR_TESTS.match(name):
                yield from _texts(lines)
    poetry = _table(tool, "poetry")
    tables = [_table(poetry, "dependencies"), _table(poetry, "dev-dependencies")]
    tables += [
        _table(_table(_table(poetry, "group"), name), "dependencies") for name in ("dev", "test")
    ]
    for table in tables:
        yield from (line for name, how in table.items() if (line := _of_poetry(name, how)))


def _of_poetry(name: str, how: object) -> str:
    """Return a dependency as pip writes it.

    >>> _of_poetry("django", "^4.2"), _of_poetry("python", "3")
    ('django~=4.2', '')
    """
    version = how.get("version", "*") if isinstance(how, Mapping) else how
    if name == "python" or not isinstance(version, str) or not _NAME.match(name):
        return ""
    least = version.lstrip("^~")
    if version == "*" or not least[:1].isdigit():
        return name if version == "*" else f"{name}{version}"
    if version == least:
        return f"{name}=={version}"
    return f"{name}~={least}" if "." in least else f"{name}=={least}.*"


def _table(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = value.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str) and _NAME.match(item))
