"""For how long production was looked at: hours and traffic of the nights that read it whole."""

from collections.abc import Iterable
from datetime import UTC, datetime

from nightwatch_core.models.error import Window
from nightwatch_core.models.outcome import OccurrenceCount
from nightwatch_core.models.report import NightRecord
from nightwatch_core.models.value import Value

HOUR = 3_600.0
ENDED = ("complete", "degraded")


class Stretch(Value):
    """A stretch of time that one night looked at."""

    night: str
    window: Window
    traffic: int | None = None  # the application's transactions in it; None: not known


def looked_at(
    records: Iterable[NightRecord], key: str, since: datetime, until: datetime
) -> OccurrenceCount:
    """How much of [since, until) nights of this source key have read whole, each hour once.

    Traffic is known where every counted night knows its own, and taken in proportion where only a
    part of its window counts. `nights` are those that added something. Records that are torn,
    naive or empty, nights that failed or read only a part, and the empty key count for nothing.
    """
    return covered((one for one in stretches(records, key)), since, until)


def stretches(records: Iterable[NightRecord], key: str) -> tuple[Stretch, ...]:
    """What nights of this source key have read whole, in the order of the records."""
    whole = (one for one in records if one.read_whole and one.status in ENDED)
    return tuple(
        Stretch(night=one.id, window=one.night.window, traffic=one.traffic)
        for one in whole
        if one.night and key and one.night.kind.key == key and is_sound(one.night.window)
    )


def covered(looked: Iterable[Stretch], since: datetime, until: datetime) -> OccurrenceCount:
    """Hours and traffic that stretches cover together between two moments, each hour once."""
    end = begin = aware(since)
    hours, flow, nights = 0.0, 0.0, set()
    known = True
    for one in sorted(looked, key=lambda one: (one.window.since, one.night)):
        begin = max(one.window.since, end)
        stop = min(one.window.until, aware(until))
        if begin >= stop:
            continue
        part, whole = hours_between(begin, stop), hours_between(one.window.since, one.window.until)
        known = known and one.traffic is not None and one.traffic >= 0
        flow += (one.traffic or 0) * part / whole
        hours, end = hours + part, stop
        nights.add(one.night)
    traffic = round(flow) if known and nights else None
    return OccurrenceCount(hours=hours, traffic=traffic, nights=len(nights))


def hours_between(since: datetime, until: datetime) -> float:
    """Hours from one aware moment to another; never negative."""
    return max(0.0, (until - since).total_seconds() / HOUR)


def is_sound(window: Window) -> bool:
    """Whether a window names two moments in time, the later one last: people edit what is kept."""
    aware_both = window.since.utcoffset() is not None and window.until.utcoffset() is not None
    return aware_both and window.since < window.until


def aware(moment: datetime) -> datetime:
    """The moment, in UTC where it names no time zone.

    >>> aware(datetime(2031, 3, 1)).isoformat()
    '2031-03-01T00:00:00+00:00'
    """
    return moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)
