"""Times of records and logs, with and without what they leave out."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from error_records import AT, EPOCH_MS, NOW, PYTHON, fetched, groups_of, json_lines, written

from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.adapters.files.times import (
    NO_YEAR,
    NO_ZONE,
    settled,
    time_in_log,
    time_of,
    zone_named,
)
from nightwatch_core.errors import StopTheNight

WITH_ZONE = (
    "2026-11-03T10:00:00.000000000Z", "2026-11-03T11:00:00+01:00[Europe/Berlin]",
    "2026-11-03 11:00:00,000 +0100", "20261103T100000Z", "2026-W45-2T10:00:00Z",
    "2026-11-03 11:00:00 CET", "2026-11-03 05:00:00 EST", "Tue Nov  3 02:00:00 PST 2026",
    "Tue Nov 03 2026 11:00:00 GMT+0100 (Central European Standard Time)",
    "Tue, 03 Nov 2026 10:00:00 -0000", "03/Nov/2026:11:00:00 +0100", "Nov 3, 2026 5:00:00 AM EST",
    "11/3/2026, 10:00:00.000 AM UTC", "2026/11/03 10:00:00 UTC", "2026-11-03T12:00:00+02:00",
    "03-Nov-2026 10:00:00 UTC", "1793700000", "1793700000.0", EPOCH_MS // 1_000, EPOCH_MS,
    str(EPOCH_MS), EPOCH_MS * 1_000, EPOCH_MS * 1_000_000, str(EPOCH_MS * 1_000_000),
)  # fmt: skip
WITHOUT_ZONE = (
    "2026-11-03 10:00:00", "2026-11-03T10:00:00.000", "2026/11/03 10:00:00", "2026.11.03 10:00:00",
    "03.11.2026 10:00:00", "03.11.2026, 10:00", "03-11-2026 10:00:00", "11/3/2026 10:00:00",
    "11/3/2026, 10:00:00.000 AM", "13/11/2026 10:00:00", "26/11/03 10:00:00",
    "Nov 3, 2026 @ 10:00:00.000", "3 November 2026 10:00:00", "03-Nov-2026 10:00:00",
    "Nov 3, 2026, 10:00:00 AM", "2026-Nov-03 10:00:00.000",
    "Tue Nov 03 10:00:00.000000 2026", "20261103T100000",
)  # fmt: skip


@pytest.mark.parametrize("text", WITH_ZONE)
def test_times_with_a_zone(text: object) -> None:
    time = time_of(text)
    assert time == AT
    assert time is not None
    assert time.tzinfo is UTC


@pytest.mark.parametrize("text", WITHOUT_ZONE)
def test_times_without_a_zone(text: str) -> None:
    time = time_of(text)
    assert time is not None
    assert time.tzinfo is NO_ZONE
    assert time.replace(day=3) == AT


@pytest.mark.parametrize("text", ["Nov  3 10:00:00", "Nov 3 10:00:00.000", "1103 10:00:00.000000"])
def test_a_time_without_a_year_is_of_the_last_one_that_can_be(text: str) -> None:
    time = time_of(text)
    assert time is not None
    assert time.tzinfo is NO_YEAR
    assert settled(time, UTC, AT) == AT
    assert settled(time, UTC, AT - timedelta(seconds=1)) == AT.replace(year=2025)


def test_a_leap_day_is_of_a_leap_year() -> None:
    time = time_of("Feb 29 10:00:00")
    assert time is not None
    assert settled(time, UTC, datetime(2027, 5, 1, tzinfo=UTC)).year == 2024
    assert settled(time, UTC, datetime(2103, 5, 1, tzinfo=UTC)).year == 2096


@pytest.mark.parametrize(
    "text",
    ["1103", "2026", "31.02.2026 10:00:00", "2026-11-03 25:00:00", "10:00:00", "Mon", "1/2/3/4",
     "2026-11-03 10:00:00 XYZ", "Nov", "99/99/9999", "13:61", "0" * 80, "٣.١١.٢٠٢٦", "", "soon",
     "12", True, None, [], -5, 10**400, "9" * 60, "2026-99-99", float("nan"), "1970-01-01",
     "2999-01-01"],
)  # fmt: skip
def test_what_is_no_time(text: object) -> None:
    assert time_of(text) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Nov  3 10:00:00 web-1 shop[12]: ERROR no", AT),
        ("<11>Nov  3 10:00:00 web-1 shop[12]: ERROR no", AT),
        ("03.11.2026 10:00:00,123 ERROR no", AT + timedelta(milliseconds=123)),
        ("11/3/2026 10:00:00 AM ERROR no", AT),
        ("[Tue Nov 03 10:00:00.000000 2026] [php:error] no", AT),
        ("10.0.0.1 - - [03/Nov/2026:11:00:00 +0100] \"GET / HTTP/1.1\" 500", AT),
        ("2026-11-03 11:00:00 CET ERROR no", AT),
        ("2026-11-03 10:00:00 INFO no", AT),
        ("2026-Nov-03 10:00:00.000 [1] ERROR no", AT),
        ("Nov 3, 2026 9:00:00 PM org.shop.Carts pay", AT + timedelta(hours=11)),
        ("26/11/03 10:00:00 ERROR Executor: no", AT),
        ("E1103 10:00:00.000000   12 main.go:34] no", AT),
        ("20261103T100000Z ERROR no", AT),
        ("1793700000.000 ERROR no", AT),
        ("version 1.2.2026 of 12:00:00", None),
        ("took 00:10:00", None),
    ],
)  # fmt: skip
def test_times_in_lines(line: str, expected: datetime | None) -> None:
    time = time_in_log(line)
    assert (time and settled(time, UTC, NOW)) == expected


@pytest.mark.parametrize(
    ("name", "zone"), [("", UTC), ("Europe/Berlin", ZoneInfo("Europe/Berlin")), ("EST", None)]
)
def test_zones_that_people_name(name: str, zone: object) -> None:
    assert zone_named(name).utcoffset(AT) == (zone or zone_named("-05:00")).utcoffset(AT)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["Berlin", "../etc/passwd", "+99:00", "\0", "UTC+1x", "x" * 9_000])
def test_what_is_no_zone_says_what_is(name: str) -> None:
    with pytest.raises(StopTheNight, match="name one like Europe/Berlin"):
        zone_named(name)


def test_records_and_logs_without_a_zone_are_of_the_one_that_is_named(tmp_path: Path) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    record = {"class": "KeyError", "timestamp": "2026-11-03 11:00:00", "first_seen": "2026-07-01"}
    for content in (json_lines([record]), f"2026-11-03 11:00:00 ERROR no\n{PYTHON}\n"):
        files = ErrorFiles((written(tmp_path, content),), zone=berlin)
        (group,) = groups_of(files, None, NOW).groups
        assert group.last_seen == AT
        assert group.last_seen.tzinfo is UTC
    zoned = json_lines([{**record, "timestamp": "2026-11-03T10:00:00Z"}])
    (group,) = groups_of(ErrorFiles((written(tmp_path, zoned),), zone=berlin), None, NOW).groups
    assert group.last_seen == AT


def test_a_log_without_years_is_of_the_year_it_was_written_in(tmp_path: Path) -> None:
    path = written(tmp_path, f"Nov  3 10:00:00 web-1 shop[12]: ERROR no\n{PYTHON}\n")
    for year in (2024, 2026):
        at = AT.replace(year=year)
        os.utime(path, (at.timestamp() + 3_600, at.timestamp() + 3_600))
        assert fetched(path).groups[0].last_seen == at
