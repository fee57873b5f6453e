"""Ignore rules are suggested with numbers, narrowly, and never for a name alone."""

import pytest
from core.lesson_shapes import analysis, lesson, one_group, seen

from nightwatch_core.ignoring import ignored_by
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules
from nightwatch_core.suggestions import MOST, suggest

MESSAGE = "connection to the rates service was reset"


def noise(name="v1:a", **fields):
    told = {"message": MESSAGE, "nights": seen(1, 2, 3), "tags": ("transient",)}
    return lesson(name, **{**told, **fields})


def test_transient_on_three_nights_without_a_fix():
    (one,) = suggest((), (noise(),), IgnoreRules())
    assert (one.pattern, one.match, one.reason) == (MESSAGE, "prefix", "passes by itself")
    assert one.evidence == (
        "seen on 3 nights from 2031-03-01 to 2031-03-03, 21 times, no fix is known; confidence was "
        "low on 0 of 3 sightings: Billing::RateMissing in Controller/invoices/create"
    )


def test_unexplained_on_every_night():
    (one,) = suggest((), (noise(tags=(), nights=seen(1, 2, 3, confidence="low")),), IgnoreRules())
    assert one.reason == "no cause was found in the code"
    assert "low on 3 of 3" in one.evidence


@pytest.mark.parametrize(
    "fields",
    [
        {"nights": seen(1, 2)},
        {"nights": ()},
        {"has_fix": True},
        {"pr_number": 3},
        {"tags": ()},
        {"tags": (), "error_class": "Net::ReadTimeout", "message": "SSL connection timeout"},
        {"tags": (), "nights": seen(1, 2, confidence="low") + seen(3)},
        {"tags": (), "nights": seen(1, 2, 3, confidence="")},
    ],
)
def test_what_is_not_suggested(fields):
    assert suggest((), (noise(**fields),), IgnoreRules()) == ()


def test_a_fix_of_tonight_speaks_against_it():
    fixed = analysis(one_group("v1:a"))
    assert fixed.has_fix
    assert suggest((fixed,), (noise(),), IgnoreRules()) == ()


def test_a_tag_of_tonight_speaks_for_it():
    tagged = analysis(one_group("v1:a"), fix=(), tags=("Transient",))
    assert len(suggest((tagged,), (noise(tags=()),), IgnoreRules())) == 1


@pytest.mark.parametrize(
    "rule",
    [
        IgnoreRule(pattern="RATES SERVICE", field="message"),
        IgnoreRule(pattern="Billing::*", match="glob", field="error_class"),
    ],
)
def test_nothing_that_a_rule_covers(rule):
    assert suggest((), (noise(),), IgnoreRules(rules=(rule,))) == ()


def test_a_message_that_varies_early_gives_the_class_if_all_of_it_is_noise():
    short = noise(message="reset by 10.0.0.1")
    (one,) = suggest((), (short,), IgnoreRules())
    assert (one.pattern, one.match) == ("Billing::RateMissing", "exact")
    serious = lesson("v1:z", has_fix=True, nights=seen(3))
    assert suggest((), (short, serious), IgnoreRules()) == ()


def test_a_prefix_that_would_hide_another_error_is_not_suggested():
    serious = lesson("v1:z", error_class="Other", message=MESSAGE + " by us", nights=seen(3))
    (one,) = suggest((), (noise(), serious), IgnoreRules())
    assert (one.pattern, one.match) == ("Billing::RateMissing", "exact")


def test_errors_of_one_rule_are_one_suggestion_and_the_loudest_comes_first():
    quiet = noise("v1:q", error_class="Q", message="the printer ran out of paper again")
    same = noise("v1:b", transaction="jobs/other")
    first, second = suggest((), (quiet, noise(), same), IgnoreRules())
    assert "42 times" in first.evidence
    assert second.pattern == "the printer ran out of paper again"


def test_a_suggested_rule_covers_what_it_is_about():
    (one,) = suggest((), (noise(),), IgnoreRules())
    rule = IgnoreRule(pattern=one.pattern, match=one.match)
    told = one_group("v1:a", message=MESSAGE.upper()).leader
    assert ignored_by((rule,), told) == rule


def test_never_more_than_ten():
    words = "abcdefghijklmnopqrst"
    many = tuple(
        noise(f"v1:{w}", error_class=w, message=f"{w * 20} failed us again") for w in words
    )
    assert len(suggest((), many, IgnoreRules())) == MOST
