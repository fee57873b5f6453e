"""When the figures say that a merged fix does nothing, and when they must not."""

import pytest
from core.follow_world import Production, at, lesson, night, record, seen, tonight
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.memory.outcomes import (
    AS_BEFORE_SHARE,
    NO_EFFECT_ABOVE,
    judge_fix,
    open_trouble,
    why_no_news,
)
from nightwatch_core.memory.rates import bursts, compare, dispersion
from nightwatch_core.models.knowledge import FixWatch, Lesson, OccurrenceCount


def merged_after(*before: int) -> Production:
    """Found on so many nights, merged and deployed after the last of them."""
    shop = Production(lesson(*before), len(before))
    shop.merge()
    shop.deploy()
    assert "merged" in shop.nights(before[-1])  # the night of the deploy
    return shop


@pytest.mark.parametrize("nights", [1, 2])
@pytest.mark.parametrize("level", [10, 80, 5_000])
def test_a_fix_that_does_nothing_is_told_within_days(nights: int, level: int) -> None:
    shop = merged_after(*[level] * nights)
    assert shop.nights(level, level) == []  # too soon
    assert "is being measured" in why_no_news(shop.lesson)
    assert shop.nights(level, level) == ["no effect"]
    assert open_trouble(shop.lesson).startswith("its fix in #4 had no effect: ")
    assert not why_no_news(shop.lesson)


def test_it_takes_days_and_enough_of_them() -> None:
    assert merged_after(80).nights(80, 80) == []
    assert merged_after(1).nights(1, 1, 1) == []  # three where three were to be expected


@pytest.mark.parametrize(("nights", "hours"), [(2, 72), (3, 60)])
def test_too_few_nights_or_hours_tell_nothing(nights: int, hours: float) -> None:
    def verdict(nights: int, hours: float) -> str:
        before = OccurrenceCount(occurrences=80, hours=24, nights=1)
        now = OccurrenceCount(occurrences=round(80 * hours / 24), hours=hours, nights=nights)
        times = {"merged_at": at(1.3), "deployed_at": at(2), "until": at(5)}
        watch = FixWatch(number=4, before=before, after=now, **times)
        return judge_fix(lesson(80), watch, tonight(5, 80), ())[0].verdict

    assert verdict(3, 72) == "no effect"
    assert verdict(nights, hours) == ""


@given(
    st.integers(1, 10**6),
    st.floats(24, 2_000),
    st.integers(1, 10**6),
    st.floats(72, 2_000),
    st.floats(1, 10**6),
)
def test_near_the_old_rate_is_no_sign_of_a_fall(
    before: int, hours: float, after: int, later: float, bursty: float
) -> None:
    one, other = (
        OccurrenceCount(occurrences=before, hours=hours),
        OccurrenceCount(occurrences=after, hours=later),
    )
    found = compare(one, other, bursty)
    near = found.ratio is not None and found.ratio >= AS_BEFORE_SHARE
    assert not near or found.low > NO_EFFECT_ABOVE or found.p_fell > 0.1


def test_a_fall_is_not_as_before() -> None:
    assert merged_after(80).nights(*[60] * 4) == []
    assert "no effect" not in merged_after(80, 80).nights(*[8] * 20)
    assert "no effect" not in merged_after(80).nights(*[8] * 20)
    assert "no effect" not in merged_after(80).nights(80, 30, 10, 0, 0, 0)


def test_a_fix_called_useless_may_prove_right_after_all() -> None:
    shop = merged_after(80, 80, 80, 80, 80)
    assert shop.nights(80, 80, 80) == ["no effect"]
    assert shop.nights(*[0] * 40) == ["verified"]
    assert shop.lesson.fates[-1].because.startswith("after all: ")


def told(*after: int, hours: float = 0.0, deployed: float = 2.0) -> float:
    """The dispersion after one night of 80 and these later ones, the last of them tonight."""
    known, number = lesson(80, 0, *after[:-1]), 2 + len(after)
    watch = FixWatch(
        number=4,
        merged_at=at(1.3),
        deployed_at=at(deployed),
        before=OccurrenceCount(occurrences=80, hours=24, nights=1),
        after=OccurrenceCount(
            occurrences=sum(after), hours=hours or 24.0 * len(after), nights=len(after)
        ),
    )
    records = tuple(record(one) for one in range(1, number))
    counted = OccurrenceCount(occurrences=after[-1], hours=24)
    return bursts(known, watch, records, night(number), counted)[0]


def test_nights_after_the_deploy_tell_of_the_spread() -> None:
    alone = dispersion([seen(1, 80)])
    assert told(80) == pytest.approx(alone)  # one night around its own rate tells nothing
    assert told(80, 80, 80, 80) < 0.6 * alone
    assert told(1, 400, 2, 300) > 2 * alone
    assert told(0, 0, 0) == pytest.approx(alone)  # nor does silence


def test_each_side_varies_around_its_own_rate() -> None:
    assert told(8, 8, 8, 8) < dispersion([seen(1, 80)])
    assert told(8, 8, 8, 8) > told(80, 80, 80, 80)  # few occurrences tell little


def test_quiet_nights_after_the_deploy_count_and_its_own_night_does_not() -> None:
    assert told(80, 0, 80, 0) > 2 * dispersion([seen(1, 80)])
    half = told(80, 80, 80, hours=60, deployed=2.5)  # the first window began before the deploy
    assert half == pytest.approx(dispersion([seen(1, 80)], 0.0, [seen(4, 80), seen(5, 80)]))


def test_a_night_that_is_read_again_counts_once() -> None:
    known, both = lesson(80, 0, 0, 80), OccurrenceCount(occurrences=80, hours=48, nights=2)
    before = OccurrenceCount(occurrences=80, hours=24, nights=1)
    watch = FixWatch(number=4, merged_at=at(1.3), deployed_at=at(2), before=before, after=both)
    first = bursts(known, watch, (), night(4), OccurrenceCount(occurrences=80, hours=24))
    again: Lesson = known.model_copy(update={"nights": known.nights[:-1]})
    assert first == bursts(again, watch, (), night(4), OccurrenceCount(occurrences=80, hours=24))


@given(st.lists(st.integers(0, 10**15), max_size=6), st.lists(st.integers(0, 10**15), max_size=6))
def test_no_counts_are_too_odd(before: list[int], after: list[int]) -> None:
    nights = [seen(number, many) for number, many in enumerate(before, 1)]
    later = [seen(number, many) for number, many in enumerate(after, 20)]
    assert 1 <= dispersion(nights, 0.0, later) < float("inf")
    assert dispersion(nights, 0.0, ()) == dispersion(nights)
