"""Times of records and logs, with and without what they leave out."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml
from error_records import AT, NOW, PYTHON, fetched, groups_of, json_lines, written

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

TIMES = yaml.safe_load(Path(__file__).with_name("times.yml").read_text())


@pytest.mark.parametrize("text", TIMES["with_zone"])
def test_times_with_a_zone(text):
    time = time_of(text)
    assert time == AT
    assert time.tzinfo is UTC


@pytest.mark.parametrize("text", TIMES["without_zone"])
def test_times_without_a_zone(text):
    time = time_of(text)
    assert time.tzinfo is NO_ZONE
    assert time.replace(day=3) == AT


@pytest.mark.parametrize("text", ["Nov  3 10:00:00", "Nov 3 10:00:00.000", "1103 10:00:00.000000"])
def test_a_time_without_a_year_is_of_the_last_one_that_can_be(text):
    time = time_of(text)
    assert time.tzinfo is NO_YEAR
    assert settled(time, UTC, AT) == AT
    assert settled(time, UTC, AT - timedelta(seconds=1)) == AT.replace(year=2025)


def test_a_leap_day_is_of_a_leap_year():
    time = time_of("Feb 29 10:00:00")
    assert settled(time, UTC, datetime(2027, 5, 1, tzinfo=UTC)).year == 2024
    assert settled(time, UTC, datetime(2103, 5, 1, tzinfo=UTC)).year == 2096


@pytest.mark.parametrize("text", [*TIMES["no_times"], 10**400, float("nan")])
def test_what_is_no_time(text):
    assert time_of(text) is None


@pytest.mark.parametrize(("line", "expected"), TIMES["in_lines"].items())
def test_times_in_lines(line, expected):
    time = time_in_log(line)
    at = datetime.fromisoformat(expected) if expected else None
    assert (time and settled(time, UTC, NOW)) == at


@pytest.mark.parametrize(
    ("name", "zone"), [("", UTC), ("Europe/Berlin", ZoneInfo("Europe/Berlin")), ("EST", None)]
)
def test_zones_that_people_name(name, zone):
    assert zone_named(name).utcoffset(AT) == (zone or zone_named("-05:00")).utcoffset(AT)


@pytest.mark.parametrize("name", ["Berlin", "../etc/passwd", "+99:00", "\0", "UTC+1x", "x" * 9_000])
def test_what_is_no_zone_says_what_is(name):
    with pytest.raises(StopTheNight, match="name one like Europe/Berlin"):
        zone_named(name)


def test_records_and_logs_without_a_zone_are_of_the_one_that_is_named(tmp_path):
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


def test_a_log_without_years_is_of_the_year_it_was_written_in(tmp_path):
    path = written(tmp_path, f"Nov  3 10:00:00 web-1 shop[12]: ERROR no\n{PYTHON}\n")
    for year in (2024, 2026):
        at = AT.replace(year=year)
        os.utime(path, (at.timestamp() + 3_600, at.timestamp() + 3_600))
        assert fetched(path).groups[0].last_seen == at
