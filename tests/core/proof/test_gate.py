"""Tests of the gate: the base first, and what counts against a fix."""

import pytest
from scripted_sandbox import Documents, ScriptedSandbox, unittest_run

from nightwatch_core.models.code import Commit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.profiles import Profile
from nightwatch_core.models.proposals import DraftPull, FileChange, Run
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.proof.gate import gated
from nightwatch_core.proof.preparing import projects_of, proved_profile
from nightwatch_core.proof.profiles import document, with_profile

FILES = {
    "requirements.txt": "",
    "shop/cart.py": "",
    "tests/__init__.py": "",
    "tests/test_cart.py": "",
    "tests/test_b.py": "",
}
SUM = "test_sum (tests.test_a.T.test_sum)"
QUIET = Run(code=0, seconds=0.1)
WHOLE, NEAREST = ("python3", "-m", "unittest"), ("python3", "-m", "unittest", "tests.test_cart")


class Tree:
    def __init__(self, files=FILES):
        self.files, self.commit = files, Commit(repository="shop", sha="a" * 40, branch="main")

    def paths(self):
        return tuple(sorted(self.files))

    def read_file(self, path):
        return self.files.get(path)


def draft(path="shop/cart.py", text="x = 1\n"):
    return DraftPull(
        key="k",
        fingerprint="v1:a",
        branch="b",
        base="main",
        title="t",
        body="",
        commit_message="",
        changes=(FileChange(path=path, text=text),),
        commit="a" * 40,
        fix="digest",
    )


def is_test(words):
    return words[1:3] == ("-m", "unittest")


def gate(answer, *, tree=None, cache=None, options=None, of=None, **more):
    """The result, and the sandbox; `answer` is told of tests alone."""

    def answered(words, fixed, times):
        return answer(words, fixed, times) if is_test(words) else QUIET

    sandbox = ScriptedSandbox(answered, **more)
    options = options or NightOptions()
    result = gated(of or draft(), tree or Tree(), sandbox, options, cache or NightCache())
    return result, sandbox


def test_a_fix_that_leaves_all_green_passes_nearest_tests_first():
    result, sandbox = gate(lambda *_: unittest_run())
    assert (result.outcome, result.fix) == ("passed", "digest")
    tests = [asked for asked in sandbox.asked if is_test(asked[0])]
    assert tests == [(NEAREST, False), (NEAREST, True), (WHOLE, False), (WHOLE, True)]
    assert "tests/test_cart.py: 5 tests, green" in result.checks[-2].text
    assert [item.name for item in result.checks] == ["syntax", "imports", "tests", "tests"]


def test_files_of_tests_are_imported_by_what_runs_them_alone():
    result, _ = gate(lambda *_: unittest_run(), of=draft("tests/test_new.py"))
    assert [item.name for item in result.checks] == ["syntax", "tests"]


def test_a_test_that_turns_red_fails_it_with_its_name_and_output():
    red = [f"test_{number}" for number in range(7)]
    result, sandbox = gate(lambda words, fixed, _: unittest_run(*(red if fixed else [])))
    assert result.outcome == "failed"
    assert "test_0 (tests.test_a.T.test_0)" in result.text
    assert result.text.endswith(" and 2 more")
    assert "Traceback" in result.checks[-1].output
    assert (WHOLE, True) not in sandbox.asked  # nothing more is run


def test_what_is_red_on_the_base_is_named_and_not_held_against_it():
    result, _ = gate(lambda *_: unittest_run("test_old"))
    assert result.outcome == "passed"
    assert result.preexisting == ("test_old (tests.test_a.T.test_old)",)
    assert "no worse than the base" in result.checks[-1].text


def test_of_the_base_the_files_of_red_tests_alone_are_run_once_more():
    def answer(words, *_):
        return unittest_run(*([] if words == NEAREST else ["test_old"]))

    result, sandbox = gate(answer, tree=Tree({**FILES, "tests/test_a.py": ""}))
    assert (len(result.preexisting), result.flaky) == (1, ())
    tests = [asked for asked in sandbox.asked if is_test(asked[0])]
    assert tests[2:] == [(WHOLE, False), ((*WHOLE, "tests.test_a"), False), (WHOLE, True)]


@pytest.mark.parametrize(
    "is_red",
    [
        lambda fixed, times: not fixed and not times,  # on the base, once
        lambda fixed, times: fixed and not times,  # with the fix, once
        lambda fixed, times: fixed or times,  # with the fix, and later on the base, too
    ],
)
def test_what_is_red_and_green_on_the_same_code_is_flaky(is_red):
    def answer(words, fixed, times):
        return unittest_run(*(["test_now"] if words == WHOLE and is_red(fixed, times) else []))

    result, _ = gate(answer)
    assert (result.outcome, result.preexisting) == ("passed", ())
    assert result.flaky == ("test_now (tests.test_a.T.test_now)",)


@pytest.mark.parametrize(
    "run",
    [
        Run(code=0, output="", seconds=1),  # the change ends the runner before it says anything
        Run(code=0, output="Ran 2 tests in 0.1s\n\nOK\n", seconds=1),
        Run(code=-9, ended="took too long", output="...", seconds=1),
        Run(code=1, output="Traceback\nSystemExit: 3", seconds=1),
        Run(code=-9, ended="used too much memory", seconds=1),
    ],
)
def test_a_suite_that_does_not_come_to_its_end_is_not_green(run):
    result, _ = gate(lambda words, fixed, _: run if fixed else unittest_run())
    assert result.outcome == "failed"
    assert result.text


def test_a_suite_that_does_not_end_on_the_base_is_told_as_not_finished():
    late = Run(code=-9, ended="took too long", output="...", seconds=55.3)
    result, _ = gate(lambda words, *_: late if words == WHOLE else unittest_run())
    assert (result.outcome, result.checks[-1].outcome) == ("passed", "not finished")
    shown = "unittest: the whole suite (stopped after 55 s on the commit without the fix)"
    assert (result.checks[-1].text, result.checks[-1].seconds) == (shown, 55.3)
    cache = NightCache()  # a second fix has more time, since the base's nearest tests ran before
    for _ in range(2):
        _, sandbox = gate(lambda words, *_: late if words == WHOLE else unittest_run(), cache=cache)
    assert (WHOLE, False) not in sandbox.asked
    options = NightOptions(verify="make check")
    alone = gated(draft(), Tree(), ScriptedSandbox(lambda *_: late), options, NightCache())
    assert (alone.outcome, alone.kind) == ("not run", "no time")
    assert alone.text.endswith("on the commit without the fix); raise --gate-seconds")
    nearest, _ = gate(lambda *_: late)
    assert nearest.kind == "no time"
    assert nearest.text.endswith("on the base: took too long; raise --gate-seconds")


@pytest.mark.parametrize(
    ("new", "outcome"), [("", "passed"), ("shop/cart.py:4: NameError: no such name\n", "failed")]
)
def test_complaints_of_the_base_are_not_held_against_it_new_ones_are(new, outcome):
    def answer(words, fixed, _):
        if is_test(words):
            return unittest_run()
        place, more = (3, new) if fixed else (9, "")
        return Run(code=0, output=f"shop/cart.py:{place}: old\n{more}")

    sandbox = ScriptedSandbox(answer)
    result = gated(draft(), Tree(), sandbox, NightOptions(), NightCache())
    assert result.outcome == outcome
    assert ("NameError" in result.text) == bool(new)
    assert any(is_test(words) for words, _ in sandbox.asked) != bool(new)


@pytest.mark.parametrize(
    ("beside", "outcome"), [("no-untyped-def", "passed"), ("attr-defined", "failed")]
)
def test_types_of_a_new_test_are_held_against_it_where_its_neighbours_have_them(beside, outcome):
    def answer(words, fixed, _):
        if is_test(words):
            return unittest_run()
        files = [item for item in words if item.startswith("tests/")] if "mypy" in words else []
        kinds = {"tests/test_new.py": "no-untyped-def"}
        seen = [item for item in files if fixed or item not in kinds]
        lines = [f"{item}:1: error: wrong  [{kinds.get(item, beside)}]\n" for item in seen]
        return Run(code=int(bool(files)), output="".join(lines))

    tree = Tree({**FILES, "mypy.ini": "[mypy]\n"})
    of = draft().model_copy(
        update={"changes": (FileChange(path="tests/test_new.py", text="def test_a():\n    1\n"),)}
    )
    result = gated(of, tree, ScriptedSandbox(answer), NightOptions(), NightCache())
    assert result.outcome == outcome, result


def test_without_a_sandbox_nothing_is_run_and_it_is_asked_for_once():
    cache = NightCache()
    result, sandbox = gate(lambda *_: unittest_run(), lacking="install it", cache=cache)
    assert (result.outcome, result.kind, result.text) == ("not run", "no sandbox", "install it")
    assert gate(lambda *_: unittest_run(), cache=cache)[0].kind == "no sandbox"
    assert not sandbox.asked


def test_what_cannot_be_prepared_is_tried_once_a_night_and_costs_nothing_more():
    tree = Tree({**FILES, "requirements.txt": "django\n"})
    broken = Run(code=1, output="ModuleNotFoundError: No module named 'django'", seconds=1)
    cache = NightCache()
    first, _ = gate(lambda *_: broken, tree=tree, cache=cache, not_prepared="set NETWORK")
    assert (first.kind, first.text) == ("not prepared", "its tests could not be run: set NETWORK")
    again, later = gate(lambda *_: broken, tree=tree, cache=cache, not_prepared="set NETWORK")
    assert again.kind == "not prepared"
    assert not later.preparations
    assert not [words for words, _ in later.asked if is_test(words)]


def test_tests_that_need_no_dependencies_are_run_without_and_that_is_said():
    tree = Tree({**FILES, "requirements.txt": "django\n"})
    result, _ = gate(lambda *_: unittest_run(), tree=tree, not_prepared="set NETWORK")
    assert result.outcome == "passed"
    assert result.checks[0].text == "set NETWORK"


def test_a_person_says_how():
    options = NightOptions(verify="make check")
    tree = Tree({"main.go": "", "go.mod": ""})

    def answer(words, fixed, _):
        assert words[-3:] == ("/bin/sh", "-c", "make check")  # below what Go starts with
        return Run(code=int(fixed), output="broken" if fixed else "", seconds=1)

    sandbox = ScriptedSandbox(answer)
    result = gated(draft("main.go"), tree, sandbox, options, NightCache())
    assert result.outcome == "failed"
    unknown = gated(draft("main.go"), tree, sandbox, NightOptions(), NightCache())
    assert "a Go project's files: set NIGHTWATCH_VERIFY" in unknown.text


def test_a_project_below_the_root_is_run_in_its_folder():
    files = {f"backend/{name}": text for name, text in FILES.items()} | {"package.json": "{}"}
    asked = []
    sandbox = ScriptedSandbox(lambda words, *_: asked.append(words) or unittest_run())
    gated(draft("backend/shop/cart.py"), Tree(files), sandbox, NightOptions(), NightCache())
    assert all(words[2:4] == ('cd "$0" || exit\nexec "$@"', "backend/") for words in asked)
    assert asked[-1][4:] == WHOLE


@pytest.mark.parametrize(("red_runs", "outcome"), [(9, "passed"), (2, "failed")])
def test_a_test_that_the_fix_brings_speaks_where_it_was_green_without_it(red_runs, outcome):
    fix = draft().model_copy(
        update={
            "changes": (
                FileChange(path="shop/cart.py", text="x = 1\n"),
                FileChange(path="tests/test_cart.py", text="def test_new():\n    assert 0\n"),
            )
        }
    )

    def answer(_words, fixed, times):  # twice with the fix, then its tests without it
        red, count = (["test_new"], 6) if fixed and times < red_runs else ([], 5)
        return unittest_run(*red, count=count)

    result, _ = gate(answer, of=fix)
    assert result.outcome == outcome
    assert [item.split()[0] for item in result.silent] == ["test_new"] * (outcome == "passed")
    assert ("passes without it: test_new (" in result.text) == (outcome == "failed")


def profile_of(**more):
    return Profile(repository="shop", language="python", collected=5, passed=4, **more)


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({}, "failed"),
        ({"flaky": (SUM,)}, "passed"),
        ({"red": (SUM,), "commit": "a" * 40}, "passed"),
        ({"red": (SUM,), "commit": "b" * 40}, "failed"),  # it was mended since
    ],
)
def test_what_a_profile_knows_to_be_red_or_flaky_says_nothing(more, outcome):
    cache = NightCache(Documents(document(profile_of(**more))))
    result, _ = gate(
        lambda _, fixed, __: unittest_run(*(["test_sum"] if fixed else [])), cache=cache
    )
    assert result.outcome == outcome
    assert result.flaky == ((SUM,) if outcome == "passed" else ())


def test_of_a_suite_that_takes_too_long_what_names_the_change_is_run():
    files = {**FILES, "tests/test_till.py": "from shop.cart import total\n"}
    cache = NightCache(Documents(document(profile_of(seconds=400.0))))
    result, sandbox = gate(lambda *_: unittest_run(), tree=Tree(files), cache=cache)
    texts = [item.text for item in result.checks if item.name == "tests"]
    assert texts[1:] == [
        "unittest: 1 file of the suite: 5 tests, green",
        "unittest: the whole suite (it takes more than 400 s)",
    ]
    assert not [words for words, _ in sandbox.asked if words == WHOLE]


def test_a_profile_of_other_dependencies_is_used_and_said_to_be_old():
    cache = NightCache(Documents(document(profile_of(digest="old", date="2031-01-01"))))
    result, _ = gate(lambda *_: unittest_run(), cache=cache)
    text = "its dependencies have changed since 2031-01-01: run `nightwatch prepare`"
    assert (result.outcome, result.checks[0].text) == ("passed", text)


def test_what_a_person_installs_is_not_taken_for_other_dependencies():
    tree, sandbox = Tree(), ScriptedSandbox(lambda *_: unittest_run())
    (kit,) = projects_of(tree, NightOptions())
    kept = profile_of(install="make deps", by_hand=("install",))
    profile = proved_profile(kit, tree, sandbox, kept, "2031-01-01")
    assert profile.install == "make deps"
    assert with_profile(kit, profile).stale == ""


def test_where_prepare_found_out_why_nothing_runs_that_is_said():
    broken = Run(code=1, output="3 errors in 32.7s", seconds=1)
    kept = profile_of(trouble="no MongoDB is here").model_copy(update={"passed": 1})
    result, _ = gate(lambda *_: broken, cache=NightCache(Documents(document(kept))))
    assert (result.kind, result.text) == (
        "no tests",
        "its tests could not be run: no MongoDB is here",
    )
