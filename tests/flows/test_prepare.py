"""`nightwatch prepare` over a scripted sandbox: what is printed, written and kept of a person's."""

import json

import pytest
from night_world import worlds
from scripted_sandbox import ScriptedSandbox, unittest_run
from twins.reading import MemoryCode, MemoryModel

from flows.commands.prepare import prove_projects
from nightwatch_core.errors import TryLater
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.code import Commit
from nightwatch_core.models.conversation import AssistantTurn, Reply, ToolCall
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Run
from nightwatch_core.proof import preparing
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.proof.profiles import kit_as_proved, profile_in
from nightwatch_core.settings import night_options
from tasks.wiring import Harness

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


def prepared(documents, answer, capsys, model=None, **more):
    sandbox, world = ScriptedSandbox(answer, **more), worlds()
    model = model or MemoryModel([said("")])
    options = night_options({"code": "checkout", "prepare_network": True})
    harness = Harness(Host(), sandbox, documents, world.reading.clock, lambda name, text: "out.txt")
    adviser = preparing.Adviser(model, Host().reader(COMMIT), world.reading.clock, "fence")
    found = prove_projects(options, harness, lambda tell: adviser)
    assert sandbox.is_closed
    return 0 if any(found) else 1, capsys.readouterr().out, sandbox


def said(*texts, because="It needs a car."):
    files = [{"path": "nightwatch.toml", "action": "create", "new": text} for text in texts if text]
    told = {"title": "", "root_cause": because, "confidence": "high", "file_changes": files}
    return json.dumps(told)


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


LACKING = "Failure/Error: require 'car'\n\nLoadError:\n  cannot load such file -- car\n# ./a.rb:1\n"
RSPEC = Run(code=1, output=LACKING)


@pytest.mark.parametrize(
    ("answer", "more", "said"),
    [
        (some_red, {"not_prepared": "no compiler"}, "Its tests cannot be run: no compiler"),
        (lambda *_: unittest_run("a", "b", "c", count=4), {}, "Not runnable: 1 of 4 tests pass"),
        (lambda *_: RSPEC, {}, "no test was run: LoadError: cannot load such file -- car"),
        (lambda *_: RSPEC, {}, "what it printed: "),
        (lambda *_: RSPEC, {}, "running (at most 300 s of the processors, 1,200 s in all)"),
    ],
)
def test_what_cannot_be_run_is_said_and_ends_with_one(answer, more, said, capsys):
    code, shown, _ = prepared(Documents(), answer, capsys, **more)
    assert code == 1
    assert said in shown


SHELL = Reply(
    turn=AssistantTurn(calls=(ToolCall(id="1", name="run_snippet", arguments={"code": "ls cars"}),))
)
REFUSED = Reply(turn=AssistantTurn(), stop="refused", detail="policy", usage=Usage(calls=1))
WORDS = 'test = "make drive"\nservices = ["imports"]\ninstall = ["pip install car"]\n'
WHY = "It is driven."


def only_by(command):
    def answer(words, changed, times):
        is_it = words == ("/bin/sh", "-c", command)
        return unittest_run(count=4) if is_it else Run(code=1, output="SomeError: no car here")

    return answer


def test_a_model_is_asked_once_where_rules_find_no_way_and_its_proposal_is_proved(capsys):
    documents = Documents()
    model = MemoryModel([SHELL, said("test = 'make fly'"), said(WORDS, because=WHY)])
    code, shown, sandbox = prepared(documents, only_by("make drive"), capsys, model)
    assert (code, ("/bin/sh", "-c", "ls cars") in {words for words, _ in sandbox.asked}) == (
        0,
        True,
    )
    assert "the model was asked for under $0.01: It is driven." in shown
    asked, _, again = (item.turns[-1] for item in model.shown)
    assert "no test was run: SomeError: no car here" in asked.text
    assert "That was tried, and does not do" in again.text
    profile = profile_in(documents["acme-shop-python"])
    assert (profile.passed, profile.because, profile.proposed) == (4, WHY, WORDS)
    assert profile.sources["test"] == "a model's proposal"
    assert profile.by_hand == ()
    (host, listed) = Host(), sandbox.preparations[-1].files[0].text
    assert (listed, sandbox.preparations[-1].whole_tree) == ("car\nx\n", False)
    kept = kit_as_proved(("app/a.py",), host.reader(COMMIT), NightOptions(), NightCache(documents))
    assert (kept.runners[0].whole[-1], kept.stale) == ("make drive", "")
    assert kept.preparation.files == sandbox.preparations[-1].files
    documents = {**documents}  # the same once more
    code, shown, _ = prepared(Documents(documents), only_by("make drive"), capsys, model)
    assert (code, len(model.shown), "was asked" in shown) == (0, 3, False)


def test_a_model_is_told_what_an_install_that_failed_has_printed(capsys):
    model = MemoryModel([said("")])
    prepared(Documents(), only_by(""), capsys, model, not_prepared="no wheel of car")
    assert "$ install\nno wheel of car\n" in model.shown[0].turns[0].text


@pytest.mark.parametrize(
    ("script", "because", "asked"),
    [
        ([said("")], "nothing was proposed: It needs a car.", 1),
        ([said("test = 'make fly'"), said("[")], "in vain: It needs a car.", 2),
        ([REFUSED], "the model refused to answer (policy)", 1),
        ([TryLater("busy")], "busy", 2),  # nothing was paid
    ],
)
def test_what_a_model_proposes_in_vain_changes_nothing_and_is_not_asked_again(
    script, because, asked, capsys
):
    documents, model = Documents(), MemoryModel(script)
    for _ in range(2):
        code, _, _ = prepared(documents, only_by(""), capsys, model)
    profile = profile_in(documents["acme-shop-python"])
    assert (code, profile.proposed, profile.because) == (1, "", because)
    assert len(model.shown) == asked


def test_the_test_command_that_a_person_set_is_what_is_proved(capsys, monkeypatch):
    monkeypatch.setenv("NIGHTWATCH_VERIFY", "make check")
    documents = Documents()
    code, shown, sandbox = prepared(documents, lambda *_: unittest_run(count=3), capsys)
    assert (code, "Runnable: 3 of 3 tests pass" in shown) == (0, True)
    assert ("/bin/sh", "-c", "make check") in {words for words, _ in sandbox.asked}
