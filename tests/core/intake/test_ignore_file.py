"""ignore.yml: good rules hold, bad ones are named with their line."""

from datetime import date
from pathlib import Path

import pytest
from core.lesson_shapes import one_group

from nightwatch_core.intake import limits
from nightwatch_core.intake.ignore_rules import ignored_by, rules_from, unreadable
from nightwatch_core.models.knowledge import IgnoreRule, IgnoreRules

OURS = Path(__file__).parents[3] / "knowledge" / "ignore.yml"

TEXT = """# comment
ignore:
  - pattern: "wp-login"
    match: contains
    reason: "bots"

  - {pattern: KeyError, match: exact, field: error_class}
"""


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


@pytest.mark.parametrize(
    ("item", "complaint"),
    [
        ("wp-login", "a rule is a mapping with pattern, match, field, reason"),
        ("[wp-login]", "a rule is a mapping"),
        ("{pattern: ''}", "the pattern is empty"),
        ("{pattern: '  '}", "the pattern is empty"),
        ("{pattern: }", "the pattern is empty"),
        ("{match: exact}", "the pattern is empty"),
        (
            "{pattern: a, match: regex}",
            "match 'regex' is not known, only contains, exact, prefix, glob",
        ),
        ("{pattern: a, field: class}", "field 'class' is not known, only error_class, message"),
        ("{pattern: a, patern: b}", "'patern' is not known, only pattern"),
        ("{pattern: a, pattern: b}", "'pattern' comes twice"),
        ("{pattern: [a]}", "'pattern' has to be text"),
        ("{pattern: a, reason: {b: c}}", "'reason' has to be text"),
        ("{[a]: b}", "a key that is not text is not known"),
        ("{pattern: '*', match: glob}", "the pattern matches every error"),
        ("{pattern: '?* ', match: glob}", "the pattern matches every error"),
        ("{pattern: 'a*a*a*a*a*a*a*a*a*', match: glob}", "a glob may have"),
        ("{pattern: " + "a" * 501 + "}", "the pattern has more than 500 characters"),
        ("{pattern: a, expires: 31.12.2031}", "expires '31.12.2031' is no day"),
        ("{pattern: a, expires: 2031-02-30}", "expires '2031-02-30' is no day"),
        ("{pattern: a, expires: 2031-12-31T00:00:00}", "expires '2031-12-31T00:00:00' is no day"),
        ("{pattern: a, expires: 20311231}", "expires '20311231' is no day"),
        ("{pattern: a, expires: never}", "expires 'never' is no day"),
        ("{pattern: a, expires: ''}", "expires '' is no day"),
        ("{pattern: a, expires: }", "expires '' is no day"),
        ("{pattern: a, expires: ٢٠٣١-١٢-٣١}", "expires"),
        ("{pattern: a, expires: [2031-12-31]}", "'expires' has to be text"),
        ("{pattern: a, expires: 2031-12-31, expires: 2031-12-31}", "'expires' comes twice"),
        ("{pattern: a, unless_rate_above: 0}", "unless_rate_above '0' is no positive number"),
        ("{pattern: a, unless_rate_above: -1}", "unless_rate_above '-1' is no positive"),
        ("{pattern: a, unless_rate_above: 50/day}", "unless_rate_above '50/day' is no"),
        ("{pattern: a, unless_rate_above: .inf}", "unless_rate_above '.inf' is no"),
        ("{pattern: a, unless_rate_above: nan}", "unless_rate_above 'nan' is no"),
        ("{pattern: a, unless_rate_above: 1e9}", "unless_rate_above '1e9' is no"),
        ("{pattern: a, unless_rate_above: }", "unless_rate_above '' is no"),
    ],
)
def test_a_bad_rule_is_left_out_with_its_line(item, complaint):
    rules = rules_from(f"ignore:\n- pattern: before\n- {item}\n- pattern: after\n")
    assert [rule.pattern for rule in rules.rules] == ["before", "after"]
    (said,) = rules.complaints
    assert said.startswith(f"line 3: {complaint}")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("ignore: wp-login\n", "line 1: a list of rules is needed"),
        ("text\n", "line 1: a list of rules is needed"),
        ("\nrules:\n- pattern: a\n", "line 2: 'rules' is not known here, only 'ignore'"),
        ("ignore: []\nignore:\n- pattern: a\n", "line 2: 'ignore' comes twice"),
        ("ignore:\n- pattern: a\n  match: [\n", "line 4: "),
        ("ignore:\n- &a {pattern: x}\n- *a\n", "line 2: anchors and aliases are refused"),
        ("ignore:\n- !!python/name:os.system {pattern: x}\n", "line 2: tags are refused"),
        ("ignore: " + "[" * 5_000, "line 1: nested deeper than 20"),
        ("a\x00b", "special characters"),
        ("x" * (limits.IGNORE_FILE + 1), "longer than"),
    ],
)
def test_a_broken_file_gives_no_rules_and_a_complaint(text, complaint):
    rules = rules_from(text)
    assert rules.rules == ()
    assert rules.complaints[0].startswith(complaint)


@pytest.mark.parametrize("day", ["2031-12-31", "'2031-12-31'", '"2031-12-31"'])
@pytest.mark.parametrize("rate", ["50", "'50'", "50.0"])
def test_a_rule_may_end_and_be_bound_to_a_rate(day, rate):
    (rule,) = rules_from(f"- {{pattern: a, expires: {day}, unless_rate_above: {rate}}}").rules
    assert (rule.expires, rule.unless_rate_above) == (date(2031, 12, 31), 50.0)


def test_a_rule_without_bounds_has_none():
    (rule,) = rules_from("- pattern: a").rules
    assert (rule.expires, rule.unless_rate_above) == (None, None)


@pytest.mark.parametrize("text", ["a: [", "x" * (limits.IGNORE_FILE + 1), "- &a b"])
def test_it_says_why_nothing_can_be_read(text):
    assert unreadable(text)
    assert not unreadable("- {patern: a}")


def test_numbers_are_text_here():
    assert rules_from("- {pattern: 404, match: exact}").rules[0].pattern == "404"


def test_our_own_rules_hold():
    rules = rules_from(OURS.read_text(encoding="utf-8"))
    assert rules.complaints == ()
    assert len(rules.rules) == 8
    assert all(rule.reason for rule in rules.rules)


@pytest.mark.parametrize(
    ("error_class", "message", "dropped"),
    [
        ("ActionController::RoutingError", 'No route matches [GET] "/wp-login.php"', True),
        ("ActionController::RoutingError", 'No route matches [GET] "/phpMyAdmin/"', True),
        ("NotFound", "Not Found: /xmlrpc.php", True),
        ("ActionController::RoutingError", 'No route matches [GET] "/.env.bak"', True),
        ("ActionController::RoutingError", 'No route matches [GET] "/orders/7"', False),
        ("Net::ReadTimeout", "execution expired", False),
        ("KeyError", "key not found: :env", False),
    ],
)
def test_our_own_rules_drop_scanners_and_nothing_else(error_class, message, dropped):
    rules = rules_from(OURS.read_text(encoding="utf-8")).rules
    group = one_group("v1:a", error_class=error_class, message=message).leader
    assert (ignored_by(rules, group) is not None) is dropped
