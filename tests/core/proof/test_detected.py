"""What is said of a repository's projects before any night."""

import pytest
from scripted_sandbox import ScriptedSandbox, unittest_run
from twins.reading import MemoryCode

from nightwatch_core.models.code import Commit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.proof.kits import describe_projects

COMMIT = Commit(repository="shop", sha="a" * 40, branch="main")
PYTHON = {"app/a.py": "", "tests/test_a.py": "", "requirements.txt": "django==5"}
BEFORE = "python by pytest, else pytest without its addopts, else unittest"


def told(files, not_prepared="", **options):
    sandbox = ScriptedSandbox(lambda *_: unittest_run(), not_prepared=not_prepared)
    text = describe_projects(MemoryCode(files, COMMIT), sandbox, NightOptions(**options))
    assert not sandbox.asked
    return text


@pytest.mark.parametrize(
    ("not_prepared", "options", "words"),
    [
        ("", {}, "its dependencies installed"),
        ("set it", {}, "set it"),
        ("set it", {"prepare_network": True}, "fetched where they are not here"),
        ("set it", {"prepare": "make deps"}, "as NIGHTWATCH_PREPARE says"),
    ],
)
def test_runners_and_dependencies_are_named(not_prepared, options, words):
    text = told({**PYTHON, "pytest.ini": "[pytest]"}, not_prepared, **options)
    assert text.startswith(BEFORE)
    assert text.endswith(words)


def test_every_language_that_there_is_enough_of_is_named_with_what_to_set():
    go = {f"go/{name}.go": "" for name in "abc"} | {"go/go.mod": "", "x.java": ""}
    text = told({**PYTHON, **go})
    assert "a Go project's files: set NIGHTWATCH_VERIFY (for example: go test ./...)" in text
    assert text.startswith("no test runner")
    assert "python by unittest, its dependencies installed" in text
    assert "NIGHTWATCH_VERIFY (for example: dotnet test --no-restore)" in told(
        {"src/Shop.csproj": "", "src/A.cs": ""}
    )
    assert told({"README": ""}) == "no source file of a language that is known"
