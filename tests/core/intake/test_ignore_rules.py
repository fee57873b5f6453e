from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from core.lesson_shapes import one_group
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.intake import limits
from nightwatch_core.intake.ignore_rules import (
    MODES,
    complaint,
    ignored_by,
    matches,
    rules_from,
    rules_in_force,
    without_ignored,
)
from nightwatch_core.models.errors import ErrorGroup, Window
from nightwatch_core.models.knowledge import IgnoreRule, IgnoreRules

TABLES = tables_of(__file__)

GROUP = ErrorGroup(
    fingerprint="v1:1",
    source="file",
    error_class="Net::ReadTimeout",
    message="GET /wp-login.php [400] timed out",
    transaction="Controller/bots/index",
)


@pytest.mark.parametrize("kind", TABLES["matching"])
def test_what_a_rule_matches(kind):
    for row in TABLES["matching"][kind]:
        match, field, pattern = row.split(" ", 2)
        rule = IgnoreRule.model_validate({"pattern": pattern, "match": match, "field": field})
        assert matches(rule, GROUP) is (kind == "covered"), row


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


def test_a_rule_hides_a_group_only_where_it_covers_every_message_of_it():
    shop, bot = 'No route matches [GET] "/products"', 'No route matches [GET] "/.env"'
    rules = IgnoreRules(rules=(IgnoreRule(pattern="/.env"), IgnoreRule(pattern="wp-login")))
    shown = GROUP.model_copy(update={"message": bot, "messages": ((shop, 300), (bot, 1))})
    assert ignored_by(rules.rules, shown) is None
    assert without_ignored(rules, shown).message == shop
    only_bots = shown.model_copy(update={"messages": ((bot, 3), ("GET /wp-login.php", 2))})
    assert ignored_by(rules.rules, only_bots) == rules.rules[0]
    newest = shown.model_copy(update={"message": shop, "messages": ((bot, 9), (bot + "x", 9))})
    assert ignored_by(rules.rules, newest) is None, "the newest is rare, and not a bot's"
    over = rules.rules[0].model_copy(update={"unless_rate_above": 0.5})
    _, told = rules_in_force(IgnoreRules(rules=(over,)), (shown,), DAY)
    assert "1 occurrences a day in 1 error" in told[0], "what it does not cover does not count"


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


@pytest.mark.parametrize(("counts", "hours", "over"), TABLES["a_rule_does_not_hold_above_its_rate"])
def test_a_rule_does_not_hold_above_its_rate(counts, hours, over):
    window = Window(since=END - timedelta(hours=hours), until=END)
    rule = IgnoreRule(pattern="wp-login", unless_rate_above=50)
    assert bool(held(rule, several(*counts), window)) is over


def test_it_says_how_often_the_errors_it_covers_came():
    other = GROUP.model_copy(update={"message": "else", "occurrences": 999})
    rule = IgnoreRule(pattern="wp-login", line=4, unless_rate_above=50)
    assert held(rule, (*several(400, 1_000), other)) == (
        "ignore.yml line 4, contains 'wp-login', does not hold tonight: 1,400 occurrences a day "
        "in 2 errors, and it holds up to 50",
    )


def test_rules_that_are_over_are_not_told_without_end():
    old = IgnoreRule(pattern="\x1b[31m" + "a" * 400, expires=date(2030, 1, 1))
    rules, told = rules_in_force(IgnoreRules(rules=(old,) * 100), (GROUP,), DAY)
    assert rules.rules == ()
    assert len(told) == limits.SENTENCES + 1
    assert told[-1] == "80 more ignore rules do not hold"
    assert all(len(each) <= 400 and each.isprintable() for each in told)


OURS = Path(__file__).parents[3] / "knowledge" / "ignore.yml"

TEXT = TABLES["TEXT"]


def test_rules_with_their_lines():
    expected = (
        IgnoreRule(pattern="wp-login", reason="bots", line=3),
        IgnoreRule(pattern="KeyError", match="exact", field="error_class", line=7),
    )
    assert rules_from(TEXT) == IgnoreRules(rules=expected)


def test_a_bare_list_is_enough():
    assert rules_from("- pattern: a b\n").rules == (IgnoreRule(pattern="a b", line=1),)


@pytest.mark.parametrize("text", ["", "# nothing\n", "ignore:\n", "ignore: []\n", "---\n", "[]"])
def test_no_rules_are_no_complaint(text):
    assert rules_from(text) == IgnoreRules()


@pytest.mark.parametrize("row", TABLES["complaints"])
def test_a_bad_rule_is_left_out_with_its_line(row):
    item, _, complaint = row.replace("LONG", "a" * 501).partition(" -> ")
    rules = rules_from(f"ignore:\n- pattern: before\n- {item}\n- pattern: after\n")
    assert [rule.pattern for rule in rules.rules] == ["before", "after"]
    (said,) = rules.complaints
    assert said.startswith(f"line 3: {complaint}")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        *TABLES["a_broken_file_gives_no_rules_and_a_complaint"],
        ("ignore: " + "[" * 5_000, "line 1: nested deeper than 20"),
        ("x" * (limits.IGNORE_FILE + 1), "longer than"),
    ],
)
def test_a_broken_file_gives_no_rules_and_a_complaint(text, complaint):
    rules = rules_from(text)
    assert rules.rules == ()
    assert rules.complaints[0].startswith(complaint)


@pytest.mark.parametrize("bounds", ["2031-12-31 50", "'2031-12-31' '50'", '"2031-12-31" 50.0'])
def test_a_rule_may_end_and_be_bound_to_a_rate(bounds):
    day, rate = bounds.split()
    text = f"- {{pattern: a, expires: {day}, unless_rate_above: {rate}}}\n- pattern: b"
    bound, free = rules_from(text).rules
    assert (bound.expires, bound.unless_rate_above) == (date(2031, 12, 31), 50.0)
    assert (free.expires, free.unless_rate_above) == (None, None)


def test_numbers_are_text_here():
    assert rules_from("- {pattern: 404, match: exact}").rules[0].pattern == "404"


def test_our_own_rules_hold():
    rules = rules_from(OURS.read_text(encoding="utf-8"))
    assert rules.complaints == ()
    assert len(rules.rules) == 8
    assert all(rule.reason for rule in rules.rules)


@pytest.mark.parametrize("row", TABLES["dropped_by_our_own_rules"])
def test_our_own_rules_drop_scanners_and_nothing_else(row):
    error_class, message, dropped, *path = row
    rules = rules_from(OURS.read_text(encoding="utf-8")).rules
    told = {"error_class": error_class, "message": message, "transaction": "".join(path)}
    group = one_group("v1:a", **told).leader
    assert (ignored_by(rules, group) is not None) is dropped
