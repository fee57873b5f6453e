"""For how long production was looked at, and how often an error came in that time."""

from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta

from nightwatch_core.memory.outcomes.rates import (
    NIGHT,
    amount,
    bounded_count,
    dispersion,
    one_a_date,
    spread,
)
from nightwatch_core.memory.sightings import aware, hours_between, night_date
from nightwatch_core.models.error import Window
from nightwatch_core.models.knowledge import Lesson, NightSeen
from nightwatch_core.models.outcome import FixWatch, OccurrenceCount
from nightwatch_core.models.report import Night, NightRecord
from nightwatch_core.models.value import Value

ENDED = ("complete", "degraded")


class Stretch(Value):
    """A stretch of time that one night looked at."""

    night: str
    window: Window
    traffic: int | None = None  # the application's transactions in it; None: not known


def looked_at(
    records: Iterable[NightRecord], key: str, since: datetime, until: datetime
) -> OccurrenceCount:
    """Count how much of [since, until) nights of this source key have read, each hour once.

    Traffic is known where every counted night knows its own, and taken in proportion where only a
    part of its window counts. `nights` are those that added something. Records that are torn,
    naive or empty, nights that failed or read only a part, and the empty key count for nothing.
    """
    return covered(stretches(records, key), since, until)


def stretches(records: Iterable[NightRecord], key: str) -> tuple[Stretch, ...]:
    """List what nights of this source key have read whole, in the order of the records."""
    whole = (one for one in records if one.read_whole and one.status in ENDED)
    return tuple(
        Stretch(night=one.id, window=one.night.window, traffic=one.traffic)
        for one in whole
        if one.night and key and one.night.kind.key == key and is_sound(one.night.window)
    )


def covered(looked: Iterable[Stretch], since: datetime, until: datetime) -> OccurrenceCount:
    """Add up hours and traffic that stretches cover between two moments, each hour once."""
    end = begin = aware(since)
    hours, flow, nights = 0.0, 0.0, set()
    is_known = True
    for one in sorted(looked, key=lambda one: (one.window.since, one.night)):
        begin = max(one.window.since, end)
        stop = min(one.window.until, aware(until))
        if begin >= stop:
            continue
        part, whole = hours_between(begin, stop), hours_between(one.window.since, one.window.until)
        is_known = is_known and one.traffic is not None and one.traffic >= 0
        flow += (one.traffic or 0) * part / whole
        hours, end = hours + part, stop
        nights.add(one.night)
    traffic = round(flow) if is_known and nights else None
    return OccurrenceCount(hours=hours, traffic=traffic, nights=len(nights))


def is_sound(window: Window) -> bool:
    """Whether a window names two moments in time, the later one last: people edit what is kept."""
    aware_both = window.since.utcoffset() is not None and window.until.utcoffset() is not None
    return aware_both and window.since < window.until


def before_fix(
    lesson: Lesson,
    merged_at: datetime,
    records: Iterable[NightRecord],
    night: Night,
    since: datetime | None = None,
) -> OccurrenceCount:
    """Count occurrences of the nights before the merge, over the time looked at since then.

    That time runs from the first of those nights (after `since`, the deploy of an earlier fix, if
    there are any) and counts quiet nights too. A night that no record tells of has its own hours,
    or 24, up to the first minute of its date. Where windows overlap, occurrences are cut alike.
    """
    kept = tuple(records)
    windows = {one.id: one.night.window for one in kept if one.night and is_sound(one.night.window)}
    seen = [
        (one, _stretch(one, windows.get(one.night)))
        for one in one_a_date(lesson.nights)
        if one.night != night.id
    ]
    seen = [pair for pair in seen if pair[1].window.until <= aware(merged_at)]
    later = [pair for pair in seen if since is not None and pair[1].window.until > aware(since)]
    return _over(later or seen, lesson, kept, night, aware(merged_at))


def bursts(
    lesson: Lesson,
    watch: FixWatch,
    records: Iterable[NightRecord],
    night: Night,
    counted: OccurrenceCount,
) -> tuple[float, float]:
    """Estimate dispersion on both sides of an error's fix, and its spread before (see rates.py).

    A night counts as one before the fix where it had ended when that was merged, and as one after
    it where its window began after the deploy; `counted` is what
    `night`, tonight, added. Where the nights before are no longer kept, one of the usual size
    stands for them.
    """
    kept = tuple(records)
    later, quiet_later = _since_deploy(lesson, watch, kept, night, counted)
    windows = {one.id: one.night.window for one in kept if one.night}
    merged, after = aware(watch.merged_at), {one.night for one in later}
    nights = tuple(
        one
        for one in lesson.nights
        if one.night not in after
        and _stretch(one, _sound(windows.get(one.night))).window.until <= merged
    )
    quiet = max(0.0, watch.before.hours - sum(amount(one.hours) or NIGHT for one in nights))
    if not nights:
        many = watch.before.occurrences * NIGHT / max(amount(watch.before.hours), 1.0)
        nights = (NightSeen(date=merged.date(), night="", occurrences=round(many), verdict=""),)
        quiet = 0.0
    return dispersion(nights, quiet, later, quiet_later), spread(nights, quiet)


def _since_deploy(
    lesson: Lesson,
    watch: FixWatch,
    records: Iterable[NightRecord],
    night: Night,
    counted: OccurrenceCount,
) -> tuple[tuple[NightSeen, ...], float]:
    """The nights of the error that began after the deploy, tonight last, and the quiet hours.

    None once there is a verdict: what overturns it is a new rate, which is not a burst of the old.
    """
    if watch.deployed_at is None or watch.verdict:
        return (), 0.0
    deployed = aware(watch.deployed_at)
    others = one_a_date(one for one in lesson.nights if one.night != night.id)
    windows = {one.id: one.night.window for one in records if one.night}
    looked = [(one, _stretch(one, _sound(windows.get(one.night))).window) for one in others]
    after = [(one, window) for one, window in looked if window.until > deployed]
    hours = sum(hours_between(max(window.since, deployed), window.until) for _, window in after)
    nights = tuple(one for one, window in after if window.since >= deployed)
    if counted.occurrences and counted.hours > 0:
        seen = NightSeen(
            date=night_date(night),
            night=night.id,
            occurrences=counted.occurrences,
            hours=counted.hours,
            verdict="",
        )
        nights, hours = (*nights, seen), hours + counted.hours
    return nights, max(0.0, watch.after.hours - hours)


def _sound(window: Window | None) -> Window | None:
    return window if window and is_sound(window) else None


def _over(
    seen: list[tuple[NightSeen, Stretch]],
    lesson: Lesson,
    records: tuple[NightRecord, ...],
    night: Night,
    until: datetime,
) -> OccurrenceCount:
    if not seen:
        return OccurrenceCount()
    nights = {one.night for one in lesson.nights}
    others = (one for one in stretches(records, night.kind.key) if one.night not in nights)
    quiet = [one for one in others if one.window.until <= until]
    begin = min(stretch.window.since for _, stretch in seen)
    own = [stretch for _, stretch in seen]
    lengths = sum((one.window.until - one.window.since).total_seconds() for one in own) / 3_600
    share = covered(own, begin, until).hours / lengths
    occurrences = sum(bounded_count(one.occurrences) for one, _ in seen) * share
    looked = covered((*own, *quiet), begin, until)
    return looked.model_copy(update={"occurrences": round(occurrences)})


def _stretch(seen: NightSeen, window: Window | None) -> Stretch:
    """What a night looked at: as recorded, else the hours before its date began."""
    if window is None:
        until = datetime.combine(seen.date, time.min, UTC)
        hours = min(amount(seen.hours) or NIGHT, 24_000.0)
        try:
            window = Window(since=until - timedelta(hours=hours), until=until)
        except OverflowError:  # a date before all dates
            window = Window(since=until, until=until + timedelta(hours=NIGHT))
    return Stretch(night=seen.night, window=window, traffic=seen.traffic)
