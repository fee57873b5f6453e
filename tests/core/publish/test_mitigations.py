"""A fix that only keeps the crash away is published as what it is, or not at all."""

import pytest
from analysis_shapes import analysis
from tables import tables_of

from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.proposals import FileChange
from nightwatch_core.publish.finding import FindingView
from nightwatch_core.publish.issue_text import pull_body
from nightwatch_core.publish.tiers import mitigations_in, not_wanted

TABLES = tables_of(__file__)

BEFORE = "def price(order):\n    return order.net * 1.19\n"
GUARDED = (
    "def price(order):\n    if order is None:\n        return 0\n    return order.net * 1.19\n"
)
MENDED = "def price(order):\n    return order.net * order.rate\n"
TEST = "def test_price():\n    assert price(Order(2)) == 2.38\n"
LOOSE = "def test_price():\n    assert price(Order(2)) is not None\n"


def mitigations_of(after, path="shop/price.py", before=BEFORE, evidence=()):
    changes = (FileChange(path=path, text=after),)
    return mitigations_in(changes, {path: before}.get, evidence)


def test_a_guard_is_told_as_a_mitigation_and_may_be_proposed_and_a_fix_is_none():
    guarded = mitigations_of(GUARDED)
    body = pull_body(FindingView(analysis(), mitigations=guarded), "k", "n", None)
    assert "**This is a mitigation, not the fix.**" in body
    assert "`shop/price.py:2` replaces a missing value" in body
    assert not_wanted(guarded) is None
    assert mitigations_of(MENDED) == ()


@pytest.mark.parametrize(
    ("quote", "verified", "is_mitigation"),
    TABLES["test_a_guard_is_a_fix_where_code_is_cited_that_gives_nothing"],
)
def test_a_guard_is_a_fix_where_code_is_cited_that_gives_nothing(quote, verified, is_mitigation):
    cited = Evidence(path="shop/orders.py", line=4, quote=quote, verified=verified)
    assert bool(mitigations_of(GUARDED, evidence=(cited,))) == is_mitigation
    swallowed = (
        BEFORE.replace("return order", "try:\n        return order")
        + "    except Exception:\n        pass\n"
    )
    assert mitigations_of(swallowed, evidence=(cited,))


def test_a_weakened_test_is_never_proposed():
    because = not_wanted(mitigations_of(LOOSE, path="tests/test_price.py", before=TEST))
    assert because
    assert because.text == "the change to tests/test_price.py weakens a test"
