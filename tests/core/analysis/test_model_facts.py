"""Prices and traits of models."""

from datetime import date

import pytest

from nightwatch_core.analysis.model_facts import CURRENT, FACTS, facts, priced
from nightwatch_core.analysis.specs import BUILT_IN
from nightwatch_core.analysis.tools import SPECS
from nightwatch_core.models.analysis import Usage


def test_prices_make_sense():
    for model, known in FACTS.items():
        assert known.prices[-1].up_to == float("inf"), model
        assert date.fromisoformat(known.priced).year == 2026
        for price in known.prices:
            assert price.read < price.input < price.write < price.write_1h < price.output, model
            assert price.write == pytest.approx(1.25 * price.input)
            assert price.write_1h == pytest.approx(2 * price.input)


def test_every_current_model_has_a_price():
    assert set(CURRENT.values()) <= set(FACTS)


def test_our_prompt_is_long_enough_to_be_cached():
    prefix = len(BUILT_IN.prompt) + sum(len(spec.model_dump_json()) for spec in SPECS)
    for model in CURRENT.values():
        assert prefix / 5 > facts(model).smallest_cached


def test_what_was_kept_for_an_hour_costs_twice_the_input():
    used = Usage(cache_write_tokens=1_000, cache_write_1h_tokens=400)
    assert used.cache_write_5m_tokens == 600
    assert priced("claude-opus-5-5", used).cost == pytest.approx((600 * 5 + 400 * 8) / 1e6)


def test_the_cache_saves_what_reading_costs_less_and_writing_more():
    used = priced("claude-opus-5-5", Usage(cache_write_tokens=1_000, cache_read_tokens=9_000))
    assert used.saved == pytest.approx((9_000 * (4 - 0.20) - 1_000 * (5 - 4)) / 1e6)


def test_nobody_knows_what_an_unknown_model_costs_or_saves():
    used = priced("qwen", Usage(input_tokens=5))
    assert (used.cost, used.saved) == (None, None)
    assert (used + Usage(cost=1.0)).cost is None
    assert not facts("qwen").turn_effort


def test_usage_of_older_records_can_be_read():
    old = {"calls": 1, "input_tokens": 2, "output_tokens": 3, "cache_write_tokens": 4,
           "cache_read_tokens": 5, "cost": 0.5}  # fmt: skip
    assert Usage.model_validate(old).thinking_tokens == 0
    assert (Usage(**old) + Usage(**old)).saved == 0.0
