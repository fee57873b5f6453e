import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.analysis.budget_split import deal
from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.options import NightOptions


def test_the_seeds_figures():
    (may, *rest) = deal(NightOptions(), 5)
    assert rest == [may] * 4
    assert (may.tokens, may.iterations, may.seconds) == (120_000, 15, 600)
    assert may.cost == pytest.approx(1.2)


def test_an_error_never_gets_more_than_its_own_cap():
    (may,) = deal(NightOptions(), 1)
    assert (may.tokens, may.cost) == (120_000, 1.5)


def test_the_nights_cap_is_shared():
    may = deal(NightOptions(total_token_budget=400_000, cost_per_night=1.0), 8)
    assert {(one.tokens, one.cost) for one in may} == {(50_000, 0.125)}


def test_where_all_would_get_too_little_the_best_ranked_are_served():
    may = deal(NightOptions(total_token_budget=100_000, cost_per_night=1.0), 8)
    assert [(one.tokens, one.cost) for one in may] == [(50_000, 0.5)] * 2 + [(0, 0.0)] * 6
    small = NightOptions(total_token_budget=100_000, token_budget_per_error=10_000)
    assert [one.tokens for one in deal(small, 8)] == [10_000] * 8
    assert [one.tokens for one in deal(NightOptions(total_token_budget=1_000), 2)] == [1_000, 0]


OPUS = Capabilities(model="opus", input_price=4, output_price=20)


def test_what_is_useful_in_usd_goes_by_the_models_price():
    night = NightOptions(cost_per_night=1.0)
    served = [one.cost for one in deal(night, 10, able=OPUS)]
    assert served == pytest.approx([1 / 3] * 3 + [0.0] * 7)
    cheap = OPUS.model_copy(update={"input_price": 0.1, "output_price": 0.5})
    assert [one.cost for one in deal(night, 10, able=cheap)] == [0.1] * 10


def test_a_local_model_serves_all():
    rules = Capabilities(model="rules", local=True, input_price=0, output_price=0)
    assert min(one.tokens for one in deal(NightOptions(), 200, able=rules)) > 0


def test_no_cap_on_usd():
    assert [one.cost for one in deal(NightOptions(cost_per_night=0), 2)] == [None, None]
    assert [one.cost for one in deal(NightOptions(cost_per_error=0), 2)] == [3.0, 3.0]
    gone = Usage(cost=None)
    assert deal(NightOptions(cost_per_night=0), 1, gone)[0].cost is None


def test_what_is_gone_is_gone():
    used = Usage(input_tokens=400_000, output_tokens=50_000, cache_write_tokens=50_000,
                 cache_read_tokens=9_000_000, cost=5.0)  # fmt: skip
    assert [(one.tokens, one.cost) for one in deal(NightOptions(), 10, used)] == [
        (50_000, 0.1)
    ] * 10


def test_nothing_left_is_nothing():
    may = deal(NightOptions(), 3, Usage(input_tokens=2_000_000, cost=7.0))
    assert {(one.tokens, one.cost) for one in may} == {(0, 0.0)}


def test_an_unknown_price_is_never_nothing():
    assert {one.cost for one in deal(NightOptions(), 4, Usage(input_tokens=10, cost=None))} == {0.0}


def test_no_errors_divide_by_nothing():
    assert deal(NightOptions(), 0) == ()


@given(st.integers(0, 300), st.integers(0, 2_000_000), st.floats(0, 20))
def test_all_shares_together_stay_inside_the_night(errors, tokens, cost):
    options = NightOptions()
    may = deal(options, errors, Usage(input_tokens=tokens, cost=cost), OPUS)
    assert len(may) == errors
    assert sum(one.tokens for one in may) <= max(options.total_token_budget - tokens, 0)
    assert sum(one.cost for one in may) <= max(options.cost_per_night - cost, 0) + 1e-9
    assert sorted(may, key=lambda one: -one.tokens) == list(may), "nobody gets more than a better"
