"""Tests of reading what recorders write down, and of what tests may not hold."""

import json

import pytest

from nightwatch_core.proof.crash import printed_and_raised
from nightwatch_core.proof.reproduction import Candidate, refused

MARK = "a" * 24
RECORD = {
    "id": "1-1",
    "class": "KeyError",
    "message": "'a'",
    "frames": [
        ["/work/shop/cart.py", 2, "total"],
        ["/usr/lib/x.py", 3, "x"],
        ["/work/<string>", 1, "x"],
    ],
    "locals": [[0, "cart", "{}"], [1, "hidden", "1"], [9, "far", "1"], "odd"],
}


def written(*rows):
    return "printed\n" + f"\n{MARK}\n" + "\n".join(map(json.dumps, rows))


def test_frames_values_and_what_was_left_are_read():
    printed, (one,) = printed_and_raised(written(RECORD, {"id": "1-1", "left": 0}), MARK)
    assert printed == "printed\n"
    assert [frame.repo_path for frame in one.frames] == ["shop/cart.py", "", ""]
    assert one.left == {0}
    assert [(fact.path, fact.name) for fact in one.facts] == [("shop/cart.py", "cart")]


def test_what_is_printed_before_the_mark_is_never_evidence():
    forged = json.dumps(RECORD)
    assert printed_and_raised(f"{forged}\n", MARK) == (f"{forged}\n", ())
    assert printed_and_raised(f"\n{MARK}\n{forged}\n\n{MARK}\n", MARK)[1] == ()


@pytest.mark.parametrize(
    "rows", [["[" * 3_000], ["{}"], [json.dumps({"class": 1, "frames": {"a": 1}, "locals": 3})]]
)
def test_damaged_rows_raise_nothing(rows):
    printed_and_raised(f"\n{MARK}\n" + "\n".join(rows), MARK)


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nsys.settrace(None)\n",
        "exec('raise KeyError')\n",
        "error.stack = 'at total'\n",
        "raise_it.__code__ = other.__code__\n",
        "TracePoint.trace(:raise)\n",
        "x = 1\n" * 300,
        "",
        "assert mail == '<email-482913>'\n",
    ],
)
def test_a_test_that_could_bend_what_is_seen_is_not_run(text):
    assert refused(Candidate("tests/test_new.py", text), ("tests/test_old.py",))


def test_an_ordinary_test_is_run_and_none_outside_the_tests():
    text = "def test_it():\n    assert total([]) == 0\n"
    assert refused(Candidate("tests/test_new.py", text), ("tests/test_old.py",)) == ""
    assert refused(Candidate("tests/conftest.py", text), ("tests/test_old.py",))
    assert refused(Candidate(".github/test_new.py", text), ())
