"""Tests of proving a fix: what is asked, what is run, and what is published of it."""

import json
import re
from dataclasses import replace

import pytest
from analysis_shapes import analysis
from proof_worlds import Asked, briefing_of
from scripted_sandbox import ScriptedSandbox, unittest_run, unwrapped, with_executed
from twins.reading import MemoryCode

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.errors import StopTheNight, TryLater
from nightwatch_core.models.answer import Edit, Evidence, Usage
from nightwatch_core.models.code import Commit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Run
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.proof.proving import proof_allowance, proved
from nightwatch_core.proof.reproduction import Candidate, _shortened_test, refused

COMMIT = Commit(repository="shop", sha="a" * 40, branch="main")
FILES = {
    "requirements.txt": "",
    "shop/cart.py": "def average(prices):\n    return sum(prices) / len(prices)\n",
    "tests/__init__.py": "",
    "tests/test_cart.py": "import unittest\n",
}
TRACE = """Traceback (most recent call last):
  File "/srv/shop/cart.py", line 2, in average
    return sum(prices) / len(prices)
ZeroDivisionError: division by zero
"""
PATH = "tests/test_cart_crash.py"
FIX = (Edit(path="shop/cart.py", old="len(prices)", new="max(1, len(prices))"),)
TEXT = "def test_it():\n    assert average([]) == 0\n"
ANSWER = json.dumps({"test": TEXT, "why_not": ""})
CRASH = {
    "id": "1-1",
    "class": "ZeroDivisionError",
    "message": "division by zero",
    "frames": [["/work/shop/cart.py", 2, "average"], [f"/work/{PATH}", 2, "test_it"]],
    "locals": [[0, "prices", "[]"]],
}


class Shop(ScriptedSandbox):
    """A sandbox whose tests are green, but for the new one, of which `rows` are written down."""

    def __init__(self, *rows, crashes=lambda changes: True, **more):
        super().__init__(lambda *_: unittest_run(), **more)
        self.rows, self.crashes, self.runs = rows or (CRASH, {"id": "1-1", "left": 0}), crashes, []

    def run(self, commit, changes, command):
        self.confinement()
        self.runs.append((commit.sha, tuple(item.path for item in changes), command.words))
        if not is_reproduction(command.words):
            words, marks = unwrapped(command.words)
            run = unittest_run() if "unittest" in words else Run(code=0, seconds=0.1)
            return with_executed(run, changes, *marks) if marks else run
        red = self.crashes({item.path: item.text for item in changes})
        base = unittest_run(*(["test_it"] if red else []), count=1)
        rows = "\n".join(map(json.dumps, self.rows)) if red else ""
        return base.model_copy(update={"output": f"{base.output}\n{command.words[4]}\n{rows}\n"})


def is_reproduction(words):
    return words[0] == "/bin/sh" and "raised" in words[2] and not unwrapped(words)[1]


def mended(changes):
    return "shop/cart.py" not in changes


def prove(sandbox, model, **more):
    files = more.pop("files", FILES)
    trace = more.pop("trace", TRACE)
    return proved(briefing_of(files, trace, FIX, sandbox, NightCache(), model, COMMIT, **more))


def test_what_reproduces_is_red_green_and_part_of_what_is_published():
    model = Asked(ANSWER)
    result = prove(Shop(crashes=mended), model)
    assert (result.outcome, result.reproduction.outcome) == ("passed", "reproduced")
    assert [item.path for item in result.edits] == ["shop/cart.py", PATH]
    assert result.fix == fix_digest(result.edits) == fix_digest(FIX)
    assert result.changes[-1].path == PATH
    assert result.checks[0].name == "reproduction"
    assert result.usage.new_tokens == 1_200
    assert result.reproduction.facts[0].value == "[]"


class Timed(Shop):
    """A shop that tells of every run how long it took a processor."""

    def run(self, commit, changes, command):
        return super().run(commit, changes, command).model_copy(update={"cpu": 0.5})


def test_the_processor_time_of_a_proof_is_that_of_all_its_runs():
    sandbox = Timed(crashes=mended)
    assert prove(sandbox, Asked(ANSWER)).cpu == len(sandbox.runs) * 0.5 > 3


class RedSuite(Shop):
    """A shop whose suite, which logs a lot, is red with the fix."""

    def run(self, commit, changes, command):
        run = super().run(commit, changes, command)
        if is_reproduction(command.words) or not changes or not run.output:
            return run
        red = unittest_run("test_sum")
        return red.model_copy(update={"output": "a line of a log\n" * 20 + red.output})


def test_another_fix_is_asked_for_with_what_passed_and_what_failed_and_no_logs():
    model = Asked(ANSWER)
    result = prove(RedSuite(crashes=mended), model)
    assert result.outcome == "failed"
    asked = model.asked[1].turns[0].text
    assert f"{PATH} raises the crash without the fix and passes with it; unittest: " in asked
    assert "FAIL: test_sum (tests.test_a.T.test_sum)" in asked
    assert "a line of a log" not in asked


@pytest.mark.parametrize(
    ("path", "head", "end"),
    [
        ("tests/test_cart.py", "def test_{n}():", ""),
        ("tests/cart.test.js", "test('{n}', async () => {{", "}});\n"),
        ("spec/cart_spec.rb", "it '{n}' do", "end\n"),
    ],
)
def test_of_a_long_example_whole_functions_are_left_out(path, head, end):
    more = "    more()\n" * 30
    bodies = [f"{head}\n{more}    last_{n}()\n{end}".format(n=n) for n in range(40)]
    asked = _shortened_test(path, f"import unittest\n{''.join(bodies)}", 6_000)
    shown = [n for n in range(40) if head.format(n=n) in asked]
    assert len(shown) > 10
    assert shown == [n for n in range(40) if f"last_{n}()" in asked] == list(range(len(shown)))
    assert f"[... {40 - len(shown)} functions left out ...]" in asked


def test_without_tests_of_the_code_those_of_its_folder_are_the_example():
    tests = {path: FILES["tests/test_cart.py"] for path in ("api/test_a.py", "shop/test_sums.py")}
    rest = {path: text for path, text in FILES.items() if not path.startswith("tests/")}
    model = Asked(ANSWER)
    prove(Shop(), model, files={**rest, **tests})
    asked = model.asked[0].turns[0].text
    assert asked.index("shop/test_sums.py") < asked.find("api/test_a.py") % len(asked)
    assert "shop/test_sums_crash.py" in asked


OWN = Edit(path="tests/test_cart.py", old="import unittest\n", new="import unittest, shop\n")


def own_test_proved(sandbox, model, *fix):
    return proved(briefing_of(FILES, TRACE, fix, sandbox, NightCache(), model, COMMIT))


def test_a_fix_whose_own_test_raises_the_crash_is_reproduced_by_that_and_nobody_is_asked():
    model = Asked(ANSWER)
    result = own_test_proved(Shop(crashes=mended), model, *FIX, OWN)
    made = result.reproduction
    assert (result.outcome, made.outcome, made.name) == ("passed", "reproduced", OWN.path)
    assert (made.test, made.because, made.tries) == ((), "", 0)
    assert made.red
    assert made.green
    assert made.frames == ("shop/cart.py:2 (average)",)
    assert (model.asked, result.usage.new_tokens, result.edits) == ([], 0, ())


def test_an_own_test_counts_for_the_fix_that_it_passes_with_alone():
    wrong = FIX[0].model_copy(update={"new": "len(prices or [1])"})
    right = {"has_fix": True, "file_changes": [item.model_dump() for item in FIX]}
    answer = json.dumps({"title": "", "root_cause": "again", "confidence": "high", **right})

    def crashes(changes):
        return "max(1" not in changes.get("shop/cart.py", "")

    model = Asked(ANSWER, answer)
    result = own_test_proved(Shop(crashes=crashes), model, wrong, OWN)
    assert len(model.asked) == 2, "its own test stays red: a model is asked for one"
    assert (result.outcome, result.correction.outcome) == ("passed", "passed")
    assert result.reproduction.name == PATH


def test_a_fix_whose_own_test_raises_the_crash_all_the_same_has_failed():
    result = own_test_proved(Shop(), None, *FIX, OWN)
    assert (result.outcome, result.reproduction.name) == ("failed", OWN.path)
    assert result.text == "the crash is still there: ZeroDivisionError in shop/cart.py average"


def test_a_test_that_begins_below_the_cause_is_published_with_that_doubt():
    files = {**FILES, "shop/till.py": "def close(day):\n    return average(day.prices)\n"}
    trace = TRACE.replace(
        '  File "/srv/shop/cart',
        '  File "/srv/shop/till.py", line 2, in close\n  File "/srv/shop/cart',
    )
    briefing = briefing_of(
        files, trace, FIX, Shop(crashes=mended), NightCache(), Asked(ANSWER, ANSWER), COMMIT
    )
    quoted = Evidence(path="shop/till.py", line=2, quote="average(day.prices)", verified=True)
    weighed = briefing.analysis.model_copy(update={"evidence": (quoted,)})
    made = proved(replace(briefing, analysis=weighed)).reproduction
    assert made.because == "it does not go through shop/till.py, where the cause begins"
    assert proved(briefing).reproduction.because == ""


def test_a_fix_that_leaves_the_crash_has_failed_and_no_more_of_it_is_run():
    sandbox = Shop()
    result = prove(sandbox, Asked(ANSWER, "no"))
    assert result.outcome == "failed"
    assert result.text == "the crash is still there: ZeroDivisionError in shop/cart.py average"
    assert not any("shop/cart.py" in p for _, p, w in sandbox.runs if not is_reproduction(w))
    assert not result.edits


def test_a_test_that_is_red_in_another_way_blocks_nothing_and_is_not_published():
    rows = iter([(CRASH, {"id": "1-1", "left": 0})] * 2 + [()] * 2)
    sandbox = Shop()

    def next_rows(_changes):
        sandbox.rows = next(rows)
        return True

    sandbox.crashes = next_rows
    result = prove(sandbox, Asked(ANSWER))
    assert (result.outcome, result.reproduction.outcome) == ("passed", "reproduced")
    assert result.reproduction.because
    assert not result.reproduction.is_mended
    assert not result.reproduction.test
    assert not result.edits


def test_what_lint_says_of_the_test_alone_does_not_fail_the_fix():
    class Linted(Shop):
        def run(self, commit, changes, command):
            is_lint = "ruff" in command.words
            if is_lint and any(item.path == PATH for item in changes):
                return Run(code=1, output="error: a name", seconds=0.1)
            return super().run(commit, changes, command)

    files = {**FILES, "ruff.toml": "line-length = 99\n", "requirements.txt": "ruff\n"}
    result = prove(Linted(crashes=mended), Asked(ANSWER), files=files)
    assert result.outcome == "passed"
    assert result.reproduction.is_mended
    assert result.reproduction.because == "lint: error: a name"
    assert not result.edits


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (({**CRASH, "class": "KeyError"}, {"id": "1-1", "left": 0}), "is raised, not"),
        ((CRASH,), "handled in the same place"),
        (({"id": "2"},), "the application raises nothing"),
    ],
)
def test_what_is_not_production_s_crash_is_told_to_the_model_once(rows, why):
    model = Asked(ANSWER, ANSWER)
    result = prove(Shop(*rows), model)
    assert (result.outcome, result.reproduction.outcome) == ("passed", "not reproduced")
    assert why in result.reproduction.because
    assert len(model.asked) == 2
    assert why in model.asked[1].turns[-1].text
    assert result.usage.cost == 0.02


class Late(Shop):
    """A sandbox in which the new test does not come to its end."""

    def run(self, commit, changes, command):
        run = super().run(commit, changes, command)
        late = {"ended": "took too long", "code": -9, "seconds": 60.0}
        return run.model_copy(update=late) if is_reproduction(command.words) else run


def test_a_run_without_an_end_is_called_that_and_a_second_one_that_has_no_time_is_not_paid():
    model = Asked(ANSWER, ANSWER)
    result = prove(Late(), model)
    assert result.reproduction.outcome == "not reproduced"
    assert result.reproduction.because == "its run does not come to its end: it took too long"
    assert len(model.asked) == 1


def test_a_test_that_was_refused_was_not_run_and_what_is_refused_is_said_before():
    model = Asked(json.dumps({"test": f"{TEXT}    eval('1')\n", "why_not": ""}), ANSWER)
    prove(Shop(crashes=mended), model)
    said = model.asked[1].turns[-1].text
    assert said.startswith("Your test was not run: a test may not use eval(.\n\nAnswer once more")
    listed = re.findall(r"`([^`]+)`", model.asked[0].system)
    assert len(listed) > 20
    assert all(refused(Candidate(PATH, f"x{text}y\n {text} "), ()) for text in listed)


@pytest.mark.parametrize(
    ("trouble", "silent", "because"),
    [
        (TryLater("away"), "", "away"),
        (StopTheNight("no credit"), "no credit", "the model answers no more tonight"),
    ],
)
def test_a_model_that_is_away_blocks_nothing_and_what_it_took_is_counted(trouble, silent, because):
    trouble.usage = Usage(calls=1, input_tokens=7)
    briefing = briefing_of(FILES, TRACE, FIX, Shop(), NightCache(), Asked(trouble), COMMIT)
    result = proved(briefing)
    assert (result.outcome, result.reproduction.because) == ("passed", because)
    assert result.usage.input_tokens == 7
    assert briefing.cache.silent == silent


def test_without_a_model_or_a_sandbox_nobody_is_asked():
    assert prove(Shop(), None).reproduction.outcome == "not tried"
    model = Asked(ANSWER)
    result = prove(Shop(lacking="no bubblewrap"), model)
    assert (result.outcome, result.kind) == ("not run", "no sandbox")
    assert (result.text, result.reproduction.because) == (
        "no bubblewrap",
        "the project's tests could not be started",
    )
    assert not model.asked


def test_a_test_is_run_where_it_failed_and_with_the_fix_on_the_base():
    failing = MemoryCode(
        {**FILES, "shop/extra.py": ""}, COMMIT.model_copy(update={"sha": "b" * 40})
    )
    sandbox = Shop(crashes=mended)
    prove(sandbox, Asked(ANSWER), failing=failing)
    ran = [(sha[0], paths) for sha, paths, words in sandbox.runs if is_reproduction(words)]
    assert ran == [("b", (PATH,)), ("b", (PATH,)), ("a", ("shop/cart.py", PATH))]


def test_what_the_policy_refuses_of_a_test_does_not_take_the_fix_along():
    powerful = TEXT.replace("average", "__import__('subprocess').run")
    result = prove(
        Shop(crashes=mended), Asked(ANSWER.replace(json.dumps(TEXT), json.dumps(powerful)))
    )
    assert result.outcome == "passed"
    assert result.reproduction.because
    assert not result.reproduction.test
    assert not result.edits


@pytest.mark.parametrize(
    ("options", "used", "spent", "tokens", "cost"),
    [
        ({}, Usage(), Usage(), 60_000, 1.5),
        ({}, Usage(input_tokens=950_000, cost=5.0), Usage(cost=0.25), 50_000, 1.0),
        ({}, Usage(cost=2.0), Usage(cost=1.25), 60_000, 0.25),
        ({}, Usage(cost=2.0), Usage(cost=9.0), 60_000, 0.0),
        ({}, Usage(input_tokens=2_000_000, cost=7.0), Usage(), 0, 0.0),
        ({}, Usage(cost=None), Usage(cost=None), 60_000, 0.0),
        ({"cost_per_error": 0}, Usage(cost=2.0), Usage(cost=1.0), 60_000, 4.0),
        ({"cost_per_night": 0}, Usage(cost=99.0), Usage(cost=9.0), 60_000, None),
    ],
)
def test_a_proof_has_what_is_left(options, used, spent, tokens, cost):
    may = proof_allowance(analysis(usage=spent), NightOptions(**options), used)
    assert (may.tokens, may.cost) == (tokens, cost)
