"""Tests of what a project's files say of how it is prepared and tested."""

import json
import shlex
import time
from datetime import UTC, datetime

import pytest
from scripted_sandbox import Documents, ScriptedSandbox, unittest_run
from tables import tables_of
from twins.reading import MemoryCode

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.profiles import Profile
from nightwatch_core.models.proposals import Run
from nightwatch_core.proof.finders import Files, clues, first_of
from nightwatch_core.proof.kits import kit_for, reading_of
from nightwatch_core.proof.preparing import described_project, proved_profile
from nightwatch_core.proof.profiles import digest_of, with_profile
from nightwatch_core.proof.requirements import names_of, requirements

TABLES = tables_of(__file__)


def kit(changed, files, **options):
    return kit_for((changed,), tuple(sorted(files)), files.get, NightOptions(**options))


def runners(changed, files):
    made = kit(changed, files)
    return [] if isinstance(made, str) else [item.name for item in made.runners]


def test_python_is_tested_by_what_it_is_set_up_for():
    tests = {"tests/test_a.py": "", "app/a.py": ""}
    assert runners("app/a.py", tests) == ["unittest"]
    assert runners("app/a.py", {**tests, "pytest.ini": "[pytest]"})[0] == "pytest"
    assert runners("app/a.py", {**tests, "requirements-dev.txt": "pytest==8"})[0] == "pytest"
    django = {"shop/tests.py": "", "manage.py": "import django", "shop/a.py": ""}
    assert runners("shop/a.py", django) == ["`manage.py test`"]
    flask = {**django, "manage.py": "from flask_script import Manager"}
    assert runners("shop/a.py", flask) == ["unittest"]
    inner = kit("src/shop/a.py", {f"src/{name}": text for name, text in django.items()} | PYTHON)
    assert (inner.root, inner.preparation.files[0].text) == ("src/", "django==5\n")
    reports = {"tox.ini": "[testenv]\ncommands = pytest --cov-report xml --maxfail 3 tests"}
    assert kit("app/a.py", {**tests, **reports}).runners[0].all_files == ("tests",)
    assert "no test runner was found for a python" in kit("app/a.py", {"app/a.py": ""})


def test_a_profile_is_run_by_the_runner_that_was_proved_and_under_its_name():
    tests = {"tests/test_a.py": "", "app/a.py": "", "pytest.ini": "[pytest]"}
    files = {**tests, "tox.ini": "[testenv]\ncommands = pytest smoke\n"}
    made = kit("app/a.py", files)
    named = {item.name: item for item in made.runners}
    for runner in (named["`pytest` as in tox.ini"], named["pytest"]):
        one, whole = shlex.join((*runner.words, "{test}")), shlex.join(runner.whole)
        words = {"test": whole, "one_test": one, "form": "pytest"}
        profile = Profile(repository="shop", language="python", **words)
        assert with_profile(made, profile).runners == (runner,)


def test_packages_of_the_day_of_an_old_commit_are_tried_where_todays_run_nothing():
    def answer(*_):
        dated = any(sandbox.preparations[-1].environment)
        return unittest_run() if dated else Run(code=1, output="ImportError: no escape")

    sandbox, old = ScriptedSandbox(answer), datetime(2021, 5, 12, tzinfo=UTC)
    tree = MemoryCode(PYTHON, COMMIT.model_copy(update={"at": old}))
    made = kit("app/a.py", PYTHON)
    profile = proved_profile(made, tree, sandbox, None, "2031-01-01")
    assert (profile.packages_of, profile.is_runnable) == ("2021-05-12", True)
    kept = with_profile(made, profile).preparation
    assert kept.environment == sandbox.preparations[-1].environment
    slow, told = ScriptedSandbox(lambda *_: Run(code=1, output="ImportError", seconds=1_300)), []
    proved_profile(made, tree, slow, None, "2031-01-01", told.append)
    assert (len(slow.preparations), told[-1]) == (1, "no other way is tried after 1,200 s")
    profile = proved_profile(made, tree, sandbox, None, "2021-06-01")
    assert (profile.packages_of, profile.trouble) == ("", "no test was run: ImportError: no escape")


def test_python_checks_are_those_that_are_set_up():
    files = {"tests/test_a.py": "", "a.py": "", "pyproject.toml": "[tool.ruff]\n[tool.mypy]\n"}
    names = [item.name for item in kit("a.py", files).inspections]
    assert names == ["syntax", "imports", "syntax", "lint", "types"]


@pytest.mark.parametrize(("files", "changed", "names"), TABLES["other_checks"])
def test_other_languages_checks_are_those_that_are_set_up(files, changed, names):
    assert [item.name for item in kit(changed, files).inspections] == names


@pytest.mark.parametrize(("package", "names"), TABLES["javascript_is_tested_as_package_json_says"])
def test_javascript_is_tested_as_package_json_says(package, names):
    files = {"package.json": json.dumps(package), "src/a.js": "", "test/a.test.js": ""}
    assert runners("src/a.js", files) == names


def test_javascript_is_installed_by_its_lock_file_and_shown_manifests_alone():
    package = json.dumps({"dependencies": {"left-pad": "1"}, "scripts": {"test": "jest"}})
    files = {"web/package.json": package, "web/package-lock.json": "{}", "web/a.ts": "secret"}
    made = kit("web/a.ts", files)
    assert [item.path for item in made.preparation.files] == ["package.json", "package-lock.json"]
    assert made.preparation.words[-3].startswith("npm ci")
    files |= {
        "web/pnpm-lock.yaml": "",
        "web/package.json": package[:-1] + ', "packageManager": "pnpm@11.1"}',
    }
    assert kit("web/a.ts", files).preparation.words[-2:] == ("pnpm@11", "pnpm@10")
    assert made.links == (("web/node_modules", "/env/node_modules"),)
    files["web/nightwatch.toml"] = "install = ['npm ci', 'npm rebuild']"  # a person's stand alone
    assert kit("web/a.ts", files).preparation.words[-3] == "npm ci && npm rebuild"
    ruby = {"Gemfile": "gem 'rspec'", "lib/a.rb": "", "spec/a_spec.rb": ""}
    ruby["nightwatch.toml"] = "install = 'gem install -i /env/gems rspec'"
    prepared = kit("lib/a.rb", ruby).preparation
    assert prepared.words == ("/bin/sh", "-c", "gem install -i /env/gems rspec")
    assert not prepared.whole_tree


def test_a_variable_that_a_person_states_is_not_replaced_by_a_switch():
    switch = {**PYTHON, "app/settings.py": "os.environ['DATABASE_URL']"}
    assert dict(kit("app/a.py", switch).variables)["DATABASE_URL"].startswith("sqlite:")
    switch["nightwatch.toml"] = "variables = {DATABASE_URL = 'postgresql://app@db/app'}"
    assert dict(kit("app/a.py", switch).variables)["DATABASE_URL"] == "postgresql://app@db/app"


def test_options_of_a_script_are_those_of_its_runner():
    script = "FOO=1 nyc mocha --require a/b --reporter spec --check-leaks 'test/**/*.js'"
    files = {
        "package.json": json.dumps({"scripts": {"test": script}}),
        "a.js": "",
        "test/b/c.js": "",
    }
    found = kit("a.js", files)
    words = ("--require", "a/b", "--check-leaks", "test/**/*.js")
    assert found.runners[0].whole[-4:] == words
    assert found.variables == (("FOO", "1"),)
    files["package.json"] = json.dumps({"scripts": {"test": "node --import x --test test/**/*.js"}})
    words = ("--import", "x", "--test", "test/b/c.js")  # Node expands what stands there from 21 on
    assert kit("a.js", files).runners[0].whole[-4:] == words


def test_ruby_is_tested_by_rspec_or_minitest():
    gemfile = {"Gemfile": "gem 'rspec'\n", "lib/a.rb": "", "spec/a_spec.rb": ""}
    assert runners("lib/a.rb", gemfile) == ["rspec"]
    assert kit("lib/a.rb", gemfile).runners[0].whole[:2] == ("bundle", "exec")
    minitest = {**gemfile, "Gemfile": "gemspec", "a.gemspec": "add_dependency 'minitest'"}
    assert runners("lib/a.rb", minitest) == ["minitest"]
    plain = {"Rakefile": "", "lib/a.rb": "", "test/test_a.rb": "", "test/helper.rb": ""}
    (runner,) = kit("lib/a.rb", plain).runners
    assert runner.whole[-1] == "test/test_a.rb"
    assert kit("lib/a.rb", plain).preparation is None


DECLARED = TABLES["declared"]


def test_a_python_project_s_needs_are_read_wherever_they_are_declared():
    long = {**DECLARED, "uv.lock": "#" * 300_000 + f"\n{DECLARED['uv.lock']}"}
    lines, locked = requirements(Files("python", "", tuple(long), long.get))
    assert locked == ("attrs==25.1",)
    extras = {"jinja2", "httpx", "rich", "trio", "pytest", "black", "faker", "coverage", "mock"}
    assert names_of(lines) == {"django", "attrs", "anyio", "click", *extras}
    assert "Django==5.1" in lines
    assert not [line for line in lines if "example.com" in line]


@pytest.mark.parametrize(("form", "output", "failed", "ran"), TABLES["runners_are_read"])
def test_runners_are_read(form, output, failed, ran):
    reading = reading_of(Run(code=1, output=output), form)
    assert (sorted(reading.failed), reading.ran) == (failed, ran)


COMMIT = Commit(repository="shop", sha="a" * 40, branch="main")
PYTHON = {"app/a.py": "", "tests/test_a.py": "", "requirements.txt": "django==5"}
BEFORE = "python by pytest, else pytest without its addopts, else unittest"


def described(files, not_prepared="", kept="", **options):
    sandbox = ScriptedSandbox(lambda *_: unittest_run(), not_prepared=not_prepared)
    tree = MemoryCode(files, COMMIT)
    try:
        text = described_project(tree, NightOptions(**options), Documents(kept), sandbox)
    except GiveUp as trouble:
        text = f"! {trouble}"
    assert not sandbox.asked
    return text


@pytest.mark.parametrize(
    ("not_prepared", "kept", "options", "words"),
    [
        ("", "", {}, f"! {BEFORE}; not tried yet: run `nightwatch prepare`"),
        ("set it", "", {}, f"! {BEFORE}, with what is on this machine; set it"),
        ("set it", "", {"verify": "make test"}, "python by make test"),
        ("", "collected: 9\npassed: 8", {}, f"{BEFORE}. Runnable: 8 of 9 tests pass in 0 s"),
        ("", "collected: 9\npassed: 4\ntrouble: no db", {}, f"! {BEFORE}; Not runnable: 4 of 9"),
        ("", "collected: 1\npassed: 1\ndigest: old", {}, "! its dependencies have changed since"),
        (
            "",
            "collected: many",
            {},
            "! knowledge/projects/shop-python.md cannot be used: collected",
        ),
    ],
)
def test_what_was_tested_is_said_and_what_is_missing_names_the_command(
    not_prepared, kept, options, words
):
    files = {**PYTHON, "pytest.ini": "[pytest]"}
    if kept and "digest" not in kept:
        kept += f"\ndigest: {digest_of(kit('app/a.py', files))}"
    text = f"---\nrepository: shop\nlanguage: python\n{kept}\n---\n" if kept else ""
    assert described(files, not_prepared, text, **options).startswith(words)


def test_the_language_of_most_files_is_named_with_what_to_set():
    java = {f"x/{name}.java": "" for name in "abc"} | {"x/pom.xml": ""}
    text = described({"a.py": "", **java})
    assert "a Java project's files: set NIGHTWATCH_VERIFY (for example: mvn -o -q test)" in text


FOUND = TABLES["found"]


@pytest.mark.parametrize("name", FOUND)
def test_how_a_project_is_tested_is_found_where_it_says_so(name):
    language, files, expected = FOUND[name].values()
    found = clues(Files(language, "", tuple(sorted(files)), files.get))
    kinds = dict.fromkeys(clue.kind for clue in found)
    assert {kind: list(first_of(found, kind)) for kind in kinds} == expected


LONG = {  # written so that a pattern may look at every part of it again and again
    "Makefile": "test" * 40_000,
    "setup.py": "a=[" * 60_000,
    "tox.ini": "[testenv]\ndeps =\n" + "  {a," * 30_000,
    "package.json": json.dumps({"scripts": {"test": "node a " * 25_000}}),
    "pyproject.toml": f"[tool.poe.tasks]\ntest = '{'tsx a ' * 25_000}'",
}


@pytest.mark.parametrize("name", LONG)
def test_hostile_files_take_no_long_time(name):
    files = Files("python", "", (name,), LONG.get)
    started = time.process_time()
    assert not requirements(files, clues(files)).locked
    assert time.process_time() - started < 20


def test_folders_that_its_scripts_make_are_there_when_it_is_tested():
    made = ".github/workflows/ci.yml", "jobs:\n  - run: |\n      mkdir -p data/images\n      test\n"
    hostile = "mkdir -p /etc/x\nmkdir -p ../x\nmkdir $(id)\nmkdir -p shop; rm x\nmkdir -p logs\\\n"
    files = {"shop/a.py": "", "shop/tests.py": "", "Makefile": hostile, made[0]: made[1]}
    assert kit("shop/a.py", files).folders == ("data/images",)
