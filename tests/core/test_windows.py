from datetime import UTC, datetime, timedelta, timezone

import pytest

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.error import Window
from nightwatch_core.windows import lookback, night_name

DAY = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90m", timedelta(minutes=90)),
        ("90 min", timedelta(minutes=90)),
        ("24h", timedelta(days=1)),
        (" 24 Hours ", timedelta(days=1)),
        ("1hr", timedelta(hours=1)),
        ("7d", timedelta(days=7)),
        ("1 day", timedelta(days=1)),
        ("2w", timedelta(days=14)),
        ("2 weeks", timedelta(days=14)),
        ("9999w", timedelta(weeks=9999)),
    ],
)
def test_lengths_of_time(text, length):
    assert lookback(text) == length


def test_nothing_said_is_nothing():
    assert lookback("") is None
    assert lookback("  \n") is None


@pytest.mark.parametrize(
    "text",
    ["0h", "24", "h", "-1d", "1.5h", "5 months", "5mo", "3y", "1h30m", "99999h", "24hx", "²d",
     "٢d", "yesterday", "2026-11-20", "d" * 1_000_000],
)  # fmt: skip
def test_what_is_no_length_of_time_says_what_is(text):
    with pytest.raises(StopTheNight, match="90m, 24h, 7d or 2w") as raised:
        lookback(text)
    assert len(str(raised.value)) < 200


def window(until=DAY, hours=24):
    return Window(since=until - timedelta(hours=hours), until=until)


def test_a_night_is_named_by_its_local_end():
    assert night_name(window(), "file").startswith("2026-11-20-")
    local = DAY.astimezone(timezone(timedelta(hours=2)))
    assert night_name(window(local), "file").startswith("2026-11-21-")


def test_equal_windows_of_a_source_have_one_name_and_others_another():
    assert night_name(window(), "file") == night_name(window(), "file")
    names = {
        night_name(window(), "file"),
        night_name(window(), "sample"),
        night_name(window(hours=25), "file"),
        night_name(window(DAY + timedelta(minutes=1)), "file"),
    }
    assert len(names) == 4
    assert {len(name) for name in names} == {17}
