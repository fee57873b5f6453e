"""Transactions lose their ids."""

import pytest

from nightwatch_core.text.templates import TRANSACTION_LIMIT, transaction_template


@pytest.mark.parametrize(
    ("transaction", "template"),
    [
        ("Controller/orders/update", "Controller/orders/update"),
        ("OrdersController#show", "OrdersController#show"),
        ("Order#paid?", "Order#paid?"),
        ("GET /orders/4711?page=2", "GET /orders/<n>"),
        ("/api/v2/orders/:id/", "/api/v2/orders/:id"),
        ("/s3/oauth2/callback", "/s3/oauth2/callback"),
        ("/users/0f8fad5b-d9cb-469f-a165-70867728950e", "/users/<uuid>"),
        ("/blobs/9f8e7d6c5b", "/blobs/<n>"),
        ("/users/mia@example.org/cart", "/users/<email>/cart"),
        ("/users/mia%40example.org", "/users/<id>"),
        ("/cart;jsessionid=1A2B", "/cart"),
        ("https://shop.example/orders/7?x=1", "https://shop.example/orders/<n>"),
        ("ImportJob 4711", "ImportJob <n>"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_transactions_lose_their_ids(transaction: str, template: str) -> None:
    assert transaction_template(transaction) == template
    assert transaction_template(template) == template


@pytest.mark.parametrize("piece", ["/a", "/1", "%", "/a-1", "?", "/@", "1.", "/x/1.1.1.", ";", "é"])
def test_hostile_transactions_take_no_time(piece: str) -> None:
    transaction_template(piece * TRANSACTION_LIMIT)
