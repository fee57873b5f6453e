"""Which tests execute a changed line."""

import pytest

from nightwatch_core.models.proposals import FileChange
from nightwatch_core.proof.coverage import counted_lines, printed_and_executing

BEFORE = """\
RATE = 5


@cached
def tax(price):
    return price / RATE


def total(prices):
    if prices:
        return sum(
            prices,
        )
    return 0
"""
PATH = "shop/cart.py"


@pytest.mark.parametrize(
    ("old", "new", "counted"),
    [
        ("price / RATE", "price / (RATE or 1)", {6}),
        ("tax(price)", "tax(price=0)", {6}),  # the head of a function runs as it is loaded
        ("@cached", "@cached()", {6}),
        ("            prices,", "            prices or (),", {11, 12, 13}),  # one statement
        ("    if prices:", "    if len(prices):", {10}),
        ("RATE = 5", "RATE = 7", {1}),
        ("    return 0\n", "", {11, 12, 13}),  # those around the gap
    ],
)
def test_lines_of_changed_statements_count(old, new, counted):
    changes = (
        FileChange(path=PATH, text=BEFORE.replace(old, new)),
        FileChange(path="tests/test_cart.py", text="def test_tax():\n    tax(5)\n"),
    )
    assert counted_lines(changes, {PATH: BEFORE}.get) == {PATH: counted}


def test_tests_that_ran_a_watched_line_are_named():
    rows = '{"ran": "/work/a.py", "line": 6, "test": "t::a"}\n{"class": "KeyError"}\nodd'
    assert printed_and_executing(f"1 passed\nmark\n{rows}", "mark") == ("1 passed", {"t::a"})
    assert printed_and_executing("1 passed", "mark") == ("1 passed", frozenset())
