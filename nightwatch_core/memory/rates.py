"""Compare rates of an error: before and after a fix, tonight and on earlier nights.

There is one test. Given how many occurrences there were in all, the later share of them is
beta-binomial: rates vary from night to night (`spread`), so that large shares are more common than
by chance alone. Exposure is traffic where both sides know it, else hours.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta
from math import exp, inf, isfinite, lgamma
from typing import NamedTuple

from nightwatch_core.memory.occurrences import aware, hours_between
from nightwatch_core.models.errors import Window
from nightwatch_core.models.knowledge import FixWatch, Lesson, NightSeen, OccurrenceCount
from nightwatch_core.models.report import Night, NightRecord

NIGHT = 24.0  # hours that a night looked at, where nobody wrote it down
USUAL_SPREAD = 0.45  # standard deviation over mean of one error's nightly rates, as is usual
PRIOR_NIGHTS = 4.0  # observed nights that weigh as much as the usual spread
SPIKE_LEVEL = 0.005  # chance at most of so many, were the rate the old one
SPIKE_RATIO = 2.0  # times the old rate at least
SPIKE_EXCESS = 5.0  # occurrences more than expected at least
ENDED = ("complete", "degraded")
_MOST_ADDED = 2_000  # outcomes; of more, so many in the same share are reckoned with
_LARGEST, _LEAST = 1e15, 1e-6  # counts, hours and transactions that can be reckoned with
_EVEN = 1e-4  # spread below which rates differ by chance alone


class Chances(NamedTuple):
    """Chances of so few and of so many occurrences after, were the rate as assumed."""

    at_most: float = 1.0
    at_least: float = 1.0


def chances(
    before: OccurrenceCount, after: OccurrenceCount, spread: float, ratio: float = 1.0
) -> Chances:
    """Return the chances of the later count, were its rate `ratio` times the one before.

    Both are 1 where nothing is known of the exposure.

    >>> seen = chances(OccurrenceCount(occurrences=12, hours=48), OccurrenceCount(hours=120), 0.2)
    >>> seen.at_most < 0.0001, round(seen.at_least, 4)
    (True, 1.0)
    """
    old, new = _exposures(before, after)
    x, y = count_of(before), count_of(after)
    if not (old and new):
        return Chances()
    share = ratio * new / (ratio * new + old)
    nights = (amount(before.hours) + amount(after.hours)) / NIGHT or 1.0
    shape = nights / max(spread, _EVEN)
    scale = min(1.0, _MOST_ADDED / max(x + y, 1.0))
    return _tails(round(y * scale), round((x + y) * scale), share * shape, (1.0 - share) * shape)


def _tails(y: int, n: int, a: float, b: float) -> Chances:
    if min(a, b) <= 0.0:
        return Chances()

    def probability(k: int) -> float:
        ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
        return exp(ways + _rise(a, k) + _rise(b, n - k) - _rise(a + b, n))

    below, own = sum(map(probability, range(y))), probability(y)
    above = sum(map(probability, range(y + 1, n + 1)))
    return Chances(min(1.0, below + own), min(1.0, own + above))


def _rise(a: float, n: int) -> float:
    return lgamma(a + n) - lgamma(a)


def expected(before: OccurrenceCount, after: OccurrenceCount) -> float:
    """Return the expected count at an unchanged rate; 0 where unknown.

    >>> expected(OccurrenceCount(occurrences=10, hours=48), OccurrenceCount(hours=24))
    5.0
    """
    old, new = _exposures(before, after)
    return count_of(before) * new / old if old and new else 0.0


def rate_ratio(before: OccurrenceCount, after: OccurrenceCount) -> float | None:
    """Return the rate after over the rate before; None where it cannot be divided."""
    if usual := expected(before, after):
        return count_of(after) / usual
    return inf if count_of(after) and all(_exposures(before, after)) else None


def spread(nights: Sequence[NightSeen], quiet: float = 0.0) -> float:
    """Return the square of the standard deviation over mean of nightly rates, without chance.

    Pearson's estimate over the nights, `quiet` hours without the error counted as empty nights,
    mixed with the usual spread: a few nights rarely show a burst.

    >>> round(spread((NightSeen(date="2031-03-01", night="", occurrences=80, verdict="new"),)), 4)
    0.2025
    """
    sides = [(float(max(0, seen.occurrences)), _hours(seen)) for seen in one_a_date(nights)]
    sides += [(0.0, NIGHT)] * round(min(max(quiet, 0.0), 24_000.0) / NIGHT)
    rate = sum(many for many, _ in sides) / sum(hours for _, hours in sides) if sides else 0.0
    if not rate:
        return USUAL_SPREAD**2
    scatter = sum((many - rate * hours) ** 2 / (rate * hours) for many, hours in sides)
    mean, free = rate * NIGHT, len(sides) - 1
    return max(
        0.0,
        (PRIOR_NIGHTS * USUAL_SPREAD**2 * mean + scatter - free) / (mean * (PRIOR_NIGHTS + free)),
    )


def is_spike(earlier: Sequence[NightSeen], tonight: OccurrenceCount) -> str:
    """Return the reason tonight is a spike against earlier nights; empty for none.

    >>> nights = tuple(NightSeen(date=f"2031-03-0{day}", night="", occurrences=12, verdict="known")
    ...                for day in (1, 2, 3))
    >>> is_spike(nights, OccurrenceCount(occurrences=120, hours=24))
    '120 in 24 h, after 36 in 72 h on 3 nights before: 10 times as often'
    >>> is_spike((), OccurrenceCount(occurrences=99)), is_spike(nights, OccurrenceCount(hours=24))
    ('', '')
    """
    nights = one_a_date(earlier)
    now = tonight if amount(tonight.hours) else tonight.model_copy(update={"hours": NIGHT})
    before = total(nights)
    usual, many = expected(before, now), count_of(now)
    highest = max((night.occurrences / _hours(night) for night in nights), default=0.0)
    minimum = max(SPIKE_RATIO * usual, usual + SPIKE_EXCESS)
    if not usual or many < minimum or many <= highest * now.hours:  # once seen is no news
        return ""
    if chances(before, now, spread(nights)).at_least >= SPIKE_LEVEL:
        return ""
    on = f"on {len(nights)} night{'' if len(nights) == 1 else 's'} before"
    return f"{count_text(now)}, after {count_text(before)} {on}: {many / usual:.2g} times as often"


def one_a_date(nights: Iterable[NightSeen]) -> tuple[NightSeen, ...]:
    """Keep one entry a date, oldest first: of several runs the one that looked at most."""
    longest_last = sorted(nights, key=lambda seen: (_hours(seen), seen.occurrences, seen.night))
    best = {seen.date: seen for seen in longest_last}
    return tuple(sorted(best.values(), key=lambda seen: seen.date))


def total(nights: Sequence[NightSeen]) -> OccurrenceCount:
    """Add up nights; traffic only where every night knows it."""
    flow = [amount(night.traffic or 0) for night in nights]
    return OccurrenceCount(
        occurrences=sum(max(0, night.occurrences) for night in nights),
        hours=sum(map(_hours, nights)),
        traffic=round(sum(flow)) if nights and all(flow) else None,
        nights=len(nights),
    )


def count_text(count: OccurrenceCount) -> str:
    """Write a count as people read it.

    >>> count_text(OccurrenceCount(occurrences=1200, hours=7.5, traffic=90000))
    '1,200 in 7.5 h and 90,000 transactions'
    """
    flow = f" and {count.traffic:,} transactions" if count.traffic else ""
    hours = f"{round(amount(count.hours), 1 if count.hours < 24 else None):,}".removesuffix(".0")
    return f"{count.occurrences:,} in {hours} h{flow}"


def amount(given: float) -> float:
    """Bound an amount of time or traffic; 0 for next to none, and for one that cannot be."""
    return min(float(given), _LARGEST) if given >= _LEAST and isfinite(given) else 0.0


def count_of(count: OccurrenceCount) -> float:
    """Return the occurrences as a number to reckon with: never negative, never without end."""
    return float(min(max(count.occurrences, 0), int(_LARGEST)))


def looked_at(
    records: Iterable[NightRecord], key: str, since: datetime, until: datetime
) -> OccurrenceCount:
    """Count how much of [since, until) nights of this source key have read, each hour once.

    Records that are torn, naive or empty, nights that failed or read only a part, and the empty
    key count for nothing.
    """
    return _covered(_stretches(records, key), since, until)


def is_sound(window: Window) -> bool:
    """Tell whether a window names two moments in time, the later last: people edit what is kept."""
    aware_both = window.since.utcoffset() is not None and window.until.utcoffset() is not None
    return aware_both and window.since < window.until


def before_fix(
    lesson: Lesson,
    merged_at: datetime,
    records: Iterable[NightRecord],
    night: Night,
    since: datetime | None = None,
) -> OccurrenceCount:
    """Count the occurrences before a merge, over the time looked at from the first of them on.

    Quiet nights count, too. `since` is the deploy of an earlier fix: what came before it is left
    out where anything came after it. Where windows overlap, occurrences are cut alike.
    """
    kept, until = tuple(records), aware(merged_at)
    seen = _seen_until(lesson, until, kept, night)
    if since is not None:
        after = [pair for pair in seen if pair[1].window.until > aware(since)]
        seen = after or seen
    if not seen:
        return OccurrenceCount()
    own, named = [stretch for _, stretch in seen], {each.night for each in lesson.nights}
    quiet = [
        each
        for each in _stretches(kept, night.kind.key)
        if each.night not in named and each.window.until <= until
    ]
    begin = min(each.window.since for each in own)
    length = sum(hours_between(each.window.since, each.window.until) for each in own)
    share = _covered(own, begin, until).hours / length
    occurrences = round(sum(max(0, each.occurrences) for each, _ in seen) * share)
    return _covered([*own, *quiet], begin, until).model_copy(update={"occurrences": occurrences})


def spread_before(
    lesson: Lesson, watch: FixWatch, records: Iterable[NightRecord], night: Night
) -> float:
    """Estimate the spread of an error's nights before its fix was merged."""
    seen = _seen_until(lesson, aware(watch.merged_at), tuple(records), night)
    nights = [each for each, _ in seen]
    return spread(nights, watch.before.hours - sum(map(_hours, nights)) if nights else 0.0)


class _Stretch(NamedTuple):
    """A stretch of time that one night looked at."""

    night: str
    window: Window
    traffic: int | None


def _stretches(records: Iterable[NightRecord], key: str) -> list[_Stretch]:
    return [
        _Stretch(each.id, each.night.window, each.traffic)
        for each in records
        if each.night and each.read_whole and each.status in ENDED
        if key and each.night.kind.key == key and is_sound(each.night.window)
    ]


def _covered(looked: Iterable[_Stretch], since: datetime, until: datetime) -> OccurrenceCount:
    """Hours and traffic that stretches cover between two moments, each hour once."""
    end = aware(since)
    hours, flow, is_known = 0.0, 0.0, True
    nights: set[str] = set()
    for each in sorted(looked, key=lambda each: (each.window.since, each.night)):
        begin, stop = max(each.window.since, end), min(each.window.until, aware(until))
        if begin >= stop:
            continue
        part = hours_between(begin, stop)
        is_known = is_known and each.traffic is not None and each.traffic >= 0
        flow += (each.traffic or 0) * part / hours_between(each.window.since, each.window.until)
        hours, end = hours + part, stop
        nights.add(each.night)
    traffic = round(flow) if is_known and nights else None
    return OccurrenceCount(hours=hours, traffic=traffic, nights=len(nights))


def _seen_until(
    lesson: Lesson, until: datetime, records: tuple[NightRecord, ...], night: Night
) -> list[tuple[NightSeen, _Stretch]]:
    """Nights of a lesson that had ended by then, tonight left out, and when they looked.

    A night that no record tells of has its own hours, or 24, up to the first minute of its date.
    """
    windows = {
        each.id: each.night.window for each in records if each.night and is_sound(each.night.window)
    }
    seen = []
    for each in one_a_date(each for each in lesson.nights if each.night != night.id):
        midnight = datetime.combine(each.date, time.min, UTC)
        hours = timedelta(hours=min(_hours(each), 24_000.0))
        begin = midnight - hours if midnight - datetime.min.replace(tzinfo=UTC) > hours else None
        own = Window(since=begin or midnight, until=midnight if begin else midnight + hours)
        window = windows.get(each.night, own)
        if window.until <= until:
            seen.append((each, _Stretch(each.night, window, each.traffic)))
    return seen


def _hours(night: NightSeen) -> float:
    return amount(night.hours) or NIGHT


def _exposures(before: OccurrenceCount, after: OccurrenceCount) -> tuple[float, float]:
    flow = amount(before.traffic or 0), amount(after.traffic or 0)
    return flow if all(flow) else (amount(before.hours), amount(after.hours))
