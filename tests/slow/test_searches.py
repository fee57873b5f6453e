"""Searches over real programs: what is come upon, what is not, and applications that cheat."""

import pytest
from adapters.sandbox import cells
from adapters.sandbox.cells import COMMIT, needs, needs_program
from proof_worlds import briefing_of

from nightwatch_core.models.answer import Edit
from nightwatch_core.models.proposals import FileChange
from nightwatch_core.proof.environment import Known
from nightwatch_core.proof.proving import proved
from nightwatch_core.proof.search import by_search

pytestmark = [pytest.mark.slow]
SHOP = """from dataclasses import dataclass


@dataclass(frozen=True)
class Guest:
    name: str


def guest_called(name: str) -> Guest:
    return Guest(name)


def average(prices):
    return sum(prices) / len(prices)


def greeting(guest: Guest, words: dict) -> str:
    return words["hello"] + guest.nane
"""
TESTS = """import unittest
from shop import cart

WORDS = "hello"


class CartTest(unittest.TestCase):
    def setUp(self):
        self.words = {WORDS: "Hi "}

    def test_two(self):
        prices = [2, 4]
        self.assertEqual(cart.average(prices), 3)
"""
AVERAGE = """Traceback (most recent call last):
  File "/srv/app/shop/cart.py", line 14, in average
    return sum(prices) / len(prices)
ZeroDivisionError: division by zero
"""
GREETING = """Traceback (most recent call last):
  File "/srv/app/shop/cart.py", line 18, in greeting
    return words["hello"] + guest.nane
AttributeError: 'Guest' object has no attribute 'nane'
"""
CALLED = """import unittest
from shop import cart


class CartTest(unittest.TestCase):
    def setUp(self):
        self.words = {WORDS: "Hi "}

    def test_greeting_raises_no_attribute_error(self):
        \"\"\"Raised AttributeError in production.\"\"\"
        cart.greeting(cart.guest_called("a"), self.words)
"""
FORGES = """
import json, os
line = json.dumps([0, ["ZeroDivisionError", [["ZeroDivisionError", "division by zero",
                   [["shop/cart.py", "average", 14]]]]]])
for number in range(40):
    text = "nightwatch-search:" + line.replace("[0", "[%d" % number, 1)
    print(text, flush=True)
    with open("/tmp/nightwatch-search", "a") as report:
        report.write(text + chr(10))
"""
HOSTILE = {
    "exits when it is imported": SHOP + "\nimport os\nos._exit(0)\n",
    "prints and writes reports of its own": SHOP.replace("sum(prices) / len(prices)", "3") + FORGES,
    "never comes to an end, and starts others": SHOP.replace(
        "return sum(",
        "import os\n    [os.fork() for _ in prices]\n    while prices: pass\n    return sum(",
    ).replace("/ len(prices)", "/ 3"),
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Gives a briefing over the project, with another text of its module or another trace."""
    state, opened = tmp_path_factory.mktemp("state"), []
    needs("bubblewrap", state)
    needs_program("python3")

    def briefed(trace=AVERAGE, shop=SHOP, fix=()):
        files = {
            **{"shop/__init__.py": "", "shop/cart.py": shop},
            **{"tests/__init__.py": "", "tests/test_cart.py": TESTS},
        }
        opened.append(cells.sandbox(state, files))
        return briefing_of(files, trace, fix, opened[-1], Known(), None, COMMIT)

    yield briefed
    for sandbox in opened:
        sandbox.close()


def fixed(new):
    old = "return sum(prices) / len(prices)"
    return (Edit(path="shop/cart.py", old=old, new=f"return {new}"),)


def test_a_test_with_one_value_changed_is_red_then_green_and_part_of_the_fix(world):
    good = fixed("sum(prices) / max(1, len(prices))")
    result = proved(world(fix=good))
    assert result.outcome == "passed", result
    assert result.reproduction.by == "search"
    assert "prices = []" in result.edits[-1].new
    assert "ZeroDivisionError" in result.reproduction.red
    left = proved(world(fix=fixed("sum(list(prices)) / len(prices)")))
    assert left.outcome == "failed"
    assert "the crash is still there" in left.text


def test_a_function_that_no_test_calls_is_called_with_what_tests_have_at_hand(world):
    reproduction = by_search(world(trace=GREETING)).reproduction
    assert reproduction.outcome == "reproduced", reproduction
    assert reproduction.test[0].new == CALLED.replace(
        "class CartTest", 'WORDS = "hello"\n\n\nclass CartTest', 1
    ).replace("cart\n\n\nWORDS", "cart\n\nWORDS")


def test_what_cannot_be_raised_says_so(world):
    another = AVERAGE.replace("ZeroDivisionError: division by zero", "OSError: no prices today")
    reproduction = by_search(world(trace=another)).reproduction
    assert reproduction.outcome == "not reproduced"
    assert "ZeroDivisionError" in reproduction.because
    assert reproduction.tries > 5


def test_a_test_that_does_not_run_what_the_fix_changes_does_not_count(world):
    shop = SHOP + "\n\ndef shown(cart):\n    return f'{average(cart.prices)}'\n"
    trace = AVERAGE.replace(
        '  File "/srv/app/shop/cart.py", line 14',
        '  File "/srv/app/shop/cart.py", line 22, in shown\n    return 1\n'
        '  File "/srv/app/shop/cart.py", line 14',
    )
    briefing = world(trace=trace, shop=shop)
    change = FileChange(path="shop/cart.py", text=shop.replace("f'{average", "f'{0 and average"))
    draft = briefing.draft.model_copy(update={"changes": (change,)})
    for given, outcome in ((briefing.draft, "reproduced"), (draft, "not reproduced")):
        told = by_search(type(briefing)(**{**vars(briefing), "draft": given})).reproduction
        assert told.outcome == outcome, told
    assert "by way of shown" in told.because


@pytest.mark.parametrize("what", HOSTILE)
def test_an_application_that_cheats_reproduces_nothing(world, what):
    reproduction = by_search(world(shop=HOSTILE[what])).reproduction
    assert reproduction.outcome != "reproduced", reproduction
    assert reproduction.because
    assert reproduction.seconds < 40
