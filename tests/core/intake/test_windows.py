from datetime import UTC, datetime, timedelta, timezone

import pytest
from tables import tables_of

from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.windows import (
    lookback,
    lookback_for,
    night_name,
    source_key,
    unread_gap,
)
from nightwatch_core.models.errors import Window
from nightwatch_core.models.options import NightOptions

TABLES = tables_of(__file__)

DAY = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize(("text", "hours"), TABLES["lengths_of_time"])
def test_lengths_of_time(text, hours):
    assert lookback(text) == timedelta(hours=hours)
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


def test_windows_and_sources_have_names_of_their_own():
    windows = window(), window(hours=25), window(DAY + timedelta(minutes=1))
    names = {night_name(item, source) for item in (*windows, window()) for source in ("a", "b")}
    assert [len(name) for name in names] == [17] * 6


LIVE, FILE = NightOptions(source="newrelic"), NightOptions(source="file", errors="e.jsonl")


@pytest.mark.parametrize(
    ("options", "scheduled", "length"),
    [
        (LIVE, False, timedelta(days=1)),
        (LIVE, True, None),
        (FILE, False, None),
        (FILE, True, None),
        (NightOptions(source="sample,newrelic"), False, timedelta(days=1)),
        (LIVE.model_copy(update={"since": "7d"}), True, timedelta(days=7)),
        (FILE.model_copy(update={"since": "2h"}), False, timedelta(hours=2)),
    ],
)
def test_a_live_source_is_asked_for_a_day_by_hand_and_for_the_rest_by_schedule(
    options, scheduled, length
):
    assert lookback_for(options, scheduled) == length


def test_two_applications_never_share_a_key():
    said = [("1", "shop"), ("2", "shop"), ("1", "till"), ("", "")]
    keys = {source_key(LIVE, *place) for place in said}
    keys |= {source_key(LIVE.model_copy(update={"repo": "till"}), "1", "shop")}
    assert len(keys) == 5
    assert source_key(FILE, "1", "shop") == source_key(FILE, "2", "till") == "file|e.jsonl|"


def test_what_is_left_out_is_said_in_the_windows_own_time():
    local = window(DAY.astimezone(timezone(timedelta(hours=2), "CEST")))
    assert unread_gap(DAY - timedelta(days=9), local) == (
        "errors from 2026-11-12 01:30 to 2026-11-20 01:30 CEST were never read: "
        "a night looks back 7 days at most"
    )


def test_nothing_is_left_out_where_the_window_follows():
    for mark in (None, window().since, DAY, DAY + timedelta(days=99)):
        assert unread_gap(mark, window()) == ""
    assert unread_gap(DAY - timedelta(days=1), Window(since=DAY, until=DAY)) == ""
