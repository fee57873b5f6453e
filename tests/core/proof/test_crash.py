"""Tests of comparing what a test raises with what production raised."""

import json

import pytest
from proof_worlds import case_of
from tables import tables_of

from nightwatch_core.models.answer import Edit
from nightwatch_core.models.errors import Frame
from nightwatch_core.proof.crash import (
    WORK,
    Raised,
    crash_of,
    least_places,
    printed_and_raised,
    unlike,
)
from nightwatch_core.proof.reproduction import Candidate, refused

TABLES = tables_of(__file__)

FILES = {
    "shop/cart.py": "def average(x):\n    return x / 0\n\n\ndef shown(x):\n    return average(x)\n",
    "tests/test_cart.py": "",
}
TRACE = """Traceback (most recent call last):
  File "/srv/shop/cart.py", line 6, in shown
    return average(x)
  File "/srv/shop/cart.py", line 2, in average
    return x / 0
ZeroDivisionError: division by zero
"""
TEST = "tests/test_new.py"
TOP, OUTER = ("shop/cart.py", 2, "average"), ("shop/cart.py", 6, "shown")
OWN_TEST = (TEST, 5, "test_it")


def raised(*places, error_class="ZeroDivisionError", message="division by zero"):
    frames = tuple(
        Frame(path=path, line=line, function=name, in_app=inside, repo_path=path if inside else "")
        for path, line, name in places
        for inside in [not path.startswith("/")]
    )
    return Raised(error_class, message, frames, frozenset())


def crash(trace=TRACE, **more):
    return crash_of(case_of(FILES, trace))._replace(**more)


def test_the_same_class_in_the_same_frames_is_the_crash():
    assert unlike(raised(TOP, OUTER, OWN_TEST), crash(), test=TEST) == ""
    assert unlike(raised(TOP, OWN_TEST), crash(), test=TEST) == ""  # it enters further in


@pytest.mark.parametrize(
    ("places", "more", "why"),
    [
        ((TOP, OUTER, OWN_TEST), {"error_class": "ValueError"}, "is raised, not ZeroDivisionError"),
        ((OWN_TEST,), {}, "outside the application"),
        ((OWN_TEST, TOP, OUTER, OWN_TEST), {}, "by the test itself"),
        ((("/usr/lib/python3.11/unittest/mock.py", 9, "effect"), TOP), {}, "by the test itself"),
        ((OUTER, OWN_TEST), {}, "not in shop/cart.py:2 (average)"),
        ((("shop/cart.py", 1, "average"), OWN_TEST), {}, "not in shop/cart.py:2 (average)"),
        ((TOP, ("shop/cart.py", 9, "totals")), {}, "through another caller"),
        ((TOP, OUTER), {"message": "cannot spell the month"}, "where production said"),
    ],
)
def test_another_crash_is_told_apart(places, more, why):
    assert why in unlike(raised(*places, **more), crash(), test=TEST)


def test_a_fix_after_which_nothing_lacks_another_member_leaves_the_crash():
    said = "Cannot read properties of undefined (reading '{}')"
    moved = raised(TOP, OUTER, OWN_TEST, message=said.format("name"))
    before = crash(message=said.format("constructor"))
    assert "it says 'name'" in unlike(moved, before, test=TEST)
    assert unlike(moved, before, exact=False, test=TEST) == ""


def test_lines_are_not_compared_once_a_fix_has_moved_them():
    moved = raised(("shop/cart.py", 4, "average"), OWN_TEST)
    assert unlike(moved, crash(), test=TEST)
    assert unlike(moved, crash(), exact=False, test=TEST) == ""


@pytest.mark.parametrize("name", ["<listcomp>", "<anonymous>", ""])
def test_a_function_without_a_name_belongs_to_the_one_around_it(name):
    inner = ("shop/cart.py", 2, name)
    assert unlike(raised(inner, TOP, OUTER), crash(), test=TEST) == ""
    elsewhere = raised(("shop/till.py", 1, name), TOP)
    assert "not in shop/cart.py:2" in unlike(elsewhere, crash(), test=TEST)


def test_what_stands_in_for_a_library_may_raise_for_it():
    trace = TRACE.replace(
        "ZeroDivisionError:", '  File "/usr/lib/python3.11/json.py", line 3, in load\nTimeoutError:'
    )
    faked = raised(OWN_TEST, TOP, OUTER, OWN_TEST, error_class="TimeoutError")
    assert unlike(faked, crash(trace), test=TEST) == ""


def test_a_test_has_to_come_through_what_the_fix_changes():
    fix = (Edit(path="shop/cart.py", old="    return average(x)", new="    return 1"),)
    assert least_places(crash(), fix, FILES.get) == 2
    assert least_places(crash(), (Edit(path="shop/cart.py", old="x / 0"),), FILES.get) == 1
    why = unlike(raised(TOP, OWN_TEST), crash(least=2), test=TEST)
    assert why == "the test must go through shop/cart.py:6 (shown)"


def test_no_own_frame_is_no_crash_that_a_test_could_raise():
    case = case_of(
        FILES, 'Traceback (most recent call last):\n  File "/usr/lib/x.py", line 1, in x\nE: n'
    )
    assert crash_of(case) is None


MARK = "a" * 24
RECORD = TABLES["record"]


def written(*rows):
    return "printed\n" + f"\n{MARK}\n" + "\n".join(map(json.dumps, rows))


def test_frames_values_and_what_was_left_are_read():
    printed, (item,) = printed_and_raised(written(RECORD, {"id": "1-1", "left": 0}), MARK)
    assert printed == "printed\n"
    assert [frame.repo_path for frame in item.frames] == ["shop/cart.py", "", ""]
    assert item.left == {0}
    assert [(fact.path, fact.name) for fact in item.facts] == [("shop/cart.py", "cart")]


def test_values_of_what_starts_the_runner_are_left_out():
    frames = [[f"{WORK}{path}", 1, "f"] for path in ("a.py", "tests/test_a.py", "manage.py")]
    facts = [[n, "value", "1"] for n in range(3)]
    for listed, paths in (
        (frames, ["a.py", "tests/test_a.py"]),
        (frames[::2], ["a.py", "manage.py"]),
    ):
        record = RECORD | {"frames": listed, "locals": facts}
        _, (item,) = printed_and_raised(written(record), MARK)
        assert [fact.path for fact in item.facts] == paths


def test_what_is_printed_before_the_mark_is_never_evidence():
    forged = json.dumps(RECORD)
    assert printed_and_raised(f"{forged}\n", MARK) == (f"{forged}\n", ())
    assert printed_and_raised(f"\n{MARK}\n{forged}\n\n{MARK}\n", MARK)[1] == ()


@pytest.mark.parametrize(
    "text", [*TABLES["a_test_that_could_bend_what_is_seen_is_not_run"], "x = 1\n" * 300]
)
def test_a_test_that_could_bend_what_is_seen_is_not_run(text):
    assert refused(Candidate("tests/test_new.py", text), ("tests/test_old.py",))


def test_an_address_of_a_file_is_no_way_to_what_is_seen():
    text = "def test_page():\n    assert load('file:///tmp/page.html')\n"
    assert not refused(Candidate("tests/test_new.py", text), ("tests/test_old.py",))
