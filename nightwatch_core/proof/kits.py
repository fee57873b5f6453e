"""Find how the project of some files is tested: from its own files and `kits.toml`.

A person's own words (`prepare`, `verify`) win. Where nobody knows, a sentence says what to set.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.profiles import Profile
from nightwatch_core.models.proposals import FileChange, Preparation, Run
from nightwatch_core.models.value import Value
from nightwatch_core.proof.finders import (
    PROPOSED,
    SAID,
    SERVICES,
    Clue,
    Files,
    clues,
    first_of,
    json_table,
    mapping,
    stated,
    words_of,
)
from nightwatch_core.proof.requirements import local_packages, names_of, requirements
from nightwatch_core.text.plain_text import (
    data_table,
    last_lines,
    matches,
    middle_out,
    one_line,
    shortened,
)
from nightwatch_core.text.rule_files import Pattern
from nightwatch_core.traces.in_app import without_libraries

Words = tuple[str, ...]
Read = Callable[[str], str | None]
Fields = Mapping[str, str | Words]

NAMES = 200  # tests that are named
NAME_CHARACTERS = 200  # of a test
OUTPUT_CHARACTERS = 4_000  # of a failed check, from the end
READ_CHARACTERS = 262_144  # of an output
EXPLAINED_CHARACTERS = 300  # of a reason
TEMPLATES = (".html", ".jinja", ".jinja2", ".txt", ".erb", ".haml", ".slim")


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
    called: str = ""  # how a project's own command names it, as a pattern
    canary: Words = ()  # script with tests that must fail, and its file; {mark} in their names

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
    loose_marks: Words = ()  # those of them that declare no dependencies
    endings: Words
    tests: Pattern = TEST  # files of tests
    runners: tuple[Runner, ...] = ()
    checks: tuple[Inspection, ...] = ()
    environment: dict[str, str] = {}
    snippet: Words = ()
    canary: Words = ()  # of runners that have none of their own
    example: str = ""  # what such a project is tested by, where nothing runs it unasked


class Tool(Value):
    """How a tool is set up: in a section of a shared file, or in a file of its own."""

    section: str
    files: Words


class Form(Value):
    """The form in which a test runner prints failed tests and their number."""

    failed: re.Pattern[str]
    counts: re.Pattern[str]


class Kits(Value):
    """All of kits.toml."""

    kinds: dict[str, Kind]
    forms: dict[str, Form]
    tools: dict[str, Tool]
    plugins: dict[str, str]
    locks: dict[str, tuple[str, str]]
    patterns: dict[str, Pattern]
    scripts: dict[str, str]


@cache
def kits() -> Kits:
    """Read kits.toml; raises `ValidationError` where it does not hold what it should."""
    return data_table(__package__, "kits.toml", Kits)


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
    clues: tuple[Clue, ...] = ()  # what its files say about testing it
    variables: tuple[tuple[str, str], ...] = ()  # that its tests are given
    services: Words = ()  # that its tests ask for
    setup: Words = ()  # commands that are run before its tests
    tests: Words = ()  # its files of tests, as seen from its root
    profile: Profile | None = None  # that it was proved with
    stale: str = ""  # why it should be proved again

    def known_red(self, sha: str) -> frozenset[str]:
        """Return tests that are known to be flaky, or red at this commit."""
        kept = self.profile
        is_same = kept is not None and kept.commit in ("", sha)
        return frozenset((*kept.flaky, *(kept.red if is_same else ())) if kept else ())

    @property
    def used_runners(self) -> tuple[Runner, ...]:
        """Return its runners; of a person's own words the one that they are."""
        words = ("/bin/sh", "-c", self.verify)
        own = (Runner(name="verify", words=words, takes_files=False),)
        return own if self.verify else self.runners

    def inner(self, paths: Words) -> Words:
        """Return the paths that are below its root, as seen from there."""
        return tuple(p.removeprefix(self.root) for p in paths if p.startswith(self.root))


def kit_for(changed: Words, paths: Words, read: Read, options: NightOptions) -> Kit | str:
    """Find how the changed files are tested; a sentence with what to set where nobody knows."""
    return kit_of(*language_of(changed, paths), paths, read, options)


def kit_of(language: str, root: str, paths: Words, read: Read, options: NightOptions) -> Kit | str:
    """Find how a project is tested."""
    kit = _detected(language, root, paths, read) if language else None
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


def language_of(changed: Words, paths: Words) -> tuple[str, str]:
    """Return the language of changed files, and the root of their project; empty for none."""
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


def with_proposal(kit: Kit, paths: Words, read: Read, text: str) -> Kit:
    """Find anew how a project is tested, with a proposal in the words of nightwatch.toml."""

    def read_both(path: str) -> str | None:
        return text if path == PROPOSED else read(path)

    made = _detected(kit.language, kit.root, (*paths, PROPOSED), read_both) if text else None
    if made and kit.preparation and kit.preparation.whole_tree:  # a person's own
        made = made._replace(preparation=kit.preparation)
    return made or kit


class _Project(NamedTuple):
    facts: frozenset[str] = frozenset({"tests"})  # names that `when` may have
    fields: Fields = {}
    preparation: Preparation | None = None
    environment: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()


def _detected(language: str, root: str, paths: Words, read: Read) -> Kit | None:
    """Return the kit of a project; None where it has no tests that a runner is known for."""
    files = Files(language, root, paths, read)
    inside = tuple(path.removeprefix(root) for path in paths if path.startswith(root))
    kind = kits().kinds[language]
    declaring, outer = set(kind.marks) - set(kind.loose_marks), root
    while outer and not any(f"{outer}{mark}" in paths for mark in declaring):
        outer = outer[: outer.rstrip("/").rfind("/") + 1]
    around = files._replace(root=outer)
    found = tuple(dict.fromkeys((*clues(files), *clues(around))))
    project = _PROJECTS.get(language, _other)(files, around, inside, found)
    scripts = {f"{name}_script": script for name, script in kits().scripts.items()}
    fields: Fields = {"root": root, **scripts, **project.fields}

    def expanded(words: Words, **more: str | Words) -> Words:
        return tuple(word for item in words for word in _expanded(item, {**fields, **more}))

    def is_used(item: Runner | Inspection) -> bool:
        return not item.when or item.when in project.facts

    plain = [item for item in kind.runners if is_used(item)]
    runners = tuple(
        runner.model_copy(
            update={
                "words": expanded(runner.words),
                "all_files": expanded(runner.all_files),
                "canary": runner.canary or kind.canary,
            }
        )
        for runner in (*_as_it_says(plain, found, inside), *plain)
    )
    if not runners or "tests" not in project.facts:
        return None
    environment = tuple((name, expanded((item,))[0]) for name, item in kind.environment.items())
    said = {
        name: clue.value.partition("=")[2] for name, clue in first_of(found, "variable").items()
    }
    switches, own = first_of(found, "switch"), stated(found, "variable")
    said |= {one: switches[one].value.partition("=")[2] for one in switches if one not in own}

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
        snippet=snippet if kind.snippet else None,
        folders=made_folders(inside, files.text),
        clues=found,
        variables=tuple(said.items()),
        services=tuple(first_of(found, "service")),
        setup=tuple(first_of(found, "setup")),
        tests=tuple(filter(kind.tests.search, inside)),
    )


def _as_it_says(runners: list[Runner], found: tuple[Clue, ...], inside: Words) -> Iterator[Runner]:
    """Make runners of the project's own test commands: their options, and the paths they name."""
    patterns = kits().patterns
    for command, clue in first_of(found, "test").items():
        called = (
            (runner, match[1])
            for runner in runners
            if runner.called and runner.only_after is None
            if (match := re.search(rf"\b(?:{runner.called})(?=\s|$)([^>|${{]*)", command))
        )
        runner, rest = next(called, (None, ""))
        if runner is None:
            if clue.source.endswith(SAID):  # whatever it is
                words = ("/bin/sh", "-c", command)
                yield Runner(
                    name=f"`{command}` as in {clue.source}", words=words, takes_files=False
                )
            continue
        options: list[str] = []
        paths: list[str] = []
        for word in words_of(patterns["reports"].sub("", rest)):
            named = [item for item in inside if "*" in word and matches(item, word)]
            is_here = named or any(item.startswith(word.removeprefix("./")) for item in inside)
            before = options[-1] if options and not paths else ""
            is_value = patterns["with_value"].fullmatch(before) or (
                before[:2] == "--" and not is_here
            )
            is_option = word.startswith("-") or (is_value and "=" not in before)
            is_expanded = named and "--test" in runner.words  # by Node itself from version 21 on
            (options if is_option else paths).extend(sorted(named) if is_expanded else [word])
        if options or paths:
            name = f"`{runner.name.strip('`')}` as in {clue.source}"
            update = {"name": name, "all_files": tuple(paths)}
            yield runner.model_copy(update={**update, "words": (*runner.words, *options)})


def _expanded(word: str, fields: Fields) -> Words:
    """Replace fields by their values; one field may stand for several words, or none."""
    whole = re.fullmatch(r"\{(\w+)\}", word)
    if whole and isinstance(value := fields[whole[1]], tuple):
        return value
    return (re.sub(r"\{(\w+)\}", lambda match: str(fields[match[1]]), word),)


# What is odd about a language: how its tools are found, and what prepares its dependencies.

_LIST, _LOCKED_LIST = "nightwatch-requirements.txt", "nightwatch-locked.txt"
_SETTINGS = re.compile(r"DJANGO_SETTINGS_MODULE['\"],\s*['\"]([\w.]+)")
_DJANGO = re.compile(r"^\s*(?:from|import) django\b|DJANGO_SETTINGS_MODULE", re.M)
_SHARED = ("pyproject.toml", "setup.cfg", "tox.ini")


def _python(files: Files, around: Files, inside: Words, found: tuple[Clue, ...]) -> _Project:
    text, root = files.text, files.root
    needs = requirements(around, found)
    lines = needs.lines
    shared = [text(name) or around.text(name) for name in _SHARED]
    facts = {"tests"} if any(map(kits().kinds["python"].tests.search, inside)) else set()
    settings = _SETTINGS.search(text("manage.py"))
    if "runtests.py" in inside:
        facts.add("runtests")
    if any("django" in command for command in first_of(found, "test")):
        facts.add("django tests")
    facts.add("django" if _DJANGO.search(text("manage.py")) else "no django")  # Flask has one, too
    for tool, sign in kits().tools.items():
        is_set_up = any(re.search(sign.section, item, re.M) for item in shared)
        if is_set_up or any(map(text, sign.files)):
            facts.add(tool)
    if "pytest" in names_of(lines) or any("pytest" in item for item in first_of(found, "test")):
        facts.add("pytest")
    if "pytest" in facts:
        configured = "\n".join((*shared, text("pytest.ini")))
        plugins = (
            name for name, sign in kits().plugins.items() if re.search(sign, configured, re.M)
        )
        lines = (*lines, *({"pytest": 0, **dict.fromkeys(plugins)}.keys() - names_of(lines)))
    places = [f"/work/{folder}".rstrip("/") for folder in local_packages(files).values()]
    sources = [place for item in places for place in (f"{item}/src", item)]
    sources = [item for item in sources if any(p.startswith(f"{item[6:]}/") for p in files.paths)]
    own_source = [f"/work/{root}src"] if any(item.startswith("src/") for item in inside) else []
    listed = {_LIST: lines, _LOCKED_LIST: needs.locked}
    is_built = any(map(around.text, ("pyproject.toml", "setup.py")))
    script = kits().scripts
    return _Project(
        frozenset(facts),
        {
            "source": "".join(f":{item}" for item in dict.fromkeys((*own_source, *sources))),
            "settings": settings[1] if settings else "",
        },
        Preparation(
            language="python",
            files=tuple(
                FileChange(path=name, text="".join(f"{line}\n" for line in sorted(held)))
                for name, held in listed.items()
            ),
            words=("/bin/sh", "-c", script["python_install"]),
            versions=stated(found, "version") or tuple(first_of(found, "version")),
            fetches=bool(lines),
            build=("/bin/sh", "-c", script["python_build"], around.root or ".") if is_built else (),
        ),
    )


_BUNDLE = (("BUNDLE_PATH", "/env/bundle"), ("BUNDLE_APP_CONFIG", "/tmp/bundle"))
_RUBY_TESTS = re.compile(r"(^|/)test/(.*_test|(.*/)?(test|spec)_\w+)\.rb$")
_SPECS = re.compile(r"(^|/)spec/.*_spec\.rb$")


def _ruby(files: Files, _around: Files, inside: Words, found: tuple[Clue, ...]) -> _Project:
    text = files.text
    is_bundled = bool(re.search(r"^\s*gem\b", text("Gemfile"), re.M))
    bundled = ("bundle", "exec") if is_bundled else ()
    named = [item for item in inside if item.endswith((".gemspec", "/version.rb"))][:20]
    declared = "".join(map(text, ("Gemfile", *named)))
    is_rspec = "rspec" in declared or "minitest" not in declared  # it has specs, too
    specs = tuple(filter(_SPECS.search, inside))
    tests = tuple(sorted((*filter(_RUBY_TESTS.search, inside), *(() if is_rspec else specs))))
    has_rails = "bin/rails" in inside
    facts = {"tests", *(["rspec"] if specs and is_rspec else [])}
    if tests:
        facts.add("rails test" if has_rails else "minitest")
    if ".rubocop.yml" in inside and "rubocop" in text("Gemfile"):
        facts.add("rubocop")
    plain = (*bundled, "ruby", "-Ilib:test:.", "-e")
    ruby = ("ruby", "bin/rails", "runner") if has_rails else plain
    fields: Fields = {"bundled": bundled, "tests": tests, "ruby": ruby}
    if not is_bundled:
        return _Project(frozenset(facts), fields)
    names = ("Gemfile", "Gemfile.lock", ".ruby-version", "VERSION", *named)
    words = ("bundle", "install", "--quiet")
    preparation = _from_manifests("ruby", names, words, text, found, _BUNDLE)
    environment = (*_BUNDLE, ("BUNDLE_FROZEN", "true"), ("RAILS_ENV", "test"))
    return _Project(frozenset(facts), fields, preparation, environment)


_ESLINT = re.compile(r"\.eslintrc(?:\.\w+)?$|eslint\.config\.\w+$")
_BERRY = ("yarn install --no-immutable --mode=skip-build", "@yarnpkg/cli-dist@4")
_RUNNERS = ("jest", "vitest", "mocha", "ava", "tap", "tape", "borp")
_NODES = ("node --test", "tsx --test")


def _javascript(files: Files, _around: Files, inside: Words, found: tuple[Clue, ...]) -> _Project:
    text, root = files.text, files.root
    package = json_table(text("package.json"))
    scripts = mapping(package.get("scripts"))
    needs = {**mapping(package.get("dependencies")), **mapping(package.get("devDependencies"))}
    script = str(scripts.get("test", ""))
    is_script = bool(script) and "no test specified" not in script
    said = "\n".join((script, *first_of(found, "test")))
    named = [one for one in _RUNNERS if one in needs or re.search(rf"(?<![\w-]){one}(?!\S)", said)]
    named += [one for one in _NODES if re.search(rf"\b{one.replace(' ', ' .*')}\b", said)]
    is_bare = "package.json" in inside and not (named or scripts)
    if is_bare and any(map(kits().kinds["javascript"].tests.search, inside)):
        named.append("node --test")
    named += ["npm test"] if is_script else []
    if "eslint" in needs and ("eslintConfig" in package or any(map(_ESLINT.match, inside))):
        named.append("eslint")
    if "typescript" in needs and "tsconfig.json" in inside:
        named.append("tsc")
    facts = frozenset(("tests", *named))
    if not needs:
        return _Project(facts)
    known = kits().locks
    here = [item for item in known if item in inside]
    asked = " ".join((str(package.get("packageManager")), *first_of(found, "install")))
    used = (rf"(?<!\w){known[item][0].split()[0]}[@ ]" for item in here[:-1])
    locks = [item for item, tool in zip(here, used, strict=False) if re.search(tool, asked)]
    lock = (locks[::-1] or here)[0]  # what is used now may lie beside what was
    members = [item for item in inside if re.search(r"/package\.json$|\.patch$", item)][:100]
    names = ("package.json", lock, ".npmrc", "pnpm-workspace.yaml", *members)
    install, usual = _BERRY if "__metadata:" in text(lock) else known[lock]
    usual = "pnpm@8" if "lockfileVersion: '6" in text(lock) else usual
    major = re.match(r"(pnpm@|bun@)\d+", asked)
    spec = major[0] if major and usual.startswith(major[1]) else usual
    script = kits().scripts["node_install"]
    install = " && ".join(stated(found, "install")) or install
    words = ("/bin/sh", "-c", script, f"/work/{root}", install, spec, usual)
    preparation = _from_manifests("javascript", names, words, text, found)
    links = ((f"{root}node_modules", "/env/node_modules"),)
    return _Project(facts, {}, preparation, links=links)


def _from_manifests(
    language: str,
    names: Words,
    words: Words,
    text: Callable[[str], str],
    found: tuple[Clue, ...],
    environment: tuple[tuple[str, str], ...] = (),
) -> Preparation:
    texts = {name: text(name) for name in names}
    own = stated(found, "install") if language != "javascript" else ()
    words = ("/bin/sh", "-c", " && ".join(own)) if own else words
    return Preparation(
        language=language,
        files=tuple(FileChange(path=name, text=item) for name, item in texts.items() if item),
        words=words,
        environment=environment,
        versions=stated(found, "version") or tuple(first_of(found, "version")),
    )


_GO = (("GOMODCACHE", "/env/go"), ("GOFLAGS", "-modcacherw"), ("GOTOOLCHAIN", "local"))


def _go(files: Files, _around: Files, inside: Words, found: tuple[Clue, ...]) -> _Project:
    facts = {"tests"} if any(map(kits().kinds["Go"].tests.search, inside)) else set()
    environment = (*_GO, ("GOCACHE", "/tmp/go"), ("GOPROXY", "off"))  # a copy of what is prepared
    needs = "require" in files.text("go.mod") and "vendor/modules.txt" not in inside
    words = ("/bin/sh", "-c", "go mod download" if needs else "true")
    names = ("go.mod", "go.sum")
    kept = (*_GO, ("GOCACHE", "/env/cache"))
    preparation = _from_manifests("Go", names, words, files.text, found, kept)
    build = ("/bin/sh", "-c", kits().scripts["go_build"], files.root or ".")
    preparation = preparation.model_copy(update={"fetches": needs, "build": build})
    return _Project(frozenset(facts), {}, preparation, environment)


def _other(*_: object) -> _Project:
    return _Project()


_PROJECTS: Mapping[str, Callable[[Files, Files, Words, tuple[Clue, ...]], _Project]] = {
    "python": _python,
    "ruby": _ruby,
    "javascript": _javascript,
    "Go": _go,
}


def explained(trouble: Exception) -> str:
    """Return an error as the short reason why something was not run."""
    return shortened(one_line(str(trouble)), EXPLAINED_CHARACTERS)


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


_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def reading_of(run: Run, form: str) -> Reading:
    """Read a run's output; of an unknown `form` any that fits."""
    text, every = _COLOURS.sub("", run.output[-READ_CHARACTERS:]), kits().forms
    forms = [every[form]] if form in every else list(every.values())
    failed = frozenset(
        name[:NAME_CHARACTERS] for item in forms for name in item.failed.findall(text)
    )
    found = (number for item in forms for number in item.counts.findall(text))
    counts = [int(number) if number.isdecimal() else 1 for number in found]  # a line a test
    return Reading(failed, sum(counts) if counts else None, run)


def printed_end(run: Run) -> str:
    """Return what a run printed of its failures, or its end, without the frames of libraries."""
    text = _AGAIN.sub(r"\1\1[...]\n", without_libraries(run.output)).strip()
    if failures := kits().patterns["failures"].search(text):  # their heads hold the message
        return middle_out(text[failures.start() :], OUTPUT_CHARACTERS)
    return last_lines(text, OUTPUT_CHARACTERS)


_AGAIN = re.compile(r"(?m)^([^\n]*\S\n)\1{2,}")  # a stack that is full of one frame


_MADE = re.compile(r"\bmkdir(?: -p| --parents)?((?: +\w[\w./-]*)+)[ \t]*(?=$|&|;|\|)", re.M)


def made_folders(paths: Words, text: Callable[[str], str]) -> Words:
    """List folders that a project's scripts make before anything of it runs: for data, for logs.

    >>> script = "mkdir -p data/images logs shop && run\\nmkdir -p /srv/x $HOME/y ../z"
    >>> made_folders(("run.sh", "shop/a.py"), lambda _: script)
    ('data/images', 'logs')
    """
    ends = ((path, end) for path in paths for end, sign in enumerate(path) if sign == "/")
    existing = {path[:end] for path, end in ends} | set(paths)
    scripts = sorted(filter(kits().patterns["scripts"].match, paths))[:30]
    calls = (call for item in scripts for call in _MADE.findall(text(item)))
    named = (name.rstrip("/") for call in calls for name in call.split())
    new = (name for name in named if name not in existing and ".." not in name.split("/"))
    return tuple(dict.fromkeys(new))[:20]


def starting(kit: Kit) -> str:
    """Return the shell's words that start a project's services and set them up for its tests."""
    scripts = kits().scripts
    names = sorted(set(re.findall(r"\b[a-z]\w{1,30}\b", " ".join(dict(kit.variables).values()))))
    roles = " ".join(names[:40])
    wanted = (item for item in kit.services if item in SERVICES)
    texts = (scripts[item] for item in (f"{kit.language}_start", *wanted) if item in scripts)
    started = [text.strip().format(roles=roles) for text in texts]
    return "".join(
        f"{line}\n" for line in (*started, *(f"{{ {s}; }} >/tmp/setup.log 2>&1" for s in kit.setup))
    )
