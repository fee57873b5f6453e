"""What a said confidence is worth here, and what follows from that."""

import pytest
from core.lesson_shapes import analysis
from core.scoreboard_shapes import record
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.memory import lessons as maker
from nightwatch_core.memory.scoreboard import (
    LOWERING_NEEDS,
    MINIMUM,
    NOMINAL,
    calibrated,
    chance,
    posterior,
    scoreboard,
    upper_bound,
)
from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.knowledge import ConfidenceTier, Scoreboard, SuccessRate

COUNTS = st.integers(min_value=0, max_value=300)
WORDS: list[Confidence] = list(NOMINAL)


def board(said: Confidence, right: float, decided: int, others: int = MINIMUM) -> Scoreboard:
    tier = ConfidenceTier(
        said=said, nominal=NOMINAL[said], found=SuccessRate(decided=decided, right=right)
    )
    return Scoreboard(found=SuccessRate(decided=decided + others), tiers=(tier,))


def test_nothing_is_said_before_there_is_enough() -> None:
    few = scoreboard(record("m" * (MINIMUM - 1)))
    assert chance("high", few) is None
    assert calibrated(analysis(), few) == analysis()
    enough = scoreboard(record("m" * MINIMUM))
    assert chance("high", enough) == posterior(0.9, MINIMUM, MINIMUM)
    assert chance("medium", enough) is None
    assert chance("certain", enough) is None


def test_a_calibrated_analysis_says_its_chance_and_why() -> None:
    told = calibrated(analysis(), scoreboard([*record("mmmmmmmcc"), *record("m", "low", 300)]))
    assert told.chance == pytest.approx((4 * 0.9 + 7) / 13)
    assert told.because[-1] == "findings said high proved right 7 of 9 times here"
    assert (told.confidence, told.said) == ("high", None)


def test_twice_is_as_good_as_once() -> None:
    sobering = scoreboard(record("c" * 20))
    once = calibrated(analysis(), sobering)
    assert calibrated(once, sobering) == once


def test_a_reused_finding_is_reckoned_anew_and_sinks_no_further() -> None:
    sobering = scoreboard(record("c" * 20))
    for _ in range(3):  # nights
        told = calibrated(analysis(ending=Ending(kind="reused")), sobering)
        assert (told.confidence, told.said) == ("medium", "high")
        assert maker.stated_confidence(told) == "high"  # what the lesson keeps


def test_a_confidence_is_lowered_by_one_step_on_clear_evidence() -> None:
    told = calibrated(analysis(), scoreboard(record("mccccccccccccc")))
    assert (told.confidence, told.said) == ("medium", "high")
    assert told.because[-1].endswith("1 of 14 times here: said medium instead")
    assert analysis().because == ()


def test_a_doubtful_record_lowers_nothing() -> None:
    told = calibrated(analysis(), scoreboard(record("mmmmmmcccc")))  # 60 % right, up to 81 %
    assert told.confidence == "high"
    few = board("high", 0, LOWERING_NEEDS - 1)
    assert calibrated(analysis(), few).confidence == "high"


def test_low_is_never_lowered_and_success_never_raises() -> None:
    low = analysis(confidence="low")
    assert calibrated(low, board("low", 0, 50)).confidence == "low"
    assert calibrated(low, board("low", 50, 50)).confidence == "low"


@given(st.sampled_from(WORDS), COUNTS, COUNTS)
def test_more_successes_never_lower_the_chance_or_the_word(
    said: Confidence, one: int, other: int
) -> None:
    fewer, more = sorted((one, other))
    decided = max(more, 1)
    low, high = (board(said, right, decided) for right in (fewer, more))
    first, second = chance(said, low), chance(said, high)
    assert first is not None
    assert second is not None
    assert 0 < first <= second < 1
    ranks = [
        WORDS.index(calibrated(analysis(confidence=said), each).confidence) for each in (low, high)
    ]
    assert WORDS.index(said) <= ranks[1] <= ranks[0] <= WORDS.index(said) + 1


@given(COUNTS, COUNTS)
def test_an_upper_bound_is_above_the_share_and_sinks_with_evidence(one: int, other: int) -> None:
    right, decided = sorted((one, other))
    high = upper_bound(right, decided)
    assert 0 <= high <= 1
    if decided:
        assert right / decided - 1e-12 <= high
        assert upper_bound(right * 4, decided * 4) <= high + 1e-12


@given(st.sampled_from(WORDS), COUNTS)
def test_the_chance_lies_between_the_word_and_the_record(said: Confidence, decided: int) -> None:
    nominal = NOMINAL[said]
    assert posterior(nominal, 0, decided) <= nominal + 1e-12
    assert posterior(nominal, decided, decided) >= nominal - 1e-12
