"""Names that were meant: by the first rule that knows one, our own files before libraries'."""

import pytest

from nightwatch_core.analysis.tool_context import near_matches

PATHS = (
    "app/models/order.rb",
    "app/models/order_item.rb",
    "app/services/invoice_builder.rb",
    "lib/order.rb",
    "node_modules/order/cart.ts",
    "web/cart/index.ts",
    "web/checkout.tsx",
)


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("srv/shop/app/models/order.rb", ("app/models/order.rb", "lib/order.rb")),
        ("models/order.rb", ("app/models/order.rb", "lib/order.rb")),
        ("app/services/InvoiceBuilder.rb", ("app/services/invoice_builder.rb",)),
        ("app/Models/Order-Item.rb", ("app/models/order_item.rb",)),
        ("web/checkout.ts", ("web/checkout.tsx",)),
        ("web/checkout", ("web/checkout.tsx",)),
        ("web/cart.ts", ("node_modules/order/cart.ts", "web/cart/index.ts")),
        ("app/models/ordre.rb", ("app/models/order.rb", "lib/order.rb")),
        ("app/services/invoice_bulider.rb", ("app/services/invoice_builder.rb",)),
    ],
)
def test_what_was_meant(path, first):
    assert near_matches(path, PATHS)[: len(first)] == first


@pytest.mark.parametrize("path", ["", "x", "zzz/qqq.py", "/" * 50, "a" * 5_000, "\u202e", "."])
def test_what_was_not_meant(path):
    assert near_matches(path, PATHS) == ()
    assert near_matches(path, ()) == ()
