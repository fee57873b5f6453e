"""Which tests execute a changed line."""

import pytest

from nightwatch_core.models.proposals import FileChange
from nightwatch_core.proof.coverage import ExecutedLine, executing_tests

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
PATH, TEST = "shop/cart.py", "tests/test_cart.py::test_tax"


@pytest.mark.parametrize(
    ("old", "new", "line", "test", "counts"),
    [
        ("price / RATE", "price / (RATE or 1)", 6, TEST, {TEST}),
        ("price / RATE", "price / (RATE or 1)", 13, TEST, set()),  # another line ran
        ("tax(price)", "tax(price=0)", 5, "", set()),  # the head of a function that is loaded
        ("tax(price)", "tax(price=0)", 6, TEST, {TEST}),
        ("@cached", "@cached()", 4, "", set()),
        ("            prices,", "            prices or (),", 11, TEST, {TEST}),  # one statement
        ("RATE = 5", "RATE = 7", 1, "", {""}),
        ("    return 0\n", "    # nothing\n    return 0\n", 15, TEST, set()),
    ],
)
def test_a_test_counts_that_runs_a_changed_statement(old, new, line, test, counts):
    changes = (
        FileChange(path=PATH, text=BEFORE.replace(old, new)),
        FileChange(path="tests/test_cart.py", text="def test_tax():\n    tax(5)\n"),
    )
    ran = frozenset(
        {ExecutedLine(PATH, line, test), ExecutedLine("tests/test_cart.py", 2, "test_new")}
    )
    assert executing_tests(changes, {PATH: BEFORE}.get, ran) == counts
