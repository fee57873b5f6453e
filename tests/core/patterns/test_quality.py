"""Patterns on a few labelled nights: what `python -m tests.benchmarks.patterns` measures on all."""

from collections import Counter

import pytest

from nightwatch_core import patterns
from tests.benchmarks.pattern_nights import night
from tests.benchmarks.patterns import KINDS, by_pattern, without_optional

SEEDS = range(0, 200, 5)


@pytest.fixture(scope="module")
def counts():
    counted = Counter()
    for seed in SEEDS:
        one = night(seed)
        found = [
            (KINDS[each.rule], frozenset(each.fingerprints))
            for each in patterns.detect(one.analyses, one.lessons)
        ]
        for name, count in by_pattern(*without_optional(found, one.planted)):
            counted[name] += count
    return counted


@pytest.mark.parametrize("name", [*KINDS.values(), "all"])
def test_hardly_a_pattern_is_wrong_and_few_are_missed(counts, name):
    assert counts[name, "planted"] > 5
    assert counts[name, "right"] >= 0.9 * counts[name, "found"]
    assert counts[name, "right"] >= 0.85 * counts[name, "planted"]
