"""Tests of what a proof may take: its own tokens, and what error and night have left."""

import pytest
from analysis_shapes import analysis

from nightwatch_core.models.answer import Usage
from nightwatch_core.models.options import NightOptions
from nightwatch_core.proof.proving import proof_allowance


@pytest.mark.parametrize(
    ("options", "used", "spent", "tokens", "cost"),
    [
        ({}, Usage(), Usage(), 60_000, 1.5),
        ({}, Usage(input_tokens=950_000, cost=5.0), Usage(cost=0.25), 50_000, 1.0),
        ({}, Usage(cost=2.0), Usage(cost=1.25), 60_000, 0.25),
        ({}, Usage(cost=2.0), Usage(cost=9.0), 60_000, 0.0),
        ({}, Usage(input_tokens=2_000_000, cost=7.0), Usage(), 0, 0.0),
        ({}, Usage(cost=None), Usage(cost=None), 60_000, 0.0),
        ({"cost_per_error": 0}, Usage(cost=2.0), Usage(cost=1.0), 60_000, 4.0),
        ({"cost_per_night": 0}, Usage(cost=99.0), Usage(cost=9.0), 60_000, None),
    ],
)
def test_a_proof_has_what_is_left(options, used, spent, tokens, cost):
    may = proof_allowance(analysis(usage=spent), NightOptions(**options), used)
    assert (may.tokens, may.cost) == (tokens, cost)
