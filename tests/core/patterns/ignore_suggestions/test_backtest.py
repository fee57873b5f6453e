"""What a rule would have hidden is counted on kept nights, and bounds are drawn from them."""

from datetime import UTC, date, datetime, timedelta

from core.lesson_shapes import analysis, group, lesson, one_group
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.models.analysis import Failure
from nightwatch_core.models.errors import DroppedGroup, Window
from nightwatch_core.models.knowledge import Backtest, IgnoreRule, OutcomeEvent
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.patterns.nights import (
    HEADROOM,
    LOWEST,
    NIGHTS_BACK,
    NightGroups,
    backtest,
    comparable_nights,
    hidden_by,
    night_groups,
    rates,
    recoveries,
    tripwire,
)

LAST = datetime(2031, 3, 30, 4, tzinfo=UTC)
RULE = IgnoreRule(pattern="no rate", match="prefix", field="message")


def window(days_ago: int = 0, hours: float = 24) -> Window:
    until = LAST - timedelta(days=days_ago)
    return Window(since=until - timedelta(hours=hours), until=until)


def report(days_ago: int = 0, id: str = "", **fields) -> RunReport:
    span = fields.pop("window", window(days_ago))
    night = Night(id=id or f"n{days_ago}", window=span, now=span.until)
    return RunReport(
        night=night,
        options=fields.pop("options", NightOptions(source="file")),
        started=LAST,
        finished=LAST,
        **fields,
    )


def on(days_ago: int, *groups, hours: float = 24) -> NightGroups:
    return NightGroups(window=window(days_ago, hours), groups=groups)


def test_every_group_of_a_report_is_there_once():
    cause = analysis(one_group("v1:a"))
    told = report(
        analyses=(cause, cause),
        failures=(Failure(case=one_group("v1:b"), reason="r"),),
        dropped=(DroppedGroup(group=group("v1:c", hosts=("h",), release="r1"), reason="ignored"),),
    )
    night = night_groups(told)
    assert [each.fingerprint for each in night.groups] == ["v1:a", "v1:b", "v1:c"]
    assert night.date == date(2031, 3, 30)
    assert night.groups[2].hosts == ()


def test_history_is_thirty_nights_of_the_same_kind():
    tonight = report(0)
    sample = NightOptions(source="sample")
    others = (
        tonight,
        report(1),
        report(1, id="n1-2"),  # the same window once more
        report(2, status="failed"),
        report(3, id="one-x"),
        report(4, options=sample),
        report(5, options=NightOptions(source="newrelic")),
        report(6, window=window(1, 20)),  # most of it was read
        *(report(days) for days in range(7, 60)),
    )
    nights = comparable_nights(tonight, others)
    assert len(nights) == NIGHTS_BACK
    days = [(LAST - night.window.until).days for night in nights]
    assert days == [0, 1, *range(7, 35)]


def test_a_backtest_counts():
    nights = (
        on(0, group("v1:a", occurrences=5, users=2), group("v1:b", occurrences=1, users=3)),
        on(1, group("v1:a", occurrences=7, users=None), group("v1:c", message="else")),
        on(2),
    )
    merged = lesson(
        "v1:x", aliases=("v1:b",), outcomes=(OutcomeEvent(kind="merged", on=LAST.date()),)
    )
    assert backtest(hidden_by(RULE, nights), (lesson("v1:a"), merged)) == Backtest(
        nights=3, groups=2, occurrences=13, fixed_later=1, users=5
    )
    nothing = hidden_by(IgnoreRule(pattern="nothing"), nights)
    assert backtest(nothing, (merged,)) == Backtest(nights=3)


def test_rates_are_a_day_s():
    nights = (
        on(0, group("v1:a", occurrences=5), group("v1:b", occurrences=7), hours=12),
        on(1),
        on(2, group("v1:a", occurrences=4), hours=48),
    )
    assert rates(hidden_by(RULE, nights)) == (24.0, 2.0)


@given(st.lists(st.floats(0, 1e9), max_size=9))
def test_a_tripwire_is_above_all_that_was_seen(seen):
    limit = tripwire(seen)
    assert limit >= max(LOWEST, HEADROOM * max(seen, default=0)) * 0.999_999
    assert limit <= 2 * max(LOWEST, HEADROOM * max(seen, default=0))
    assert f"{limit:.0f}".rstrip("0") in {"1", "2", "3", "5"}


def test_an_error_that_goes_away_by_itself():
    name, seen = frozenset({"v1:a"}), group("v1:a")
    assert recoveries(name, (on(0, seen), on(1, seen), on(2, seen))) == 0
    assert recoveries(name, (on(0), on(1, seen), on(2), on(3, seen))) == 2
    assert recoveries(name, (on(0, seen), on(1), on(2, seen))) == 1
    assert recoveries(frozenset(), (on(0, seen),)) == 0
