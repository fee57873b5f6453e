"""List what a Python project needs to be tested, from the files that declare it; run nothing."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nightwatch_core.proof.finders import (
    Clue,
    Files,
    P,
    first_of,
    ini,
    json_table,
    mapping,
    stated,
    words_of,
)

_FOR_TESTS = re.compile(r"^(dev|develop|development|tests?|testing|ci|all|full)$", re.IGNORECASE)
_OWN = re.compile(r"^(-e|--editable)[ =]|^(\.|file:|/)")  # the project itself: it is in the tree
_NAME = re.compile(r"^[A-Za-z0-9][\w.-]*")
_MOST = 600  # lines
_ALL = "*"


class Needs(NamedTuple):
    """What is to be installed, and the versions that the project's lock file holds."""

    lines: tuple[str, ...]
    locked: tuple[str, ...] = ()


class _Chosen(NamedTuple):
    """What install commands of CI, tox or a person name."""

    files: tuple[str, ...] = ()
    groups: frozenset[str] = frozenset()  # and extras
    lines: tuple[str, ...] = ()

    def has(self, group: str) -> bool:
        return bool(_FOR_TESTS.match(group)) or bool(self.groups & {_ALL, group})


def requirements(files: Files, found: tuple[Clue, ...] = ()) -> Needs:
    """Return what is to be installed for a project; empty for nothing."""
    chosen = _named_by(stated(found, "install") or first_of(found, "install"))
    below = [path.removeprefix(files.root) for path in files.paths if path.startswith(files.root)]
    lists = [name for name in sorted(below) if P["lists"].match(name) or P["folders"].match(name)]
    lines = [line for name in (*lists, *chosen.files) for line in _listed(name, files)]
    own = _named_by(f"pip install {line}" for line in lines if _OWN.match(line))
    chosen = chosen._replace(groups=chosen.groups | own.groups)
    lines = [line for line in lines if not _OWN.match(line)]
    declared = files.toml("pyproject.toml")
    lines += _of_project(declared, chosen)
    lines += _of_poetry_table(declared, chosen)
    for line in _texts(mapping(declared.get("build-system")).get("requires")):
        lines += [line] if names_of((line,)) - _MANAGERS else []
        lines += ["editables"] if "hatchling" in names_of((line,)) else []
    lines += _of_setup_cfg(files, chosen)
    lines += _of_setup_py(files, chosen)
    pipfile = files.toml("Pipfile")
    for name in ("packages", "dev-packages"):
        lines += _of_table(mapping(pipfile.get(name)))
    lines += chosen.lines
    local = local_packages(files).keys()
    kept = [line for line in dict.fromkeys(lines) if not names_of((line,)) & local]
    pinned = names_of(tuple(line for line in kept if "==" in line))
    locked = tuple(line for line in _locked(files) if not names_of((line,)) & pinned)
    return Needs(tuple(kept[:_MOST]), locked if kept else ())


def names_of(lines: tuple[str, ...]) -> frozenset[str]:
    """Return the packages that lines name, as they are compared."""
    named = (_NAME.match(line) for line in lines)
    return frozenset(_compared(item[0]) for item in named if item)


def local_packages(files: Files) -> dict[str, str]:
    """Return the packages that lie in the repository, with their folders."""
    found = {}
    for path in files.matching(r"(^|/)pyproject\.toml$"):
        folder = path.rpartition("/")[0]
        table = files._replace(root=f"{folder}/" if folder else "").toml("pyproject.toml")
        poetry = mapping(mapping(table.get("tool")).get("poetry"))
        name = mapping(table.get("project")).get("name") or poetry.get("name")
        if isinstance(name, str):
            found[_compared(name)] = folder
    return found


def _compared(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _named_by(commands: Iterable[str]) -> _Chosen:
    """Read what `pip install`, `uv sync`, `poetry install` and the like are told to install."""
    paths: list[str] = []
    groups: set[str] = set()
    lines: list[str] = []
    for command in commands:
        words = iter(words_of(command))
        started = False
        for word in words:
            name, _, value = word.partition("=")
            if re.match(r"-[rc]\w", word):
                name, value = word[:2], word[2:]
            if not started:
                started = word in ("install", "sync")
            elif name in ("-r", "--requirement", "-c", "--constraint"):
                path = value or next(words, "")
                paths += [path] if name in ("-r", "--requirement") else []
            elif name in ("--group", "--extra", "--with", "--extras", "-E", "-G", "--only-group"):
                groups.update(re.split(r"[ ,]+", value or next(words, "")))
            elif word in ("--all-extras", "--all-groups", "--group=*", "-G:all"):
                groups.add(_ALL)
            elif own := re.match(r"^(?:--editable=|file:)?[./][^\[]*\[([\w., -]+)\]$", word):
                groups.update(re.split(r"[ ,]+", own[1]))
            elif _NAME.match(word) and "/" not in word and command.find("pip") >= 0:
                known = () if ";" in word else tuple(lines)  # one of them will be for this Python
                named = names_of((word,)) - _TOOLS - names_of(known)
                lines += [word] if named and not re.search(r"[{}$:]", word) else []
    return _Chosen(tuple(paths), frozenset(groups), tuple(lines))


_MANAGERS = {"pip", "uv", "tox", "nox", "poetry", "pdm", "hatch", "codecov"}  # not the project's
_TOOLS = _MANAGERS | {"setuptools", "wheel"}


def _listed(name: str, project: Files) -> Iterator[str]:
    """Return lines of a file and of those that it names, without options that say where to look."""
    waiting, seen = [name.removeprefix("./")], {name}
    while waiting and len(seen) < 20:
        path = waiting.pop(0)
        folder = path.rpartition("/")[0]
        for line in re.sub(r"\\\n", " ", project.text(path)).splitlines():
            line = re.sub(r"(^|\s)#.*| --hash=\S+", "", line).strip()
            if other := re.match(r"^(?:-r|--requirement)[ =]\s*(\S+)", line):
                inner = _joined(folder, other[1])
                waiting += [inner] if inner not in seen else []
                seen.add(inner)
            elif line and (_OWN.match(line) or not line.startswith("-")):
                yield line


def _joined(folder: str, path: str) -> str:
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        parts = parts[:-1] if part == ".." else parts if part == "." else [*parts, part]
    return "/".join(parts)


def _of_project(declared: Mapping[str, Any], chosen: _Chosen) -> Iterator[str]:
    project, groups = mapping(declared.get("project")), mapping(declared.get("dependency-groups"))
    yield from _texts(project.get("dependencies"))
    tables = (mapping(project.get("optional-dependencies")), groups)
    waiting = [(name, table) for table in tables for name in table if chosen.has(name)]
    for name, table in waiting:  # it grows
        for item in _texts(table.get(name)):
            own, _, extras = item.partition("[")
            if extras and _compared(own) == _compared(str(project.get("name"))):
                found = (
                    (extra, tables[0]) for extra in re.findall(r"[\w.-]+", extras.partition("]")[0])
                )
                waiting += [one for one in found if one not in waiting]
            yield item
        included = table.get(name)
        for item in included if isinstance(included, list) else ():
            one = (str(item.get("include-group")) if isinstance(item, Mapping) else "", groups)
            waiting += [one] if one not in waiting else []


def _of_poetry_table(declared: Mapping[str, Any], chosen: _Chosen) -> Iterator[str]:
    poetry = mapping(mapping(declared.get("tool")).get("poetry"))
    tables = [mapping(poetry.get("dependencies")), mapping(poetry.get("dev-dependencies"))]
    for name, group in mapping(poetry.get("group")).items():
        if chosen.has(name) and isinstance(group, Mapping):
            tables.append(mapping(group.get("dependencies")))
    for table in tables:
        yield from _of_table(table)
    for name in ("uv", "rye", "pdm"):
        groups = mapping(mapping(declared.get("tool")).get(name)).get("dev-dependencies")
        for group, lines in (groups if isinstance(groups, Mapping) else {"dev": groups}).items():
            yield from _texts(lines) if chosen.has(group) else ()


def _of_table(table: Mapping[str, Any]) -> Iterator[str]:
    return (line for name, how in table.items() if (line := _of_poetry(name, how)))


def _of_setup_cfg(files: Files, chosen: _Chosen) -> Iterator[str]:
    declared = ini(files.text("setup.cfg"))
    options = declared.get("options", {})
    listed = [options.get(name, "") for name in ("install_requires", "tests_require")]
    extras = declared.get("options.extras_require", {})
    listed += [text for name, text in extras.items() if chosen.has(name)]
    for text in listed:
        yield from _texts([line.strip() for line in text.splitlines()])


_QUOTED = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'")


def _of_setup_py(files: Files, chosen: _Chosen) -> Iterator[str]:
    """Read the lists that setup.py spells out; what it computes is not known."""
    text = re.sub(r"(?m)^\s*#.*", "", files.text("setup.py")[:40_000])
    for name, listed in P["listed"].findall(text):
        if re.search(r"(?i)require", name) or chosen.has(name):
            yield from _texts([double or single for double, single in _QUOTED.findall(listed)])


def _locked(files: Files) -> tuple[str, ...]:
    """Return the versions that a lock file holds; of a package with several it says nothing."""
    versions: dict[str, set[str]] = {}
    for name in ("uv.lock", "poetry.lock", "pdm.lock"):
        for package, version in P["package"].findall(files.text(name) or files.top(name)):
            versions.setdefault(package, set()).add(version)
    pipfile = json_table(files.text("Pipfile.lock"))
    for section in ("default", "develop"):
        for name, item in mapping(pipfile.get(section)).items():
            version = str(item.get("version", "")) if isinstance(item, Mapping) else ""
            versions.setdefault(name, set()).add(version.removeprefix("=="))
    return tuple(
        f"{name}=={next(iter(known))}"
        for name, known in sorted(versions.items())
        if len(known) == 1 and re.fullmatch(r"\d[\w.+!-]*", next(iter(known)))
    )


def _of_poetry(name: str, how: object) -> str:
    """Return a dependency as pip writes it.

    >>> _of_poetry("django", "^4.2"), _of_poetry("python", "3")
    ('django>=4.2,<5', '')
    """
    version = how.get("version", "*") if isinstance(how, Mapping) else how
    if name == "python" or not isinstance(version, str) or not _NAME.match(name):
        return ""
    if isinstance(how, Mapping) and how.keys() & {"path", "git", "url", "file"}:
        return ""
    extras = how.get("extras") if isinstance(how, Mapping) else None
    if isinstance(extras, list):
        name = f"{name}[{','.join(map(str, extras))}]"
    least = version.lstrip("^~")
    if version == "*" or not least[:1].isdigit():
        return name if version == "*" else f"{name}{version}"
    if version == least:
        return f"{name}=={version}"
    if version[0] == "^" and least[0] != "0":
        return f"{name}>={least},<{int(least.partition('.')[0]) + 1}"
    return f"{name}~={least}" if "." in least else f"{name}=={least}.*"


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, str) and _NAME.match(item))
