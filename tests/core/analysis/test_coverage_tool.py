"""Tests of find_tests: by naming conventions of all languages, and by mentions."""

import pytest
from small_repo import SmallRepo, case

from nightwatch_core.analysis import tools
from nightwatch_core.models.conversation import ToolCall

CASE = case("E", "m")


def found(target, files):
    call = ToolCall(id="1", name="find_tests", arguments={"target": target})
    return tools.run(call, SmallRepo(files), CASE, ())


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("app/order.py", "tests/test_order.py"),
        ("app/models/order.rb", "spec/models/order_spec.rb"),
        ("app/models/order_item.rb", "test/models/order_item_test.rb"),
        ("src/orderItem.ts", "src/__tests__/order-item.spec.ts"),
        ("src/Order.tsx", "src/Order.test.tsx"),
        ("src/main/java/shop/Order.java", "src/test/java/shop/OrderTest.java"),
        ("store/server.go", "store/server_test.go"),
        ("app/Http/OrderController.php", "tests/Feature/OrderControllerTest.php"),
        ("Shop/Order.cs", "Shop.Tests/OrderTests.cs"),
        ("pkg/billing/__init__.py", "tests/test_billing.py"),
    ],
)
def test_tests_are_known_by_their_names(source, test):
    result = found(source, {source: "x\n", test: "y\n", "tests/test_other.py": "z\n"})
    assert result.text.split("\n")[0] == f"{test}: by its name"
    assert "test_other" not in result.text


def test_tests_are_known_by_what_they_mention():
    files = {
        "app/order.py": "class Order:\n    def total(self):\n        return 1\n",
        "tests/test_shop.py": "from app.order import Order\n\n\ndef test_it():\n    Order()\n",
        "tests/test_words.py": "reorder = 1\n",
    }
    assert found("app/order.py", files).text == (
        "tests/test_shop.py: mentions it in lines 1, 5\n(looked for order, Order)"
    )
    assert found("Order", files).text == "tests/test_shop.py: mentions it in lines 1, 5"
    assert found("Order#total", files).text.startswith("No test is called after 'Order#total'")


def test_a_symbol_finds_the_test_of_its_class():
    files = {"a.java": "class A {}", "src/test/OrderTest.java": "x"}
    assert found("Order.total", files).text == "src/test/OrderTest.java: by its name"


@pytest.mark.parametrize("target", ["", " ", "a\nb", "x" * 400])
def test_what_is_no_target_is_refused(target):
    assert found(target, {"a.py": "x", "tests/test_a.py": "y"}).is_error
