from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.memory.rates import chances, expected, is_spike, one_a_date, rate_ratio
from nightwatch_core.models.knowledge import NightSeen, OccurrenceCount

FIRST = date(2031, 3, 1)
counts = st.builds(
    OccurrenceCount,
    occurrences=st.integers(0, 10**9),
    hours=st.floats(0, 10_000),
    traffic=st.none() | st.integers(0, 10**9),
)


def nights(*occurrences: int, hours: float = 24, traffic: int | None = None) -> list[NightSeen]:
    return [
        NightSeen(
            date=FIRST + timedelta(days=number),
            night=f"n{number}",
            occurrences=many,
            verdict="known",
            hours=hours,
            traffic=traffic,
        )
        for number, many in enumerate(occurrences)
    ]


def hours(occurrences: int, length: float = 24) -> OccurrenceCount:
    return OccurrenceCount(occurrences=occurrences, hours=length)


def test_chances_are_those_of_a_beta_binomial() -> None:
    # 33 outcomes with a = b = 1 / 0.45**2, by numerical integration over the share
    assert chances(hours(3), hours(30)) == pytest.approx((0.99732939, 0.00641400), abs=1e-8)


@given(counts, counts, st.sampled_from([0.25, 0.5, 1.0]))
def test_chances_are_chances(before: OccurrenceCount, after: OccurrenceCount, ratio: float) -> None:
    found = chances(before, after, ratio)
    assert 0 <= found.at_most <= 1
    assert 0 <= found.at_least <= 1
    assert found.at_most + found.at_least >= 1 - 1e-6


@pytest.mark.parametrize(
    "count",
    [
        OccurrenceCount(occurrences=-5, hours=24),
        OccurrenceCount(occurrences=5, hours=float("nan")),
        OccurrenceCount(occurrences=5, hours=-1),
        OccurrenceCount(occurrences=10**40, hours=float("inf")),
        OccurrenceCount(occurrences=10**40, hours=1e-300),
    ],
    ids=["negative", "nan", "before", "endless", "huge"],
)
def test_nonsense_ends_in_a_number(count: OccurrenceCount) -> None:
    for found in (chances(count, hours(3)), chances(hours(3), count)):
        assert 0 <= found.at_least <= 1
    is_spike(nights(3, 4), count)


def test_traffic_is_the_exposure_where_both_know_it() -> None:
    before = OccurrenceCount(occurrences=100, hours=24, traffic=1_000)
    assert rate_ratio(before, OccurrenceCount(occurrences=200, hours=24, traffic=2_000)) == 1
    assert rate_ratio(before, OccurrenceCount(occurrences=200, hours=24)) == 2
    assert expected(before, OccurrenceCount(hours=24, traffic=3_000)) == 300


def test_without_exposure_nothing_is_known() -> None:
    now = OccurrenceCount(occurrences=5)
    assert rate_ratio(hours(5), now) is None
    assert chances(hours(5), now) == (1, 1)


def test_runs_of_one_date_are_one_night() -> None:
    long, short = nights(12, hours=24)[0], nights(40, hours=2)[0]
    assert one_a_date((short, long)) == one_a_date((long, short)) == (long,)


def test_a_rise_is_a_spike_and_chance_is_none() -> None:
    assert "10 times as often" in is_spike(nights(12, 10, 14), hours(120))
    assert not is_spike(nights(12, 10, 14), hours(22))
    assert not is_spike(nights(1, 1, 1), hours(4))
    assert not is_spike(nights(100_000, 101_000, 99_000), hours(110_000))


def test_more_users_are_no_spike() -> None:
    earlier = nights(12, 10, 14, traffic=1_000)
    busy = OccurrenceCount(occurrences=120, hours=24, traffic=10_000)
    assert not is_spike(earlier, busy)
    assert is_spike(earlier, busy.model_copy(update={"traffic": None}))


def test_a_long_night_is_no_spike() -> None:
    assert not is_spike(nights(12, 10, 14), hours(120, 240))


def test_so_many_as_once_before_is_no_spike() -> None:
    once = nights(*[10] * 29, 60)
    assert not is_spike(once, hours(58))
    assert is_spike(once, hours(90))


def test_hours_nobody_wrote_down_are_a_day() -> None:
    assert is_spike(nights(12, 10, 14, hours=0), OccurrenceCount(occurrences=120))
