"""Tests of a file, by their names."""

import pytest

from nightwatch_core.code.candidate_symbols import files_testing

TREE = (
    *("tests/test_cookies.py", "tests/test_downloadermiddleware_cookies.py"),
    *("tests/test_http_cookies.py", "tests/cookies.md", "docs/cookies.py"),
    *("spec/models/order_spec.rb", "spec/models/order_item_spec.rb", "app/models/order.rb"),
    *("src/pay/__tests__/dates.test.ts", "src/pay/dates.spec.tsx", "src/pay/dates.ts"),
    *("src/test/java/a/CartTest.java", "src/test/java/a/CartLineTest.java"),
    *("pay/dates_test.go", "tests/Feature/OrderTest.php", "Shop.Tests/CartTests.cs"),
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("shop/http/cookies.py", ("tests/test_http_cookies.py", "tests/test_cookies.py",
                                  "tests/test_downloadermiddleware_cookies.py")),
        ("app/models/order.rb", ("spec/models/order_spec.rb", "spec/models/order_item_spec.rb")),
        ("src/pay/dates.ts", ("src/pay/__tests__/dates.test.ts", "src/pay/dates.spec.tsx")),
        ("src/main/java/a/Cart.java", ("src/test/java/a/CartTest.java",
                                       "src/test/java/a/CartLineTest.java")),
        ("pay/dates.go", ("pay/dates_test.go",)),
        ("app/Models/Order.php", ("tests/Feature/OrderTest.php",)),
        ("Shop/Cart.cs", ("Shop.Tests/CartTests.cs",)),
        ("tests/test_cookies.py", ()),
        ("", ()),
    ],
)  # fmt: skip
def test_tests_are_found_by_the_words_of_names(path: str, expected: tuple[str, ...]) -> None:
    assert files_testing(path, TREE) == expected


def test_no_more_than_three() -> None:
    assert len(files_testing("a/cart.py", [f"tests/{n}/test_cart.py" for n in range(9)])) == 3
