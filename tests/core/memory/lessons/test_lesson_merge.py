"""Several documents on one error become one lesson that lost nothing."""

from datetime import UTC, date, datetime, timedelta

import pytest
from core.lesson_shapes import lesson

from nightwatch_core.memory.lessons import merge_lessons
from nightwatch_core.memory.limits import MOST_NIGHTS
from nightwatch_core.models.knowledge import FixWatch, NightSeen, Notes, OutcomeEvent, PublishedItem

FIRST = date(2031, 3, 1)


def seen(day, verdict="new", occurrences=1, night=""):
    at = FIRST + timedelta(days=day)
    return NightSeen(date=at, night=night or f"n{day}", occurrences=occurrences, verdict=verdict)


def test_the_newest_analysis_speaks_with_the_nights_of_all():
    analysed = lesson(
        root_cause="Right.",
        analysed_at=datetime(2031, 3, 9, tzinfo=UTC),
        nights=(seen(8, "changed"),),
        occurrences=1,
        message="new",
    )
    reused = lesson(root_cause="Wrong.", nights=(seen(1), seen(20, "known")), occurrences=9)
    whole = merge_lessons((analysed, reused))
    assert (whole.root_cause, whole.message) == ("Right.", "new")
    assert [n.verdict for n in whole.nights] == ["new", "changed", "known"]


def test_histories_names_and_notes_are_put_together():
    at = datetime(2031, 3, 2, tzinfo=UTC)
    event = OutcomeEvent(kind="merged", number=2, on=FIRST)
    one = lesson(
        aliases=("v1:b",), related=("x",), learnings=("a",), matched=3, last_matched=FIRST,
        notes=(Notes(gotchas=("g",)),), outcomes=(event,), promoted=("d1",), pr_number=2,
        proposed=(PublishedItem(kind="pull", number=2, on=FIRST),), outcome="merged",
        watch=FixWatch(number=2, merged_at=at), seen_until=at,
    )  # fmt: skip
    two = lesson(
        aliases=("v1:c", "v1:b"), related=("y",), learnings=("b", "a"), matched=1,
        notes=(Notes(gotchas=("g",)), Notes(gotchas=("h",))), promoted=("d2",), issue_number=1,
        outcomes=(event, OutcomeEvent(kind="closed", number=1, on=date(2031, 3, 9))),
        proposed=(PublishedItem(kind="issue", number=1, on=FIRST),), nights=(seen(30, "changed"),),
        watch=FixWatch(number=2, merged_at=at, until=at), seen_until=datetime(2031, 3, 31),  # noqa: DTZ001
    )  # fmt: skip
    whole = merge_lessons((two, one))
    assert whole.names == {"v1:aaaaaaaabbbb", "v1:b", "v1:c"}
    assert (whole.related, whole.learnings) == (("x", "y"), two.learnings)
    assert [notes.gotchas for notes in whole.notes] == [("g",), ("h",)]
    assert (whole.issue_number, whole.pr_number, whole.outcome) == (1, 2, "merged")
    assert [one.kind for one in whole.outcomes] == ["merged", "closed"]
    assert {(p.kind, p.number) for p in whole.proposed} == {("pull", 2), ("issue", 1)}
    assert whole.watch == two.watch
    for left in ((one, two), (one,), ()):  # a merge that was interrupted is finished
        assert merge_lessons((whole, *left)) == whole
    assert (whole.matched, whole.promoted) == (3, ("d1", "d2"))


def test_a_new_pull_request_without_an_outcome_keeps_none():
    old = lesson(pr_number=2, outcome="closed unmerged")
    new = lesson(pr_number=5, nights=(seen(9, "changed"),))
    assert (merge_lessons((old, new)).pr_number, merge_lessons((old, new)).outcome) == (5, "")


def test_nothing_cannot_be_united():
    with pytest.raises(ValueError, match="no lessons"):
        merge_lessons(())


def test_a_history_is_bounded_and_its_newest_nights_stay():
    many = tuple(lesson(nights=tuple(seen(n) for n in range(at, 90, 3))) for at in range(3))
    whole = merge_lessons(many)
    assert len(whole.nights) == MOST_NIGHTS
    assert whole.nights[-1] == seen(89)
    assert merge_lessons((whole, *many)) == whole
