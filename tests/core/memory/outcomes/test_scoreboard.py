"""What counts as right, and the board that is reckoned from it."""

from datetime import date
from typing import get_args

import pytest
from core.lesson_shapes import lesson
from core.scoreboard_shapes import DAY, issue, proposed, published, record
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.memory.scoreboard import (
    EFFECTS,
    ON_ISSUES,
    OUTCOMES,
    REVIEWS,
    judgements,
    scoreboard,
)
from nightwatch_core.models.knowledge import Lesson, OutcomeEvent, OutcomeKind
from nightwatch_core.report.facts import reliability, sentences

KINDS: tuple[OutcomeKind, ...] = get_args(OutcomeKind)
LONG_AGO = date(2030, 1, 1)


def only(*lessons: Lesson):  # type: ignore[no-untyped-def]
    (judgement,) = judgements(lessons)
    return judgement


def test_every_outcome_has_a_mark_and_a_family() -> None:
    assert set(OUTCOMES) == set(KINDS) == {*EFFECTS, *REVIEWS, *ON_ISSUES}


@pytest.mark.parametrize(
    ("outcome", "right", "merged"),
    [
        ("merged", 1.0, True),
        ("verified", 1.0, True),
        ("edited before merge", 0.5, True),
        ("closed unmerged", 0.0, False),
        ("no effect", 0.0, True),
        ("regressed", 0.0, True),
        ("", None, False),
        ("a word nobody knows", None, False),
    ],
)
def test_what_a_pull_requests_outcome_says(outcome: str, right: float, merged: bool) -> None:
    found = only(published(proposed(12, outcome)))
    assert (found.right, found.merged) == (right, merged)


@pytest.mark.parametrize(
    ("outcome", "fix", "right"),
    [
        ("closed", "f1", 1.0),
        ("closed", "", None),  # somebody may have found another cause
        ("not planned", "", 0.0),
        ("reopened", "f1", None),
    ],
)
def test_what_an_issues_outcome_says(outcome: str, fix: str, right: float | None) -> None:
    assert only(published(issue(11, outcome, fix=fix))).right == right


def test_issue_and_pull_request_of_a_night_are_one_and_the_pull_request_wins() -> None:
    found = only(published(issue(11, "closed"), proposed(12, "closed unmerged")))
    assert (found.kind, found.right) == ("closed unmerged", 0.0)


def test_a_draft_that_came_a_night_later_with_the_same_fix_is_the_same_attempt() -> None:
    late = proposed(12, "merged", night="n2", fix="f1")
    found = only(published(issue(11, night="n1", fix="f1"), late))
    assert found.right == 1.0


def test_another_fix_of_another_night_is_another_attempt() -> None:
    found = judgements(
        [published(proposed(12, "closed unmerged"), proposed(15, "merged", night="n9"))]
    )
    assert [each.right for each in found] == [0.0, 1.0]


def test_an_issue_closed_by_a_later_fix_says_nothing_about_the_first() -> None:
    found = judgements(
        [published(issue(11, "closed", fix="f1"), proposed(15, "merged", night="n9"))]
    )
    assert [each.right for each in found] == [None, 1.0]


def test_nights_without_a_name_are_told_apart_by_their_day() -> None:
    nameless = published(issue(11, night=""), proposed(12, "merged", night="", on=LONG_AGO))
    assert len(judgements([nameless])) == 2


def fates(*kinds: OutcomeKind, number: int = 12) -> tuple[OutcomeEvent, ...]:
    return tuple(OutcomeEvent(kind=kind, number=number, on=DAY) for kind in kinds)


def test_production_wins_over_reviewers_and_the_last_word_over_earlier_ones() -> None:
    def right(*kinds: OutcomeKind) -> float | None:
        return only(published(proposed(12, kinds[-1]), fates=fates(*kinds))).right

    assert right("merged", "verified") == 1.0
    assert right("merged", "verified", "regressed") == 0.0
    assert right("merged", "no effect") == 0.0
    assert right("closed unmerged", "merged") == 1.0
    assert right("edited before merge", "verified") == 0.5
    assert right("edited before merge", "no effect") == 0.0
    assert right("merged", "edited before merge") == 0.5
    assert right("edited before merge", "merged") == 0.5
    assert right("edited before merge", "closed unmerged") == 0.0


def test_a_reopened_issue_takes_a_merge_back_until_it_is_measured() -> None:
    items = (issue(11, "reopened"), proposed(12, "merged"))
    assert only(published(*items)).right is None
    measured = published(issue(11, "reopened"), proposed(12, "verified"), fates=fates("merged"))
    assert only(measured).right == 1.0
    rejected = published(issue(11, "reopened"), proposed(12, "closed unmerged"))
    assert only(rejected).right == 0.0


def test_fates_of_other_items_are_not_taken_for_ones_own() -> None:
    assert only(published(proposed(12), fates=fates("merged", number=99))).right is None


def test_an_item_in_two_documents_counts_once() -> None:
    item = proposed(12, "merged")
    twins = (lesson("v1:1", proposed=(item,)), lesson("v1:2", proposed=(item,)))
    assert len(judgements(twins)) == 1


def test_an_unknown_confidence_is_in_no_tier_but_counted() -> None:
    board = scoreboard([published(proposed(12, "merged", confidence="<b>certain</b>"))])
    assert (board.found.times, board.found.decided) == (1, 1)
    assert [tier.found.times for tier in board.tiers] == [0, 0, 0]


def test_the_board_of_a_small_record() -> None:
    board = scoreboard([*record("mmvvmmvcc."), *record("mc", "medium", 200)])
    high, medium, low = board.tiers
    assert (high.found.times, high.found.decided, high.found.right) == (10, 9, 7.0)
    assert (high.merged, high.verified, high.rejected) == (7, 3, 2)
    assert (medium.found.share, low.found.share) == (0.5, None)
    assert board.found.times == 12


def test_an_empty_board_says_when_there_will_be_something() -> None:
    for nothing in ([], [lesson("v1:1")], record("...")):
        board = scoreboard(nothing)
        assert board.found.share is None
        assert len(sentences(board)) == 1
        assert sentences(board)[0].startswith("Nothing of what was published is decided yet.")
        reliability(board)


def test_the_sentence_that_everybody_wants() -> None:
    said = sentences(scoreboard(record("mmmmmmmcc")))[0]
    assert said == "Said high 9 times, merged 7, wrong 2."


def test_what_counts_as_right_is_said_for_every_outcome() -> None:
    said = sentences(scoreboard(record("mmc")))[-1]
    assert "Half right: edited before merge, verified later or not." in said
    assert all(mark.label in said for mark in OUTCOMES.values())


def test_every_row_has_a_cell_for_every_heading() -> None:
    board = scoreboard(record("mmc"))
    table = reliability(board)
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert table.rows[0][7:9] == ("67 %", "–")


@given(st.lists(st.tuples(st.sampled_from(["", *KINDS]), st.sampled_from("hml?")), max_size=30))
def test_any_history_keeps_its_bounds(history: list[tuple[str, str]]) -> None:
    words = {"h": "high", "m": "medium", "l": "low"}
    board = scoreboard(
        published(proposed(at, kind, confidence=words.get(said, said)))
        for at, (kind, said) in enumerate(history)
    )
    assert board.found.times == len(history)
    for tier in board.tiers:
        found = tier.found
        assert 0 <= found.right <= found.decided <= found.times
        assert tier.verified <= tier.merged <= found.times
        assert found.share is None or 0 <= found.share <= 1
    assert type(board).model_validate_json(board.model_dump_json()) == board
    assert all(sentences(board))
