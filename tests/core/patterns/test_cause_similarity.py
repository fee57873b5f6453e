"""Likeness of causes: what weighs, what does not, and groups by average."""

import itertools

import pytest
from tables import tables_of

from nightwatch_core.patterns.causes import (
    ALIKE,
    Rarity,
    cause_terms,
    group_causes,
    shared_words,
    similarity,
    stem,
)

TABLES = tables_of(__file__)


def alike(one, other, *more):
    told = [cause_terms(one), cause_terms(other)]
    return similarity(*told, Rarity([*told, *map(cause_terms, more)]))


@pytest.mark.parametrize(("one", "other"), TABLES["the_same_story_in_other_words"])
def test_the_same_story_in_other_words(one, other):
    assert alike(one, other) >= ALIKE


@pytest.mark.parametrize(("one", "other"), TABLES["words_of_the_trade_make_no_story"])
def test_words_of_the_trade_make_no_story(one, other):
    told = alike(one, other, *("The rate table breaks." for _ in range(5)))
    assert told < ALIKE or one != other


def test_who_wrote_a_line_is_no_part_of_its_cause():
    by = "a/cart.js:9 was last written by 5263a574ed (Cart (#2), Mira Kowalczyk, 2026-10-05)."
    assert cause_terms(f"Line {by} pull request #12 (Orders, again)").words == {
        stem(word) for word in ("line", "pull", "request")
    }
    assert alike(f"The coupon is late; it {by}", f"Pictures exhaust memory; it {by}") < ALIKE


def test_a_shared_line_adds_and_is_not_enough():
    line = [("a.rb", 3)]
    told = [
        cause_terms("coupon date arithmetic", line),
        cause_terms("picture exhausts memory", line),
    ]
    assert similarity(*told, Rarity(told)) < ALIKE
    near = [cause_terms("coupon date off", line), cause_terms("coupon date wrong", [("a.rb", 9)])]
    far = [cause_terms("coupon date off", line), cause_terms("coupon date wrong", [("b.rb", 3)])]
    assert similarity(*near, Rarity(near)) > similarity(*far, Rarity(far))


def test_shared_words_are_those_that_tell():
    told = [
        cause_terms(text) for text in ("RateTable.fetch returns nil for LU", "LU: RateTable.fetch")
    ]
    assert shared_words(told, Rarity(told)) == ("lu", "ratetable.fetch")
    assert shared_words([], Rarity([])) == ()
    told = [cause_terms(f"rate-table.js {text}", [("a/rate-table.js", 3)]) for text in "ab"]
    assert shared_words(told, Rarity(told)) == ()


def test_groups_hold_every_number_once_and_a_chain_is_none():
    names = ("alpha_loader", "beta_reader", "gamma_writer", "delta_sender", "epsilon_maker")
    told = [cause_terms(f"{name} {after}") for name, after in itertools.pairwise(names)]
    groups = group_causes(told, Rarity(told))
    assert sorted(number for group in groups for number in group) == [0, 1, 2, 3]
    assert max(map(len, groups)) < 4
