import time
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.ignoring import FIELDS, MODES, complaint, ignored_by, matches
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.pattern import IgnoreRule, MatchMode

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
def test_matches(match: MatchMode, field: Field, pattern: str) -> None:
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
def test_does_not_match(match: MatchMode, field: Field, pattern: str) -> None:
    assert not matches(IgnoreRule(pattern=pattern, match=match, field=field), GROUP)


@pytest.mark.parametrize("match", list(MODES))
@pytest.mark.parametrize("pattern", ["", " ", "\n\t"])
def test_an_empty_pattern_covers_nothing(match: MatchMode, pattern: str) -> None:
    bare = ErrorGroup(fingerprint="v1:1", source="file", error_class="")
    assert not any(
        matches(IgnoreRule(pattern=pattern, match=match), group) for group in (GROUP, bare)
    )


def test_a_greedy_glob_is_refused_with_a_reason() -> None:
    rule = IgnoreRule(pattern="*a" * 200, match="glob")
    assert complaint(rule)
    assert not matches(rule, GROUP)


def test_globs_stay_fast_on_hostile_text() -> None:
    hostile = GROUP.model_copy(update={"message": "a" * 1_000_000})
    began = time.process_time()
    assert not matches(IgnoreRule(pattern="*a*a*a*a*a*a*b", match="glob"), hostile)
    assert time.process_time() - began < 5


@given(st.text(max_size=40), st.text(max_size=80))
def test_no_glob_breaks(pattern: str, message: str) -> None:
    group = GROUP.model_copy(update={"message": message})
    assert matches(IgnoreRule(pattern=pattern, match="glob"), group) in (True, False)


def test_the_first_rule_that_covers_is_named() -> None:
    rules = (
        IgnoreRule(pattern="x"),
        IgnoreRule(pattern="net", line=2),
        IgnoreRule(pattern="timed"),
    )
    assert ignored_by(rules, GROUP) == rules[1]
    assert ignored_by(rules[:1], GROUP) is None


def test_every_field_of_a_rule_can_be_read() -> None:
    fields = IgnoreRule.model_fields["field"].annotation
    assert set(FIELDS) == set(getattr(fields, "__args__", ()))
