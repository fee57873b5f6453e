"""Headline and text: whole sentences, nothing twice, nothing empty."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nightwatch_core.learnings.offers import list_entry, offers
from nightwatch_core.models.knowledge import (
    Decision,
    FixWatch,
    Lesson,
    Notes,
    OutcomeEvent,
    Problem,
    PublishedItem,
)

DAY = date(2026, 1, 26)
LONG = "the queue keeps what nobody has asked for, and nobody is told of it " * 2


def lesson(notes, **fields):
    told = {"error_class": "KeyError", "root_cause": "x", "first_detected": DAY}
    return Lesson(fingerprint="v1:aef927d4bcba742d", notes=(notes,), **{**told, **fields})


def lines(**noted):
    return [list_entry(one) for one in offers((lesson(Notes(**noted)),), (), "")]


@pytest.mark.parametrize(
    ("gotcha", "expected"),
    [
        ("`net` may be None. (shop/line.py:3)", "- **`net` may be None. (shop/line.py:3)** "),
        ("One thing; another: a third.", "- **One thing; another: a third** "),
        ("One thing. Another; and a third", "- **One thing** - Another; and a third. "),
        ("One thing. One thing.", "- **One thing** "),
        ("The edge has no fs - use KV", "- **The edge has no fs** - Use KV. "),
        ("The edge - and only it - has no fs", "- **The edge - and only it - has no fs** "),
    ],
)
def test_a_gotcha(gotcha, expected):
    (line,) = lines(gotchas=(gotcha,))
    plain = line.replace("\\", "").replace("`", "")
    assert plain == f"{expected.replace('`', '')}(from aef927d4)"


@pytest.mark.parametrize("gotcha", ["", " ", "- ", "..."])
def test_nothing_is_no_learning(gotcha):
    assert lines(gotchas=(gotcha,)) == []


def test_a_sentence_too_long_for_a_headline_is_told_once_and_whole():
    (line,) = lines(gotchas=(LONG,))
    assert line == f"- {LONG.strip()}. (from aef927d4)"


def test_a_text_ends_where_a_sentence_does():
    said = f"Short. {LONG.strip()}. Then {LONG}and {LONG.strip()}. And more; and more."
    (line,) = lines(gotchas=(said,))
    assert line == f"- **Short** - {LONG.strip()}. (from aef927d4)"


def test_a_fix_that_is_still_sought_is_no_advice():
    asked = "`quote` is None in app/orders.py:4 when `total` is asked of it"
    problem = Problem(
        what="Orders without a quote", root_cause=asked, solution="None yet; next: Decide whether."
    )
    (line,) = lines(problems=(problem,))
    assert "None yet" not in line
    assert "Decide" not in line
    assert line.replace("\\", "").endswith("when `total` is asked of it. (from aef927d4)")


@pytest.mark.parametrize(
    "problem",
    [
        Problem(what="Orders without a quote"),
        Problem(what="Orders without a quote", root_cause="Orders without a quote."),
        Problem(what="Orders without a quote", solution="None yet; next: Look."),
        Problem(what="Orders without a quote", solution="Proposed, then closed unmerged: Look."),
        Problem(what="", root_cause=" "),
    ],
)
def test_a_problem_without_a_reason_or_a_remedy_is_not_offered(problem):
    assert lines(problems=(problem,)) == []


def fate(*kinds):
    return tuple(OutcomeEvent(kind=kind, number=3, on=DAY) for kind in kinds)


AT = "2026-01-26T00:00:00Z"


@pytest.mark.parametrize(
    "fields",
    [
        {"stale": "app/a.rb was rewritten"},
        {"outcome": "closed unmerged"},
        {"outcome": "regressed"},
        {"outcome": "no effect"},
        {"fates": fate("closed unmerged", "not planned"), "outcome": "not planned"},
        {"fates": fate("merged", "verified", "regressed", "reopened")},
        {"proposed": (PublishedItem(kind="pull", number=3, on=DAY, outcome="closed unmerged"),)},
        {"watch": FixWatch(number=3, merged_at=AT, verdict="no effect")},
    ],
)
def test_a_lesson_that_does_not_hold_is_not_offered(fields):
    assert offers((lesson(Notes(gotchas=("Check it",)), **fields),), (), "") == ()


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"outcome": "verified"},
        {"fates": fate("merged")},
        {"fates": fate("closed unmerged", "merged", "verified"), "outcome": "verified"},
        {"watch": FixWatch(number=3, merged_at=AT)},
    ],
)
def test_a_lesson_that_holds_is(fields):
    assert len(offers((lesson(Notes(gotchas=("Check it",)), **fields),), (), "")) == 1


STARTS = st.sampled_from(
    ["# ", "- [ ] ", "1. ", "> ", "+ ", "```", "    ", "<!--", "---", "|a|", ""]
)


@given(STARTS, st.text(max_size=200), st.integers(0, 200))
def test_any_learning_is_one_item_without_an_empty_part(start, text, more):
    said = f"{start}{text} {'word ' * more}"
    noted = {"gotchas": (said,), "decisions": (Decision(choice=said, rationale=said),)}
    for line in lines(**noted):
        assert " -  (" not in line
        assert "** - (from" not in line
        assert "****" not in line.replace("\\", "x")
        kinds = [token.type for token in MarkdownIt().parse(line)]
        assert kinds == [
            *("bullet_list_open", "list_item_open", "paragraph_open", "inline"),
            *("paragraph_close", "list_item_close", "bullet_list_close"),
        ]
