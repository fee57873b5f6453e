import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.code.file_clues import clue_of
from nightwatch_core.text.transactions import endpoint


@pytest.mark.parametrize(
    ("transaction", "path", "resource", "one"),
    [
        ("Controller/order_statuses/show", ("order_statuses",), "order_statuses", "order_status"),
        ("Controller/addresses/show", ("addresses",), "addresses", "address"),
        ("Controller/people/show", ("people",), "people", "person"),
        ("Admin::OrdersController#show", ("admin", "orders_controller"), "orders", "order"),
        ("GET /api/orders/:id", ("api", "orders"), "orders", "order"),
        ("GET /orders/17", ("orders",), "orders", "order"),
        ("GET /orders/5f0c6a1e-9b1d-4c8e-a111-0123456789ab", ("orders",), "orders", "order"),
        ("GET /:id", (), "", ""),
        ("", (), "", ""),
    ],
)
def test_names_as_files_spell_them(
    transaction: str, path: tuple[str, ...], resource: str, one: str
) -> None:
    found = clue_of(endpoint(transaction))
    assert (found.path, found.resource, found.one) == (path, resource, one)


@given(st.text(max_size=100))
def test_any_transaction_gives_a_clue(transaction: str) -> None:
    found = clue_of(endpoint(transaction))
    assert len(found.nouns) <= 3
