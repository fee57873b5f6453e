"""Find how the project of some files is tested: from its own files and `kits.toml`.

A person's own words (`prepare`, `verify`) win. Where nobody knows, a sentence says what to set.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import FileChange, Preparation, Run
from nightwatch_core.models.value import Value
from nightwatch_core.ports import CodeReader, Sandbox
from nightwatch_core.proof.requirements import MANIFEST_CHARACTERS, names_of, requirements
from nightwatch_core.text.plain_text import one_line

Words = tuple[str, ...]
Read = Callable[[str], str | None]
Fields = Mapping[str, str | Words]

NAMES = 20  # tests that are named
NAME_CHARACTERS = 200  # of a test
OUTPUT_CHARACTERS = 4_000  # of a failed check, from the end
READ_CHARACTERS = 262_144  # of an output
EXPLAINED_CHARACTERS = 300  # of a reason
_TEMPLATES = (".html", ".jinja", ".jinja2", ".txt", ".erb", ".haml", ".slim")


class Runner(Value):
    """A test runner of one project."""

    name: str
    words: Words
    form: str = ""  # of what it prints, in the forms of kits.toml
    when: str = ""  # what has to be found out about a project
    only_after: int | None = None  # exit code of the one before it, without which it is not tried
    takes_files: bool = True
    dotted: bool = False  # files are named as modules
    all_files: Words = ()  # that are named where the whole suite is run

    @property
    def whole(self) -> Words:
        """Return the words that run the whole suite."""
        return (*self.words, *self.all_files)

    def some(self, files: Words) -> Words:
        """Return the words that run some files of tests."""
        if not self.takes_files:
            return self.words
        if self.dotted:
            files = tuple(item.removesuffix(".py").replace("/", ".") for item in files)
        return (*self.words, *files)


class Inspection(Value):
    """A check that complains in lines about files that are named behind its words."""

    name: str  # syntax | imports | lint | types
    words: Words
    endings: Words
    when: str = ""
    of_tests: bool = True  # whether it looks at files of tests


class Kind(Value):
    """A language as kits.toml describes it."""

    marks: Words  # files at a project's root; what begins with a dot is an ending
    endings: Words
    runners: tuple[Runner, ...] = ()
    checks: tuple[Inspection, ...] = ()
    environment: dict[str, str] = {}
    snippet: Words = ()
    example: str = ""  # what such a project is tested by, where nothing runs it unasked


class Form(Value):
    """The form in which a test runner prints failed tests and their number."""

    failed: re.Pattern[str]
    counts: re.Pattern[str]


class Kits(NamedTuple):
    """All of kits.toml."""

    kinds: dict[str, Kind]
    forms: dict[str, Form]
    scripts: dict[str, str]


@cache
def kits() -> Kits:
    """Read kits.toml; raises `ValidationError` where it does not hold what it should."""
    table = tomllib.loads((files(__package__) / "kits.toml").read_text(encoding="utf-8"))
    forms, scripts = table.pop("forms"), table.pop("scripts")
    return Kits(
        TypeAdapter(dict[str, Kind]).validate_python(table),
        TypeAdapter(dict[str, Form]).validate_python(forms),
        TypeAdapter(dict[str, str]).validate_python(scripts),
    )


class Kit(NamedTuple):
    """Commands that test one project; `root` ends with a slash or is empty."""

    language: str
    root: str = ""
    preparation: Preparation | None = None  # None: it needs nothing
    runners: tuple[Runner, ...] = ()  # the first whose run on the base can be read
    inspections: tuple[Inspection, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    verify: str = ""  # a person's own words for all of it
    snippet: Callable[[str], Words] | None = None  # words that run code in its language
    folders: Words = ()  # its scripts make them before anything runs

    def inner(self, paths: Words) -> Words:
        """Return the paths that are below its root, as seen from there."""
        return tuple(p.removeprefix(self.root) for p in paths if p.startswith(self.root))


def kit_for(changed: Words, paths: Words, read: Read, options: NightOptions) -> Kit | str:
    """Find how the changed files are tested; a sentence with what to set where nobody knows."""
    language, root = _language_of(changed, paths)
    kit = _detected(language, root, paths, read) if language in _PROJECTS else None
    if options.verify:
        kit = (kit or Kit(language, root))._replace(verify=options.verify, runners=())
    if options.prepare and kit:
        words = ("/bin/sh", "-c", options.prepare)
        own = Preparation(language=kit.language, words=words, whole_tree=True)
        kit = kit._replace(preparation=own)
    if kit and (kit.runners or kit.verify):
        return kit
    what = f"a {language} project's" if language else "this project's"
    example = kits().kinds[language].example if language else ""
    example = f" (for example: {example})" if example else ""
    return f"no test runner was found for {what} files: set NIGHTWATCH_VERIFY{example}"


def _language_of(changed: Words, paths: Words) -> tuple[str, str]:
    counts = {
        name: sum(path.endswith(kind.endings) for path in changed)
        for name, kind in kits().kinds.items()
    }
    best = max(counts, key=lambda name: counts[name])
    if not counts[best]:
        return "", ""
    kind = kits().kinds[best]
    folder = next(path for path in changed if path.endswith(kind.endings)).rpartition("/")[0]
    present = frozenset(paths)
    endings = tuple(mark for mark in kind.marks if mark.startswith("."))
    marked = {path.rpartition("/")[0] for path in paths if endings and path.endswith(endings)}
    while folder:
        if any(f"{folder}/{mark}" in present for mark in kind.marks) or folder in marked:
            return best, f"{folder}/"
        folder = folder.rpartition("/")[0]
    return best, ""


class _Project(NamedTuple):
    facts: frozenset[str]  # names that `when` may have
    fields: Fields = {}
    preparation: Preparation | None = None
    environment: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()


def _detected(language: str, root: str, paths: Words, read: Read) -> Kit | None:
    """Return the kit of a project; None where it has no tests that a runner is known for."""
    inside = tuple(path.removeprefix(root) for path in paths if path.startswith(root))

    def text(name: str) -> str:
        return ((read(root + name) if name in inside else "") or "")[:MANIFEST_CHARACTERS]

    project, kind = _PROJECTS[language](root, inside, text), kits().kinds[language]
    scripts = {f"{name}_script": script for name, script in kits().scripts.items()}
    fields: Fields = {"root": root, **scripts, **project.fields}

    def expanded(words: Words, **more: str | Words) -> Words:
        return tuple(word for item in words for word in _expanded(item, {**fields, **more}))

    def is_used(item: Runner | Inspection) -> bool:
        return not item.when or item.when in project.facts

    runners = tuple(
        runner.model_copy(
            update={"words": expanded(runner.words), "all_files": expanded(runner.all_files)}
        )
        for runner in kind.runners
        if is_used(runner)
    )
    if not runners or "tests" not in project.facts:
        return None
    environment = tuple((name, expanded((item,))[0]) for name, item in kind.environment.items())

    def snippet(code: str) -> Words:
        is_module = re.search(r"^\s*import\b(?!\s*\()", code, re.M)
        module = ("--input-type=module",) if is_module else ()
        line = f"\n{code}" if language == "ruby" else code  # never an option, or a file's name
        return expanded(kind.snippet, code=line, module=module)

    return Kit(
        language,
        root,
        preparation=project.preparation,
        runners=runners,
        inspections=tuple(
            item.model_copy(update={"words": expanded(item.words)})
            for item in kind.checks
            if is_used(item)
        ),
        environment=environment + project.environment,
        links=project.links,
        snippet=snippet,
        folders=made_folders(inside, text),
    )


def _expanded(word: str, fields: Fields) -> Words:
    """Replace fields by their values; one field may stand for several words, or none."""
    whole = re.fullmatch(r"\{(\w+)\}", word)
    if whole and isinstance(value := fields[whole[1]], tuple):
        return value
    return (re.sub(r"\{(\w+)\}", lambda match: str(fields[match[1]]), word),)


# What is odd about a language: how its tools are found, and what prepares its dependencies.

_SHELF = "/env/python"
_LIST = "nightwatch-requirements.txt"
_INSTALL = ("python3", "-m", "pip", "install", "--quiet", "--no-cache-dir", "--target", _SHELF)
_SETTINGS = re.compile(r"DJANGO_SETTINGS_MODULE['\"],\s*['\"]([\w.]+)")
_DJANGO = re.compile(r"^\s*(?:from|import) django\b|DJANGO_SETTINGS_MODULE", re.M)
_PYTHON_TESTS = re.compile(r"(^|/)(test_\w+|\w+_test|tests)\.py$")
_SHARED = ("pyproject.toml", "setup.cfg", "tox.ini")
_TOOLS = {  # how a tool is set up: a section of a shared file, or a file of its own
    "pytest": (r"^\[(tool\.)?(tool:)?pytest", ("pytest.ini", "conftest.py", "tests/conftest.py")),
    "ruff": (r"^\[tool\.ruff|^(line-length|select|lint)\b", ("ruff.toml", ".ruff.toml")),
    "flake8": (r"^\[flake8\]", (".flake8",)),
    "mypy": (r"^\[(tool\.)?mypy\]", ("mypy.ini",)),
}


def _python(root: str, inside: Words, text: Callable[[str], str]) -> _Project:
    lines = requirements(inside, text)
    shared = [text(name) for name in _SHARED]
    facts = {"tests"} if any(map(_PYTHON_TESTS.search, inside)) else set()
    facts.add("django" if _DJANGO.search(text("manage.py")) else "no django")  # Flask has one, too
    for tool, (section, own) in _TOOLS.items():
        if any(map(text, own)) or any(re.search(section, item, re.M) for item in shared):
            facts.add(tool)
    if "pytest" in names_of(lines):
        facts.add("pytest")
    elif "pytest" in facts:
        lines = (*lines, "pytest")
    settings = _SETTINGS.search(text("manage.py"))
    listed = FileChange(path=_LIST, text="".join(f"{line}\n" for line in lines))
    words = (*_INSTALL, "-r", _LIST)
    return _Project(
        frozenset(facts),
        {
            "source": ":/work/src" if any(item.startswith("src/") for item in inside) else "",
            "settings": settings[1] if settings else "",
        },
        Preparation(language="python", files=(listed,), words=words) if lines else None,
    )


_BUNDLE = (("BUNDLE_PATH", "/env/bundle"), ("BUNDLE_APP_CONFIG", "/tmp/bundle"))
_RUBY_TESTS = re.compile(r"(^|/)(test/.*_test|test/test_\w+|test/.*/test_\w+)\.rb$")
_SPECS = re.compile(r"(^|/)spec/.*_spec\.rb$")


def _ruby(root: str, inside: Words, text: Callable[[str], str]) -> _Project:
    is_bundled = bool(re.search(r"^\s*gem\b", text("Gemfile"), re.M))
    bundled = ("bundle", "exec") if is_bundled else ()
    tests, has_rails = tuple(sorted(filter(_RUBY_TESTS.search, inside))), "bin/rails" in inside
    facts = {"tests", *(["rspec"] if any(map(_SPECS.search, inside)) else [])}
    if tests:
        facts.add("rails test" if has_rails else "minitest")
    plain = (*bundled, "ruby", "-Ilib:test:.", "-e")
    ruby = ("ruby", "bin/rails", "runner") if has_rails else plain
    fields: Fields = {"bundled": bundled, "tests": tests, "ruby": ruby}
    if not is_bundled:
        return _Project(frozenset(facts), fields)
    manifests = (("Gemfile", "Gemfile.lock", ".ruby-version"), ("bundle", "install", "--quiet"))
    preparation = _from_manifests("ruby", *manifests, text, _BUNDLE)
    environment = (*_BUNDLE, ("BUNDLE_FROZEN", "true"), ("RAILS_ENV", "test"))
    return _Project(frozenset(facts), fields, preparation, environment)


_LOCKED = {  # a lock file, and what installs by it
    "package-lock.json": "npm ci --no-audit --no-fund",
    "npm-shrinkwrap.json": "npm ci --no-audit --no-fund",
    "yarn.lock": "yarn install --frozen-lockfile --non-interactive",
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
    "package.json": "npm install --no-audit --no-fund --no-package-lock",
}
_NODE_TESTS = re.compile(
    r"(\.(test|spec)\.[cm]?[jt]sx?$)|(^|/)(tests?|__tests__)/.*\.[cm]?[jt]sx?$"
)


def _javascript(root: str, inside: Words, text: Callable[[str], str]) -> _Project:
    try:
        package = json.loads(text("package.json") or "{}")
    except (ValueError, RecursionError):
        package = {}

    def table(name: str) -> Mapping[str, Any]:
        inner = package.get(name) if isinstance(package, dict) else None
        return inner if isinstance(inner, dict) else {}

    needs = {**table("dependencies"), **table("devDependencies")}
    script = str(table("scripts").get("test", ""))
    named = [item for item in ("jest", "vitest", "mocha") if item in needs or item in script]
    if "node --test" in script or (not named and any(map(_NODE_TESTS.search, inside))):
        named.append("node --test")
    elif script and not named and "no test specified" not in script:
        named.append("npm test")
    facts = frozenset(("tests", *named))
    if not needs:
        return _Project(facts)
    lock = next(item for item in _LOCKED if item in inside)
    names = ("package.json", lock, ".npmrc", ".yarnrc.yml", "pnpm-workspace.yaml")
    install = f"{_LOCKED[lock]} && mkdir -p node_modules && mv node_modules /env/"
    preparation = _from_manifests("javascript", names, ("/bin/sh", "-c", install), text)
    links = ((f"{root}node_modules", "/env/node_modules"),)
    return _Project(facts, {}, preparation, links=links)


def _from_manifests(
    language: str,
    names: Words,
    words: Words,
    text: Callable[[str], str],
    environment: tuple[tuple[str, str], ...] = (),
) -> Preparation:
    texts = {name: text(name) for name in names}
    files = tuple(FileChange(path=name, text=content) for name, content in texts.items() if content)
    return Preparation(language=language, files=files, words=words, environment=environment)


_PROJECTS: Mapping[str, Callable[[str, Words, Callable[[str], str]], _Project]] = {
    "python": _python,
    "ruby": _ruby,
    "javascript": _javascript,
}


def describe_project(tree: CodeReader, sandbox: Sandbox, options: NightOptions) -> str:
    """Say how the project of most source files is tested, and where its dependencies come from.

    Raises `GiveUp` where the tree cannot be read.
    """
    paths = tree.paths()
    plain = [item for item in paths if not item.endswith(_TEMPLATES) and not TEST.search(item)]
    groups = [
        [item for item in plain if item.endswith(kind.endings)] for kind in kits().kinds.values()
    ]
    most = max(groups, key=len)
    if not most:
        return "no source file in a supported language"
    first = min(most, key=lambda item: (item.count("/"), item))
    kit = kit_for((first,), paths, tree.read_file, options)
    if isinstance(kit, str):
        return kit
    by = kit.verify or ", else ".join(item.name for item in kit.runners)
    where = f" in {kit.root}" if kit.root else ""
    return f"{kit.language}{where} by {by}, {_dependencies(kit, tree, sandbox, options)}"


def _dependencies(kit: Kit, tree: CodeReader, sandbox: Sandbox, options: NightOptions) -> str:
    if kit.preparation is None:
        return "no dependencies needed"
    if options.prepare:
        return "dependencies installed by NIGHTWATCH_PREPARE"
    if options.prepare_network:
        return "missing dependencies are downloaded"
    try:
        return f"its dependencies {sandbox.prepare(tree.commit, kit.preparation).how}"
    except GiveUp as trouble:
        return explained(trouble)


def explained(trouble: Exception) -> str:
    """Return an error as the short reason why something was not run."""
    return one_line(str(trouble))[:EXPLAINED_CHARACTERS]


class Reading(NamedTuple):
    """Result of a test run; a number of None is unknown."""

    failed: frozenset[str]
    ran: int | None
    run: Run

    @property
    def is_green(self) -> bool:
        """Tell whether all went well, as far as it says."""
        return self.run.went_well and not self.failed

    @property
    def is_readable(self) -> bool:
        """Tell whether it can be compared: it came to its end, and says which tests are red."""
        return self.is_green or (self.run.ended == "exited" and bool(self.failed))

    @property
    def tells(self) -> bool:
        """Tell whether it can be compared with, because some tests are green."""
        green = self.ran is None or self.ran > len(self.failed)
        return self.is_readable and self.ran != 0 and green


def reading_of(run: Run, form: str) -> Reading:
    """Read a run's output; of an unknown `form` any that fits."""
    text, every = run.output[-READ_CHARACTERS:], kits().forms
    forms = [every[form]] if form in every else list(every.values())
    failed = frozenset(
        name[:NAME_CHARACTERS] for item in forms for name in item.failed.findall(text)
    )
    counts = [int(number) for item in forms for number in item.counts.findall(text)]
    return Reading(failed, sum(counts) if counts else None, run)


_SCRIPT = re.compile(
    r"^(\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|(?:docker/)?[^/]*Dockerfile[^/]*"
    r"|Makefile|(?:bin/|scripts?/)?[^/]+\.sh)$"
)
_MADE = re.compile(r"\bmkdir(?: -p| --parents)?((?: +\w[\w./-]*)+)[ \t]*(?=$|&|;|\|)", re.M)


def made_folders(paths: Words, text: Callable[[str], str]) -> Words:
    """List folders that a project's scripts make before anything of it runs: for data, for logs.

    >>> script = "mkdir -p data/images logs shop && run\\nmkdir -p /srv/x $HOME/y ../z"
    >>> made_folders(("run.sh", "shop/a.py"), lambda _: script)
    ('data/images', 'logs')
    """
    ends = ((path, end) for path in paths for end, sign in enumerate(path) if sign == "/")
    existing = {path[:end] for path, end in ends} | set(paths)
    scripts = sorted(filter(_SCRIPT.match, paths))[:30]
    calls = (call for item in scripts for call in _MADE.findall(text(item)))
    named = (name.rstrip("/") for call in calls for name in call.split())
    new = (name for name in named if name not in existing and ".." not in name.split("/"))
    return tuple(dict.fromkeys(new))[:20]
