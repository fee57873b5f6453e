"""What counts as right, and the board that is reckoned from it."""

from typing import get_args

import pytest
from core.lesson_shapes import analysis, lesson
from core.report_fixture import complete
from core.scoreboard_shapes import DAY, drafts, issue, proposed, published, record
from tables import tables_of

from nightwatch_core.memory import lessons as maker
from nightwatch_core.memory.scoreboard import (
    EFFECTS,
    LOWERING_NEEDS,
    MINIMUM,
    NOMINAL,
    ON_ISSUES,
    OUTCOMES,
    REVIEWS,
    calibrated,
    chance,
    judgements,
    scoreboard,
    with_drafts,
)
from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.knowledge import (
    FEEDBACK,
    ConfidenceTier,
    Lesson,
    OutcomeEvent,
    OutcomeKind,
    Scoreboard,
    SuccessRate,
)
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import LearningResult
from nightwatch_core.report.facts import reliability, sentences
from nightwatch_core.report.view import view

TABLES = tables_of(__file__)

KINDS: tuple[OutcomeKind, ...] = get_args(OutcomeKind)


def only(*lessons: Lesson):  # type: ignore[no-untyped-def]
    (judgement,) = judgements(lessons)
    return judgement


def test_every_outcome_has_a_mark_and_a_family() -> None:
    assert set(OUTCOMES) == set(KINDS) == {*EFFECTS, *FEEDBACK, *REVIEWS, *ON_ISSUES}


@pytest.mark.parametrize(("outcome", "right", "merged"), TABLES["outcomes_of_pull_requests"])
def test_what_a_pull_requests_outcome_says(outcome: str, right: float, merged: bool) -> None:
    found = only(published(proposed(12, outcome)))
    assert (found.right, found.merged) == (right, merged)


@pytest.mark.parametrize(("outcome", "fix", "right"), TABLES["what_an_issues_outcome_says"])
def test_what_an_issues_outcome_says(outcome: str, fix: str, right: float | None) -> None:
    assert only(published(issue(11, outcome, fix=fix))).right == right


def test_issue_and_pull_request_with_one_fix_are_one_and_the_pull_request_wins() -> None:
    found = only(published(issue(11, "closed", fix="f"), proposed(12, "closed unmerged", fix="f")))
    assert (found.kind, found.right) == ("closed unmerged", 0.0)


def test_a_draft_that_came_a_night_later_with_the_same_fix_is_the_same_attempt() -> None:
    late = proposed(12, "merged", night="n2", fix="f1")
    found = only(published(issue(11, night="n1", fix="f1"), late))
    assert found.right == 1.0


def test_what_people_say_of_a_finding_counts_published_or_not() -> None:
    def said(kind: OutcomeKind, number: int | None = None) -> tuple[OutcomeEvent, ...]:
        return (OutcomeEvent(kind=kind, number=number, on=DAY),)

    rights = [
        only(published(proposed(12, "merged"), outcomes=said("wrong", 12))).right,
        only(published(proposed(12, "verified"), outcomes=said("wrong"))).right,  # production wins
        only(published(issue(11), outcomes=said("useful"))).right,
        only(published(outcomes=said("wrong"))).right,
    ]
    assert rights == [0.0, 1.0, 1.0, 0.0]
    two = published(proposed(12), proposed(15, night="n9"), outcomes=said("useful"))
    assert [each.right for each in judgements([two])] == [None, 1.0]  # the last one is meant


def test_another_fix_of_another_night_is_another_attempt() -> None:
    found = judgements(
        [published(proposed(12, "closed unmerged"), proposed(15, "merged", night="n9"))]
    )
    assert [each.right for each in found] == [0.0, 1.0]


def outcomes(*kinds: OutcomeKind, number: int = 12) -> tuple[OutcomeEvent, ...]:
    return tuple(OutcomeEvent(kind=kind, number=number, on=DAY) for kind in kinds)


def test_production_wins_over_reviewers_and_the_last_word_over_earlier_ones() -> None:
    def right(*kinds: OutcomeKind) -> float | None:
        return only(published(proposed(12, kinds[-1]), outcomes=outcomes(*kinds))).right

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
    def right(outcome: str) -> float | None:
        items = (issue(11, "reopened", fix="f"), proposed(12, outcome, fix="f"))
        return only(published(*items)).right

    assert [right(each) for each in ("merged", "verified", "closed unmerged")] == [None, 1.0, 0.0]


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
        assert sentences(board)[0].startswith("No outcomes yet.")
        reliability(board)


def test_the_sentence_that_everybody_wants() -> None:
    said = sentences(scoreboard(record("mmmmmmmcc")))[0]
    assert said == "Confidence high: 9 times, merged 7, wrong 2."


# What a stated confidence is worth here, and what follows from that.


def board(said: Confidence, right: float, decided: int, others: int = MINIMUM) -> Scoreboard:
    tier = ConfidenceTier(
        stated_confidence=said,
        nominal=NOMINAL[said],
        found=SuccessRate(decided=decided, right=right),
    )
    return Scoreboard(found=SuccessRate(decided=decided + others), tiers=(tier,))


def test_nothing_is_said_before_there_is_enough() -> None:
    few = scoreboard(record("m" * (MINIMUM - 1)))
    assert chance("high", few) is None
    assert calibrated(analysis(), few) == analysis()
    enough = scoreboard(record("m" * MINIMUM))
    assert chance("high", enough) == pytest.approx((4 * 0.9 + MINIMUM) / (4 + MINIMUM))
    assert chance("medium", enough) is None
    assert chance("certain", enough) is None


def test_a_calibrated_analysis_says_its_chance_and_why() -> None:
    told = calibrated(analysis(), scoreboard([*record("mmmmmmmcc"), *record("m", "low", 300)]))
    assert told.chance == pytest.approx((4 * 0.9 + 7) / 13)
    assert told.because[-1] == "findings said high proved right 7 of 9 times here"
    assert (told.confidence, told.stated_confidence) == ("high", None)


def test_a_confidence_is_lowered_by_one_step_once() -> None:
    sobering = scoreboard(record("mccccccccccccc"))
    told = calibrated(analysis(), sobering)
    assert (told.confidence, told.stated_confidence) == ("medium", "high")
    assert told.because[-1].endswith("1 of 14 times here: said medium instead")
    assert calibrated(told, sobering) == told
    assert maker.stated_confidence(told) == "high"  # what the lesson keeps


def test_a_doubtful_record_lowers_nothing() -> None:
    assert calibrated(analysis(), scoreboard(record("mmmmmmcccc"))).confidence == "high"
    few = board("high", 0, LOWERING_NEEDS - 1)
    assert calibrated(analysis(), few).confidence == "high"


def test_low_is_never_lowered_and_success_never_raises() -> None:
    low = analysis(confidence="low")
    assert calibrated(low, board("low", 0, 50)).confidence == "low"
    assert calibrated(low, board("low", 50, 50)).confidence == "low"


# How many of our drafts passed: by their checks, and by what people did with them.


@pytest.mark.parametrize(("states", "checks", "good", "known"), TABLES["what_is_known_of_drafts"])
def test_what_is_known_of_drafts(states: str, checks: str, good: int, known: int) -> None:
    pulls = (*drafts(states, checks), OwnItem(kind="issue", number=9, fingerprint="a"))
    rate = with_drafts(Scoreboard(), pulls).drafts
    assert rate
    assert (rate.drafts, rate.good, rate.known) == (len(states), good, known)
    assert rate.share == (good / known if known else None)


def test_drafts_stand_on_the_board_also_before_anything_else_is_decided() -> None:
    decided = with_drafts(scoreboard(record("mmc")), drafts("mmco", "p..."))
    passed = (
        "2 of 3 drafts passed (67 %): 2 merged, 1 closed unmerged; checks passed 1. 1 not known."
    )
    assert passed in sentences(decided)
    fresh = with_drafts(scoreboard([]), drafts("o", "p"))
    assert [text[:24] for text in sentences(fresh)[1:]] == ["No outcomes yet. The sco"]
    shown = view(complete(learned=LearningResult(scoreboard=fresh))).section("scoreboard")
    assert "1 of 1 draft passed" in shown.model_dump_json()
    unknown = LearningResult(scoreboard=with_drafts(scoreboard([]), drafts("o", ".")))
    silent = view(complete(learned=unknown))
    assert silent.section("scoreboard").blocks == ()
