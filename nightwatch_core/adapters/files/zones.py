"""Zones of times: those that texts name, and what stands for what a text does not say."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from nightwatch_core.errors import StopTheNight

# Times with these zones are not settled: `settled` puts the right one in. Their offset is none, so
# that all times can be compared.
NO_ZONE = timezone(timedelta(0), "no zone")
NO_YEAR = timezone(timedelta(0), "no year")  # nor a zone
NO_YEAR_IN_UTC = timezone(timedelta(0), "no year, UTC")
LATEST_YEAR = 2099
LEAP_YEAR = 1996  # of times without a year
_YEARS = 9  # looked back at: a leap day comes every eight years at the least

_HOURS: dict[str, float] = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "MEZ": 1, "CEST": 2,
    "MESZ": 2, "EET": 2, "EEST": 3, "MSK": 3, "IST": 5.5, "WIB": 7, "SGT": 8, "HKT": 8, "AWST": 8,
    "JST": 9, "KST": 9, "ACST": 9.5, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13, "BRT": -3,
    "ART": -3, "AST": -4, "ADT": -3, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7,
    "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10,
}  # fmt: skip
NAMES = "|".join(sorted(_HOURS, key=len, reverse=True))
_OFFSET = re.compile(r"([+-])(\d{1,2})(?::?(\d{2}))?$")


def zone_in(text: str) -> tzinfo | None:
    """The zone that a time names; None where it is no zone.

    >>> zone_in("CET").utcoffset(None).seconds, zone_in("-03:30").utcoffset(None).days
    (3600, -1)
    >>> zone_in("GMT+1").utcoffset(None).seconds, zone_in("XYZ")
    (3600, None)
    """
    name, offset = text.strip().upper(), timedelta(0)
    if by_number := _OFFSET.search(name):
        hours, minutes = int(by_number[2]), int(by_number[3] or 0)
        offset = timedelta(hours=hours, minutes=minutes) * (-1 if by_number[1] == "-" else 1)
        name = name[: by_number.start()] or "UTC"
    if name not in _HOURS or abs(offset) >= timedelta(days=1):
        return None
    whole = timedelta(hours=_HOURS[name]) + offset
    return timezone(whole) if whole else UTC


def zone_named(text: str) -> tzinfo:
    """The zone that a person named; empty: UTC. Raises `StopTheNight` where there is none.

    >>> zone_named("Europe/Berlin").key, zone_named("+02:00").utcoffset(None).seconds
    ('Europe/Berlin', 7200)
    """
    name = text.strip()
    zone = zone_in(name) if name else UTC
    if zone is not None:
        return zone
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise StopTheNight(
            f"no time zone is called {name[:60]!r}: name one like Europe/Berlin or +02:00"
        ) from None


def settled(time: datetime, zone: tzinfo, latest: datetime) -> datetime:
    """The time in UTC; without a zone in `zone`, without a year in the last one up to `latest`.

    >>> at = datetime(LEAP_YEAR, 12, 31, 10, tzinfo=NO_YEAR)
    >>> settled(at, UTC, datetime(2031, 3, 1, tzinfo=UTC)).isoformat()
    '2030-12-31T10:00:00+00:00'
    """
    if time.tzinfo is NO_ZONE:
        return time.replace(tzinfo=zone).astimezone(UTC)
    if time.tzinfo is not NO_YEAR and time.tzinfo is not NO_YEAR_IN_UTC:
        return time.astimezone(UTC)
    own = zone if time.tzinfo is NO_YEAR else UTC
    for year in range(latest.year + 1, latest.year - _YEARS, -1):
        try:
            in_year = time.replace(year=year, tzinfo=own).astimezone(UTC)
        except ValueError:  # no leap year
            continue
        if in_year <= latest:
            return in_year
    return time.astimezone(UTC)
