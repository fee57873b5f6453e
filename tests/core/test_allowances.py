import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.allowances import deal
from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.options import NightOptions


def test_the_seeds_figures():
    may = deal(NightOptions(), 5)
    assert (may.tokens, may.iterations, may.seconds) == (120_000, 15, 600)
    assert may.cost == pytest.approx(1.2)


def test_an_error_never_gets_more_than_its_own_cap():
    may = deal(NightOptions(), 1)
    assert (may.tokens, may.cost) == (120_000, 1.5)


def test_the_nights_cap_is_shared():
    may = deal(NightOptions(total_token_budget=100_000, cost_per_night=1.0), 8)
    assert (may.tokens, may.cost) == (12_500, 0.125)


def test_what_is_gone_is_gone():
    used = Usage(input_tokens=400_000, output_tokens=50_000, cache_write_tokens=50_000,
                 cache_read_tokens=9_000_000, cost=5.0)  # fmt: skip
    may = deal(NightOptions(), 10, used)
    assert (may.tokens, may.cost) == (50_000, 0.1)


def test_nothing_left_is_nothing():
    may = deal(NightOptions(), 3, Usage(input_tokens=2_000_000, cost=7.0))
    assert (may.tokens, may.cost) == (0, 0.0)


def test_an_unknown_price_takes_nothing_from_the_cost():
    assert deal(NightOptions(), 4, Usage(input_tokens=10, cost=None)).cost == 1.5


def test_no_errors_divide_by_nothing():
    assert deal(NightOptions(), 0).tokens == 120_000


@given(st.integers(0, 300), st.integers(0, 2_000_000), st.floats(0, 20))
def test_all_shares_together_stay_inside_the_night(errors, tokens, cost):
    options = NightOptions()
    may = deal(options, errors, Usage(input_tokens=tokens, cost=cost))
    assert 0 <= may.tokens * errors <= max(options.total_token_budget - tokens, 0)
    assert 0 <= may.cost * errors <= max(options.cost_per_night - cost, 0) + 1e-9
