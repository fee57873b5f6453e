"""Find how a project is tested from what it tells people and machines; nothing is run.

What a person wrote wins, then what its own CI does, then what its manifests declare: the finders
stand in that order, and of a version or variable the first clue counts.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import yaml

MANIFEST_CHARACTERS = 200_000
ClueKind = Literal["version", "install", "variable", "service", "setup", "test", "switch"]
Words = tuple[str, ...]


class Clue(NamedTuple):
    """One thing that a file says about testing the project."""

    kind: ClueKind
    value: str  # a specifier, command line, NAME=value, or service's name
    source: str  # the file


class Files(NamedTuple):
    """A project's files: those below its root, and those of the repository around it."""

    language: str
    root: str  # ends with a slash, or is empty
    paths: Words  # of the whole repository
    read: Callable[[str], str | None]

    def text(self, path: str) -> str:
        """Return a file of the project; empty where there is none."""
        return self.top(self.root + path)

    def top(self, path: str) -> str:
        """Return a file of the repository; empty where there is none."""
        text = self.read(path) if path in self.paths else ""
        return (text or "")[:MANIFEST_CHARACTERS]

    def toml(self, path: str) -> Mapping[str, Any]:
        """Return a file of the project as TOML; empty where it is none."""
        try:
            return tomllib.loads(self.text(path))
        except (ValueError, RecursionError):
            return {}

    def matching(self, pattern: str) -> Words:
        """List the repository's files of a pattern, at most 20."""
        return tuple(sorted(item for item in self.paths if re.search(pattern, item)))[:20]


def clues(files: Files) -> tuple[Clue, ...]:
    """Return everything that is said about testing the project, what counts most first."""
    return tuple(dict.fromkeys(clue for find in FINDERS for clue in find(files)))


def first_of(found: tuple[Clue, ...], kind: ClueKind) -> dict[str, Clue]:
    """Return the clues of a kind by what they are about: a variable by its name, others whole."""
    named: dict[str, Clue] = {}
    for clue in found:
        if clue.kind == kind:
            name = clue.value.partition("=")[0] if kind in _NAMED else clue.value
            named.setdefault(name, clue)
    return named


_NAMED = ("variable", "switch")  # NAME=value

# What commands and versions look like.

_TESTS = re.compile(
    r"\b(pytest|py\.test|manage\.py test|django(-admin)? test|unittest|jest|vitest|mocha"
    r"|node --test|rspec|rake (test|spec)|rails test|go test|phpunit|mvn\b.*\b(test|verify)"
    r"|gradlew?\b.*\btest)\b|\b(npm|yarn|pnpm)( run)? test\b|\b(tox|nox|make \w*test\w*)\b"
    r"|\b(scripts?|bin)/\w*test\w*"
)
_INSTALLS = re.compile(
    r"\b(pip3? install|uv (sync|pip install)|poetry install|pdm (sync|install)"
    r"|pipenv (sync|install)|npm (ci|install)|yarn install|pnpm install|bundle install)\b"
)
_SETS_UP = re.compile(  # what makes the tables of a database, before the tests
    r"(?:^|run |exec )((?:python3? )?(?:alembic upgrade|flask db upgrade|manage\.py migrate"
    r"|\S*rails db:|\S*rake db:|npx prisma (?:migrate|db push))[^\n]*)"
)
_SERVICES = {
    "postgresql": r"postgres|postgis|timescale",
    "mysql": r"mysql|mariadb|percona",
    "redis": r"redis|valkey|keydb",
    "mongodb": r"mongo",
    "elasticsearch": r"elasticsearch|opensearch",
    "rabbitmq": r"rabbitmq",
    "memcached": r"memcached",
}
_LANGUAGES = {  # how images and steps call a language
    "python": r"python",
    "javascript": r"node(?:js)?",
    "ruby": r"ruby",
    "Go": r"golang|go",
}
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_NOT_OURS = re.compile(  # secrets, and what concerns the machine or the tools of the CI itself
    r"TOKEN|SECRET_ACCESS|CREDENTIAL|COVERALLS|COLOR|^PATH$|^HOME$|^CI$|^PYTEST_ADDOPTS$"
    r"|^(GITHUB|CODECOV|UV|PIP|POETRY|PDM|TOX|NOX|NODE_AUTH|HATCH|CACHE|RUNNER|npm_config)_"
)


def version_asked(text: object) -> str:
    """Return a version as pip writes it; empty where it names none.

    >>> [version_asked(text) for text in ("3.12.1", "^3.9", ">= 18 < 23", "x")]
    ['==3.12.*', '>=3.9,<4', '>=18,<23', '']
    """
    words = str(text).strip().removeprefix("v").partition("||")[0]
    if number := re.fullmatch(r"(?:==)?(\d+(?:\.\d+)?)(?:\.(?:\d+|x|\*))*(?:-\w+)?", words):
        return f"=={number[1]}.*"
    if caret := re.fullmatch(r"\^\s*(\d+)((?:\.\d+)*)", words):
        return f">={caret[1]}{caret[2]},<{int(caret[1]) + 1}"
    parts = re.findall(r"(>=|<=|==|!=|~=|<|>)\s*(\d+(?:\.\d+)*)(?:\.[x*])?", words)
    return ",".join(f"{sign}{number}" for sign, number in parts)


def _services_in(text: str, source: str) -> Iterator[Clue]:
    for name, pattern in _SERVICES.items():
        if re.search(pattern, text, re.I):
            yield Clue("service", name, source)


def _commands(script: str, source: str) -> Iterator[Clue]:
    """Read the lines of a script that install or test."""
    for line in re.sub(r"\s*\\\n\s*", " ", script).splitlines():
        for part in re.split(r"&&|;|\|\|", line.strip().removeprefix("- ")):
            command = part.strip()
            if setup := _SETS_UP.search(command):
                yield Clue("setup", setup[1], source)
            elif _INSTALLS.search(command):
                yield Clue("install", command, source)
            elif _TESTS.search(command) and not re.match(r"(echo|#|if|name:)\b", command):
                yield Clue("test", command, source)


def _variables(table: object, source: str) -> Iterator[Clue]:
    if not isinstance(table, Mapping):
        return
    for name, value in table.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if not isinstance(value, str | int | float) or "${{" in text:
            continue
        if re.fullmatch(r"[A-Za-z_]\w*", str(name)) and not _NOT_OURS.search(str(name)):
            yield Clue("variable", f"{name}={text}", source)


# The finders, in order.


def _by_person(files: Files) -> Iterator[Clue]:
    """Read nightwatch.toml: version, install, variables, services, test."""
    for path in dict.fromkeys((f"{files.root}{PERSONS}", PERSONS)):
        try:
            table = tomllib.loads(files.top(path))
        except (ValueError, RecursionError):
            continue
        if version := version_asked(table.get("version", "")):
            yield Clue("version", version, path)
        kinds: tuple[ClueKind, ...] = ("install", "setup", "test")
        yield from (
            Clue(kind, str(line), path) for kind in kinds for line in _listed(table.get(kind))
        )
        yield from _variables(table.get("variables"), path)
        yield from (Clue("service", str(item), path) for item in table.get("services", ()))


def _by_container(files: Files) -> Iterator[Clue]:
    """Read devcontainers, Dockerfiles and compose files."""
    pattern = r"^(\.devcontainer/(.+/)?devcontainer\.json|(.+/)?Dockerfile[^/]*)$"
    inside = [item for item in files.matching(pattern) if item.count("/") <= 2]
    for path in sorted(inside, key=lambda item: (not item.startswith(files.root), item)):
        text = files.top(path)
        images = re.findall(r'(?m)^FROM\s+(\S+)|"image":\s*"([^"]+)"', text)
        for image in (one or other for one, other in images):
            name = _LANGUAGES.get(files.language, "(?!)")
            if tagged := re.search(rf"(?:^|/)(?:{name})[^:/]*:(?:\d+-)?v?(\d[\d.]*)", image):
                yield Clue("version", version_asked(tagged[1].rstrip(".")), path)


def _by_ci(files: Files) -> Iterator[Clue]:
    """Read the jobs of GitHub's and GitLab's CI that run tests of this language."""
    found = files.matching(r"^(\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml)$")
    named = sorted(found, key=lambda item: not re.search(r"test|ci\b|python|node|build", item))
    for path in named:
        try:
            table = yaml.safe_load(files.top(path))
        except (yaml.YAMLError, RecursionError, ValueError):
            continue
        if not isinstance(table, Mapping):
            continue
        jobs = table.get("jobs") if "jobs" in table else table
        for job in jobs.values() if isinstance(jobs, Mapping) else ():
            if isinstance(job, Mapping):
                yield from _job(files, job, table, path)


def _job(
    files: Files, job: Mapping[str, Any], whole: Mapping[str, Any], path: str
) -> Iterator[Clue]:
    steps = [item for item in _listed(job.get("steps")) if isinstance(item, Mapping)]
    script = "\n".join(
        [str(item.get("run", "")) for item in steps]
        + [str(line) for name in ("before_script", "script") for line in _listed(job.get(name))]
    )
    said = list(_commands(script, path))
    if not any(clue.kind == "test" for clue in said):
        return
    if files.root and files.root.rstrip("/") not in f"{script} {json.dumps(job, default=str)}":
        return
    name = _LANGUAGES.get(files.language, "(?!)")
    matrix = _mapping(_mapping(job.get("strategy")).get("matrix"))
    versions = [
        value
        for step in steps
        for key, value in _mapping(step.get("with")).items()
        if re.fullmatch(rf"(?:{name})-version", str(key))
    ]
    versions += [
        value
        for key, values in matrix.items()
        if re.fullmatch(rf"(?:{name})(?:[-_]?version)?s?", str(key))
        for value in _listed(values)
    ]
    if image := re.search(rf"(?:{name}):(\d[\d.]*)", str(job.get("image") or whole.get("image"))):
        versions.append(image[1])
    numbers = [item for value in versions if (item := version_asked(value))]
    if numbers:  # of a matrix any will do
        yield Clue("version", " || ".join(dict.fromkeys(numbers)), path)
    for table in (*(step.get("env") for step in steps), job.get("env"), job.get("variables")):
        yield from _variables(table, path)
    yield from _variables(whole.get("env") or whole.get("variables"), path)
    yield from _services_in(json.dumps(job.get("services") or "", default=str), path)
    yield from said


def _by_version_file(files: Files) -> Iterator[Clue]:
    """Read files that name a version alone."""
    names = {
        "python": (".python-version", "runtime.txt"),
        "javascript": (".nvmrc", ".node-version"),
        "ruby": (".ruby-version",),
        "Go": (),
    }
    for name in names.get(files.language, ()):
        if number := _NUMBER.search(files.text(name)):
            yield Clue("version", version_asked(number[0]), files.root + name)
    tool = _LANGUAGES.get(files.language, "(?!)")
    if listed := re.search(rf"(?m)^(?:{tool})\s+(\d[\d.]*)", files.text(".tool-versions")):
        yield Clue("version", version_asked(listed[1]), f"{files.root}.tool-versions")


def _by_manifest(files: Files) -> Iterator[Clue]:
    """Read the versions that manifests and lock files ask for."""
    project = files.toml("pyproject.toml")
    poetry = _mapping(_mapping(project.get("tool")).get("poetry"))
    package = _json(files.text("package.json"))
    setup = files.text("setup.cfg") + files.text("setup.py")
    required = re.search(r"python_requires\s*=\s*['\"]?([^'\"\n]+)", setup)
    asked = {
        "python": (
            ("uv.lock", files.toml("uv.lock").get("requires-python")),
            ("pyproject.toml", _mapping(project.get("project")).get("requires-python")),
            ("pyproject.toml", _mapping(poetry.get("dependencies")).get("python")),
            ("Pipfile", _mapping(files.toml("Pipfile").get("requires")).get("python_version")),
            ("setup.cfg", required[1] if required else ""),
        ),
        "javascript": (("package.json", _mapping(package.get("engines")).get("node")),),
        "ruby": (("Gemfile", _found(r"(?m)^ruby\s+['\"]([^'\"]+)", files.text("Gemfile"))),),
        "Go": (("go.mod", _found(r"(?m)^go\s+(\S+)", files.text("go.mod"))),),
    }
    for name, value in asked.get(files.language, ()):
        version = version_asked(value or "")
        if files.language == "Go":
            version = version.replace("==", ">=").removesuffix(".*")
        if version:
            yield Clue("version", version, files.root + name)


def _by_runner(files: Files) -> Iterator[Clue]:
    """Read tox.ini, noxfile.py, Makefile and package.json's scripts."""
    tox, name = ini(files.text("tox.ini")), f"{files.root}tox.ini"
    section = next((tox[item] for item in tox if item.startswith("testenv")), {})
    plain = re.sub(r"\{posargs:?([^}]*)\}|\{[^}]*\}", r"\1", section.get("commands", ""))
    yield from _commands(plain, name)
    if lines := re.sub(r"#.*|\{toxinidir\}/|^\s*\S+:\s", "", section.get("deps", ""), flags=re.M):
        yield Clue("install", f"pip install {' '.join(lines.split())}", name)
    if extras := section.get("extras", "").replace(",", " ").split():
        yield Clue("install", f"pip install .[{','.join(extras)}]", name)
    pairs = (line.split("=", 1) for line in section.get("setenv", "").splitlines() if "=" in line)
    yield from _variables(
        {key.strip(): text.strip() for key, text in pairs if "{" not in text}, name
    )
    nox = files.text("noxfile.py")
    for call, words in re.findall(r"session\.(install|run)\(([^()]*)\)", nox):
        literals = re.findall(r"['\"]([^'\"]+)['\"]", words)
        if re.fullmatch(r"(\s*['\"][^'\"]+['\"]\s*,?)+\s*", words):  # no part of it is computed
            line = shlex.join(literals)
            yield from _commands(f"pip install {line}" if call == "install" else line, "noxfile.py")
    for group in re.findall(r"dependency_groups\([^,()]+,\s*['\"]([\w-]+)['\"]\)", nox):
        yield Clue("install", f"uv sync --group {group}", "noxfile.py")
    for body in re.findall(r"(?m)^\w*test\w*:.*\n((?:\t.*\n?)+)", files.text("Makefile")):
        yield from _commands(re.sub(r"(?m)^\t[@-]*|\$[({][^)}]*[)}]", "", body), "Makefile")


def _by_example(files: Files) -> Iterator[Clue]:
    """Read the variables that a project shows its developers, and the services of compose files."""
    for name in (".env.test", ".env.ci", ".env.example", ".env.sample", ".env.dist"):
        pairs = re.findall(r"(?m)^(?:export )?(\w+)=[\"']?([^\n\"'#]*)", files.text(name))
        yield from _variables({key: value.strip() for key, value in pairs}, files.root + name)
        yield from _services_in(" ".join(re.findall(r"\b(\w+)(?:\+\w+)?://", str(pairs))), name)
    for path in files.matching(r"^(docker-)?compose[^/]*\.ya?ml$"):
        yield from _services_in(" ".join(re.findall(r"image:\s*(\S+)", files.top(path))), path)


def _by_switch(files: Files) -> Iterator[Clue]:
    """Find the project's own switches that make a database server needless."""
    read = [*files.matching(rf"^{re.escape(files.root)}(.+/)?(settings[^/]*|config)\.py$")]
    read += files.matching(rf"^{re.escape(files.root)}(.+/)?settings/[^/]+\.py$")
    for path in dict.fromkeys(read):
        if re.search(r"DATABASE_URL|dj_database_url|env\.db\(", files.top(path)):
            yield Clue("switch", f"DATABASE_URL={SQLITE}", path)
            break
    for path in files.matching(rf"^{re.escape(files.root)}(.+/)?conftest\.py$"):
        if "--sqlite" in files.top(path):
            yield Clue("switch", "PYTEST_ADDOPTS=--sqlite", path)


PERSONS = "nightwatch.toml"
SQLITE = "sqlite:////tmp/nightwatch-test.sqlite3"
FINDERS: tuple[Callable[[Files], Iterator[Clue]], ...] = (
    _by_person,
    _by_version_file,
    _by_ci,
    _by_container,
    _by_manifest,
    _by_runner,
    _by_example,
    _by_switch,
)


def ini(text: str) -> dict[str, dict[str, str]]:
    """Read the sections of tox.ini or setup.cfg; a value may go on in lines that are indented.

    >>> ini("[a]\\nb = 1\\nc =\\n  2\\n  3\\n")
    {'a': {'b': '1', 'c': '2\\n  3'}}
    """
    entry = r"(?m)^([\w.-]+)[ \t]*[=:][ \t]*(.*(?:\n(?:[ \t]+.*|[ \t]*(?=\n[ \t])))*)"
    parts = re.split(r"(?m)^\[([^\]\n]+)\].*\n?", text)
    return {
        name: {key: value.strip() for key, value in re.findall(entry, body)}
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def words_of(command: str) -> Words:
    """Split a command line; empty where it is none."""
    try:
        return tuple(shlex.split(command, comments=True))
    except ValueError:
        return ()


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    return match[1] if match else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _json(text: str) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(text or "{}"))
    except (ValueError, RecursionError):
        return {}
