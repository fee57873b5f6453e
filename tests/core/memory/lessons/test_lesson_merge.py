"""Several documents on one error become one lesson that lost nothing."""

from datetime import UTC, date, datetime, timedelta
from itertools import permutations

import pytest
from core.lesson_shapes import lesson
from hypothesis import given, settings
from hypothesis import strategies as st

from nightwatch_core.memory.lesson_text import lesson_of
from nightwatch_core.memory.lessons import merge_lessons
from nightwatch_core.memory.limits import MOST_NIGHTS
from nightwatch_core.models.knowledge import FixWatch, NightSeen, Notes, OutcomeEvent, PublishedItem

FIRST = date(2031, 3, 1)
SEEDS = """---
title: "Title of night {day}"
fingerprint: "v1:aaaa"
nights: [{{date: "2031-03-0{day}", night: "n{day}", occurrences: {count}, verdict: new}}]
error_class: "Billing::RateMissing"
transaction: "Controller/invoices/create"
message: "{message}"
occurrences: {count}
root_cause: "Cause of night {day}"
fix_confidence: {confidence}
has_fix: false
issue_number: {issue}
pr_number: null
tags: [billing, t{day}]
first_detected: "2031-03-0{day}"
run_id: "2031-03-0{day}T06:00:00+00:00"
iterations_used: 6
tokens_used: 12340
---
"""


def seeds(day, count=7, issue="null", confidence="high", message="no rate for LU"):
    text = SEEDS.format(day=day, count=count, issue=issue, confidence=confidence, message=message)
    return lesson_of(text, f"errors/2031-03-0{day}_billing.md")


def seen(day, verdict="new", occurrences=1, night=""):
    at = FIRST + timedelta(days=day)
    return NightSeen(date=at, night=night or f"n{day}", occurrences=occurrences, verdict=verdict)


def test_one_document_a_night_becomes_one_lesson_with_its_nights():
    whole = merge_lessons((seeds(2, 9), seeds(4, 5, confidence="low"), seeds(1, 7, issue=427)))
    assert (whole.root_cause, whole.title) == ("Cause of night 4", "Title of night 4")
    assert (whole.fix_confidence, whole.occurrences) == ("low", 5)
    assert (whole.first_detected, whole.issue_number) == (FIRST, 427)
    assert whole.tags == ("billing", "t4", "t2", "t1")
    assert [(n.date.day, n.occurrences, n.verdict) for n in whole.nights] == [
        (1, 7, "new"),
        (2, 9, "changed"),
        (4, 5, "changed"),
    ]


def test_the_newest_analysis_speaks_and_the_newest_sighting_counts():
    analysed = lesson(
        root_cause="Right.",
        analysed_at=datetime(2031, 3, 9, tzinfo=UTC),
        nights=(seen(8, "changed"),),
        occurrences=1,
        message="new",
    )
    reused = lesson(root_cause="Wrong.", nights=(seen(1), seen(20, "known")), occurrences=9)
    whole = merge_lessons((analysed, reused))
    assert (whole.root_cause, whole.message, whole.occurrences) == ("Right.", "new", 9)
    assert [n.verdict for n in whole.nights] == ["new", "changed", "known"]


def test_histories_names_and_notes_are_put_together():
    at = datetime(2031, 3, 2, tzinfo=UTC)
    fate = OutcomeEvent(kind="merged", number=2, on=FIRST)
    one = lesson(
        aliases=("v1:b",), related=("x",), learnings=("a",), matched=3, last_matched=FIRST,
        notes=(Notes(gotchas=("g",)),), fates=(fate,), promoted=("d1",), pr_number=2,
        proposed=(PublishedItem(kind="pull", number=2, on=FIRST),), outcome="merged",
        watch=FixWatch(number=2, merged_at=at), seen_until=at,
    )  # fmt: skip
    two = lesson(
        aliases=("v1:c", "v1:b"), related=("y",), learnings=("b", "a"), matched=1,
        notes=(Notes(gotchas=("g",)), Notes(gotchas=("h",))), promoted=("d2",), issue_number=1,
        fates=(fate, OutcomeEvent(kind="closed", number=1, on=date(2031, 3, 9))),
        proposed=(PublishedItem(kind="issue", number=1, on=FIRST),), nights=(seen(30, "changed"),),
        watch=FixWatch(number=2, merged_at=at, until=at), seen_until=datetime(2031, 3, 31),  # noqa: DTZ001
    )  # fmt: skip
    whole = merge_lessons((two, one))
    assert whole.names == {"v1:aaaaaaaabbbb", "v1:b", "v1:c"}
    assert (whole.related, whole.learnings) == (("x", "y"), ("b", "a"))
    assert [notes.gotchas for notes in whole.notes] == [("g",), ("h",)]
    assert (whole.issue_number, whole.pr_number, whole.outcome) == (1, 2, "merged")
    assert [one.kind for one in whole.fates] == ["merged", "closed"]
    assert {(p.kind, p.number) for p in whole.proposed} == {("pull", 2), ("issue", 1)}
    assert whole.watch == two.watch
    assert (whole.matched, whole.last_matched, whole.promoted) == (3, FIRST, ("d1", "d2"))
    assert whole.seen_until == datetime(2031, 3, 31, tzinfo=UTC)


def test_a_new_pull_request_without_an_outcome_keeps_none():
    old = lesson(pr_number=2, outcome="closed unmerged")
    new = lesson(pr_number=5, nights=(seen(9, "changed"),))
    assert (merge_lessons((old, new)).pr_number, merge_lessons((old, new)).outcome) == (5, "")


def test_nothing_cannot_be_united():
    with pytest.raises(ValueError, match="no lessons"):
        merge_lessons(())


DAYS = st.integers(0, 5)
LESSONS = st.builds(
    lambda day, nights, pull, outcome, tags, at, words: lesson(
        first_detected=FIRST + timedelta(days=day),
        nights=tuple({night.night: night for night in nights}.values()),
        pr_number=pull,
        outcome=outcome,
        tags=tuple(tags),
        learnings=tuple(words),
        analysed_at=at,
        root_cause=f"cause {words}",
    ),
    DAYS,
    st.lists(st.builds(seen, DAYS, st.sampled_from(("new", "known", "changed")), DAYS), max_size=4),
    st.none() | DAYS,
    st.sampled_from(("", "merged", "closed unmerged")),
    st.lists(st.sampled_from("abc"), max_size=2),
    st.none() | st.integers(1, 9).map(lambda day: datetime(2031, 3, day)),  # noqa: DTZ001
    st.lists(st.sampled_from("xyz"), max_size=2, unique=True),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LESSONS, min_size=1, max_size=3))
def test_order_and_repetition_do_not_matter(lessons):
    whole = merge_lessons(tuple(lessons))
    assert all(merge_lessons(order) == whole for order in permutations(lessons))
    for left in (lessons, lessons[:1], lessons[-1:], []):
        assert merge_lessons((whole, *left)) == whole  # a merge that was interrupted is finished
    assert {(n.night, n.date) for n in whole.nights} == {
        (n.night, n.date) for one in lessons for n in one.nights
    }


def test_a_history_is_bounded_and_its_newest_nights_stay():
    many = tuple(lesson(nights=tuple(seen(n) for n in range(at, 90, 3))) for at in range(3))
    whole = merge_lessons(many)
    assert len(whole.nights) == MOST_NIGHTS
    assert whole.nights[-1] == seen(89, "changed")
    assert merge_lessons((whole, *many)) == whole
