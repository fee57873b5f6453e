"""Patterns of one night: each rule alone, and all of them together."""

from datetime import UTC, date, datetime

import pytest
from core.lesson_shapes import analysis, lesson, one_group, seen
from tables import tables_of

from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.code import MergedPull, Suspect
from nightwatch_core.patterns import detect
from nightwatch_core.patterns.detection import all_transient, same_cause, same_change, same_tags
from nightwatch_core.patterns.pattern_text import pattern_document
from nightwatch_core.text import frontmatter

TABLES = tables_of(__file__)


def found(name, **fields):
    told = {"evidence": (), "tags": (), "fix": ()}
    group = {key: fields.pop(key) for key in ("error_class", "transaction") if key in fields}
    return analysis(one_group(name, **group), **{**told, **fields})


def at(path, line):
    return (Evidence(path=path, line=line, verified=True),)


def suspect(number, sha, score):
    merged = datetime(2031, 3, 1, tzinfo=UTC)
    pull = MergedPull(number=number, title="Refactor", sha=sha, merged_at=merged)
    return (Suspect(pull=pull, score=score),)


def test_errors_that_one_change_is_suspected_of():
    told = {"suspects": suspect(12, "abcdef1234", 0.1)}
    for fields, titles in (
        (
            {**told, "suspect_commit": "abcdef1"},
            ["One change behind several errors: pull request #12"],
        ),
        (told, []),
    ):
        patterns = same_change((found("v1:a", **fields), found("v1:b", **fields)), ())
        assert [p.title for p in patterns] == titles


@pytest.mark.parametrize(
    ("confidences", "advice"), TABLES["test_a_change_is_rolled_back_only_for_what_is_well_founded"]
)
def test_a_change_is_rolled_back_only_for_what_is_well_founded(confidences, advice):
    told = {"suspects": suspect(12, "abcdef1234", 0.9), "suspect_commit": "abcdef1234"}
    cases = tuple(found(f"v1:{n}", confidence=c, **told) for n, c in enumerate(confidences))
    (pattern,) = same_change(cases, ())
    assert pattern.suggestion == advice


RATES = (
    "`RateTable#fetch` knows no rate for LU, so the invoice total is nil.",
    "New countries like LU have no entry in the rate table; RateTable#fetch answers nil unchecked.",
    "Nobody seeded the rate of LU, which `RateTable#fetch` takes for granted.",
)


def test_one_cause_in_other_words():
    told = [
        found(f"v1:{n}", root_cause=cause, evidence=at("app/rate.rb", line))
        for n, (cause, line) in enumerate(zip(RATES, (3, 3, 5), strict=True))
    ]
    other = found("v1:c", root_cause="`CouponBook#redeem` compares a nil date.", evidence=())
    (pattern,) = same_cause((*told, other), ())
    assert pattern.title == "One cause in app/rate.rb:3"
    assert pattern.fingerprints == ("v1:0", "v1:1", "v1:2")
    assert pattern.occurrences == 21
    assert pattern.suggestion.startswith("Fix app/rate.rb:3 first: `RateTable#fetch`")
    assert pattern.because[0] == "2 of 3 rest on app/rate.rb:3"
    assert "ratetable.fetch" in pattern.because[1]


@pytest.mark.parametrize(
    ("line", "title"), TABLES["test_one_cause_without_a_shared_line_is_told_by_its_words"]
)
def test_one_cause_without_a_shared_line_is_told_by_its_words(line, title):
    told = tuple(
        found(f"v1:{n}", root_cause=cause, evidence=at("app/rate.rb", line + n) if line else ())
        for n, cause in enumerate(RATES[:2])
    )
    (pattern,) = same_cause(told, ())
    assert pattern.title == title


@pytest.mark.parametrize(
    ("causes", "places"),
    [
        (  # two nil errors in two places
            (
                "The customer is nil and read without a check in OrdersController#show.",
                "The warehouse is nil and read without a check in StockController#move.",
            ),
            (at("app/orders_controller.rb", 12), at("app/stock_controller.rb", 40)),
        ),
        (  # a line that everything passes through
            ("`CouponBook#redeem` compares a nil date.", "ThumbMaker loads every picture at once."),
            (at("lib/dispatch.rb", 31),) * 2,
        ),
        (("x",), (at("a.rb", 3) * 2,)),  # one case that cites a line twice
    ],
)
def test_what_is_no_shared_cause(causes, places):
    pairs = enumerate(zip(causes, places, strict=True))
    cases = tuple(found(f"v1:{n}", root_cause=c, evidence=place) for n, (c, place) in pairs)
    assert same_cause(cases, ()) == []


def test_one_error_under_two_names_is_one_member():
    both = (found("v1:a", evidence=at("a.rb", 3)), found("v1:b", evidence=at("a.rb", 3)))
    assert same_cause(both, (lesson("v1:a", aliases=("v1:b",)),)) == []
    known = (lesson("v1:old", aliases=("v1:b",)),)
    assert same_cause(both, known)[0].fingerprints == ("v1:a", "v1:old")


def test_guesses_share_no_line_and_no_tags():
    told = {"evidence": at("a.rb", 3), "tags": ("a", "b"), "confidence": "low"}
    guesses = tuple(found(f"v1:{n}", **told) for n in range(4))
    assert same_cause(guesses, ()) == []
    assert same_tags(guesses, ()) == []


def test_a_shared_change_is_named_beside_the_shared_line():
    change = {"suspects": suspect(12, "abcdef1234", 0.9), "suspect_commit": "abcdef1234"}
    told = {"evidence": at("a.rb", 3), **change}
    patterns = detect((found("v1:a", **told), found("v1:b", **told)), ())
    assert [p.suggestion.partition(":")[0] for p in patterns] == ["Fix a.rb"]
    assert "(came with pull request #12)" in patterns[0].suggestion


def test_three_errors_that_share_two_tags():
    one = found("v1:a", tags=("Race Condition", "orders", "sql"))
    two = found("v1:b", tags=("race-condition", "orders"))
    three = found("v1:c", tags=("orders", "race-condition", "cache"))
    assert same_tags((one, two), ()) == []
    (first, *_) = same_tags((one, two, three), ())
    assert first.title == "Shared theme: orders, race-condition"
    assert first.fingerprints == ("v1:a", "v1:b", "v1:c")
    assert same_tags((one, two, found("v1:d", tags=("orders",))), ()) == []


def test_words_of_names_are_no_tags():
    told = {"error_class": "Billing::RateMissing", "transaction": "Controller/orders/show"}
    tags = ("billing", "rate-missing", "orders", "show")
    cases = tuple(found(f"v1:{n}", tags=(*tags, "sql"), **told) for n in range(3))
    assert same_tags(cases, ()) == []
    cases = tuple(found(f"v1:{n}", tags=(*tags, "sql", "cache"), **told) for n in range(3))
    assert [p.title for p in same_tags(cases, ())] == ["Shared theme: cache, sql"]


def test_errors_from_outside():
    one = found("v1:a", tags=("transient",), transaction="t/a")
    two = found("v1:b", tags=("network",), transaction="t/b")
    (pattern,) = all_transient((one, two), ())
    assert pattern.pattern_type == "transient_noise"
    assert "t/a, t/b" in pattern.suggestion
    assert all_transient((one,), ()) == []
    assert len(all_transient((one, found("v1:b", tags=("network",), confidence="low")), ())) == 1
    locked = found("v1:d", tags=("database-lock", "transient"))
    assert all_transient((one, locked), ()) == []
    fixed = found("v1:c", tags=("transient",), fix=analysis().fix)
    assert all_transient((one, fixed), ()) == []


def test_all_together_the_largest_first_and_nothing_twice():
    told = {"evidence": at("a.rb", 3), "tags": ("money", "rates")}
    both = (found("v1:a", **told), found("v1:b", **told))
    lessons = (lesson(nights=seen(1, 2, 9), error_class="Z"),)
    gone = detect(both, lessons, (), date(2031, 3, 10))  # Z did not come that night
    assert [p.title for p in gone] == ["One cause in a.rb:3"]
    patterns = detect(both, lessons, (), date(2031, 3, 9))
    assert [p.title for p in patterns] == ["Z keeps occurring", "One cause in a.rb:3"]
    assert [p.slug for p in patterns] == ["z-keeps-occurring", "one-cause-in-a-rb-3"]
    assert [p.rule for p in patterns] == ["recurring_class", "same_cause"]
    assert patterns[1].nights == (date(2031, 3, 9),)
    assert len(patterns[0].nights) == 3


def test_hostile_names_stay_on_one_short_line():
    bad = "E\n---\n# x\u202e" + "y" * 9_000
    lessons = tuple(
        lesson(f"v1:l{n}", error_class=bad, nights=seen(n), module=bad, root_cause=f"{n}{bad}")
        for n in (1, 2, 3)
    )
    told = {"evidence": at(bad, 1), "error_class": bad, "tags": (bad, "b", "c")}
    told["root_cause"] = f"the mailer lost its lock {bad}"
    patterns = detect((found("v1:a", **told), found("v1:b", **told)), lessons)
    assert len(patterns) >= 2
    for pattern in patterns:
        for text in (pattern.title, pattern.description, pattern.suggestion, *pattern.because):
            assert "\n" not in text
            assert "\u202e" not in text
            assert len(text) < 1_500
        assert frontmatter.read(pattern_document(pattern))[0]["title"] == pattern.title
