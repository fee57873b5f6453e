"""How often a lesson's error came, and in what bursts, before a moment."""

from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta

from nightwatch_core.models.error import Window
from nightwatch_core.models.knowledge import Lesson, NightSeen
from nightwatch_core.models.outcome import Count, Watch
from nightwatch_core.models.report import Night, NightRecord
from nightwatch_core.outcomes.exposure import Stretch, aware, covered, is_sound, stretches
from nightwatch_core.outcomes.rates import NIGHT, dispersion, known, one_a_date, size, spread


def before_fix(
    lesson: Lesson,
    merged_at: datetime,
    records: Iterable[NightRecord],
    night: Night,
    since: datetime | None = None,
) -> Count:
    """Occurrences of the nights that ended before the merge, over the time looked at since then.

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


def bursts(lesson: Lesson, watch: Watch) -> tuple[float, float]:
    """Dispersion and spread (see rates.py) of the error before its fix.

    Where the nights before are no longer kept, one night of the usual size stands for them.
    """
    merged = aware(watch.merged_at).date()
    nights = tuple(one for one in lesson.nights if one.date <= merged)
    quiet = max(0.0, watch.before.hours - sum(known(one.hours) or NIGHT for one in nights))
    if not nights:
        many = watch.before.occurrences * NIGHT / max(known(watch.before.hours), 1.0)
        nights = (NightSeen(date=merged, night="", occurrences=round(many), verdict=""),)
        quiet = 0.0
    return dispersion(nights, quiet), spread(nights, quiet)


def _over(
    seen: list[tuple[NightSeen, Stretch]],
    lesson: Lesson,
    records: tuple[NightRecord, ...],
    night: Night,
    until: datetime,
) -> Count:
    if not seen:
        return Count()
    nights = {one.night for one in lesson.nights}
    others = (one for one in stretches(records, night.kind.key) if one.night not in nights)
    quiet = [one for one in others if one.window.until <= until]
    begin = min(stretch.window.since for _, stretch in seen)
    own = [stretch for _, stretch in seen]
    lengths = sum((one.window.until - one.window.since).total_seconds() for one in own) / 3_600
    share = covered(own, begin, until).hours / lengths
    found = sum(size(one.occurrences) for one, _ in seen) * share
    looked = covered((*own, *quiet), begin, until)
    return looked.model_copy(update={"occurrences": round(found)})


def _stretch(seen: NightSeen, window: Window | None) -> Stretch:
    """What a night looked at: as recorded, else the hours before its date began."""
    if window is None:
        until = datetime.combine(seen.date, time.min, UTC)
        hours = min(known(seen.hours) or NIGHT, 24_000.0)
        try:
            window = Window(since=until - timedelta(hours=hours), until=until)
        except OverflowError:  # a date before all dates
            window = Window(since=until, until=until + timedelta(hours=NIGHT))
    return Stretch(night=seen.night, window=window, traffic=seen.traffic)
