"""List what a Python project needs to be tested, from the files that declare it; run nothing."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from nightwatch_core.proof.finders import Clue, Files, ini, words_of

_LISTS = re.compile(
    r"^(?:dev-|test-)?requirements([._-](dev|develop|test|tests|testing|ci))?\.txt$"
)
_FOLDERS = re.compile(
    r"^requirements/(base|main|common|dev|develop|development|local|test|tests|testing)\.txt$"
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
    chosen = _named_by(clue.value for clue in found if clue.kind == "install")
    below = [path.removeprefix(files.root) for path in files.paths if path.startswith(files.root)]
    lists = [name for name in sorted(below) if _LISTS.match(name) or _FOLDERS.match(name)]
    lines = [line for name in (*lists, *chosen.files) for line in _listed(name, files)]
    declared = files.toml("pyproject.toml")
    lines += _of_project(declared, chosen)
    lines += _of_poetry_table(declared, chosen)
    for line in _texts(_table(declared, "build-system").get("requires")):
        lines += [line] if names_of((line,)) - _MANAGERS else []
        lines += ["editables"] if "hatchling" in names_of((line,)) else []
    lines += _of_setup_cfg(files, chosen)
    lines += _of_setup_py(files, chosen)
    pipfile = files.toml("Pipfile")
    for name in ("packages", "dev-packages"):
        lines += _of_table(_table(pipfile, name))
    lines += chosen.lines
    own = local_packages(files)
    kept = [line for line in dict.fromkeys(lines) if not (names_of((line,)) & own.keys())]
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
        poetry = _table(_table(table, "tool"), "poetry")
        name = _table(table, "project").get("name") or poetry.get("name")
        if isinstance(name, str):
            found[_compared(name)] = folder
    return found


def _compared(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _named_by(commands: Iterator[str]) -> _Chosen:
    """Read what `pip install`, `uv sync`, `poetry install` and the like are told to install."""
    paths: list[str] = []
    groups: set[str] = set()
    lines: list[str] = []
    for command in commands:
        words = iter(words_of(command))
        started = False
        for word in words:
            name, _, value = word.partition("=")
            if not started:
                started = word in ("install", "sync")
            elif name in ("-r", "--requirement", "-c", "--constraint"):
                path = value or next(words, "")
                paths += [path] if name in ("-r", "--requirement") else []
            elif name in ("--group", "--extra", "--with", "--extras", "-E", "-G", "--only-group"):
                groups.update(re.split(r"[ ,]+", value or next(words, "")))
            elif word in ("--all-extras", "--all-groups", "--group=*", "-G:all"):
                groups.add(_ALL)
            elif own := re.match(r"^(?:file:)?[./][^\[]*\[([\w., -]+)\]$", word):
                groups.update(re.split(r"[ ,]+", own[1]))
            elif _NAME.match(word) and "/" not in word and command.find("pip") >= 0:
                named = names_of((word,)) - _TOOLS - names_of(tuple(lines))  # factors of tox repeat
                lines += [word] if named and not re.search(r"[{}$*:]", word) else []
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
            elif line and not line.startswith("-") and not _OWN.match(line):
                yield line


def _joined(folder: str, path: str) -> str:
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        parts = parts[:-1] if part == ".." else parts if part == "." else [*parts, part]
    return "/".join(parts)


def _of_project(declared: Mapping[str, Any], chosen: _Chosen) -> Iterator[str]:
    project, groups = _table(declared, "project"), _table(declared, "dependency-groups")
    yield from _texts(project.get("dependencies"))
    tables = (_table(project, "optional-dependencies"), groups)
    waiting = [(name, table) for table in tables for name in table if chosen.has(name)]
    seen = set()
    while waiting:
        name, table = waiting.pop(0)
        if name not in seen:
            seen.add(name)
            yield from _texts(table.get(name))
            included = table.get(name)
            for item in included if isinstance(included, list) else ():
                if isinstance(item, Mapping) and isinstance(item.get("include-group"), str):
                    waiting.append((item["include-group"], groups))


def _of_poetry_table(declared: Mapping[str, Any], chosen: _Chosen) -> Iterator[str]:
    poetry = _table(_table(declared, "tool"), "poetry")
    tables = [_table(poetry, "dependencies"), _table(poetry, "dev-dependencies")]
    for name, group in _table(poetry, "group").items():
        if chosen.has(name) and isinstance(group, Mapping):
            tables.append(_table(group, "dependencies"))
    for table in tables:
        yield from _of_table(table)
    uv = _table(_table(declared, "tool"), "uv")
    yield from _texts(uv.get("dev-dependencies"))


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


def _of_setup_py(files: Files, chosen: _Chosen) -> Iterator[str]:
    """Read the lists that setup.py spells out; what it computes is not known."""
    try:
        module = ast.parse(files.text("setup.py"))
    except (SyntaxError, ValueError, RecursionError):
        return
    values: dict[str, object] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = _literal(node.value, values)
    for node in ast.walk(module):
        if not (isinstance(node, ast.Call) and "setup" in ast.unparse(node.func)):
            continue
        for keyword in node.keywords:
            value = _literal(keyword.value, values)
            if keyword.arg in ("install_requires", "tests_require", "setup_requires"):
                yield from _texts(value)
            elif keyword.arg == "extras_require" and isinstance(value, Mapping):
                for name, lines in value.items():
                    if chosen.has(str(name)):
                        yield from _texts(lines)


def _literal(node: ast.expr, values: Mapping[str, object]) -> object:
    if isinstance(node, ast.Name):
        return values.get(node.id)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _locked(files: Files) -> tuple[str, ...]:
    """Return the versions that a lock file holds; of a package with several it says nothing."""
    versions: dict[str, set[str]] = {}
    for name in ("uv.lock", "poetry.lock", "pdm.lock"):
        for at in (files, files._replace(root="")):
            for item in at.toml(name).get("package", ()):
                where = item.get("source", {}) if isinstance(item, Mapping) else {}
                if isinstance(where, Mapping) and not {"editable", "virtual"} & where.keys():
                    versions.setdefault(str(item.get("name")), set()).add(str(item.get("version")))
    try:
        pipfile = json.loads(files.text("Pipfile.lock") or "{}")
    except (ValueError, RecursionError):
        pipfile = {}
    for section in ("default", "develop"):
        for name, item in _table(pipfile, section).items():
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


def _table(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = value.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, str) and _NAME.match(item))
