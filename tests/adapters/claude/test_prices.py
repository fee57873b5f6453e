"""What requests cost: the table, and how the cache counts."""

from datetime import date

import pytest

from nightwatch_core.adapters.claude.features import CURRENT, PRICES, priced
from nightwatch_core.models.answer import Usage


def test_prices_make_sense():
    for model, prices in PRICES.items():
        assert prices.tiers[-1].up_to is None, model
        assert date.fromisoformat(prices.date).year == 2026
        for price in prices.tiers:
            assert price.cache_read < price.input < price.output, model
            assert (price.cache_write, price.cache_write_1h) == pytest.approx(
                (1.25 * price.input, 2 * price.input)
            )
    assert set(CURRENT.values()) <= set(PRICES)


@pytest.mark.parametrize(
    ("model", "used", "dollars"),
    [
        ("claude-haiku-5-5", Usage(input_tokens=100_000), 0.01),
        ("claude-haiku-5-5", Usage(input_tokens=100_001), 0.0500005),  # a long prompt's price
        ("claude-haiku-5-5", Usage(input_tokens=1, cache_read_tokens=100_000), 0.0050005),
        ("claude-opus-5-5", Usage(cache_write_tokens=1_000, cache_write_1h_tokens=400), 0.0062),
    ],
)
def test_what_a_request_costs(model, used, dollars):
    assert priced(model, used).cost == pytest.approx(dollars)


def test_the_cache_saves_what_reading_costs_less_and_writing_more():
    used = priced("claude-opus-5-5", Usage(cache_write_tokens=1_000, cache_read_tokens=9_000))
    assert used.saved == pytest.approx((9_000 * (4 - 0.20) - 1_000 * (5 - 4)) / 1e6)


def test_nobody_knows_what_an_unknown_model_costs_or_saves():
    used = priced("qwen", Usage(input_tokens=5))
    assert (used.cost, used.saved, used.priced) == (None, None, "")
    assert (used + Usage(cost=1.0)).cost is None
