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

from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table
from nightwatch_core.text.rule_files import Pattern

COMMAND_CHARACTERS = 2_000
MANIFEST_CHARACTERS, LOCK_CHARACTERS = 200_000, 4_000_000
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

    @property
    def called(self) -> str:
        """Return a pattern of what images and steps call its language."""
        return _RULES.languages.get(self.language, "(?!)")

    def text(self, path: str) -> str:
        """Return a file of the project; empty where there is none."""
        return self.top(self.root + path)

    def top(self, path: str) -> str:
        """Return a file of the repository; empty where there is none."""
        text = self.read(path) if path in self.paths else ""
        is_lock = re.search(r"lock|shrinkwrap", path.rpartition("/")[2])
        return (text or "")[: LOCK_CHARACTERS if is_lock else MANIFEST_CHARACTERS]

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


def stated(found: tuple[Clue, ...], kind: ClueKind) -> Words:
    """Return what nightwatch.toml or a proposal says of a kind: it stands alone."""
    named = first_of(found, kind)
    return tuple(item for item in named if named[item].source.endswith(SAID))


def first_of(found: tuple[Clue, ...], kind: ClueKind) -> dict[str, Clue]:
    """Return the clues of a kind by what they are about: a variable by its name, others whole."""
    named: dict[str, Clue] = {}
    for clue in found:
        if clue.kind == kind:
            name = clue.value.partition("=")[0] if kind in _NAMED else clue.value
            named.setdefault(name, clue)
    return named


_NAMED = ("variable", "switch")  # NAME=value


class FinderRules(Value):
    """`finders.toml`."""

    services: dict[str, str]
    languages: dict[str, str]
    version_files: dict[str, Words]
    patterns: dict[str, Pattern]


_RULES = data_table(__package__, "finders.toml", FinderRules)
P, SERVICES = _RULES.patterns, _RULES.services
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


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
    for name, pattern in SERVICES.items():
        if re.search(pattern, text, re.I):
            yield Clue("service", name, source)


def _commands(script: str, source: str) -> Iterator[Clue]:
    """Read the lines of a script that install or test."""
    for line in re.sub(r"\s*\\\n\s*", " ", script).splitlines():
        for part in re.split(r"&&|;|\|\|", line.strip().removeprefix("- ")):
            command = part.strip()[:COMMAND_CHARACTERS]
            if setup := P["sets_up"].search(command):
                yield Clue("setup", setup[1], source)
            elif P["installs"].search(command):
                yield Clue("install", command, source)
            elif (tests := P["tests"].search(command)) and not P["no_tests"].search(command):
                before = (word.split("=", 1) for word in words_of(command[: tests.start()]))
                yield from _variables(dict(one for one in before if len(one) == 2), source)
                yield Clue("test", command, source)


def _variables(table: object, source: str) -> Iterator[Clue]:
    if not isinstance(table, Mapping):
        return
    for name, value in table.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if not isinstance(value, str | int | float) or "$" in text or "{" in text:
            continue
        if re.fullmatch(r"[A-Za-z_]\w*", str(name)) and not P["not_ours"].search(str(name)):
            yield Clue("variable", f"{name}={text}", source)


# The finders, in order.


def _by_person(files: Files) -> Iterator[Clue]:
    """Read nightwatch.toml, then what a model proposes in its words."""
    for path in dict.fromkeys((f"{files.root}{PERSONS}", PERSONS, PROPOSED)):
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
        yield from (Clue("service", str(item), path) for item in _listed(table.get("services")))


def _by_container(files: Files) -> Iterator[Clue]:
    """Read devcontainers, Dockerfiles and compose files."""
    pattern = r"^(\.devcontainer/(.+/)?devcontainer\.json|(.+/)?Dockerfile[^/]*)$"
    inside = [item for item in files.matching(pattern) if item.count("/") <= 2]
    for path in sorted(inside, key=lambda item: (not item.startswith(files.root), item)):
        text = files.top(path)
        images = re.findall(r'(?m)^FROM\s+(\S+)|"image":\s*"([^"]+)"', text)
        for image in (one or other for one, other in images):
            if tagged := re.search(
                rf"(?:^|/)(?:{files.called})[^:/]*:(?:\d+-)?v?([1-9][\d.]*)", image
            ):
                yield Clue("version", version_asked(tagged[1].rstrip(".")), path)


def _by_ci(files: Files) -> Iterator[Clue]:
    """Read the jobs of GitHub's and GitLab's CI that run tests of this language."""
    found = files.matching(r"^(\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml)$")
    named = sorted(found, key=lambda item: not re.search(r"test|ci\b|python|node|build", item))
    jobs: list[tuple[Clue, ...]] = []
    for path in named:
        try:
            table = mapping(yaml.safe_load(files.top(path)))
        except (yaml.YAMLError, RecursionError, ValueError):
            continue
        for name, job in mapping(table.get("jobs") if "jobs" in table else table).items():
            if isinstance(job, Mapping):
                jobs.append(tuple(_job(files, f"{name} {job.get('name')}", job, table, path)))
    kinds = [{clue.kind for clue in said} for said in jobs]
    testing = [at for at, kind in enumerate(kinds) if "test" in kind]
    plain = [at for at in testing if "service" not in kinds[at]]
    first = (plain or testing or [-1])[0]
    for at, said in enumerate(jobs):
        if not (plain and "service" in kinds[at]):  # one without services will do
            # variables of two jobs may contradict each other
            yield from (clue for clue in said if clue.kind != "variable" or first in (at, -1))


def _job(
    files: Files, title: str, job: Mapping[str, Any], whole: Mapping[str, Any], path: str
) -> Iterator[Clue]:
    steps = [item for item in _listed(job.get("steps")) if isinstance(item, Mapping)]
    script = "\n".join(
        [str(item.get("run", "")) for item in steps]
        + [str(line) for name in ("before_script", "script") for line in _listed(job.get(name))]
    )
    said = list(_commands(script, path))
    if not any(clue.kind == "test" for clue in said) and not re.search(r"(?i)\btests?\b", title):
        return
    about = json.dumps((job, whole.get("defaults")), default=str)
    folder = rf"(?<![\w-]){re.escape(files.root.rstrip('/'))}(?![\w-])"
    if files.root and not re.search(folder, f"{script} {about}"):
        return
    matrix = mapping(mapping(job.get("strategy")).get("matrix"))
    versions = [
        value
        for step in steps
        for key, value in mapping(step.get("with")).items()
        if re.fullmatch(rf"(?:{files.called})-version", str(key))
    ]
    versions += [
        value
        for key, values in matrix.items()
        if re.fullmatch(rf"(?:{files.called})(?:[-_]?version)?s?", str(key))
        for value in _listed(values)
    ]
    if image := re.search(
        rf"(?:{files.called}):(\d[\d.]*)", str(job.get("image") or whole.get("image"))
    ):
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
    for name in _RULES.version_files.get(files.language, ()):
        if number := _NUMBER.search(files.text(name)):
            yield Clue("version", version_asked(number[0]), files.root + name)
    if listed := re.search(rf"(?m)^(?:{files.called})\s+(\d[\d.]*)", files.text(".tool-versions")):
        yield Clue("version", version_asked(listed[1]), f"{files.root}.tool-versions")


def _by_manifest(files: Files) -> Iterator[Clue]:
    """Read the versions that manifests and lock files ask for."""
    project = files.toml("pyproject.toml")
    poetry = mapping(mapping(project.get("tool")).get("poetry"))
    package = json_table(files.text("package.json"))
    setup = files.text("setup.cfg") + files.text("setup.py")
    asked = {
        "python": (
            ("uv.lock", _found(r'(?m)^requires-python = "(.+)"', files.text("uv.lock"))),
            ("pyproject.toml", mapping(project.get("project")).get("requires-python")),
            ("pyproject.toml", mapping(poetry.get("dependencies")).get("python")),
            ("Pipfile", mapping(files.toml("Pipfile").get("requires")).get("python_version")),
            ("setup.cfg", _found(r"python_requires\s*=\s*['\"]?([^'\"\n]+)", setup)),
        ),
        "javascript": (("package.json", mapping(package.get("engines")).get("node")),),
        "ruby": (("Gemfile", _found(r"(?m)^ruby\s+['\"]([^'\"]+)", files.text("Gemfile"))),),
        "Go": (("go.mod", _found(r"(?m)^go\s+(\S+)", files.text("go.mod"))),),
    }
    for name, value in asked.get(files.language, ()):
        version = version_asked(value or "")
        if files.language == "Go":
            version = version.replace("==", ">=").removesuffix(".*")
        if version:
            yield Clue("version", version, files.root + name)


def _by_tox(files: Files) -> Iterator[Clue]:
    """Read tox.ini; of pins that differ between its environments the newest one counts."""
    tool = mapping(files.toml("pyproject.toml").get("tool"))
    text = files.text("tox.ini") or str(mapping(tool.get("tox")).get("legacy_tox_ini", ""))
    tox, name = ini(text), f"{files.root}tox.ini"
    first = next((tox[item] for item in tox if item.startswith("testenv")), {})
    section = tox.get("testenv", first)
    plain = re.sub(r"\{posargs:?([^}]*)\}|\{[^}]*\}", r"\1", section.get("commands", ""))
    yield from _commands(plain, name)
    words: list[str] = []
    of_factors: dict[str, str] = {}  # what some environments ask for, by package
    for line in re.sub(r"#.*|\{toxinidir\}/", "", section.get("deps", "")).splitlines():
        factors = re.match(r"\s*([\w.,{}!-]+):\s+", line)
        asked = line[factors.end() if factors else 0 :].strip()
        package = re.match(r"\w[\w.-]*(?:\[[^\]]*\])?(?![\w.+:/-])", asked)
        if factors and package and not P["unusual"].search(factors[1]):
            of_factors[package[0]] = of_factors.get(package[0], "") + asked
        elif asked and not (factors and P["unusual"].search(factors[1])):
            words += asked.split() if asked.startswith("-") else [asked]
    words += [f"{package}{_newest(asked)}" for package, asked in of_factors.items()]
    if words:
        yield Clue("install", f"pip install {shlex.join(words)}", name)
    if extras := section.get("extras", "").replace(",", " ").split():
        yield Clue("install", f"pip install .[{','.join(extras)}]", name)
    for group in section.get("dependency_groups", "").replace(",", " ").split():
        yield Clue("install", f"uv sync --group {group}", name)
    pairs = (line.split("=", 1) for line in section.get("setenv", "").splitlines() if "=" in line)
    yield from _variables({key.strip(): text.strip() for key, text in pairs}, name)


def _newest(asked: str) -> str:
    """Return the bound that the newest of some specifiers has; an installer finds what fits it.

    >>> _newest("Django>=4.2,<5.0 Django~=5.2.1"), _newest("Django>=4.2,<5.0 Django>=5.2,<6.0")
    ('<=5.2.999', '<6.0')
    """
    found = re.findall(r"(<|==|~=)=?\s*(\d{1,9})\.?(\d{0,9})", asked)
    if not found:
        return ""
    sign, major, minor = max(found, key=lambda item: (int(item[1]), int(item[2] or 0)))
    return f"<{major}.{minor or 0}" if sign == "<" else f"<={major}.{minor or 0}.999"


def _by_task(files: Files) -> Iterator[Clue]:
    """Read the environments of hatch, and the tasks of hatch, poe, pdm, rye and taskipy."""
    tool = mapping(files.toml("pyproject.toml").get("tool"))
    name = f"{files.root}pyproject.toml"
    tasks = {"poe": "tasks", "pdm": "scripts", "rye": "scripts", "taskipy": "tasks"}
    tables = [mapping(tool.get(one)).get(inner) for one, inner in tasks.items()]
    own = mapping(tool.get("hatch")).get("envs")
    hatch = mapping(own or files.toml("hatch.toml").get("envs"))
    for table in (mapping(hatch[item]) for item in hatch if re.search(r"^default$|test", item)):
        if lines := _texts(table, "dependencies") + _texts(table, "extra-dependencies"):
            yield Clue("install", f"pip install {shlex.join(lines)}", name)
        if features := _texts(table, "features"):
            yield Clue("install", f"pip install .[{','.join(features)}]", name)
        for group in _texts(table, "dependency-groups"):
            yield Clue("install", f"uv sync --group {group}", name)
        yield from _variables(table.get("env-vars"), name)
        tables.append(table.get("scripts"))
    for table in map(mapping, tables):
        for key in table:
            if re.search(r"test|cov", key):
                script = "\n".join(_lines(table[key]))
                yield from _commands(re.sub(r"\{args:?([^}]*)\}", r"\1", script), name)


def _texts(table: Mapping[str, Any], key: str) -> list[str]:
    return [item for item in _listed(table.get(key)) if isinstance(item, str)]


def _lines(task: object) -> Iterator[str]:
    if isinstance(task, str):
        yield task
    for item in task if isinstance(task, list) else mapping(task).values():
        yield from _lines(item)


def _by_script(files: Files) -> Iterator[Clue]:
    """Read the script of package.json that tests, those that it names, and what it builds first."""
    scripts = mapping(json_table(files.text("package.json")).get("scripts"))
    name = f"{files.root}package.json"
    waiting = ["pretest", "test", *(item for item in scripts if re.match(r"test|unit", item))]
    waiting = waiting[: 2 if "test" in scripts else 3]
    for one in waiting:  # it grows
        for part in re.split(r"&&|;|\|\|", str(scripts.get(one, ""))):
            if P["builds"].match(part.strip()):
                yield Clue("setup", f"PATH=node_modules/.bin:$PATH {part.strip()}", name)
            named = P["names_script"].match(part.strip())
            for item in named[1].split() if named else ():
                if re.search(r"build|compile|prepare|bundle|generate", item):
                    yield Clue("setup", f"npm run --silent {item}", name)
                elif item not in waiting and not P["no_tests"].search(f"run {item}"):
                    waiting.append(item)
            yield from _commands("" if named else part, name)


def _by_runner(files: Files) -> Iterator[Clue]:
    """Read noxfile.py, Makefile and justfile."""
    nox = files.text("noxfile.py")
    for call, words in re.findall(r"session\.(install|run)\(([^()]*)\)", nox):
        literals = re.findall(r"['\"]([^'\"]+)['\"]", words)
        if re.fullmatch(r"(\s*['\"][^'\"]+['\"]\s*,?)+\s*", words):  # no part of it is computed
            line = shlex.join(literals)
            yield from _commands(f"pip install {line}" if call == "install" else line, "noxfile.py")
    for group in re.findall(r"dependency_groups\([^,()]+,\s*['\"]([\w-]+)['\"]\)", nox):
        yield Clue("install", f"uv sync --group {group}", "noxfile.py")
    for name in ("Makefile", "justfile"):
        for body in P["recipe"].findall(files.text(name)):
            plain = re.sub(r"(?m)(?<!\\\n)^[\t ]+[@-]*|\$[({][^)}]*[)}]|\{\{.*?\}\}", "", body)
            yield from _commands(plain, files.root + name)


def _by_example(files: Files) -> Iterator[Clue]:
    """Read the variables that a project shows its developers, and the services of compose files."""
    for name in (".env.test", ".env.ci", ".env.example", ".env.sample", ".env.dist"):
        pairs = re.findall(r"(?m)^(?:export )?(\w+)=[\"']?([^\n\"'#]*)", files.text(name))
        yield from _variables({key: value.strip() for key, value in pairs}, files.root + name)
        yield from _services_in(" ".join(re.findall(r"\b(\w+)(?:\+\w+)?://", str(pairs))), name)
    for name in ("pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"):
        servers = re.findall(r"\b(\w+)://[\w:@]*(?:localhost|127\.0\.0\.1)", files.text(name))
        yield from _services_in(" ".join(servers), files.root + name)
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


PERSONS, PROPOSED = "nightwatch.toml", "a model's proposal"  # no file is called so
SAID = (PERSONS, PROPOSED)
SQLITE = "sqlite:////tmp/nightwatch-test.sqlite3"
FINDERS: tuple[Callable[[Files], Iterator[Clue]], ...] = (
    _by_person,
    _by_version_file,
    _by_ci,
    _by_container,
    _by_manifest,
    _by_tox,
    _by_task,
    _by_script,
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


def mapping(value: object) -> Mapping[str, Any]:
    """Return a table; an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def json_table(text: str) -> Mapping[str, Any]:
    """Read an object of JSON; an empty one where the text is none."""
    try:
        return mapping(json.loads(text or "{}"))
    except (ValueError, RecursionError):
        return {}
