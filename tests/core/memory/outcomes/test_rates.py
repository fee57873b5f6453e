from datetime import date, timedelta
from math import inf, isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.memory.rates import (
    Comparison,
    at_least,
    at_least_bursty,
    at_most,
    compare,
    dispersion,
    expected,
    is_spike,
    one_a_date,
    rose,
    spread,
)
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


# scipy 1.17: beta.ppf(.025, y, n - y + 1), beta.ppf(.975, y + 1, n - y) as odds over t2 / t1;
# binomtest(y, n, t2 / (t1 + t2)).pvalue, greater and less.
@pytest.mark.parametrize(
    ("before", "after", "low", "high", "p", "p_fell"),
    [
        (hours(12, 48), hours(0, 120), 0.0, 0.14395752691, 1.0, 2.95926234e-07),
        (hours(3), hours(11), 0.96859819315, 20.4687696034, 0.02868652343, 0.99353027344),
        (hours(150), hours(100), 0.51236203341, 0.86434293481, 0.99939346, 9.4165047e-4),
        (hours(400, 120), hours(390, 120), 0.84588329878, 1.12375198200, 0.6522223763, 0.37441774),
        (hours(0), hours(5), 0.91635585732, inf, 0.03125, 1.0),
    ],
)  # fmt: skip
def test_the_figures_are_those_of_scipy(
    before: OccurrenceCount,
    after: OccurrenceCount,
    low: float,
    high: float,
    p: float,
    p_fell: float,
) -> None:
    found = compare(before, after)
    assert (found.low, found.high) == pytest.approx((low, high), rel=2e-7)
    assert (found.p, found.p_fell) == pytest.approx((p, p_fell), rel=1e-6)


def test_tails_for_broken_numbers_are_those_of_scipy() -> None:
    # scipy.special.betainc(x, n - x + 1, p), and stats.betabinom.sf(79, 116, 2, 10)
    assert at_least(5.5, 12.25, 0.3) == pytest.approx(0.07665092550392341, rel=1e-9)
    assert at_least(120, 1e9, 1e-7) == pytest.approx(0.02823032089255246, rel=1e-6)
    assert at_least_bursty(80, 116, 2.0, 10.0) == pytest.approx(1.5444075806e-4, rel=1e-8)


def test_of_more_than_can_be_added_up_chance_is_said_to_do_more() -> None:
    """Exact: 1.0001 to 1.0003 of a billion, and scipy.stats.betabinom.sf of 6,000 and 9,000."""
    found = compare(hours(10**9), hours(10**9 + 200_000))
    assert 0.9 < found.low < 1.0001
    assert 1.0003 < found.high < 1.1
    assert 0.025 < at_least(5e8 + 3e4, 1e9, 1.0) < 0.6
    assert at_least_bursty(2500, 6_000, 4, 8) == pytest.approx(0.25863804, rel=0.02)
    assert at_least_bursty(3900, 6_000, 4, 8) == pytest.approx(0.01233577, rel=0.02)
    assert 0.331 < at_least_bursty(200, 9_000, 6, 300) < 0.36


def test_single_nights_differ_by_more_than_chance() -> None:
    # scipy.stats.betabinom.sf(89, 114, 4, 4): two nights of a rate that varies by half its size
    assert rose(hours(24), hours(90), 0.25) == pytest.approx(0.049312734353221144, rel=1e-8)
    assert compare(hours(24), hours(90)).p < 1e-9


def test_without_bursts_both_tests_are_one() -> None:
    for x, y in ((3, 11), (150, 180), (0, 4)):
        assert rose(hours(x), hours(y), 1e-5) == pytest.approx(compare(hours(x), hours(y)).p, 0.02)


@given(counts, counts, st.floats(1, 50))
def test_a_comparison_is_always_in_order(
    before: OccurrenceCount, after: OccurrenceCount, bursts: float
) -> None:
    found = compare(before, after, bursts)
    assert 0 <= found.p <= 1
    assert 0 <= found.p_fell <= 1
    assert found.low <= found.high
    if found.ratio is not None and isfinite(found.ratio):
        assert found.low <= found.ratio * (1 + 1e-6)
        assert found.ratio <= found.high * (1 + 1e-6)
    assert Comparison.model_validate_json(found.model_dump_json()) == found


@given(st.integers(0, 500), st.integers(0, 500), st.floats(1, 20))
def test_rising_seen_backwards_is_falling(one: int, other: int, bursts: float) -> None:
    there, back = (
        compare(hours(one), hours(other), bursts),
        compare(hours(other), hours(one), bursts),
    )
    assert there.p == pytest.approx(back.p_fell, abs=1e-9)


@given(st.integers(1, 300), st.integers(0, 300))
def test_bursts_make_less_sure(one: int, other: int) -> None:
    sure, unsure = compare(hours(one), hours(other)), compare(hours(one), hours(other), 5.0)
    assert unsure.low <= sure.low * (1 + 1e-6)
    assert unsure.high >= sure.high * (1 - 1e-6)


@given(st.floats(0.01, 300), st.floats(0.5, 1_000), st.floats(0.001, 1_000))
def test_the_tails_meet(x: float, more: float, odds: float) -> None:
    assert (
        at_least(x, x + more, odds) + at_most(x - 1, x + more, odds) == pytest.approx(1.0, abs=1e-3)
        or x < 1
    )


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
    for found in (compare(count, hours(3)), compare(hours(3), count), compare(count, count)):
        assert 0 <= found.p <= 1
        assert found.low <= found.high
    is_spike(nights(3, 4), count)


def test_traffic_is_the_exposure_where_both_know_it() -> None:
    before = OccurrenceCount(occurrences=100, hours=24, traffic=1_000)
    assert compare(before, OccurrenceCount(occurrences=200, hours=24, traffic=2_000)).ratio == 1
    assert compare(before, OccurrenceCount(occurrences=200, hours=24)).ratio == 2
    assert expected(before, OccurrenceCount(hours=24, traffic=3_000)) == 300


def test_without_exposure_nothing_is_known() -> None:
    found = compare(hours(5), OccurrenceCount(occurrences=5))
    assert (found.ratio, found.p, found.p_fell, found.high) == (None, 1, 1, inf)


def test_a_milliard_is_compared_in_no_time() -> None:
    for _ in range(10):
        compare(hours(10**9), hours(10**9 - 12_345), 3.0)


def test_bursts_are_measured_and_few_nights_believed_little() -> None:
    even, bursty = [80, 82, 78, 81] * 10, [5, 5, 5, 305] * 10
    assert dispersion(nights(*even)) < 3
    assert dispersion(nights(*bursty)) > 150
    assert dispersion(nights(80)) == pytest.approx(1 + 0.45**2 * 80)
    assert dispersion(nights(*even[:4])) < dispersion(nights(80))
    assert dispersion(nights(80, 81)) > 10
    assert dispersion(nights(0, 0)) == 1
    assert spread(nights()) == 0


def test_quiet_time_counts_as_nights_without_it() -> None:
    assert dispersion(nights(50, 50), quiet=24 * 30) > dispersion(nights(50, 50))


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
