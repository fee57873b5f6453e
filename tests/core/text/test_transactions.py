import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.text.transactions import endpoint

TABLES = tables_of(__file__)


@pytest.mark.parametrize(("transaction", "kind", "module", "action"), TABLES["endpoints"])
def test_endpoints(transaction: str, kind: str, module: str, action: str) -> None:
    found = endpoint(transaction)
    assert (found.kind, found.module, found.action) == (kind, module, action)


@given(st.text(max_size=200))
def test_any_text_can_be_read(transaction: str) -> None:
    assert isinstance(endpoint(transaction).module, str)


def test_hostile_text_is_read_in_no_time() -> None:
    for text in ("a:" * 500_000, "/" * 1_000_000, "a" * 1_000_000 + "#", "(" * 1_000_000):
        endpoint(text)
