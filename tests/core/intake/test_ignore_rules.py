from datetime import UTC, date, datetime, timedelta
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.intake import limits
from nightwatch_core.intake.ignore_rules import (
    MODES,
    complaint,
    ignored_by,
    matches,
    rules_in_force,
)
from nightwatch_core.models.errors import ErrorGroup, Window
from nightwatch_core.models.knowledge import IgnoreRule, IgnoreRules

GROUP = ErrorGroup(
    fingerprint="v1:1",
    source="file",
    error_class="Net::ReadTimeout",
    message="GET /wp-login.php [400] timed out",
    transaction="Controller/bots/index",
)
Field = Literal["error_class", "message", "transaction", "any"]


@pytest.mark.parametrize(
    ("match", "field", "pattern"),
    [
        ("contains", "any", "WP-Login"),
        ("contains", "any", "readtimeout"),
        ("exact", "any", "net::readtimeout"),
        ("exact", "error_class", "Net::ReadTimeout"),
        ("prefix", "message", "get /wp"),
        ("prefix", "transaction", "Controller/bots"),
        ("glob", "any", "net::*timeout"),
        ("glob", "message", "get *.php*"),
        ("glob", "error_class", "Net::?eadTimeout"),
    ],
)
def test_matches(match, field, pattern):
    assert matches(IgnoreRule(pattern=pattern, match=match, field=field), GROUP)


@pytest.mark.parametrize(
    ("match", "field", "pattern"),
    [
        ("contains", "message", "ReadTimeout"),
        ("contains", "any", "bots"),
        ("exact", "any", "ReadTimeout"),
        ("prefix", "any", "ReadTimeout"),
        ("glob", "any", "ReadTimeout"),
        ("contains", "any", ".*"),
        ("glob", "any", "(a+)+$"),
    ],
)
def test_does_not_match(match, field, pattern):
    assert not matches(IgnoreRule(pattern=pattern, match=match, field=field), GROUP)


@pytest.mark.parametrize("match", list(MODES))
@pytest.mark.parametrize("pattern", ["", " ", "\n\t"])
def test_an_empty_pattern_covers_nothing(match, pattern):
    bare = ErrorGroup(fingerprint="v1:1", source="file", error_class="")
    assert not any(
        matches(IgnoreRule(pattern=pattern, match=match), group) for group in (GROUP, bare)
    )


def test_a_greedy_glob_is_refused_with_a_reason():
    rule = IgnoreRule(pattern="*a" * 200, match="glob")
    assert complaint(rule)
    assert not matches(rule, GROUP)


def test_globs_stay_fast_on_hostile_text():
    hostile = GROUP.model_copy(update={"message": "a" * 1_000_000})
    assert not matches(IgnoreRule(pattern="*a*a*a*a*a*a*b", match="glob"), hostile)


@given(st.text(max_size=40), st.text(max_size=80))
def test_no_glob_breaks(pattern, message):
    group = GROUP.model_copy(update={"message": message})
    assert matches(IgnoreRule(pattern=pattern, match="glob"), group) in (True, False)


def test_the_first_rule_that_covers_is_named():
    rules = (
        IgnoreRule(pattern="x"),
        IgnoreRule(pattern="net", line=2),
        IgnoreRule(pattern="timed"),
    )
    assert ignored_by(rules, GROUP) == rules[1]
    assert ignored_by(rules[:1], GROUP) is None


END = datetime(2031, 12, 31, 4, tzinfo=UTC)
DAY = Window(since=END - timedelta(hours=24), until=END)


def held(rule, groups=(GROUP,), window=DAY):
    rules, told = rules_in_force(
        IgnoreRules(rules=(rule,), complaints=("line 9: wrong",)), groups, window
    )
    assert rules.complaints == ("line 9: wrong",)
    assert rules.rules == (() if told else (rule,))
    return told


@pytest.mark.parametrize(("day", "over"), [(30, True), (31, False)])
def test_a_rule_holds_to_the_end_of_its_last_day(day, over):
    rule = IgnoreRule(pattern="wp-login", line=4, expires=date(2031, 12, day))
    assert bool(held(rule)) is over
    if over:
        assert held(rule) == (
            "ignore.yml line 4, contains 'wp-login', expired on 2031-12-30 and hides nothing any "
            "more; it would have covered 1 of tonight's occurrences",
        )
        assert held(rule, ())[0].endswith("hides nothing any more")


def several(*counts):
    return tuple(
        GROUP.model_copy(update={"fingerprint": f"v1:{at}", "occurrences": count})
        for at, count in enumerate(counts)
    )


@pytest.mark.parametrize(
    ("counts", "hours", "over"),
    [
        ((50,), 24, False),
        ((51,), 24, True),
        ((25, 26), 24, True),  # an attack spreads over groups
        ((100,), 48, False),
        ((101,), 48, True),
        ((3,), 1, True),
        ((2,), 1, False),
        ((2,), 0.01, False),  # a window shorter than an hour counts as one
        ((2,), 0, False),
    ],
)
def test_a_rule_does_not_hold_above_its_rate(counts, hours, over):
    window = Window(since=END - timedelta(hours=hours), until=END)
    rule = IgnoreRule(pattern="wp-login", unless_rate_above=50)
    assert bool(held(rule, several(*counts), window)) is over


def test_it_says_how_often_the_error_came():
    rule = IgnoreRule(pattern="wp-login", line=4, unless_rate_above=50)
    assert held(rule, several(400, 1_000)) == (
        "ignore.yml line 4, contains 'wp-login', does not hold tonight: 1,400 occurrences a day "
        "in 2 errors, and it holds up to 50",
    )


def test_what_a_rule_does_not_cover_does_not_count():
    other = GROUP.model_copy(update={"message": "else", "occurrences": 999})
    assert held(IgnoreRule(pattern="wp-login", unless_rate_above=50), (GROUP, other)) == ()


def test_rules_that_are_over_are_not_told_without_end():
    old = IgnoreRule(pattern="\x1b[31m" + "a" * 400, expires=date(2030, 1, 1))
    rules, told = rules_in_force(IgnoreRules(rules=(old,) * 100), (GROUP,), DAY)
    assert rules.rules == ()
    assert len(told) == limits.SENTENCES + 1
    assert told[-1] == "80 more ignore rules do not hold"
    assert all(len(each) <= 400 and each.isprintable() for each in told)


@given(st.lists(st.integers(0, 100), max_size=5), st.floats(0.5, 200), st.booleans())
def test_every_rule_holds_or_is_told(counts, rate, ended):
    day = date(2031, 12, 30) if ended else None
    rules = tuple(
        IgnoreRule(pattern=pattern, unless_rate_above=rate, expires=day)
        for pattern in ("wp-login", "timed", "nothing")
    )
    kept, told = rules_in_force(IgnoreRules(rules=rules), several(*counts), DAY)
    assert len(kept.rules) + len(told) == len(rules)
