"""Tests of read_symbol: every place that defines a name, the likeliest one whole."""

import pytest
from small_repo import SmallRepo, case, frame

from nightwatch_core.analysis import tools
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.conversation import ToolCall

FILES = {
    "app/order.py": (
        "class Order:\n    @cached\n    def total(self):\n        return 1\n\n"
        "    def tax(self):\n        return 2\n"
    ),
    "app/cart.py": "class Cart:\n    def total(self):\n        return 3\n",
    "billing/rates.rb": (
        "module Billing\n  class Rate\n    def total?\n      true\n    end\n  end\nend\n"
    ),
    "tests/test_order.py": "def total():\n    return 4\n",
    "store/server.go": "package store\n\nfunc (s *Server) Handle() error {\n\treturn nil\n}\n",
    "web/pay.ts": "export const charge = (card) => {\n  return card;\n};\n",
}
CASE = case("KeyError", "'a'", frame("app/cart.py", 3, "total"))


def read(name, files=FILES, the_case=CASE, known=frozenset(), repo=SmallRepo):
    call = ToolCall(id="1", name="read_symbol", arguments={"name": name})
    return tools.run(call, repo(files), the_case, (), known)


def test_all_places_are_listed_and_the_frames_file_comes_first():
    result = read("total")
    rows = result.text.split("\n")
    assert rows[:3] == [
        "app/cart.py:2 function Cart.total",
        "app/order.py:3 function Order.total",
        "tests/test_order.py:1 function total",
    ]
    assert rows[3:6] == [
        "app/cart.py (lines 2-3 of 3)",
        "    2|     def total(self):",
        "    3|         return 3",
    ]


@pytest.mark.parametrize("name", ["Order.total", "Order#total", "order.total", "Order::total()"])
def test_an_owner_tells_which_one_is_meant_and_decorators_belong_to_it(name):
    text = read(name).text
    assert "app/order.py (lines 2-4 of 7)\n    2|     @cached\n    3|     def total(self):" in text
    assert "def total(self):\n    3|         return 3" not in text


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Billing::Rate#total?", "billing/rates.rb (lines 3-5 of 7)"),
        ("Server.Handle", "store/server.go (lines 3-5 of 5)"),
        ("charge", "web/pay.ts (lines 1-3 of 3)"),
        ("Cart", "app/cart.py (lines 1-3 of 3)"),
        ("Order.tax", "app/order.py (lines 6-7 of 7)"),
    ],
)
def test_definitions_of_all_languages_come_whole(name, place):
    assert read(name).text.split("\n")[0] == place


def test_what_a_class_inherits_is_said():
    assert read("Basket.tax").text.startswith(
        "Basket itself does not define tax; it may inherit it."
    )


def test_a_long_definition_is_cut_at_its_end():
    long = {"a.py": "def total():\n" + "    x = 1\n" * 600}
    text = read("total", long, case("E", "m")).text
    assert "  400|     x = 1\n[... it goes on to line 601, ask read_file for more ...]" in text
    wide = {"a.py": "def total():\n" + f"    x = '{'y' * 300}'\n" * 300}
    text = read("total", wide, case("E", "m")).text
    assert len(text) < tools.LIMITS["read_symbol"] + 300
    assert text.endswith("did not fit, ask for them by start and end ...]")


@pytest.mark.parametrize("name", ["", "   ", "a b", "x" * 300, "--help", "*", "a\nb", "::"])
def test_what_is_no_name_is_refused(name):
    assert read(name).is_error


def test_what_nobody_defines_is_said():
    assert "Nothing in the repository defines 'gone'" in read("gone").text
    assert "app/order.py" in read("Order_").text


def test_where_the_tree_cannot_be_searched_the_frames_files_are():
    class Large(SmallRepo):
        def search(self, query, path="", limit=50):
            raise GiveUp("900 files are too many to search")

    assert read("total", repo=Large).text.startswith("app/cart.py (lines 2-3 of 3)")
    assert read("total", repo=Large, the_case=case("E", "m")).is_error
