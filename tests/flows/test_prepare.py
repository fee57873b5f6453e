"""`nightwatch prepare` over a scripted sandbox: what is printed, written and kept of a person's."""

from dataclasses import replace

import pytest
from night_world import worlds
from scripted_sandbox import ScriptedSandbox, unittest_run
from twins.reading import MemoryCode

from flows.commands.prepare import prepare
from nightwatch_core.models.code import Commit
from nightwatch_core.models.proposals import Run
from nightwatch_core.proof.profiles import profile_in
from tasks.dependencies import using

COMMIT = Commit(repository="acme/shop", sha="a" * 40, branch="main")
FILES = {"app/a.py": "", "app/b.py": "", "tests/test_a.py": "", "requirements.txt": "x\n"}


class Host:
    """A code host with one tree."""

    def head(self):
        return COMMIT

    def reader(self, commit):
        return MemoryCode(FILES, commit)


class Documents(dict):
    def read(self, name):
        return self.get(name, "")

    def write(self, name, text):
        self[name] = text
        return f"projects/{name}.md"


def prepared(documents, answer, capsys, **more):
    sandbox, world = ScriptedSandbox(answer, **more), worlds()
    ports = {"code": Host(), "sandbox": sandbox, "projects": documents}
    with (
        using(replace(world, reading=replace(world.reading, **ports))),
        pytest.raises(SystemExit) as ended,
    ):
        prepare()
    assert sandbox.is_closed
    return ended.value.code, capsys.readouterr().out, sandbox


def some_red(words, changed, times):
    if words[0] == "/bin/sh":
        return Run(code=0, output="Python 3.9.18\n--\nlxml\n--\n")
    return unittest_run("test_old", *(["test_now_and_then"] if times else []), count=10)


def test_what_was_proved_is_kept_and_a_persons_own_words_stay(capsys):
    documents = Documents()
    code, shown, _ = prepared(documents, some_red, capsys)
    assert code == 0
    assert "Runnable: 9 of 10 tests pass in 1 s (Python 3.9.18, dependencies installed)." in shown
    profile = profile_in(documents["acme-shop-python"])
    assert len(profile.red) == len(profile.flaky) == 1
    assert profile.not_installed == ("lxml",)
    assert profile.test == "python3 -m unittest"
    changed = profile.model_copy(update={"test": "make unit", "one_test": "", "by_hand": ("test",)})
    documents["acme-shop-python"] = documents["acme-shop-python"].replace(
        "test: python3 -m unittest\n", "test: make unit\nby_hand: [test]\n"
    ).replace("one_test: python3 -m unittest '{test}'\n", "")  # fmt: skip
    _, _, sandbox = prepared(documents, some_red, capsys)
    assert ("make", "unit") in {words for words, _ in sandbox.asked}
    assert profile_in(documents["acme-shop-python"]) == changed


@pytest.mark.parametrize(
    ("answer", "more", "said"),
    [
        (some_red, {"not_prepared": "no compiler"}, "Its tests cannot be run: no compiler"),
        (lambda *_: unittest_run("a", "b", "c", count=4), {}, "Not runnable: 1 of 4 tests pass"),
    ],
)
def test_what_cannot_be_run_is_said_and_ends_with_one(answer, more, said, capsys):
    code, shown, _ = prepared(Documents(), answer, capsys, **more)
    assert code == 1
    assert said in shown


def test_the_test_command_that_a_person_set_is_what_is_proved(capsys, monkeypatch):
    monkeypatch.setenv("NIGHTWATCH_VERIFY", "make check")
    documents = Documents()
    code, shown, sandbox = prepared(documents, lambda *_: unittest_run(count=3), capsys)
    assert (code, "Runnable: 3 of 3 tests pass" in shown) == (0, True)
    assert ("/bin/sh", "-c", "make check") in {words for words, _ in sandbox.asked}
