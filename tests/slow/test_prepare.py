"""Preparing small real projects, offline: what is made, what is seen, and what is kept of it."""

import subprocess
from pathlib import Path

import pytest
from adapters.sandbox import cells
from adapters.sandbox.cells import COMMIT
from machine import needs
from scripted_sandbox import Documents
from twins.reading import MemoryCode

from nightwatch_core.adapters.sandbox.interpreters import interpreters
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import DraftPull, FileChange, Preparation
from nightwatch_core.proof.environment import Environment, NightCache
from nightwatch_core.proof.gate import gated
from nightwatch_core.proof.kits import starting
from nightwatch_core.proof.preparing import projects_of, proved_profile
from nightwatch_core.proof.profiles import document, kit_as_proved, profile_in

pytestmark = [pytest.mark.slow]
TESTS = """
import sys, unittest, os
class T(unittest.TestCase):
    def test_green(self):
        import shop
        self.assertEqual(shop.total(1), 1)
    def test_red(self): self.fail("as before")
    def test_nothing_of_the_system_leaks_in(self):
        self.assertFalse([item for item in sys.path if "dist-packages" in item])
    def test_variables_are_given(self): self.assertEqual(os.environ["SHOP"], "test")
"""
FILES = {
    "shop/__init__.py": "def total(one):\n    return one\n",
    "tests/__init__.py": "",
    "tests/test_shop.py": TESTS,
    "nightwatch.toml": "variables = {SHOP = 'test'}\n",
}


def prepared(files, state, tell=lambda line: None, **more):
    sandbox = cells.sandbox(state, files, **more)
    tree = MemoryCode(files, COMMIT)
    (kit,) = projects_of(tree, NightOptions())
    profile = proved_profile(kit, tree, sandbox, None, "2031-01-01", tell)
    assert profile_in(document(profile)) == profile
    return profile, tree, sandbox


def test_a_project_without_dependencies_gets_an_environment_of_its_own(tmp_path):
    needs("sandbox")
    told: list[str] = []
    profile, tree, sandbox = prepared(FILES, tmp_path, told.append)
    signs = ("dependencies ", "unittest: running ")
    signs = (*signs, "unittest: 3 of 4 tests pass in ", "once more")
    assert not [told for line, sign in zip(told, signs, strict=True) if not line.startswith(sign)]
    assert (profile.collected, profile.passed, profile.is_runnable) == (4, 3, True), profile
    assert [name.split()[0] for name in profile.red] == ["test_red"]
    assert profile.environment == "installed"
    assert profile.sources["variables.SHOP"] == "nightwatch.toml"
    changes = (FileChange(path="shop/__init__.py", text="def total(one):\n    return 2\n"),)
    draft = DraftPull(
        **{"key": "k", "fingerprint": "v1:a", "branch": "b", "base": "main", "title": "t"},
        **{"body": "", "commit_message": "", "commit": COMMIT.sha, "changes": changes},
    )
    cache = NightCache(Documents(document(profile)))
    kit = kit_as_proved(("shop/__init__.py",), tree, NightOptions(), cache)
    assert sandbox.prepare(COMMIT, kit.preparation).how == "kept"
    result = gated(draft, tree, sandbox, NightOptions(), cache)
    assert result.outcome == "failed"
    assert "test_green" in result.text
    sandbox.close()


def test_an_environment_of_another_python_beside_the_checkout_is_used(tmp_path):
    needs("sandbox")
    found = [item for item in interpreters("python", Path.home(), ()) if item.version[:2] == "3."]
    other = next((item for item in found if not item.version.startswith("3.11")), None)
    if other is None:
        pytest.skip("this machine has one version of Python")
    beside = tmp_path / "app" / ".venv"
    subprocess.run([other.program, "-m", "venv", "--without-pip", beside], check=True)
    (packages,) = beside.glob("lib/python3*/site-packages")
    (packages / "greeting.py").write_text("HELLO = 'hello'\n")
    minor = ".".join(other.version.split(".")[:2])
    test = f"""
import sys, unittest, greeting
class T(unittest.TestCase):
    def test_it(self): self.assertEqual("%d.%d" % sys.version_info[:2], "{minor}")
"""
    files = {**FILES, "tests/test_shop.py": test, "requirements.txt": "greeting\n"}
    profile, _, sandbox = prepared(files, tmp_path / "state", libraries=(beside,))
    assert (profile.environment, profile.passed) == ("beside the checkout", 1), profile
    assert profile.interpreter.startswith(f"Python {minor}")
    sandbox.close()


ANSWERS = {  # what says 42 to somebody with any password
    "mysql": ("mariadb-install-db", "mariadb -h mariadb -u shop -psecret shop -Ne 'select 42'"),
    "postgresql": ("postgres", "psql -h db -U shop -Atc 'select 42'"),
    "redis": ("redis-cli", "redis-cli -h redis incrby a 42"),
}


@pytest.mark.parametrize("rung", ["bubblewrap", "unshare"])
@pytest.mark.parametrize("service", list(ANSWERS))
def test_a_service_is_started_beside_the_tests(tmp_path, service, rung):
    program, words = ANSWERS[service]
    needs(rung, program)
    asked = f"services = ['{service}']\nvariables = {{SHOP = 'x://shop:secret@db/shop'}}\n"
    files = FILES | {"nightwatch.toml": asked}
    (kit,) = projects_of(MemoryCode(files, COMMIT), NightOptions())
    sandbox = cells.sandbox(tmp_path, files, rung=rung)
    run = sandbox.run(COMMIT, (), cells.shell(starting(kit) + words))
    assert run.output.split()[-1] == "42", run
    sandbox.close()


def test_what_go_has_compiled_is_not_compiled_again(tmp_path):
    needs("sandbox", "go")
    files = {
        "go.mod": "module example.com/shop\n\ngo 1.19\n",
        "cart.go": "package shop\n\nfunc Total() int { return 2 }\n",
        "cart_test.go": 'package shop\n\nimport "testing"\n\nfunc TestTwo(t *testing.T) {}\n',
    }
    (kit,) = projects_of(MemoryCode(files, COMMIT), NightOptions())
    sandbox = cells.sandbox(tmp_path, files)
    words = ("/bin/sh", "-c", "go test -x ./... 2>&1 | grep -c /compile")
    for change, compiled in (("", "0"), ("func Two() {}\n", "2")):
        changes = (FileChange(path="cart.go", text=files["cart.go"] + change),)
        environment = Environment(sandbox, kit, COMMIT, changes, NightCache(), 60)
        environment.prepare()
        assert environment.fixed(words, "", 60).run.output.strip() == compiled
    sandbox.close()


RUBY = {"Gemfile": "gem 'greeting'\n", "test/a_test.rb": "require 'greeting'\n", "a.rb": ""}


@pytest.mark.parametrize("files", [{**FILES, "requirements.txt": "greeting\n"}, RUBY])
def test_what_is_missing_is_said_where_nothing_may_be_downloaded(tmp_path, files):
    needs("sandbox", *(["ruby"] if files is RUBY else []))
    profile, _, sandbox = prepared(files, tmp_path)
    assert not profile.is_runnable
    assert "run `nightwatch prepare`" in profile.trouble
    sandbox.close()


def test_the_line_that_names_the_error_is_told_and_where_all_of_it_is(tmp_path):
    needs("sandbox")
    sandbox = cells.sandbox(tmp_path / "state", FILES, network=True)
    script = "echo Resolving; echo '  × No solution found:'; echo '  ╰─▶ a needs b'; exit 1"
    preparation = Preparation(language="python", words=("sh", "-c", script), beside=False)
    with pytest.raises(GiveUp, match="prepared: × No solution found: ╰─▶ a needs b [(]see ") as why:
        sandbox.prepare(COMMIT, preparation)
    kept = Path(str(why.value).rpartition("see ")[2].rstrip(")"))
    assert kept.read_text().startswith("Resolving\n")
    sandbox.close()
