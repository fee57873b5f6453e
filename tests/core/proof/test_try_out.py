"""Tests of what an analyst may have run: ids of tests, words for each runner, snippets."""

import json
import subprocess
import sys

import pytest
from scripted_sandbox import Documents, ScriptedSandbox, unittest_run
from twins.reading import MemoryCode

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.profiles import Profile
from nightwatch_core.models.proposals import Run
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.proof.gate import try_out
from nightwatch_core.proof.profiles import document

PYTHON = {"shop/cart.py": "", "tests/test_cart.py": "", "tests/__init__.py": ""}
PYTEST = {**PYTHON, "pytest.ini": "[pytest]"}
RUBY = {"Rakefile": "", "lib/a.rb": "", "test/test_a.rb": ""}
RAILS = {"Gemfile": "gem 'rails'\n", "bin/rails": "", "app/a.rb": "", "test/a_test.rb": ""}
SPEC = {"Gemfile": "gem 'rspec'\n", "lib/a.rb": "", "spec/a_spec.rb": ""}
NODE = {"package.json": "{}", "src/a.js": "", "test/a.test.js": ""}
JEST = {**NODE, "package.json": json.dumps({"devDependencies": {"jest": "1"}})}
GREEN = Run(code=0, output="Ran 1 test in 0.1s\n1 passed in 0.1s\n# tests 1\n", seconds=1)


def of(files, changed, answer=None, options=None, profile="", **more):
    sandbox = ScriptedSandbox(answer or (lambda *_: GREEN), **more)
    cache = NightCache(Documents(profile))
    made = try_out((changed,), MemoryCode(files), sandbox, options or NightOptions(), cache)
    return made, sandbox


def words(files, changed, test):
    made, sandbox = of(files, changed)
    made.run_test(test)
    return sandbox.asked[-1][0]


@pytest.mark.parametrize(
    ("files", "changed", "test", "last"),
    [
        (PYTEST, "shop/cart.py", "tests/test_cart.py", ("tests/test_cart.py",)),
        (PYTHON, "shop/cart.py", "./tests/test_cart.py", ("tests.test_cart",)),
        (RUBY, "lib/a.rb", "test/test_a.rb", ("test/test_a.rb",)),
        (RAILS, "app/a.rb", "test/a_test.rb", ("test", "test/a_test.rb")),
        (SPEC, "lib/a.rb", "spec/a_spec.rb", ("--no-color", "spec/a_spec.rb")),
        (JEST, "src/a.js", "test/a.test.js", ("test/a.test.js",)),
    ],
)  # fmt: skip
def test_a_test_is_named_as_its_runner_names_it(files, changed, test, last):
    assert words(files, changed, test)[-len(last) :] == last


@pytest.mark.parametrize(
    "test",
    [
        "", "tests/gone.py", "../etc/passwd", "/etc/passwd", "-p no:x", "tests/test_cart.py; id",
        "tests/test_cart.py::-rf", "tests/test_cart.py::a\nb", f"tests/test_cart.py::{'x' * 300}",
        "tests", "tests.gone.T", "-c.py",
    ],
)  # fmt: skip
def test_what_is_no_test_of_the_tree_is_never_run(test):
    made, sandbox = of({**PYTEST, "-c.py": ""}, "shop/cart.py")
    with pytest.raises(GiveUp):
        made.run_test(test)
    assert not sandbox.asked


def test_a_runner_that_is_not_here_makes_room_for_the_next():
    def answer(words, *_):
        absent = Run(code=1, output="/usr/bin/python3: No module named pytest\n", seconds=0.1)
        return absent if "pytest" in words else unittest_run("test_a", count=1)

    made, sandbox = of(PYTEST, "shop/cart.py", answer)
    run = made.run_test("tests/test_cart.py")
    assert "FAIL: test_a" in run.output
    assert [asked[0][2] for asked in sandbox.asked] == ["pytest", "unittest"]


@pytest.mark.parametrize(
    ("files", "changed", "code", "first"),
    [
        (RUBY, "lib/a.rb", "-x", ("ruby", "-Ilib:test:.", "-e", "\n-x")),
        (RAILS, "app/a.rb", "-x", ("ruby", "bin/rails", "runner", "\n-x")),
        (NODE, "src/a.js", "-x", ("node", "--eval=-x")),
        (NODE, "src/a.js", "import a from 'a'", ("node", "--input-type=module")),
    ],
)
def test_code_is_never_an_option(files, changed, code, first):
    made, sandbox = of(files, changed)
    made.run_snippet(code)
    assert sandbox.asked[0][0][: len(first)] == first


def test_python_code_is_run_as_the_main_module_and_django_is_set_up_first(tmp_path):
    manage = 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_a.settings")'
    made, sandbox = of({**PYTHON, "manage.py": manage}, "shop/cart.py")
    made.run_snippet("import sys; print(__name__, sys.argv)")
    asked = sandbox.asked[0][0]
    assert asked[-1] == "site_a.settings"
    setup = "import os\ndef setup(): print(os.environ['DJANGO_SETTINGS_MODULE'])\n"
    for text, said in (
        (setup, "site_a.settings"),
        ("def setup(): raise KeyError('DATABASE')", "django.setup(): KeyError: 'DATABASE'"),
    ):
        (tmp_path / "django.py").write_text(text)
        ran = subprocess.run(
            [sys.executable, "-B", *asked[1:]], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert ran.stdout == f"{said}\n__main__ ['-c']\n"


@pytest.mark.parametrize(
    ("more", "passed", "is_offered"),
    [({}, None, True), ({"not_prepared": "set it"}, None, False), ({}, 4, True), ({}, 1, False)],
)
def test_it_is_offered_where_tests_can_be_run(more, passed, is_offered):
    kept = Profile(repository="shop", language="python", collected=5, passed=passed or 0)
    text = "" if passed is None else document(kept)
    files = {**PYTHON, "requirements.txt": "django\n"}
    made, sandbox = of(files, "shop/cart.py", profile=text, **more)
    assert (made is not None) == is_offered
    assert not sandbox.asked


def test_a_fix_is_made_before_a_test_is_run_and_must_be_one():
    made, sandbox = of({**PYTHON, "shop/cart.py": "a = 1\n"}, "shop/cart.py")
    made.run_test("tests/test_cart.py", (Edit(path="shop/cart.py", old="a = 1", new="a = 2"),))
    assert [changed for _, changed in sandbox.asked] == [True]
    with pytest.raises(GiveUp, match=r"with_fix: shop/cart\.py"):
        made.run_snippet("1", (Edit(path="shop/cart.py", old="b = 1", new="a = 2"),))
