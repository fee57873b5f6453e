"""Times as records and logs write them."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from nightwatch_core.adapters.files.limits import TIME_REACH
from nightwatch_core.adapters.files.records import float_of
from nightwatch_core.errors import StopTheNight
from nightwatch_core.text.plain_text import data_table

# Zones of times: those that texts name, and what stands for what a text does not say.

# Times with these zones are not settled: `settled` puts the right one in. Their offset is none, so
# that all times can be compared.
NO_ZONE = timezone(timedelta(0), "no zone")
NO_YEAR = timezone(timedelta(0), "no year")  # nor a zone
LATEST_YEAR = 2099
LEAP_YEAR = 1996  # of times without a year
_YEARS = 9  # looked back at: a leap day comes every eight years at the least

_HOURS = data_table("nightwatch_core.adapters.files", "zones.toml", dict[str, float])
NAMES = "|".join(sorted(_HOURS, key=len, reverse=True))
_OFFSET = re.compile(r"([+-])(\d{1,2})(?::?(\d{2}))?$")


def zone_in(text: str) -> tzinfo | None:
    """Return the zone that a time names; None where it is no zone.

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
    """Return the zone that a person named; empty: UTC. Raises `StopTheNight` where there is none.

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
    """Return the time in UTC; it has the zone and the last year up to `latest` if it names none.

    >>> at = datetime(LEAP_YEAR, 12, 31, 10, tzinfo=NO_YEAR)
    >>> settled(at, UTC, datetime(2031, 3, 1, tzinfo=UTC)).isoformat()
    '2030-12-31T10:00:00+00:00'
    """
    if time.tzinfo is NO_ZONE:
        return time.replace(tzinfo=zone).astimezone(UTC)
    if time.tzinfo is not NO_YEAR:
        return time.astimezone(UTC)
    for year in range(latest.year + 1, latest.year - _YEARS, -1):
        try:
            in_year = time.replace(year=year, tzinfo=zone).astimezone(UTC)
        except ValueError:  # no leap year
            continue
        if in_year <= latest:
            return in_year
    return time.astimezone(UTC)


_EARLIEST, _LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(LATEST_YEAR + 1, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICKS = ((1e11, 1), (1e14, 1_000), (1e17, 1_000_000), (1e20, 1_000_000_000))  # below: per second
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_DAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?,? {1,2})?"
_MONTH = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_ZONE = rf"(?P<zone>(?:{NAMES})(?![a-z])(?:[+-]\d{{1,2}}(?::?\d{{2}})?)?|[+-]\d{{2}}(?::?\d{{2}})?)"
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,:](?P<part>\d{1,9}))?)?"
    rf"(?: ?(?P<half>[ap])\.?m\.?)?(?: ?{_ZONE})?(?: ?[\[(](?P<place>[^\])]{{1,60}})[\])])?"
)
# Of dates in numbers the month stands first where slashes part them, the day before other signs.
_DATES = (
    r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
    rf"(?P<year>\d{{4}})[-/]{_MONTH}[-/](?P<day>\d{{1,2}})",
    r"(?P<day>\d{1,2})[.-](?P<month>\d{1,2})[.-](?P<year>\d{4}|\d{2})",
    r"(?P<year>[2-9]\d)/(?P<month>\d{2})/(?P<day>\d{2})",  # Spark
    r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}|\d{2})",
    rf"{_DAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ /-]{_MONTH}[ /,-]{{1,2}}(?P<year>\d{{4}}|\d{{2}})",
    rf"{_DAY}{_MONTH} {{1,2}}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<year>\d{{4}}))?",
)
_GLOG = r"(?P<month>\d{2})(?P<day>\d{2})(?= )"  # Google's loggers
_FORMS = tuple(
    re.compile(
        rf"{date}(?:(?:[T:, ]| @ | at |, {{1,2}}){_CLOCK}(?: (?P<late>\d{{4}}))?)?", re.I | re.A
    )
    for date in (*_DATES, _GLOG)
)

# The same times inside a line of a log, where a clock has to follow the date.
_IN_LINES = tuple(
    re.compile(rf"{date}(?:[T:, ]|, ){_CLOCK}(?: (?P<late>\d{{4}}))?", re.I | re.A)
    for date in (*(rf"(?<![\d.:/-]){date}" for date in _DATES), f"^[IWEF]{_GLOG}")
)
_TICKS_IN_LINE = re.compile(
    r"(?<!\d)(\d{8}T\d{6}(?:[.,]\d{1,9})?(?:Z|[+-]\d{4})?)(?!\d)"
    r"|^\[?(1\d{9}(?:\.\d{1,9})?|1\d{12})\]?(?= )"
)


def time_of(value: object) -> datetime | None:
    """Return a time in UTC; None where there is none, or no sane one (years 1990 to 2099).

    Takes RFC 3339 and all of ISO 8601, RFC 1123, the common log formats, and seconds, milli-,
    micro- or nanoseconds since 1970 as number or text. What it does not say, its zone or its year,
    is for `settled` to add.

    >>> time_of(1_793_700_000).isoformat() == time_of("1793700000000").isoformat()
    True
    >>> time_of("2026-11-03 10:20:30,5 CET").isoformat(), time_of("soon")
    ('2026-11-03T09:20:30.500000+00:00', None)
    >>> time_of("2026-11-03 10:20:30").tzname(), time_of("Nov  3 10:20:30").tzname()
    ('no zone', 'no year')
    """
    if isinstance(value, datetime):
        return value
    seconds = float_of(value)
    if seconds is not None and abs(seconds) >= 1e8:
        per_second = next((ticks for below, ticks in _TICKS if abs(seconds) < below), 0)
        if not per_second or seconds < 0:
            return None
        is_whole = isinstance(value, int | str) and str(value).strip().isdigit()
        micros = (int(str(value)) if is_whole else seconds) * 1_000_000 // per_second
        return _sane(_EPOCH + timedelta(microseconds=int(micros)))
    return _of_text(value.strip()[:80]) if isinstance(value, str) else None


def time_in_log(line: str) -> datetime | None:
    """Return the time near the beginning of a line of a log.

    >>> time_in_log("E, [2026-11-03T10:20:30.000001 #12] ERROR -- : no").minute
    20
    """
    head = line[: TIME_REACH + 40]
    for form in _IN_LINES:
        match = form.search(head)
        if match and match.start() <= TIME_REACH and (time := _of_parts(match.groupdict())):
            return time
    ticks = _TICKS_IN_LINE.search(head)
    return time_of(ticks[1] or ticks[2]) if ticks and ticks.start() <= TIME_REACH else None


@lru_cache(maxsize=2_048)
def _of_text(text: str) -> datetime | None:
    if text[:4].isdigit():
        try:
            return _sane(datetime.fromisoformat(text))
        except (ValueError, OverflowError):
            pass
    for form in _FORMS:
        if match := form.fullmatch(text):
            return _of_parts(match.groupdict())
    return None


def _of_parts(parts: dict[str, str | None]) -> datetime | None:
    year = int(parts.get("late") or parts["year"] or 0) if "year" in parts else 0
    name = parts.get("name")
    month = _MONTHS.index(name.lower()) + 1 if name else int(parts["month"] or 0)
    day = int(parts["day"] or 0)
    if month > 12 and len(parts["month"] or "") <= 2:
        month, day = day, month  # the other order is the only one that can be meant
    hour = int(parts["hour"] or 0)
    if parts["half"]:
        hour = hour % 12 + (12 if parts["half"].lower() == "p" else 0)
    micros = int((parts["part"] or "")[:6].ljust(6, "0"))
    clock = (hour, int(parts["minute"] or 0), int(parts["second"] or 0), micros)
    whole_year = (year + 2000 if 0 < year < 100 else year) or LEAP_YEAR
    zone = _zone_of(parts)
    try:
        time = datetime(whole_year, month, day, *clock, tzinfo=zone)
        return _sane(time) if year else time.replace(tzinfo=NO_YEAR)
    except (ValueError, OverflowError):
        return None


def _zone_of(parts: dict[str, str | None]) -> tzinfo | None:
    if parts["zone"]:
        return zone_in(parts["zone"])
    place = parts["place"] or ""
    try:
        return ZoneInfo(place) if "/" in place else None
    except (OSError, ValueError, LookupError):
        return None


def _sane(time: datetime) -> datetime | None:
    """The time in UTC, or without a zone as it stands; None where its year cannot be."""
    try:
        time = time.replace(tzinfo=NO_ZONE) if time.tzinfo is None else time.astimezone(UTC)
    except OverflowError:
        return None
    return time if _EARLIEST <= time < _LATEST else None
